"""The record on disk: whole files or none, and words for what cannot be written."""

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qospec.run import contents, record

ROOT = Path(__file__).parents[3]
PLANNED = {
    "name": "a",
    "test": "a",
    "parameters": {},
    "verdict": "inconclusive",
    "run": {"repeat": 1},
    "statements": [],
    "metrics": {},
    "repeats": [],
    "losses": [],
    "why": [],
    "errors": [],
    "again": "qos run a.qos::a",
}
FRAME = {
    "schema": 1,
    "qospec": "1",
    "seed": "7",
    "tests": [],
    "references": [],
    "provenance": {
        "python": "",
        "numpy": "",
        "numba": "",
        "sources": [],
        "limits": {},
        "policy": {},
    },
}
OUTCOME = {**FRAME, "state": "complete", "verdict": "pass", "summary": {}, "cases": [PLANNED]}
TIMING = {
    "started": "2026-11-21T12:00:00Z",
    "finished": "2026-11-21T12:00:01Z",
    "cases": {"a": 0.5, "b": 1},
}
NOON = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


def test_a_record_is_named_for_its_time_and_seed(tmp_path: Path) -> None:
    assert record.create(tmp_path, "7", NOON).folder.name == "2026-11-21T12-00-00Z-7"


def test_two_records_of_one_second_do_not_mix(tmp_path: Path) -> None:
    first, second = record.create(tmp_path, "7", NOON), record.create(tmp_path, "7", NOON)
    assert second.folder.name == first.folder.name + "-2"


def test_a_document_comes_back_as_it_was(tmp_path: Path) -> None:
    kept = record.create(tmp_path, "7", NOON)
    kept.end({**OUTCOME, "seed": "Zelle ✓"}, {})
    assert kept.outcome() == {**OUTCOME, "seed": "Zelle ✓"}


def test_a_root_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "records").write_text("")
    with pytest.raises(record.RecordError, match="records"):
        record.create(tmp_path / "records", "7", NOON)


def test_a_folder_that_is_no_record_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(record.RecordError, match="is it a record"):
        record.Record(tmp_path).outcome()


@pytest.mark.parametrize("name", ["outcome.json", "run.json", "timing.json"])
@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (b"{", "it is no JSON: Expecting property name"),
        (b'{"seed": "7', "it is no JSON: Unterminated string"),
        (b'{"seed": "\xff"}', "it is no JSON: 'utf-8' codec"),
        (b"", "it is no JSON: Expecting value"),
        (b"[]", "it holds no JSON object"),
        (b"[" * 100_000, "it is nested too deeply"),
    ],
)
def test_a_broken_file_is_named_with_a_way_out(
    tmp_path: Path, name: str, broken: bytes, why: str
) -> None:
    (tmp_path / name).write_bytes(broken)
    kept = record.Record(tmp_path)
    with pytest.raises(record.RecordError) as refused:
        kept.timing() if name == "timing.json" else kept.outcome()
    assert str(refused.value).startswith(f"`{tmp_path / name}` is damaged: {why}")
    assert str(refused.value).endswith(f"; {record.WAY_OUT}")


def test_a_file_that_the_system_does_not_give_is_not_called_damaged(tmp_path: Path) -> None:
    (tmp_path / "outcome.json").mkdir()
    with pytest.raises(record.RecordError, match=r"cannot read `.*outcome\.json`: is a directory$"):
        record.Record(tmp_path).outcome()


def test_files_are_readable_json(tmp_path: Path) -> None:
    kept = record.create(tmp_path, "7", NOON)
    kept.add(1, {"verdict": "pass"})
    assert json.loads((kept.folder / "cases" / "0001.json").read_text()) == {"verdict": "pass"}


def test_a_run_that_was_killed_left_its_cases(tmp_path: Path) -> None:
    kept = record.create(tmp_path, "7", NOON)
    kept.begin(FRAME, [{**PLANNED, "name": name} for name in "ab"])
    kept.add(1, {**PLANNED, "verdict": "pass"})
    outcome = kept.outcome()
    assert (outcome["state"], outcome["verdict"]) == ("interrupted", "inconclusive")
    assert [case["verdict"] for case in outcome["cases"]] == ["pass", "inconclusive"]


