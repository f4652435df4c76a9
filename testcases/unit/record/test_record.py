"""The record on disk: whole files or none, and words for what cannot be written."""

import json
import os
import re
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from seals import seal

from qospec.document import write_json
from qospec.record import store
from qospec.record.outcome import complete_outcome

NOON = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


def test_a_record_is_named_for_its_time_and_seed(tmp_path: Path) -> None:
    assert store.create(tmp_path, "7", NOON).folder.name == "2026-11-21T12-00-00Z-7"


def test_two_records_of_one_second_do_not_mix(tmp_path: Path) -> None:
    first, second = store.create(tmp_path, "7", NOON), store.create(tmp_path, "7", NOON)
    assert second.folder.name == first.folder.name + "-2"


def test_documents_come_back_as_they_were(tmp_path: Path, recorded: Any) -> None:
    kept = begun(tmp_path, recorded)
    outcome = {**recorded.outcome, "seed": "Zelle ✓"}
    kept.end(outcome, recorded.timing)
    assert (kept.read_outcome(), kept.read_timing()) == (outcome, recorded.timing)


def test_a_root_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "records").write_text("")
    with pytest.raises(store.RecordError, match="records"):
        store.create(tmp_path / "records", "7", NOON)


def test_a_folder_that_is_no_record_is_reported(tmp_path: Path) -> None:
    with pytest.raises(store.RecordError, match="is it a record"):
        store.Record(tmp_path).read_outcome()


@pytest.mark.parametrize("name", ["outcome.json", "run.json", "timing.json"])
@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (b"{", "it is not JSON: Expecting property name"),
        (b'{"seed": "7', "it is not JSON: Unterminated string"),
        (b'{"seed": "\xff"}', "it is not JSON: 'utf-8' codec"),
        (b"", "it is not JSON: Expecting value"),
        (b"[]", "it is not a JSON object"),
        (b"[" * 100_000, "it is nested too deeply"),
    ],
)
def test_a_broken_file_is_named_with_a_way_out(
    tmp_path: Path, name: str, broken: bytes, why: str
) -> None:
    (tmp_path / name).write_bytes(broken)
    seal(tmp_path)
    kept = store.Record(tmp_path)
    with pytest.raises(store.RecordError) as refused:
        kept.read_timing() if name == "timing.json" else kept.read_outcome()
    assert str(refused.value).startswith(f"`{tmp_path / name}` is damaged: {why}")
    assert str(refused.value).endswith(f"; {store.REMEDY}")


def test_a_file_that_the_system_does_not_give_is_not_called_damaged(tmp_path: Path) -> None:
    (tmp_path / "outcome.json").mkdir()
    seal(tmp_path)
    with pytest.raises(store.RecordError, match=r"cannot read `.*outcome\.json`: is a directory$"):
        store.Record(tmp_path).read_outcome()


def test_files_are_readable_json(tmp_path: Path) -> None:
    kept = store.create(tmp_path, "7", NOON)
    kept.add(1, {"verdict": "pass"})
    assert json.loads((kept.folder / "cases" / "0001.json").read_text()) == {"verdict": "pass"}


def test_a_run_that_was_killed_left_its_cases(tmp_path: Path, recorded: Any) -> None:
    kept = begun(tmp_path, recorded)
    first, *_ = recorded.outcome["cases"]
    kept.add(1, first)
    outcome = kept.read_outcome()
    assert (outcome["state"], outcome["verdict"]) == ("interrupted", "inconclusive")
    assert outcome["cases"] == [first, *recorded.planned["planned"][1:]]


def begun(root: Path, recorded: Any) -> store.Record:
    """Return the record of a run that has begun with what another did."""
    kept = store.create(root, "7", NOON)
    frame = dict(recorded.planned)
    kept.begin(frame, frame.pop("planned"))
    return kept


@pytest.mark.parametrize("seed", ["x/../../up y", "..", "", "/", "a\nb", "ä" * 300])
def test_a_seed_never_leads_out_of_the_root(tmp_path: Path, seed: str) -> None:
    folder = store.create(tmp_path / "records", seed, NOON).folder
    assert folder.parent.resolve() == tmp_path / "records"
    assert [path.name for path in tmp_path.iterdir()] == ["records"]


