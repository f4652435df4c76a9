"""The language as files: what is accepted, what is unsupported and how, what the chapters show.

Each file of `accept` has its equal in YAML in `twins`. A missing one is made by
`qos convert testcases/language/accept/NAME.qos --to yaml -o testcases/language/twins/NAME.yaml`.

An expectation is on the line of its error: `# error: [E0101] "a part of the message"`. Where no
comment can follow, as after an unterminated text, it precedes the line: `# error below: …`. An
unexpected error fails, and so does a missing one.

A folder of `reject` is one text of several files, checked from its `main.qos`; any of them may have
expectations. Files that cannot be kept in this repository are generated: `MADE`.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.check.modules.files import SUFFIXES
from qospec.diagnostics import Diagnostic, Problems
from qospec.formatting.equivalence import is_equivalent
from qospec.judge import evidence
from qospec.model.suite import Suite
from qospec.plan.plan import Bounds, CasePlan, plan
from qospec.plan.survey import verify
from qospec.source import Source
from qospec.syntax import ast
from qospec.yaml_twin.form import read_tree

HERE = Path(__file__).parent
SPEC = HERE.parents[1] / "spec"
CATALOGUE = discover()

EXPECTED = re.compile(r'# (?:error|warning)( below)?: \[([EW]\d{4})\] "(.*?)"(?=\s*(?:#|$))')
CODE = re.compile(r"^### ([EW]\d{4}):", re.MULTILINE)
BLOCK = re.compile(r"^```(qos|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Mistake(NamedTuple):
    place: str
    line: int
    code: str
    message: str


def diagnosed(path: Path) -> list[Diagnostic]:
    """Return what `qos check` reports."""
    problems = Problems()
    suite = check([path], CATALOGUE, problems)
    if not problems.errors:
        for problem in evidence.warn_of_evidence(verify(suite, problems)):
            problems.add(problem)
    return list(problems.all)


def reported(path: Path) -> list[Mistake]:
    return [
        Mistake(
            Path(found.span.source.name).name,
            found.span.source.find_position(found.span.start)[0],
            found.code,
            found.message,
        )
        for found in diagnosed(path)
    ]


def expected(text: str, place: str) -> list[Mistake]:
    return [
        Mistake(place, number + (1 if below else 0), code, message)
        for number, line in enumerate(text.split("\n"), 1)
        for below, code, message in EXPECTED.findall(line)
    ]


def texts(path: Path) -> dict[str, str]:
    """Return a file, or all files of a folder, by their names."""
    every = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    return {file.name: file.read_text(encoding="utf-8") for file in every}


def assert_reported(path: Path) -> None:
    """Each expected mistake is reported where it is expected, and nothing else is."""
    held = texts(path)
    missing = [diagnostic for name, text in held.items() for diagnostic in expected(text, name)]
    unexpected = reported(path / "main.qos" if path.is_dir() else path)
    for mistake in list(missing):
        for found in unexpected:
            if found[:3] == mistake[:3] and mistake.message in found.message:
                missing.remove(mistake)
                unexpected.remove(found)
                break
    assert (missing, unexpected) == ([], []), (
        "(expected but not reported, reported but not expected)"
    )


def files(folder: str) -> list[Path]:
    return sorted(path for path in (HERE / folder).iterdir() if path.suffix in SUFFIXES)


def refused_ones() -> list[Path]:
    return [
        *files("reject"),
        *sorted(path for path in (HERE / "reject").iterdir() if path.is_dir()),
    ]


def blocks() -> Iterator[tuple[str, int, str]]:
    """Yield every example of the chapters: a file's name for it, the line above it, its text."""
    for path in sorted(SPEC.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            yield f"{path.stem}.{match[1]}", text.count("\n", 0, match.start(2)), match[2]


@pytest.mark.parametrize("path", files("accept"), ids=lambda path: path.stem)
def test_it_is_accepted(path: Path) -> None:
    assert reported(path) == []


def twin_of(path: Path) -> Path:
    return HERE / "twins" / f"{path.stem}.yaml"


def tree(path: Path) -> ast.File | None:
    return read_tree(Source(path.name, path.read_text(encoding="utf-8")), Problems())


def planned(path: Path) -> tuple[Suite, tuple[CasePlan, ...]]:
    problems = Problems()
    checked = check([path], CATALOGUE, problems)
    plans = plan(checked, "0", Bounds(), problems)
    assert not problems.errors
    return checked.suite, plans


def said(case: CasePlan) -> tuple[object, ...]:
    """Return what a plan says but for its arrays."""
    return case.case, case.trials, case.cells


@pytest.mark.parametrize("path", files("accept"), ids=lambda path: path.stem)
def test_its_twin_in_yaml_has_the_same_tree(path: Path) -> None:
    assert twin_of(path).is_file(), f"qos convert {path} --to yaml -o {twin_of(path)}"
    assert is_equivalent(tree(path), tree(twin_of(path)))


@pytest.mark.untraced
@pytest.mark.parametrize("path", files("accept"), ids=lambda path: path.stem)
def test_its_twin_in_yaml_has_the_same_plan(path: Path) -> None:
    suite, plans = planned(path)
    twin, twin_plans = planned(twin_of(path))
    assert (twin.tests, twin.references) == (suite.tests, suite.references)
    assert [*map(said, twin_plans)] == [*map(said, plans)]


@pytest.mark.untraced
@pytest.mark.parametrize("path", files("twins"), ids=lambda path: path.stem)
def test_a_twin_is_of_a_file_and_is_accepted(path: Path) -> None:
    assert (HERE / "accept" / f"{path.stem}.qos").is_file()
    assert reported(path) == []


@pytest.mark.parametrize("path", refused_ones(), ids=lambda path: path.stem)
def test_it_is_refused_in_these_words(path: Path) -> None:
    assert any(expected(text, name) for name, text in texts(path).items()), "this expects nothing"
    assert_reported(path)


def unreadable(folder: Path) -> None:
    (folder / "main.qos").write_text("qos 1\nimport circle\n", encoding="utf-8")
    (folder / "circle.qos").symlink_to("circle.qos")


def latin_1(folder: Path) -> None:
    (folder / "main.qos").write_text('qos 1\nlet name = "Zürich"\n', encoding="latin-1")


def leading_out(folder: Path) -> None:
    outside = folder / "outside.qos"
    outside.write_text("qos 1\n", encoding="utf-8")
    project = folder / "project"
    project.mkdir()
    (project / "qos.toml").write_text("", encoding="utf-8")
    (project / "main.qos").write_text("qos 1\nimport far\n", encoding="utf-8")
    (project / "far.qos").symlink_to(outside)


def deep(folder: Path) -> None:
    below = [f"let a{n + 1} = {'(' * 30}a{n}{' + 1)' * 30}\n" for n in reversed(range(58))]
    (folder / "main.qos").write_text(f"qos 1\nlet a0 = 1\n{''.join(below)}", encoding="utf-8")


def one_behind_another(folder: Path) -> None:
    for number in range(101):
        text = f"qos 1\nimport behind{number}\n"
        name = f"behind{number - 1}" if number else "main"
        (folder / f"{name}.qos").write_text(text, encoding="utf-8")
    (folder / "behind100.qos").write_text("qos 1\n", encoding="utf-8")


MADE = {
    "E0108": unreadable,
    "E0109": latin_1,
    "E0110": leading_out,
    "E0606": deep,
    "E0607": one_behind_another,
}
"""What no file can show: bytes, links, and what is too long to be written by hand."""


@pytest.mark.parametrize(("code", "make"), MADE.items())
def test_what_is_made_is_refused(code: str, make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path)
    (main,) = tmp_path.rglob("main.qos")
    assert {mistake.code for mistake in reported(main)} == {code}


ELSEWHERE = {"E0590", "E0701", "E0702", "W0701"}
"""Of elements of one's own, exports and back ends: testcases/unit/plan/test_cycles.py, unit/exports
and unit/backends."""


def test_every_code_is_shown() -> None:
    """Each section of spec/errors.md has a file that pins its message, in `reject` or generated."""
    shown = {
        mistake.code
        for path in refused_ones()
        for name, text in texts(path).items()
        for mistake in expected(text, name)
    }
    codes = set(CODE.findall((SPEC / "errors.md").read_text(encoding="utf-8")))
    assert shown | MADE.keys() | ELSEWHERE == codes


@pytest.mark.parametrize(
    ("chapter", "line", "text"),
    [pytest.param(*block, id=f"{block[0]}:{block[1] + 1}") for block in blocks()],
)
def test_the_chapter_s_example_is_right(chapter: str, line: int, text: str, tmp_path: Path) -> None:
    path = tmp_path / chapter
    path.write_text("\n" * line + text, encoding="utf-8")
    assert_reported(path)


def test_every_folder_and_the_chapters_have_examples() -> None:
    assert files("accept")
    assert files("reject")
    assert list(blocks())