@pytest.mark.parametrize("seed", ["x/../../up y", "..", "", "/", "a\nb", "ä" * 300])
def test_a_seed_never_leads_out_of_the_root(tmp_path: Path, seed: str) -> None:
    folder = record.create(tmp_path / "records", seed, NOON).folder
    assert folder.parent.resolve() == tmp_path / "records"
    assert [path.name for path in tmp_path.iterdir()] == ["records"]


def test_a_record_whose_first_file_fails_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    kept = record.create(tmp_path, "7", NOON)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(record.RecordError, match="no space left"):
        kept.begin({}, [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ({"seed": 7}, "`seed` is not a text"),
        ({"cases": [{**PLANNED, "statements": [{}]}]}, "`cases[0].statements[0]` has no `label`"),
        ({"cases": [PLANNED, {}]}, "`cases[1]` has no `name`, `cases[1]` has no `test`, "),
        ({"cases": [{**PLANNED, "metrics": {"f": {"lost": {}}}}]}, "`cases[0].metrics.f.lost` has"),
        ({"cases": {}}, "`cases` is not a list;"),
        ({"provenance": {}}, "has no `numba`, …;"),
    ],
)
def test_a_file_that_lacks_something_is_named_with_what_it_lacks_and_a_way_out(
    tmp_path: Path, damage: dict[str, object], words: str
) -> None:
    kept = record.create(tmp_path, "7", NOON)
    kept.end({**OUTCOME, **damage}, {})
    with pytest.raises(record.RecordError) as refused:
        kept.outcome()
    assert f"{kept.folder}/outcome.json` is damaged: " in str(refused.value)
    assert words in str(refused.value)
    assert str(refused.value).endswith(record.WAY_OUT)


STATEMENT = {
    "label": "a",
    "kind": "report",
    "verdict": "",
    "text": "a",
    "place": "a:b.qos:3:1",
    "measured": None,
    "comparison": "",
    "bound": None,
    "tolerance": None,
    "note": "",
}
TEST = {
    "name": "a",
    "description": "",
    "covers": [],
    "place": "<stdin>:3:1",
    "links": [],
    "controls": {},
}
REFERENCE = {"name": "a", "title": "", "place": "a.qos:1:1", "entries": []}
MISPLACED = "is not a place as `path:line:column`;"
UNDECIDED = "is not a verdict (skip, pass, inconclusive, fail, error)"


def of_case(**fields: object) -> dict[str, object]:
    return {"cases": [{**PLANNED, **fields}]}


def test_what_a_run_writes_is_whole(tmp_path: Path) -> None:
    kept = record.create(tmp_path, "7", NOON)
    whole = {**OUTCOME, "tests": [TEST], "references": [REFERENCE]}
    whole |= of_case(place="a.qos:3:1", statements=[STATEMENT, {**STATEMENT, "verdict": "fail"}])
    kept.end(whole, TIMING)
    assert kept.outcome() == whole
    assert kept.timing() == TIMING


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ({"verdict": "perhaps"}, f"`verdict` {UNDECIDED};"),
        ({"verdict": ""}, f"`verdict` {UNDECIDED};"),
        ({"verdict": []}, f"`verdict` {UNDECIDED};"),
        (of_case(verdict="passed"), f"`cases[0].verdict` {UNDECIDED};"),
        (
            of_case(statements=[{**STATEMENT, "verdict": "?"}]),
            f'`cases[0].statements[0].verdict` {UNDECIDED} or "";',
        ),
        (
            of_case(statements=[{**STATEMENT, "place": "a.qos"}]),
            f"`cases[0].statements[0].place` {MISPLACED}",
        ),
        (of_case(place="a.qos:3"), f"`cases[0].place` {MISPLACED}"),
        ({"tests": [{**TEST, "place": "a.qos:x:1"}]}, f"`tests[0].place` {MISPLACED}"),
        ({"tests": [{**TEST, "place": 3}]}, f"`tests[0].place` {MISPLACED}"),
        ({"references": [{**REFERENCE, "place": ":1:1"}]}, f"`references[0].place` {MISPLACED}"),
        (
            {"references": [{**REFERENCE, "place": f"a.qos:{'9' * 5_000}:1"}]},
            f"`references[0].place` {MISPLACED}",
        ),
    ],
)
def test_a_verdict_and_a_place_are_what_reports_read_them_as(
    tmp_path: Path, damage: dict[str, object], words: str
) -> None:
    kept = record.create(tmp_path, "7", NOON)
    kept.end({**OUTCOME, **damage}, TIMING)
    with pytest.raises(record.RecordError, match=re.escape(words)):
        kept.outcome()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ({"started": "yesterday"}, "`started` is not a time"),
        ({"started": 7}, "`started` is not a time"),
        ({"finished": None}, "`finished` is not a time"),
        ({"finished": "2026-11-21T10:11:12"}, "`finished` is not a time"),
        ({"finished": "2026-13-21T10:11:12Z"}, "`finished` is not a time"),
        ({"cases": []}, "`cases` is not an object"),
        ({"cases": {"a": "fast"}}, "`cases.a` is not a number of seconds"),
        ({"cases": {"a": True}}, "`cases.a` is not a number of seconds"),
        ({"cases": {"a": -1}}, "`cases.a` is not a number of seconds"),
        ({"cases": {"a": float("nan")}}, "`cases.a` is not a number of seconds"),
        ({"cases": {"a": 10**400}}, "`cases.a` is not a number of seconds"),
    ],
)
def test_a_damaged_timing_is_told_as_such(
    tmp_path: Path, damage: dict[str, object], words: str
) -> None:
    kept = record.create(tmp_path, "7", NOON)
    kept.end(OUTCOME, {**TIMING, **damage})
    with pytest.raises(record.RecordError) as refused:
        kept.timing()
    assert f"timing.json` is damaged: {words}" in str(refused.value)
    assert str(refused.value).endswith(record.WAY_OUT)


