"""Cases that share a file: what a run that was killed leaves, and what becomes of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from qospec.record import ended, store
from qospec.record.ended import CaseWriter
from qospec.record.outcome import INTERRUPTED, complete_outcome


class Clock:
    """A clock that a test sets."""

    now_s = 100.0

    def monotonic(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(ended, "time", clock)
    monkeypatch.setattr(store, "MOST_ALONE", 1)
    return clock


def begin(folder: Path, recorded: Any) -> store.Record:
    record = store.create(folder, "7")
    frame = dict(recorded.planned)
    record.begin(frame, frame.pop("planned"))
    return record


def list_cases(record: store.Record) -> dict[str, list[str]]:
    """Return by file the names of its cases."""
    files = sorted((record.folder / "cases").iterdir())
    held = {path.name: json.loads(path.read_text()) for path in files}
    return {name: [case["name"] for case in one.get("cases", [one])] for name, one in held.items()}


def test_each_of_few_cases_has_a_file_at_once(tmp_path: Path, recorded: Any) -> None:
    record, cases = begin(tmp_path, recorded), recorded.outcome["cases"]
    with CaseWriter(record, store.MOST_ALONE) as writer:
        writer.add(1, cases[0])
        assert list_cases(record) == {"0001.json": [cases[0]["name"]]}


def test_cases_of_a_second_share_a_file(tmp_path: Path, recorded: Any, clock: Clock) -> None:
    record, cases = begin(tmp_path, recorded), recorded.outcome["cases"]
    first, second = (case["name"] for case in cases[:2])
    with CaseWriter(record, 2) as writer:
        writer.add(2, cases[1])
        writer.write_due()
        assert list_cases(record) == {}
        clock.now_s += 0.9
        writer.add(1, cases[0])
        clock.now_s += 0.2
        writer.write_due()
        assert list_cases(record) == {"0002.json": [second, first]}
        assert [case["ran"] for case in record.read_outcome()["cases"][:2]] == [True, True]
    record.verify()
    record.end(recorded.outcome, recorded.timing)
    assert list_cases(record) == {}
    assert (record.folder / store.PACKED_OUTCOME).exists()
    assert record.read_outcome() == record.collect_outcome() == recorded.outcome
    record.verify()


@pytest.mark.usefixtures("clock")
def test_what_is_held_is_written_however_a_run_ends(tmp_path: Path, recorded: Any) -> None:
    record, cases = begin(tmp_path, recorded), recorded.outcome["cases"]

    def interrupt() -> None:
        with CaseWriter(record, 2) as writer:
            writer.add(1, cases[0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert list_cases(record) == {"0001.json": [cases[0]["name"]]}


@pytest.mark.parametrize("call", ["add", "write_held"])
def test_a_full_disk_in_the_middle_of_a_case_is_told_after_it(
    tmp_path: Path, recorded: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Also if the next case is added before another second is over, and so nothing is due."""
    record, cases = begin(tmp_path, recorded), recorded.outcome["cases"]

    def fail(*_: Any) -> None:
        raise store.WriteError("disk full")

    writer = CaseWriter(record, 2)
    writer.add(1, cases[0])
    monkeypatch.setattr(store, "write_whole", fail)
    clock.now_s += 2
    writer.write_due()
    monkeypatch.undo()
    with pytest.raises(store.RecordError, match="disk full"):
        writer.add(2, cases[1]) if call == "add" else writer.write_held()


@pytest.mark.usefixtures("clock")
def test_a_run_goes_on_without_what_was_cut_of_a_file(tmp_path: Path, recorded: Any) -> None:
    """The case that was cut is the first of its file, and may be the first of a new one."""
    record, cases = begin(tmp_path, recorded), recorded.outcome["cases"]
    first, second = cases[:2]
    cut = {**first, "verdict": "inconclusive", "ran": False, "errors": [INTERRUPTED]}
    frame = dict(recorded.planned)
    with CaseWriter(record, 2) as writer:
        writer.add(1, cut)
        writer.add(2, second)
    record.end(complete_outcome(frame, frame.pop("planned"), [cut, second]), recorded.timing)
    record.reopen(record.read_begun())
    assert list_cases(record) == {"0002.json": [second["name"]]}
    with CaseWriter(record, 2) as writer:
        writer.add(1, first)
    assert list_cases(record) == {"0001.json": [first["name"]], "0002.json": [second["name"]]}
    record.verify()


@pytest.mark.usefixtures("clock")
def test_more_cases_than_were_planned_are_refused(tmp_path: Path, recorded: Any) -> None:
    record, cases = begin(tmp_path, recorded), recorded.outcome["cases"]
    record.add_joined(1, [*cases, cases[0]])
    with pytest.raises(store.RecordError, match=f"holds {len(cases) + 1} cases, and {len(cases)}"):
        record.read_outcome()
