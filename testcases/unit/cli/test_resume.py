"""`qos run --resume`: the bytes of an undisturbed run, or a refusal with the way out."""

import json
import os
import shutil
from pathlib import Path

import pytest
from invoking import invoke
from narrow import NARROW
from seals import seal
from torture import torture

from qospec.record.store import Record

# A case with draws, a search, a failure, and one that is skipped.
SPECIFICATION = (
    NARROW
    + """test loads on bench {
  sweep load in [1 Mbit/s @ip, 20 Mbit/s @ip]
  flow ab = packets { rate = load, size = 500 B @ip, gaps = poisson } from a to b
  run { measure = 100 ms, overload = true }
  expect nothing_lost: ab.loss <= 20 %
}
test most on bench {
  search load in 1 Mbit/s @ip .. 5 Mbit/s @ip { trial = 100 ms, goal ndr { loss = 0 } }
  flow ab = packets { rate = load, size = 500 B @ip } from a to b
}
test never on bench {
  skip unless 1 s > 2 s "never"
  flow ab = packets { rate = 100 pkt/s, size = 100 B @ip } from a to b
  run { measure = 100 ms }
  expect ab.received == 10 pkt
}
"""
)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bench.qos").write_text(SPECIFICATION)


def run(*options: str) -> Path:
    """Run the project here, and return its record."""
    ran = invoke("run", "bench.qos", "--no-progress", *options)
    assert ran.exit_code == 1, ran.output
    return Path(ran.output.rpartition("report: ")[2].strip()).parent


def kill(record: Path, *cases: int) -> Path:
    """Return the record as a run leaves it that is killed before these cases have ended."""
    left = record.with_name(f"killed-{'-'.join(map(str, cases))}")
    shutil.copytree(record, left)
    for name in ("outcome.json", "timing.json", "report.html"):
        (left / name).unlink()
    for number in cases:
        (left / "cases" / f"{number:04}.json").unlink()
    return left


def read_all(record: Path) -> dict[str, bytes]:
    """Return all files of a record that do not depend on times."""
    times = ("timing.json", "report.html", "SHA256SUMS")
    files = (path for path in record.rglob("*") if path.is_file() and path.name not in times)
    return {str(path.relative_to(record)): path.read_bytes() for path in files}


def test_a_killed_run_goes_on_to_the_bytes_of_an_undisturbed_one() -> None:
    whole = run()
    for cases in ((1, 2, 3, 4), (2, 3), ()):
        killed = kill(whole, *cases)
        resumed = invoke("run", "--resume", killed, "--no-progress")
        assert resumed.exit_code == 1, resumed.output
        assert read_all(killed) == read_all(whole)
        assert invoke("verify", killed).exit_code == 0
        shown = [
            name for name in ("loads:load=1", "loads:load=20", "most") if name in resumed.output
        ]
        assert len(shown) >= len({1, 2, 3} & set(cases))
    assert "there is nothing to resume" in invoke("run", "--resume", killed).output


def test_a_case_that_was_interrupted_is_run_again_and_the_time_of_others_is_kept() -> None:
    whole = run()
    cut = kill(whole, 2)
    record = Record(cut)
    interrupted = json.loads((whole / "cases" / "0003.json").read_text())
    interrupted |= {"verdict": "inconclusive", "ran": False}
    interrupted["errors"] = ["interrupted: only trials that had ended are counted"]
    (cut / "cases" / "0003.json").write_text(json.dumps(interrupted))
    seal(cut)
    timing = {"started": "2026-01-01T00:00:00Z", "finished": "2026-01-01T00:00:01Z"}
    record.end(record.read_outcome(), {**timing, "cases": {"loads:load=1Mbit_per_s-ip": 77.5}})
    assert "interrupted" in invoke("report", cut, "--format", "markdown").output
    assert invoke("run", "--resume", cut, "--no-progress").exit_code == 1
    assert read_all(cut) == read_all(whole)
    kept = record.read_timing()
    assert kept["started"] == "2026-01-01T00:00:00Z"
    assert kept["cases"]["loads:load=1Mbit_per_s-ip"] == 77.5
    assert set(kept["cases"]) == {"loads:load=1Mbit_per_s-ip", "loads:load=20Mbit_per_s-ip", "most"}


def test_a_part_goes_on_as_that_part_with_its_options_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = (
        "--part",
        "1/2",
        "--seed",
        "x",
        "--keep-going",
        "-k",
        "not never",
        "--set",
        "room=5pkt",
    )
    invoke("run", "bench.qos", "--no-progress", *options)
    whole = max(Path("records").iterdir()).resolve()
    killed = kill(whole, 3)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    resumed = invoke("run", "--resume", killed, "--no-progress", "-j", "2")
    assert "part 1/2: 2 of 3 cases" in resumed.output
    assert read_all(killed) == read_all(whole)


