"""Rates that a file lists over time, against the sums of their items by hand."""

import math
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import ProfileFile, discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.plan.survey import verify
from qospec.traffic.load_profile import LoadProfile

MS, S = 10**9, 10**12
FILE = """qos 1
import std.media
topology wire {
  a, b = host
  link a -- b via media.gigabit_ethernet
}
test day on wire {
  flow user = packets { size = 100 B @ip, source = load_profile { file = "day.csv" } } from a to b
  run { measure = 1 s }
  report user.sent
}
"""


def profile(*steps: tuple[int, int], scale: Fraction = Fraction(1)) -> LoadProfile:
    rates = tuple((at_ps, Fraction(rate)) for at_ps, rate in steps)
    return LoadProfile(ProfileFile("day.csv", "", "", rates), scale)


def by_the_book(steps, connections, until_ps):
    """Return (time, connection) of all items, each rate begun anew and phases even."""
    found, ends = [], [at_ps for at_ps, _ in steps[1:]]
    for (begins, rate), end in zip(steps, [*ends, until_ps], strict=True):
        for number in range(connections if rate else 0):
            first = Fraction(number, connections) * S / rate
            count = max(0, math.ceil((min(end, until_ps) - begins - first) * rate / S))
            found += [(begins + math.floor(first + n * S / rate), number) for n in range(count)]
    return sorted(cell for cell in found if cell[0] < until_ps)


@given(
    gaps=st.lists(st.integers(1, 9 * MS), max_size=5),
    rates=st.lists(st.sampled_from([0, 100, 333, 1_000]), min_size=6, max_size=6),
    connections=st.integers(1, 3),
    cuts=st.lists(st.integers(0, 40 * MS), max_size=4),
)
def test_each_rate_lasts_until_the_next(flow, gaps, rates, connections, cuts):
    steps = [(0, 500)]
    for gap, rate in zip(gaps, rates, strict=False):
        steps.append((steps[-1][0] + gap, rate))
    got = flow.cells(profile(*steps), 40 * MS, connections, "even", cuts)
    assert got == by_the_book(steps, connections, 40 * MS)


def test_the_sum_of_a_day_is_that_of_its_hours(flow):
    """1,000, 4,000, 2,000 and 500 a second, for a second each, and half of them if scaled so."""
    steps = [(0, 1_000), (S, 4_000), (2 * S, 2_000), (3 * S, 500)]
    assert len(flow.cells(profile(*steps), 4 * S, phases="even")) == 7_500
    half = profile(*steps, scale=Fraction(1, 2))
    assert len(flow.cells(half, 4 * S, phases="even")) == 3_750
    assert half.count_most_items(1, 4 * S) == 3_750
    assert half.compute_mean_rate(3) == 6_000  # what a line must carry is the highest


SLOW = """qos 1
import std.media
topology wire {
  a = host(lowest_rate = 100 pkt/s)
  b = host
  link a -- b via media.gigabit_ethernet
}
test day on wire {
  flow user = packets { size = 100 B @ip, source = load_profile { file = "day.csv" } } from a to b
  run { warmup = 500 ms, measure = 1 s }
  report user.sent
}
"""


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ("0,1000\n0.8,0\n1.4,100\n", []),  # a pause is not slow
        ("0,1000\n0.8,99\n1,98\n1.2,1000\n", ["`a` cannot send so little from 500 ms on"]),
        ("0,1000\n0.2,99\n", ["`a` cannot send so little from -300 ms on"]),
        ("0,99\n0.2,1000\n", ["`a` cannot send so little"]),
        ("0,1000\n1.5,99\n", []),  # the trial is over
    ],
)
def test_no_rate_of_a_profile_is_below_what_a_host_can_send(tmp_path, problems, steps, said):
    (tmp_path / "day.csv").write_text("time [s],rate [pkt/s]\n" + steps, encoding="utf-8")
    (tmp_path / "a.qos").write_text(SLOW, encoding="utf-8")
    verify(check([tmp_path / "a.qos"], discover(), problems), problems)
    assert [problem.message for problem in problems.all] == said


def read(folder: Path, text: str) -> tuple[list[str], tuple[tuple[int, Fraction], ...]]:
    """Return what is said of a profile, and what it holds if nothing is."""
    (folder / "day.csv").write_text(text, encoding="utf-8")
    (folder / "a.qos").write_text(FILE, encoding="utf-8")
    problems = Problems()
    checked = check([folder / "a.qos"], discover(), problems)
    said = [problem.message for problem in problems.all if problem.code == "E0214"]
    if said:
        return said, ()
    (test,) = checked.suite.tests
    return said, test.cases[0].flows[0].arrivals.file.steps


@pytest.mark.parametrize(
    "text",
    [
        "time [s],rate [pkt/s]\n0,1000\n0.5,0\n",
        "\ufefftime [ms], rate [kpkt/s]\r\n0, 1\r\n500, 0\r\n",
        'place,rate [pkt/ms],"time [ms]"\nhere,1,0\n\nthere,0,500\n',
    ],
)
def test_units_and_columns_are_those_of_the_first_line(tmp_path, text):
    assert read(tmp_path, text) == ([], ((0, Fraction(1_000)), (S // 2, Fraction(0))))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "its first line does not name a time and a rate with their units"),
        ("time,rate\n0,1\n", "its first line does not name"),
        ("time [s],rate [Mbit/s]\n0,1\n", "its first line does not name"),
        ("time [pkt/s],rate [s]\n0,1\n", "its first line does not name"),
        ("time [s],rate [cell/s]\n0,1\n", "its first line does not name"),  # they are packets
        ("time [s],rate [pkt/s]\n", "expected 1 to 10_000 lines of numbers, found 0"),
        ("time [s],rate [pkt/s]\n" + "0,1\n" * 10_001, "lines of numbers, found 10001"),
        ("time [s],rate [pkt/s]\n1,1\n", "its first time is not 0"),
        ("time [s],rate [pkt/s]\n0,1\n0,2\n", "line 3: the time is not later"),
        ("time [s],rate [pkt/s]\n0,1\n2,2\n1,2\n", "line 4: the time is not later"),
        ("time [s],rate [pkt/s]\n0,1\n\n\n5,some\n", "line 5: the rate is `some`, and no number"),
        (f"time [s],rate [pkt/s]\n0,1\n0,{'1' * 200_000}\n", "line 3: field larger than field"),
        ("time [s],rate [pkt/s]\n0,-1\n", "line 2: the rate is `-1`, and no number"),
        ("time [s],rate [pkt/s]\n0,1e3\n", "line 2: the rate is `1e3`, and no number"),
        ("time [s],rate [pkt/s]\n0\n", "line 2: the rate is ``, and no number"),
        ("time [s],rate [pkt/s]\n0,0\n", "no rate is above 0"),
        ("time [s],rate [pkt/s]\n0,1\n0.0000000000001,2\n", "line 3: the time is not one of"),
        ("time [s],rate [pkt/s]\n0,999999999999\n", "line 2: the rate is too high"),
    ],
)
def test_what_is_no_profile_is_refused_at_its_line(tmp_path, text, said):
    (message,), steps = read(tmp_path, text)
    assert message.startswith("the profile `day.csv`: ")
    assert said in message
    assert not steps


def test_what_is_no_text_is_refused(tmp_path):
    (tmp_path / "day.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "a.qos").write_text(FILE, encoding="utf-8")
    problems = Problems()
    check([tmp_path / "a.qos"], discover(), problems)
    (problem,) = problems.all
    assert problem.code == "E0214"
    assert problem.message == "the profile `day.csv`: it is not text in UTF-8"