def test_a_record_whose_first_file_fails_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    kept = store.create(tmp_path, "7", NOON)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(store.RecordError, match="no space left"):
        kept.begin({}, [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("lacks", "told"),
    [
        (["seed"], "it has no `seed`"),
        (["qospec", "seed", "tests"], "it has no `qospec`, it has no `seed`, it has no `tests`"),
        (
            ["qospec", "seed", "tests", "cases"],
            "it has no `qospec`, it has no `seed`, it has no `tests`, …",
        ),
    ],
)
def test_an_incomplete_file_is_reported_with_what_is_missing_and_a_remedy(
    tmp_path: Path, recorded: Any, lacks: list[str], told: str
) -> None:
    kept = begun(tmp_path, recorded)
    outcome = recorded.outcome
    kept.end({name: outcome[name] for name in outcome if name not in lacks}, {})
    with pytest.raises(store.RecordError) as refused:
        kept.read_outcome()
    damaged = f"`{kept.folder}/outcome.json` is damaged: {told}; {store.REMEDY}"
    assert str(refused.value) == damaged


def test_an_incomplete_timing_is_reported(tmp_path: Path, recorded: Any) -> None:
    kept = begun(tmp_path, recorded)
    kept.end(recorded.outcome, {**recorded.timing, "started": "yesterday"})
    with pytest.raises(store.RecordError, match=r"timing\.json` is damaged: `started` is not"):
        kept.read_timing()


def test_a_run_that_was_killed_left_no_timing(tmp_path: Path) -> None:
    assert store.create(tmp_path, "7", NOON).read_timing() == {}


@pytest.mark.parametrize("name", ["run.json", "cases/0001.json"])
def test_what_a_run_that_was_killed_left_is_looked_at_too(
    tmp_path: Path, recorded: Any, name: str
) -> None:
    kept = begun(tmp_path, recorded)
    kept.add(1, recorded.outcome["cases"][0])
    (kept.folder / name).write_text("{}", encoding="utf-8")
    seal(kept.folder)
    with pytest.raises(store.RecordError, match=f"{name}` is damaged: it has no "):
        kept.read_outcome()


@pytest.mark.parametrize("name", ["outcome.json", "run.json"])
@pytest.mark.parametrize("version", ["2", '"x"', "[]", "null", "{}"])
def test_a_record_of_another_schema_is_refused_by_its_version(
    tmp_path: Path, name: str, version: str
) -> None:
    (tmp_path / name).write_text(f'{{"schema": {version}}}', encoding="utf-8")
    seal(tmp_path)
    words = f"{name}` has schema {version}, and this version of qospec reads 1: use the one that"
    with pytest.raises(store.RecordError, match=re.escape(words)):
        store.Record(tmp_path).read_outcome()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"schema": 1, "schema": 1}', "`schema` is given twice in an object"),
        ('{"a": {"b": 1, "c": 2, "c": 2}}', "`c` is given twice in an object"),
        ('{"a": NaN}', "`NaN` is no number of JSON"),
        ('{"a": -Infinity}', "`-Infinity` is no number of JSON"),
        ('{"a": ' + "9" * 5_000 + "}", "Exceeds the limit"),
    ],
)
def test_what_readers_of_json_read_in_several_ways_is_refused(
    tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "outcome.json").write_text(text, encoding="utf-8")
    seal(tmp_path)
    with pytest.raises(store.RecordError, match=re.escape(f"damaged: it is not JSON: {why}")):
        store.Record(tmp_path).read_outcome()


def test_a_file_beyond_all_bounds_is_not_read(
    tmp_path: Path, recorded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = begun(tmp_path, recorded)
    kept.end(recorded.outcome, recorded.timing)
    data = (kept.folder / "outcome.json").read_bytes()
    values = sum(map(data.count, (b",", b"{", b"[")))
    for name, most in (("MAX_BYTES", len(data)), ("MAX_VALUES", values)):
        with monkeypatch.context() as bounds:
            bounds.setattr(store, name, most)
            assert kept.read_outcome() == recorded.outcome
            bounds.setattr(store, name, most - 1)
            with pytest.raises(store.RecordError, match=r"outcome\.json` is too large: the files"):
                kept.read_outcome()


def test_the_cases_of_a_run_that_was_killed_are_bounded_together(
    tmp_path: Path, recorded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = begun(tmp_path, recorded)
    cases = recorded.outcome["cases"]
    for number, case in enumerate(cases, 1):
        kept.add(number, case)
    sizes = [path.stat().st_size for path in (kept.folder / "cases").iterdir()]
    with monkeypatch.context() as bounds:
        most = max(sum(sizes), (kept.folder / "run.json").stat().st_size)
        bounds.setattr(store, "MAX_BYTES", most)
        assert kept.read_outcome()["cases"] == cases
        bounds.setattr(store, "MAX_BYTES", sum(sizes) - 1)
        with pytest.raises(store.RecordError, match="is too large"):
            kept.read_outcome()
    kept.add(len(cases) + 1, cases[0])
    with pytest.raises(store.RecordError, match=f"holds {len(cases) + 1} cases, and {len(cases)}"):
        kept.read_outcome()


@pytest.mark.slow
def test_a_record_takes_no_more_memory_than_its_file_and_text(
    tmp_path: Path, recorded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values of their own for each place would take three times the file beside its text."""
    frame = dict(recorded.planned)
    one, *_ = frame.pop("planned")
    done, *_ = recorded.outcome["cases"]
    names = [f"{one['name']} {number}" for number in range(30)]
    planned = [{**one, "name": name} for name in names]
    outcome = complete_outcome(frame, planned, [{**done, "name": name} for name in names])
    kept = store.create(tmp_path, "7", NOON)
    kept.begin(frame, planned)
    kept.end(outcome, recorded.timing)
    size = len(write_json(outcome))
    for room, name in ((store, "MAX_BYTES"), (store.seal, "LONGEST")):
        monkeypatch.setattr(room, name, size)  # room is made for as much before a file is read
    tracemalloc.start()
    try:
        read = kept.read_outcome()
        left, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert read == outcome
    assert left < 1.5 * size
    assert peak < 3 * size


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "outcome.json")
    seal(tmp_path)
    with pytest.raises(store.RecordError, match=r"outcome\.json`: it is not a file"):
        store.Record(tmp_path).read_outcome()
