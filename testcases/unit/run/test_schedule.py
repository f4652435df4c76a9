"""The order in which jobs are handed out: needed ones first, those that may be needed last."""

import pytest

from qospec.run.job import Job, JobResult, LostJob
from qospec.run.schedule import PlainRun, Schedule, run_here


class Steps:
    """A case of some jobs, each of which follows from the one before; all may be run ahead."""

    def __init__(self, name: str, count: int) -> None:
        self.name, self.count = name, count
        self.given: set[int] = set()
        self.results: dict[int, str] = {}
        self.result = None

    def hand_out_job(self, place, *, ahead):
        known = len(self.results)
        numbers = range(known, self.count if ahead else min(known + 1, self.count))
        number = next((number for number in numbers if number not in self.given), None)
        if number is None:
            return None
        self.given.add(number)
        return Job(place, f"{self.name}{number}")

    def compute_progress(self, job, share):
        return (int(job.name[1:]) + share) / self.count

    def take(self, job, result):
        self.results[int(job.name[1:])] = result
        if len(self.results) == self.count:
            self.result = JobResult({"name": self.name}, 1.0, 0.0)


class Bench:
    """Where these jobs are done."""

    def do(self, name, hear):
        if name[1:]:
            return name
        hear(0.5)
        return JobResult({"name": name}, 1.0, 0.0)


def plain(name: str) -> PlainRun:
    return PlainRun(name, name, lambda _: JobResult({"name": f"lost {name}"}, 0.0, 0.0))


def test_in_this_process_nothing_is_run_ahead_and_cases_end_in_order() -> None:
    runs = [plain("a"), Steps("b", 3), plain("c")]
    heard = []
    schedule = Schedule(runs, lambda name, share: heard.append((name, share)))
    ended = list(run_here(schedule, Bench(), lambda: None))
    assert [(job.place, job.result.document["name"]) for job in ended] == [
        (0, "a"),
        (1, "b"),
        (2, "c"),
    ]
    assert heard == [("a", 0.5), ("c", 0.5)]
    assert runs[1].results == {0: "b0", 1: "b1", 2: "b2"}


def test_cases_are_begun_before_anything_is_run_ahead() -> None:
    schedule = Schedule([Steps("a", 3), plain("b"), Steps("c", 2)])
    jobs = [schedule.hand_out_job() for _ in range(4)]
    assert [job and (job.place, job.name) for job in jobs] == [(0, "a0"), (1, "b"), (2, "c0"), None]
    ahead = [schedule.hand_out_job(ahead=True) for _ in range(4)]
    assert [job and (job.place, job.name) for job in ahead] == [
        (0, "a1"),
        (0, "a2"),
        (2, "c1"),
        None,
    ]


def test_a_job_that_follows_is_handed_out_before_another_case_is_begun() -> None:
    schedule = Schedule([Steps("a", 2), plain("b")])
    first = schedule.hand_out_job()
    schedule.take(first, "a0")
    assert [schedule.hand_out_job().place for _ in range(2)] == [0, 1]


def test_a_job_ahead_that_ends_after_its_case_is_ignored() -> None:
    schedule = Schedule([Steps("a", 1)])
    job = schedule.hand_out_job()
    schedule.take(job, "a0")
    assert [ended.place for ended in schedule.take_ended()] == [0]
    schedule.take(job._replace(name="a7"), "a7")
    schedule.note_progress(job, 0.5)
    assert list(schedule.take_ended()) == []


def test_a_plain_case_that_is_lost_has_a_result_too() -> None:
    schedule = Schedule([plain("a")])
    schedule.take(schedule.hand_out_job(), LostJob("why"))
    (ended,) = schedule.take_ended()
    assert ended.result.document == {"name": "lost a"}


def test_what_is_raised_at_a_pause_ends_the_run() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_here(Schedule([plain("a")]), Bench(), stop))
