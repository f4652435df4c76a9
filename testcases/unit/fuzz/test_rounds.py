"""Targets take turns where the time is limited, and compiling does not count."""

import pytest

from qospec.fuzz import campaign
from qospec.fuzz.rounds import Rounds, count_examples
from qospec.run.job import Job, JobResult


class Timed:
    """A run whose jobs take so many seconds each."""

    def __init__(self, name: str, seconds: float, ends_after: int) -> None:
        self.name = name
        self.spent_s = 0.0
        self.result: JobResult | None = None
        self._seconds = seconds
        self._left = ends_after

    def hand_out_job(self, place: int, *, ahead: bool) -> Job | None:
        """Return another job, unless it has ended."""
        assert not ahead
        if self.result is not None:
            return None
        self.spent_s += self._seconds
        self._left -= 1
        if not self._left:
            self.result = JobResult({}, 0.0, 0.0)
        return Job(place, self.name)


def order(*runs: Timed) -> str:
    """Return the names of the runs whose jobs are handed out, in order."""
    schedule, found = Rounds(runs), ""
    while (job := schedule.hand_out_job()) is not None:
        found += runs[job.place].name
    return found


def test_each_has_a_turn_before_any_has_a_second() -> None:
    assert order(Timed("a", 1, 3), Timed("b", 1, 3), Timed("c", 1, 3)) == "abcabcabc"


def test_turns_are_shared_by_time() -> None:
    assert order(Timed("a", 3, 2), Timed("b", 1, 4)) == "abbbabb"[:6]


def test_the_time_of_one_that_ends_is_left_to_others() -> None:
    assert order(Timed("a", 1, 1), Timed("b", 1, 4)) == "abbbb"


def test_blocks_grow_up_to_a_length() -> None:
    examples = [count_examples(number) for number in range(11)]
    assert examples == [10, 10, 10, 10, 10, 10, 20, 40, 80, 100, 100]
    assert count_examples(1_000_000) == 100


@pytest.mark.parametrize(("jobs", "longer_s"), [(1, 9.0), (2, 4.5), (3, 3.0)])
def test_compiling_makes_a_search_as_much_longer_as_its_processes_stood_still(
    monkeypatch: pytest.MonkeyPatch, jobs: int, longer_s: float
) -> None:
    """They compile for 2 s, 3 s and 4 s: one after another that is 9 s, side by side less."""
    monkeypatch.setattr(campaign.time, "monotonic", lambda: 100.0)
    request = campaign.CampaignRequest((), (), None, 60.0, "0", jobs, None)
    deadline = campaign.Deadline(request)
    for compiling_s in (2.0, 3.0, 4.0):
        deadline.extend(compiling_s)
    assert deadline.measure_left_s() == 60.0 + longer_s
    assert deadline.compiling_s == pytest.approx(longer_s)
