"""Repairs: edits that do not meet are made together, and no fix makes a file worse."""

import shutil
from pathlib import Path

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Diagnostic, Edit, Problems, correct_spelling
from qospec.repair import ROUNDS, RepairError, apply_fixes, repair, rewrite
from qospec.resources import STDLIB
from qospec.source import Source, Span

CATALOGUE = discover()
REFUSED = sorted((Path(__file__).parents[1] / "language" / "reject").glob("*.qos"))


def edit(text: str, start: int, end: int, new: str) -> tuple[Edit, ...]:
    return (Edit(Span(Source("a.qos", text), start, end), new),)


def checked(path: Path) -> Problems:
    problems = Problems()
    check([path], CATALOGUE, problems)
    return problems


def test_edits_that_do_not_meet_are_made_together() -> None:
    text = "abcdef"
    fixes = [edit(text, 4, 5, "E"), edit(text, 0, 1, "A"), edit(text, 2, 2, "-")]
    assert apply_fixes(text, fixes) == ("Ab-cdEf", 3)


@pytest.mark.parametrize(("start", "end"), [(1, 4), (2, 3), (3, 5), (3, 3)])
def test_of_edits_that_meet_the_first_is_made(start: int, end: int) -> None:
    text = "abcdef"
    fixes = [edit(text, 1, 3, "X"), edit(text, start, end, "Y")]
    assert apply_fixes(text, fixes) == ("aXdef", 1)


def test_a_fix_is_made_whole_or_not_at_all() -> None:
    text = "abcdef"
    both = (*edit(text, 0, 1, "A"), *edit(text, 4, 5, "E"))
    assert apply_fixes(text, [edit(text, 0, 1, "x"), both]) == ("xbcdef", 1)


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_no_fix_makes_a_file_worse(tmp_path: Path, path: Path) -> None:
    """Whatever was fixed is gone, and nothing is told that was not told before."""
    copy = tmp_path / path.name
    shutil.copy(path, copy)
    before = checked(copy)
    repaired = repair(lambda: checked(copy), [copy])
    told = {(problem.code, problem.message) for problem in before.all}
    new = [
        problem for problem in repaired.problems.all if (problem.code, problem.message) not in told
    ]
    # What nothing uses is told only where nothing is wrong.
    assert [
        problem for problem in new if not (before.errors and problem.code.startswith("W062"))
    ] == []
    left = len(repaired.problems.all) - len(new)
    assert left <= len(before.all) - repaired.fixed
    if not repaired.fixed:
        assert copy.read_bytes() == path.read_bytes()


def test_an_import_that_is_missing_is_added(tmp_path: Path) -> None:
    """Also where a field has the name of the file that it needs."""
    copy = tmp_path / "import_missing.qos"
    shutil.copy(REFUSED[0].parent / copy.name, copy)
    assert repair(lambda: checked(copy), [copy]).problems.all == ()
    assert copy.read_text(encoding="utf-8").startswith("qos 1\nimport std.dscp\nimport std.media\n")


FIXED = {
    "w.rx -> q -> e.rx": "w.rx -> q -> e.tx",
    "w.rx -> q -> e": "w.rx -> q -> e.tx",
    "w.rx -> q -> e.tx;": "w.rx -> q -> e.tx",
    "w.rx -> q -> e.t\u200bx": "w.rx -> q -> e.tx",
    "w.rx -> q -> e.tx\r  e.rx -> discard": "w.rx -> q -> e.tx\n  e.rx -> discard",
}


@pytest.mark.parametrize("written", FIXED)
def test_what_a_help_says_to_write_is_written(tmp_path: Path, written: str) -> None:
    text = "qos 1\ndevice d {\n  port w, e: cell\n  q = fifo { limit = 9 cell }\n  %s\n}\n"
    path, meant = tmp_path / "a.qos", text % FIXED[written]
    path.write_bytes((text % written).encode())
    repaired = repair(lambda: checked(path), [path])
    assert path.read_text(encoding="utf-8") == meant
    assert not {problem.code for problem in repaired.problems.all} & {"E0407", "E0009"}


@pytest.mark.parametrize(
    ("between", "joined"),
    [(", ", "a.lost == 0 and (a.lost < 1 or a.sent > 3)"), ("\n  trial = 1 s\n  ", "")],
)
def test_two_conditions_of_a_goal_are_joined(tmp_path: Path, between: str, joined: str) -> None:
    goal = f"meets = a.lost == 0{between}meets = a.lost < 1 or a.sent > 3"
    path = tmp_path / "a.qos"
    search = f"search r in 1 cell/s .. 9 cell/s {{\n    goal g {{ {goal} }}\n  }}"
    link = "link x -- y via line { rate = 9 Mbit/s @cell }"
    path.write_text(
        f"qos 1\ntopology t {{\n  x, y = host\n  {link}\n}}\ntest s on t {{\n  {search}\n"
        "  flow a = cbr { pcr = r } from x to y\n}\n",
        encoding="utf-8",
    )
    repair(lambda: checked(path), [path])
    text = path.read_text(encoding="utf-8")
    assert f"goal g {{ meets = {joined} }}" in text if joined else goal in text


@pytest.mark.slow
def test_many_of_them_are_fixed() -> None:
    assert sum(any(problem.fix for problem in checked(path).all) for path in REFUSED) >= 20


def test_it_ends_even_if_a_fix_mends_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.qos"
    path.write_text("x", encoding="utf-8")

    def always() -> Problems:
        problems = Problems()
        source = Source(str(path), path.read_text(encoding="utf-8"))
        span = Span(source, 0, 0)
        problems.add(Diagnostic("E0001", "more is wanted", span, fix=(Edit(span, "x"),)))
        return problems

    assert repair(always, [path]).fixed == ROUNDS
    assert path.read_text(encoding="utf-8") == "x" * (ROUNDS + 1)


def test_the_library_is_never_changed() -> None:
    path = STDLIB / "media.qos"
    before = path.read_bytes()

    def wrong() -> Problems:
        problems = Problems()
        span = Span(Source(str(path), before.decode()), 0, 0)
        problems.add(Diagnostic("E0001", "not this", span, fix=(Edit(span, "x"),)))
        return problems

    assert repair(wrong, [STDLIB]).fixed == 0
    assert path.read_bytes() == before


def test_what_changed_meanwhile_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a.qos"
    path.write_text("new", encoding="utf-8")
    with pytest.raises(RepairError, match="changed while it was being checked"):
        rewrite(Source(str(path), "old"), "mine")
    assert path.read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize(
    ("written", "known", "meant"),
    [
        ("cvdt", ["cdvt", "pcr"], "cdvt"),
        ("lenght", ["length", "rate"], "length"),
        ("PCR", ["pcr", "scr"], "pcr"),
        ("mcr", ["pcr", "clp"], ""),
        ("limits", ["limit", "limit_2"], ""),
        ("colour", ["length"], ""),
    ],
)
def test_a_name_is_respelt_only_if_nothing_else_can_be_meant(
    written: str, known: list[str], meant: str
) -> None:
    span = Span(Source("a", written), 0, len(written))
    assert [edit.text for edit in correct_spelling(span, written, known)] == (
        [meant] if meant else []
    )
