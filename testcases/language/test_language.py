"""The language as files: what is accepted, what is refused and how, what the chapters show.

Each file of `accept` has its equal in YAML in `twins`. A missing one is made by
`qos convert testcases/language/accept/NAME.qos --to yaml -o testcases/language/twins/NAME.yaml`.

An expectation stands on the line of its mistake: `# error: [E0101] "a piece of the message"`.
Where a comment cannot follow, as behind a text without an end, it stands above it: `# error below:
…`. A mistake that nobody expected fails, and so does an expected one that did not come.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from qospec.catalogue import discover
from qospec.check import check
from qospec.check.files import SUFFIXES
from qospec.diagnostics import Diagnostic, Problems
from qospec.formatting.same import same
from qospec.model import Suite
from qospec.run.plan import Bounds, CasePlan, plan
from qospec.source import Source
from qospec.syntax import ast
from qospec.twin.form import tree_of

HERE = Path(__file__).parent
SPEC = HERE.parents[1] / "spec"
CATALOGUE = discover()

EXPECTED = re.compile(r'# (?:error|warning)( below)?: \[([EW]\d{4})\] "(.*?)"(?=\s*(?:#|$))')
BLOCK = re.compile(r"^```(qos|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Mistake(NamedTuple):
    line: int
    code: str
    message: str


def diagnosed(path: Path) -> list[Diagnostic]:
    problems = Problems()
    check([path], CATALOGUE, problems)
    return list(problems.all)


def told(path: Path) -> list[Mistake]:
    return [
        Mistake(found.span.source.position(found.span.start)[0], found.code, found.message)
        for found in diagnosed(path)
    ]


def expected(text: str) -> list[Mistake]:
    return [
        Mistake(number + (1 if below else 0), code, message)
        for number, line in enumerate(text.split("\n"), 1)
        for below, code, message in EXPECTED.findall(line)
    ]


def assert_told(path: Path, text: str) -> None:
    """Each expected mistake is told where it is expected, and nothing else is."""
    unexpected = told(path)
    missing = []
    for mistake in expected(text):
        found = next(
            (
                each
                for each in unexpected
                if each[:2] == mistake[:2] and mistake.message in each.message
            ),
            None,
        )
        if found is None:
            missing.append(mistake)
        else:
            unexpected.remove(found)
    assert (missing, unexpected) == ([], []), "(expected but not told, told but not expected)"


def files(folder: str) -> list[Path]:
    return sorted(path for path in (HERE / folder).iterdir() if path.suffix in SUFFIXES)


def blocks() -> Iterator[tuple[str, int, str]]:
    """Yield every example of the chapters: a file's name for it, the line above it, its text."""
    for path in sorted(SPEC.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            yield f"{path.stem}.{match[1]}", text.count("\n", 0, match.start(2)), match[2]


@pytest.mark.parametrize("path", files("accept"), ids=lambda path: path.stem)
def test_it_is_accepted(path: Path) -> None:
    assert told(path) == []


def twin_of(path: Path) -> Path:
    return HERE / "twins" / f"{path.stem}.yaml"


def tree(path: Path) -> ast.File | None:
    return tree_of(Source(path.name, path.read_text(encoding="utf-8")), Problems())


def planned(path: Path) -> tuple[Suite, tuple[CasePlan, ...]]:
    problems = Problems()
    suite = check([path], CATALOGUE, problems)
    plans = plan(suite, "0", Bounds(), problems)
    assert not problems.errors
    return suite, plans


def said(case: CasePlan) -> tuple[object, ...]:
    """Return what a plan says but for its arrays."""
    return case.case, case.trials, case.cells


@pytest.mark.parametrize("path", files("accept"), ids=lambda path: path.stem)
def test_its_twin_in_yaml_has_the_same_tree(path: Path) -> None:
    assert twin_of(path).is_file(), f"qos convert {path} --to yaml -o {twin_of(path)}"
    assert same(tree(path), tree(twin_of(path)))


@pytest.mark.parametrize("path", files("accept"), ids=lambda path: path.stem)
def test_its_twin_in_yaml_has_the_same_plan(path: Path) -> None:
    suite, plans = planned(path)
    twin, twin_plans = planned(twin_of(path))
    assert (twin.tests, twin.references) == (suite.tests, suite.references)
    assert [*map(said, twin_plans)] == [*map(said, plans)]


@pytest.mark.parametrize("path", files("twins"), ids=lambda path: path.stem)
def test_a_twin_is_of_a_file_and_is_accepted(path: Path) -> None:
    assert (HERE / "accept" / f"{path.stem}.qos").is_file()
    assert told(path) == []


@pytest.mark.parametrize("path", files("reject"), ids=lambda path: path.stem)
def test_it_is_refused_in_these_words(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert expected(text), "this file expects nothing"
    assert_told(path, text)


@pytest.mark.parametrize(
    ("chapter", "line", "text"),
    [pytest.param(*block, id=f"{block[0]}:{block[1] + 1}") for block in blocks()],
)
def test_the_chapter_s_example_is_right(chapter: str, line: int, text: str, tmp_path: Path) -> None:
    path = tmp_path / chapter
    path.write_text("\n" * line + text, encoding="utf-8")
    assert_told(path, path.read_text(encoding="utf-8"))


def test_every_folder_and_the_chapters_have_examples() -> None:
    assert files("accept")
    assert files("reject")
    assert list(blocks())