def test_a_run_that_was_killed_left_no_timing(tmp_path: Path) -> None:
    assert record.create(tmp_path, "7", NOON).timing() == {}


@pytest.mark.parametrize("name", OUTCOME)
def test_no_field_may_lack(tmp_path: Path, name: str) -> None:
    kept = record.create(tmp_path, "7", NOON)
    kept.end({each: OUTCOME[each] for each in OUTCOME if each != name}, {})
    with pytest.raises(record.RecordError, match=rf"outcome\.json.* it has no `{name}`;"):
        kept.outcome()


def test_what_a_run_that_was_killed_left_is_looked_at_too(tmp_path: Path) -> None:
    kept = record.create(tmp_path, "7", NOON)
    kept.begin(FRAME, [{"name": "a"}])
    with pytest.raises(record.RecordError, match=r"run\.json.*`planned\[0\]` has no `test`"):
        kept.outcome()
    kept.begin(FRAME, [PLANNED])
    kept.add(1, {"name": "a"})
    with pytest.raises(record.RecordError, match=r"0001\.json.* it has no `test`"):
        kept.outcome()


def test_a_record_of_another_schema_may_hold_something_else(tmp_path: Path) -> None:
    kept = record.create(tmp_path, "7", NOON)
    kept.end({"schema": 2}, {})
    assert kept.outcome() == {"schema": 2}


def test_so_may_what_a_run_of_another_schema_left_that_was_killed(tmp_path: Path) -> None:
    kept = record.create(tmp_path, "7", NOON)
    (kept.folder / "run.json").write_text('{"schema": 2}', encoding="utf-8")
    kept.add(1, {"name": "a"})
    assert kept.outcome() == {"schema": 2}


@pytest.mark.parametrize(
    ("heading", "shape"),
    [
        ("Quantities", contents.QUANTITY),
        ("The outcome", contents.OUTCOME),
        ("A test", contents.TEST),
        ("A case", contents.CASE),
        ("A statement", contents.STATEMENT),
        ("Provenance", contents.FRAME["provenance"]),
        ("Timing", contents.TIMING),
    ],
)
def test_the_documentation_says_of_each_field_whether_it_may_lack(
    heading: str, shape: dict[str, object]
) -> None:
    text = (ROOT / "docs" / "record.md").read_text(encoding="utf-8")
    table = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| `")]
    names = [(name, "*may lack*" in said) for first, said in rows for name in words(first)]
    assert dict(names) == {name: isinstance(each, contents.MayLack) for name, each in shape.items()}


def words(cell: str) -> list[str]:
    """Return what stands between backticks."""
    return cell.split("`")[1::2]
