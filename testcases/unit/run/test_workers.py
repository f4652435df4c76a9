"""Workers: what happens to cases when one of them is killed."""

import multiprocessing
import os
import signal
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from qospec.engine import kernel
from qospec.run import workers
from qospec.run.crews.processes import ProcessCrew
from qospec.run.job import Job, JobResult
from qospec.run.schedule import PlainRun, Schedule

STAYS_S = 300


def record_try(folder: Path, name: str) -> int:
    """Leave a mark; return how many there are of this name."""
    (folder / f"{name} {os.getpid()}").touch()
    return len(list(folder.glob(f"{name} *")))


class Bench(NamedTuple):
    """Where these jobs are done: in a worker, which leaves marks in a folder."""

    folder: Path

    def do(self, name, hear):
        waits = {"first": "begun", "last": "cancelled"}
        if name == "ahead":
            return goes_on(self.folder, hear)
        return waits_for(self.folder / waits[name]) if name in waits else work(self, name, hear)


def work(bench, name, hear):
    """Do what the name says."""
    tries = record_try(bench.folder, name)
    if name == "dies" or (name == "dies once" and tries == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "stays":
        time.sleep(STAYS_S)
    if name == "leaves":
        os._exit(7)
    if name == "breaks":
        raise KeyError("ours")
    if name == "tells":
        kernel.notices["compiling"]()
    if name == "hears":
        hear._sent_s -= 1_000
        hear(0.5)
        hear(0.6)
    return JobResult({"name": name, "pid": os.getpid()}, 1.0, 0.0)


def lost(name, why):
    return JobResult({"name": name, "lost": why.why}, 0.0, 0.0)


def ended(folder: Path, *names: str, most: int = 2, on_progress=print, **more):
    asked = {"notices": {}, "on_wait": lambda: None, **more}
    runs = [PlainRun(name, name, partial(lost, name)) for name in names]
    pool = workers.Pool(ProcessCrew(most, Bench(folder), asked["notices"]))
    found = list(workers.run(Schedule(runs, on_progress), pool, **asked))
    assert not pool.busy
    assert not multiprocessing.active_children()
    assert [names[job.place] for job in found] == [job.result.document["name"] for job in found]
    return [job.result.document for job in found]


@pytest.mark.slow
def test_a_case_whose_worker_is_killed_is_tried_once_more_and_all_others_run(
    tmp_path: Path,
) -> None:
    gave = ended(tmp_path, "one", "dies once", "two", "three")
    documents = {document["name"]: document for document in gave}
    assert Counter(document["name"] for document in gave) == dict.fromkeys(documents, 1)
    assert set(documents) == {"one", "dies once", "two", "three"}
    assert len(list(tmp_path.glob("dies once *"))) == 2
    assert sum(len(list(tmp_path.glob(f"{name} *"))) for name in ("one", "two", "three")) == 3
    assert (tmp_path / f"dies once {documents['dies once']['pid']}").exists()


@pytest.mark.slow
def test_a_case_that_kills_each_worker_is_lost_after_two_and_no_other_is(tmp_path: Path) -> None:
    gave = ended(tmp_path, "dies", "one", "leaves", "two")
    lost = {document["name"]: document["lost"] for document in gave if "lost" in document}
    assert lost == {
        "dies": "its worker process was killed by SIGKILL; perhaps the machine ran out of memory",
        "leaves": "its worker process ended with exit code 7",
    }
    assert {document["name"] for document in gave if "lost" not in document} == {"one", "two"}
    assert len(list(tmp_path.glob("dies *"))) == len(list(tmp_path.glob("leaves *"))) == 2


@pytest.mark.slow
def test_a_mistake_of_ours_is_not_hidden(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="ours"):
        ended(tmp_path, "one", "breaks")


@pytest.mark.slow
def test_one_of_all_workers_gives_notice_and_progress_is_reported(tmp_path: Path) -> None:
    told: list[str] = []
    heard: list[tuple[str, float]] = []
    ended(
        tmp_path,
        *("tells", "hears", "tells", "tells"),
        notices={"compiling": lambda: told.append("compiling")},
        on_progress=lambda name, share: heard.append((name, share)),
    )
    assert told == ["compiling"]
    assert heard == [("hears", 0.5)]


class Hasty:
    """A case whose first job is all that it needs; another one, which never ends, may run ahead."""

    name, result = "hasty", None

    def __init__(self) -> None:
        self.jobs = [Job(0, "stays"), Job(0, "one")]

    def hand_out_job(self, _place, *, ahead):
        return self.jobs.pop() if len(self.jobs) > (not ahead) else None

    def compute_progress(self, _job, share):
        return share

    def take(self, _job, result):
        self.result = result

    def drops(self, job):
        return job.name == "stays"


@pytest.mark.slow
def test_nobody_waits_for_what_runs_ahead_and_is_not_needed(tmp_path: Path) -> None:
    began_s = time.monotonic()
    pool = workers.Pool(ProcessCrew(2, Bench(tmp_path)))
    (ended,) = workers.run(Schedule([Hasty()]), pool, {}, lambda: None)
    assert ended.result.document["name"] == "one"
    assert time.monotonic() - began_s < STAYS_S
    assert not multiprocessing.active_children()


def goes_on(folder: Path, hear) -> str:
    """Do nothing but report progress, until it is cancelled."""
    try:
        while record_try(folder, "goes on"):
            hear(0.5)
            time.sleep(0.01)
    finally:
        (folder / "cancelled").touch()


def waits_for(path: Path) -> JobResult:
    """End when there is a file; the result says which process saw it."""
    while not path.exists():
        time.sleep(0.01)
    return JobResult({"name": path.name, "pid": os.getpid()}, 1.0, 0.0)


class Wavering:
    """A case whose second job runs ahead and is not needed after the first; its third is."""

    name, result = "wavering", None

    def __init__(self) -> None:
        self.given, self.taken = [], []

    def hand_out_job(self, _place, *, ahead):
        due = "first" if not self.given else "ahead" if ahead else "last" if self.taken else None
        if due is None or due in self.given:
            return None
        self.given.append(due)
        return Job(0, due)

    def compute_progress(self, _job, share):
        return share

    def take(self, job, result):
        self.taken.append(job.name)
        if job.name == "last":
            self.result = result

    def drops(self, job):
        return job.name == "ahead"


@pytest.mark.slow
def test_a_job_that_turns_out_not_to_be_needed_is_cancelled(tmp_path: Path) -> None:
    """The last job ends when the one that ran ahead has been."""
    (tmp_path / "begun").touch()
    case = Wavering()
    pool = workers.Pool(ProcessCrew(2, Bench(tmp_path)))
    (ended,) = workers.run(Schedule([case]), pool, {}, lambda: None)
    assert ended.result.document["name"] == "cancelled"
    assert case.taken == ["first", "last"]


@pytest.mark.slow
def test_what_is_raised_while_waiting_ends_the_workers(tmp_path: Path) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ended(tmp_path, "one", "two", on_wait=stop)
    assert not multiprocessing.active_children()
