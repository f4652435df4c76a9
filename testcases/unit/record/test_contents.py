"""The schema of a record: all that a run writes is declared, and what is missing is reported."""

import shlex
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from qospec.record import schema
from qospec.record.schema import MapOf, Nullable, Optional, Shape

RECORD = Path(__file__).parents[3] / "docs" / "record.md"
CASE = ("cases", 0)
DELAYS = (*CASE, "delays", 0)
STATEMENT = (*CASE, "statements", 0)
TEST = ("tests", 0)
REFERENCE = ("references", 0)
NO_PLACE = "is not a place as `path:line:column`"
NO_COUNT = "is not a whole number of at least 0"
NO_EXACT = "is not an exact number as `-12` or `1/4096`, of at most 4_300 digits"
NO_CONFIDENCE = 'is not a confidence as `95 %`, or ""'
NO_COMMAND = 'is not a command as `qos run a.qos::case --seed 0`, or ""'
NO_SOURCE = "is not a path of the library or of the project"
SOURCE = ("provenance", "sources", 0)
NO_COUNTS = "is not whole numbers with a space between them, 1,000 at most"
NO_TIME = "is not a time as `2026-11-21T10:11:12Z`"
NO_DURATION = "is not a number of seconds"
NO_VERDICT = "is not a verdict (skip, measured, pass, inconclusive, fail, error)"


def with_damage(document: dict[str, Any], place: tuple[str | int, ...], value: object) -> Any:
    """Return a copy in which something else stands at a place."""
    whole: Any = deepcopy(document)
    *path, last = place
    holder = whole
    for key in path:
        holder = holder[key]
    holder[last] = value
    return whole


def undeclared(value: Any, shape: Shape, path: str) -> set[str]:
    """Return the fields of a record that its shape does not know."""
    while isinstance(shape, Optional | Nullable):
        shape = shape.shape
    if isinstance(value, list):
        return {found for item in value for found in undeclared(item, shape[0], path)}
    if isinstance(shape, MapOf):
        return {found for item in value.values() for found in undeclared(item, shape.values, path)}
    if not isinstance(shape, dict) or value is None:
        return set()
    known = [name for name in value if name in shape]
    strange = {f"{path}.{name}" for name in value if name not in shape}
    return strange.union(
        *(undeclared(value[name], shape[name], f"{path}.{name}") for name in known)
    )


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("planned", schema.PLAN),
        ("outcome", schema.OUTCOME),
        ("timing", schema.TIMING),
    ],
)
def test_what_a_run_writes_is_whole_and_declared(recorded, name: str, shape: Shape) -> None:
    written = getattr(recorded, name)
    assert list(schema.list_violations(written, shape)) == []
    assert undeclared(written, shape, name) == set()