def test_a_run_that_a_failure_stopped_goes_on() -> None:
    whole, stopped = run(), run("-x", "--record", "stopped")
    outcome = json.loads((stopped / "outcome.json").read_text())
    assert (outcome["state"], outcome["summary"]["not run"]) == ("stopped", 2)
    assert invoke("verify", stopped).exit_code == 0
    assert invoke("run", "--resume", stopped, "--no-progress").exit_code == 1
    assert read_all(stopped) == read_all(whole)


def test_last_is_the_latest_record() -> None:
    whole = run()
    (whole / "outcome.json").unlink()
    assert invoke("run", "--resume", "last", "--no-progress").exit_code == 1
    assert (whole / "outcome.json").exists()
    none = invoke("run", "--resume", "last", "--record", "elsewhere")
    assert (none.exit_code, "`elsewhere` holds no record yet" in none.output) == (2, True)


def test_what_is_not_as_it_was_is_refused() -> None:
    killed = kill(run(), 2)
    before = read_all(killed)

    def refuse(*options: object) -> str:
        refused = invoke("run", *options, "--resume", killed)
        assert (refused.exit_code, read_all(killed)) == (2, before), refused.output
        return refused.output

    said = refuse("bench.qos", "--seed", "7")
    assert "goes on as the record says: leave out the path and `--seed`" in said
    Path("bench.qos").write_text(SPECIFICATION.replace("room = 4", "room = 5"))
    assert "`bench.qos` is not what it was when the run began; put it back, or run it" in refuse()
    Path("bench.qos").unlink()
    assert "no folder here, at the record or above holds `bench.qos`; go to its" in refuse()
    Path("bench.qos").write_text(SPECIFICATION)
    plan = json.loads((killed / "run.json").read_text())
    plan["provenance"]["numpy"] = "1.99"
    (killed / "run.json").write_text(json.dumps(plan))
    seal(killed)
    before = read_all(killed)
    assert "it began with numpy 1.99, and this is" in refuse()


def test_two_runs_do_not_write_into_one_record() -> None:
    killed = kill(run(), 2)
    with Record(killed).reserve():
        refused = invoke("run", "--resume", killed, "--no-progress")
    assert refused.exit_code == 4
    assert f"another `qos run` writes into `{killed}`" in refused.output


@pytest.mark.slow
def test_what_is_killed_or_has_no_room_goes_on_to_the_same_bytes() -> None:
    """`make torture` does so a hundred times."""
    assert all(score.tried == score.survived for score in torture(1, 0, 0, 20, seed=1))


def test_a_full_disk_ends_the_run_with_what_goes_on_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = run()
    synced: list[int] = []

    def fail(descriptor: int) -> None:
        synced.append(descriptor)
        if len(synced) > 5:
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", fail)
        ended = invoke("run", "bench.qos", "--no-progress", "--record", "full")
    (left,) = Path("full").iterdir()
    assert ended.exit_code == 4
    assert "no space left on device" in ended.output
    assert ended.output.endswith(f"go on: qos run --resume {left}\n")
    assert invoke("run", "--resume", left, "--no-progress").exit_code == 1
    assert read_all(left) == read_all(whole)


def test_a_file_that_was_half_written_is_gone() -> None:
    whole = run()
    for cases in ((2,), ()):
        killed = kill(whole, *cases) if cases else whole
        for name in ("cases/.0002.json.x1y2z3_4", ".report.html.x1y2z3_4"):
            (killed / name).write_text("{")
        note = killed / ".note.txt.x1y2z3_4"
        note.write_text("mine")
        invoke("run", "--resume", killed, "--no-progress")
        note.unlink()
        assert not [*killed.rglob(".*")]
        assert read_all(killed) == read_all(whole)


def test_cases_that_the_outcome_has_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run was killed when its outcome was written, and before it removed them."""
    monkeypatch.setattr("qospec.record.store.MOST_ALONE", 2)
    whole = run()
    with monkeypatch.context() as patched:
        patched.setattr(Record, "remove_cases", lambda _: None)
        killed = run("--record", "killed", "--again")
    assert [*(killed / "cases").iterdir()]
    assert "nothing to resume" in invoke("run", "--resume", killed).output
    assert read_all(killed) == read_all(whole)
    assert invoke("verify", killed).exit_code == 0


def test_a_run_whose_cases_share_files_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a run that was killed; of one that was stopped; with two processes."""
    monkeypatch.setattr("qospec.record.store.MOST_ALONE", 2)
    whole = run()
    assert sorted(read_all(whole)) == ["outcome.json.gz", "run.json"]
    stopped = run("-x", "--record", "stopped")
    assert len(list((stopped / "cases").iterdir())) == 1
    assert invoke("verify", stopped).exit_code == 0
    killed = stopped.with_name("killed")
    shutil.copytree(stopped, killed)
    for name in ("outcome.json.gz", "timing.json", "report.html"):
        (killed / name).unlink()
    for record, jobs in ((stopped, "1"), (killed, "2")):
        resumed = invoke("run", "--resume", record, "--no-progress", "-j", jobs)
        assert resumed.exit_code == 1, resumed.output
        assert read_all(record) == read_all(whole)
        assert invoke("verify", record).exit_code == 0