def test_the_record_that_is_looked_at_has_one_of_everything(recorded) -> None:
    fails, skipped = recorded.outcome["cases"][1:]
    assert (fails["verdict"], skipped["verdict"]) == ("fail", "skip")
    assert fails["losses"]
    assert {statement["kind"] for statement in fails["statements"]} == {
        "expect",
        "report",
        "invariant",
    }
    assert any(statement.get("interval") for statement in fails["statements"])
    assert recorded.outcome["references"]


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("seed",), 7, "`seed` is not a text"),
        (("cases",), {}, "`cases` is not a list"),
        ((*CASE, "run", "repeat"), "1", f"`cases[0].run.repeat` {NO_COUNT}"),
        ((*CASE, "run", "repeat"), -1, f"`cases[0].run.repeat` {NO_COUNT}"),
        ((*CASE, "run", "repeat"), True, f"`cases[0].run.repeat` {NO_COUNT}"),
        ((*CASE, "run", "repeat"), 10**19, f"`cases[0].run.repeat` {NO_COUNT}"),
        (("schema",), True, "`schema` is not a whole number"),
        *(
            ((*CASE, "run", "measure", "value"), number, f"`cases[0].run.measure.value` {NO_EXACT}")
            for number in (
                "1e999999999",
                "1E9",
                "0x10",
                "1/0",
                "1/-2",
                "1.5",
                "1_0",
                "inf",
                "nan",
                "",
                " 1",
                "٣",
                "9" * 4_301,
                "1/" + "9" * 4_301,
            )
        ),
        (
            (*DELAYS, "least", "error"),
            "1e-999999999",
            f"`cases[0].delays[0].least.error` {NO_EXACT}",
        ),
        (
            (*STATEMENT, "confidence"),
            "1e9 %",
            f"`cases[0].statements[0].confidence` {NO_CONFIDENCE}",
        ),
        *(
            ((*SOURCE, "name"), name, f"`provenance.sources[0].name` {NO_SOURCE}")
            for name in (
                "/etc/passwd",
                "std/../../a",
                "../a.qos",
                "a/./b.qos",
                "a//b.qos",
                "",
                "..",
                "a\0b",
                "std/",
                "a" * 4_097,
                7,
            )
        ),
        (
            ("provenance", "limits", "cells per trial"),
            -1,
            f"`provenance.limits.cells per trial` {NO_COUNT}",
        ),
        ((*CASE, "ran"), 1, "`cases[0].ran` is not true or false"),
        (
            (*DELAYS, "counts"),
            "1 x",
            f"`cases[0].delays[0].counts` {NO_COUNTS}",
        ),
        (
            (*DELAYS, "per_octave"),
            3,
            "`cases[0].delays[0].per_octave` is not a power of two up to 512",
        ),
        (
            (*DELAYS, "first"),
            -1,
            "`cases[0].delays[0].first` is not a whole number up to 32768",
        ),
        *(
            ((*CASE, "again"), command, f"`cases[0].again` {NO_COMMAND}")
            for command in (
                "rm -rf ~",
                "qos runs",
                "qos run a.qos; rm -rf ~",
                "qos run $(id)",
                "qos run a.qos\nid",
                "qos run 'a.qos",
                "qos run 'a'$(id)'b'",
                "qos run a  b",
            )
        ),
        ((*CASE, "parameters"), [], "`cases[0].parameters` is not an object"),
        (
            (*CASE, "metrics", "f", "lost"),
            {"value": "1", "unit": "1"},
            "`cases[0].metrics.f.lost` has no `text`",
        ),
        (("verdict",), "perhaps", f"`verdict` {NO_VERDICT}"),
        (("verdict",), "", f"`verdict` {NO_VERDICT}"),
        (("verdict",), [], f"`verdict` {NO_VERDICT}"),
        ((*CASE, "verdict"), "passed", f"`cases[0].verdict` {NO_VERDICT}"),
        (
            (*STATEMENT, "verdict"),
            "?",
            f'`cases[0].statements[0].verdict` {NO_VERDICT}, "not applicable" or ""',
        ),
        ((*STATEMENT, "place"), "a.qos", f"`cases[0].statements[0].place` {NO_PLACE}"),
        ((*CASE, "place"), "a.qos:3", f"`cases[0].place` {NO_PLACE}"),
        ((*TEST, "place"), "a.qos:x:1", f"`tests[0].place` {NO_PLACE}"),
        ((*TEST, "place"), 3, f"`tests[0].place` {NO_PLACE}"),
        ((*REFERENCE, "place"), ":1:1", f"`references[0].place` {NO_PLACE}"),
        ((*REFERENCE, "place"), f"a.qos:{'9' * 5_000}:1", f"`references[0].place` {NO_PLACE}"),
    ],
)
def test_a_value_of_the_wrong_form_is_reported(
    recorded, place: tuple[str | int, ...], value: object, words: str
) -> None:
    damaged = with_damage(recorded.outcome, place, value)
    assert list(schema.list_violations(damaged, schema.OUTCOME)) == [words]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ((*TEST, "place"), "<stdin>:3:1"),
        ((*STATEMENT, "place"), "a:b.qos:3:1"),
        ((*STATEMENT, "verdict"), ""),
        ((*STATEMENT, "bound"), None),
        ((*CASE, "again"), ""),
        (
            (*CASE, "again"),
            shlex.join(["qos", "run", 'o\'n "$x".qos::ü', "--seed", "", "--set", "a=5 km"]),
        ),
    ],
)
def test_what_reports_can_read_is_fine(recorded, place, value) -> None:
    whole = with_damage(recorded.outcome, place, value)
    assert list(schema.list_violations(whole, schema.OUTCOME)) == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("started", "yesterday", NO_TIME),
        ("started", 7, NO_TIME),
        ("finished", None, NO_TIME),
        ("finished", "2026-11-21T10:11:12", NO_TIME),
        ("finished", "2026-13-21T10:11:12Z", NO_TIME),
        ("cases", [], "is not an object"),
    ],
)
def test_a_time_is_one(recorded, name: str, value: object, words: str) -> None:
    damaged = {**recorded.timing, name: value}
    assert list(schema.list_violations(damaged, schema.TIMING)) == [f"`{name}` {words}"]


@pytest.mark.parametrize("value", ["fast", True, -1, float("nan"), 10**400])
def test_a_duration_is_a_number_that_can_be_added_up(recorded, value: object) -> None:
    damaged = {**recorded.timing, "cases": {"a": 1, "b": value}}
    assert list(schema.list_violations(damaged, schema.TIMING)) == [f"`cases.b` {NO_DURATION}"]


@pytest.mark.parametrize("name", schema.OUTCOME)
def test_a_missing_field_is_reported_unless_it_is_optional(recorded, name: str) -> None:
    left = {key: recorded.outcome[key] for key in recorded.outcome if key != name}
    told = [] if isinstance(schema.OUTCOME[name], Optional) else [f"it has no `{name}`"]
    assert list(schema.list_violations(left, schema.OUTCOME)) == told


@pytest.mark.parametrize(
    ("heading", "shape"),
    [
        ("Quantities", schema.QUANTITY.otherwise),
        ("The outcome", schema.OUTCOME),
        ("A test", schema.TEST),
        ("A case", schema.CASE),
        ("A statement", schema.STATEMENT),
        ("A histogram of delays", schema.DELAYS),
        ("Provenance", schema.FRAME["provenance"]),
        ("Timing", schema.TIMING),
    ],
)
def test_the_documentation_says_of_each_field_whether_it_is_optional(
    heading: str, shape: dict[str, object]
) -> None:
    text = RECORD.read_text(encoding="utf-8")
    table = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| `")]
    names = [(name, "*optional*" in said) for first, said in rows for name in words(first)]
    assert dict(names) == {name: isinstance(declared, Optional) for name, declared in shape.items()}


def words(cell: str) -> list[str]:
    """Return what stands between backticks."""
    return cell.split("`")[1::2]


def test_only_what_was_used_is_defined(recorded) -> None:
    found = {
        (definition["role"], definition["name"]) for definition in recorded.outcome["definitions"]
    }
    assert {name for role, name in found if role == "arrivals"} == {"constant", "poisson"}
    metrics = {name for role, name in found if role == "metric"}
    assert metrics == {"lost", "received", "sent", "transfer_delay"}
