"""A link that follows a trace, against Mahimahi's loop and against sums of work in fractions."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer, TraceFile, discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.elements.link_trace import LinkTrace
from qospec.engine.items.batch import TooLateError

MS, S = 10**9, 10**12
ALL = Buffer(2**40, "packet")
FILE = """qos 1
import std.media
device recorded {
  port west, east: packet
  there = link_trace { file = "a.trace", limit = 50 pkt }
  west.rx -> there -> east.tx
  east.rx -> west.tx
}
topology way {
  a, b = host
  dut = recorded
  link a -- dut.west via media.fast_ethernet
  link dut.east -- b via media.fast_ethernet
}
test passes on way {
  flow user = packets { size = 100 B @ip, rate = 10 pkt/s } from a to b
  run { measure = 1 s }
  report user.received
}
"""


def of_opportunities(*at_ms: int, limit: Buffer = ALL) -> LinkTrace:
    return LinkTrace(TraceFile("a", "", "", tuple(at * MS for at in at_ms)), limit)


def of_rates(*rates: tuple[int, int], limit: Buffer = ALL) -> LinkTrace:
    return LinkTrace(TraceFile("a", "", "", (), rates), limit)


def leave_by_mahimahi(at_ms, packets):
    """Return when each packet leaves: opportunity by opportunity, as `mm-link` goes over its queue.

    Each is of 1,504 bytes, of which a packet takes 4 more than it has; the last time of the trace
    is when it begins anew. `rationalize` spends what is due before a packet is put into the queue.
    """
    left, waiting, base_ps, place = [], [[at, size + 4] for at, size in packets], 0, 0
    while waiting:
        now_ps, room = base_ps + at_ms[place] * MS, 1_504
        while waiting and waiting[0][0] < now_ps and room:
            taken = min(room, waiting[0][1])
            room -= taken
            waiting[0][1] -= taken
            if not waiting[0][1]:
                left.append(now_ps)
                waiting.pop(0)
        place += 1
        if place == len(at_ms):
            base_ps, place = base_ps + at_ms[-1] * MS, 0
    return left


def leave_by_fractions(rates, packets):
    """Return when each packet leaves, rounded down: bit by bit at the rate of the moment."""
    free, left = Fraction(0), []
    for at_ps, size in packets:
        free, bits = max(free, Fraction(at_ps)), Fraction(size * 8)
        while bits:
            rate = [rate for since, rate in rates if since <= free][-1]
            ends = min([since for since, _ in rates if since > free], default=None)
            done = bits if ends is None else min(bits, rate * (ends - free) / S)
            free = Fraction(ends) if done < bits else free + done * S / rate
            bits -= done
        left.append(math.floor(free))
    return left


@st.composite
def arrivals(draw, gaps):
    """Draw packets, and where the engine cuts them."""
    packets, now_ps = [], 0
    for _ in range(draw(st.integers(0, 20))):
        now_ps += draw(gaps)
        packets.append((now_ps, draw(st.sampled_from([20, 100, 1_500, 1_501, 9_000]))))
    return packets, draw(st.lists(st.integers(0, 2 * now_ps + 2), max_size=4))


def carry(lab, element, packets, cuts=(), *, by_events=False):
    batch = lab.cells([at for at, _ in packets], size_bytes=[size for _, size in packets])
    return lab.carry(element, lab.setting(watched=True), batch, cuts=cuts, by_events=by_events)


@given(
    at_ms=st.lists(st.integers(0, 12), min_size=1, max_size=8)
    .map(sorted)
    .filter(lambda at: at[-1]),
    given_them=arrivals(st.sampled_from([0, 0, 1, MS, 5 * MS - 1, 40 * MS])),
)
def test_packets_leave_at_opportunities_as_in_mahimahi(lab, at_ms, given_them):
    packets, cuts = given_them
    (after,) = carry(lab, of_opportunities(*at_ms), packets, cuts).departures
    assert after.at_ps.tolist() == leave_by_mahimahi(at_ms, packets)


@given(
    gaps=st.lists(st.integers(1, 3 * MS), max_size=4),
    rates=st.lists(
        st.sampled_from([0, 7_000_000, 12_000_000, 333_333_333]), min_size=4, max_size=4
    ),
    given_them=arrivals(st.sampled_from([0, 0, 1, MS, 24 * 10**6, 9 * MS])),
)
def test_packets_leave_when_their_bits_have_been_sent(lab, gaps, rates, given_them):
    steps = [(sum(gaps[:n]), rate) for n, rate in zip(range(len(gaps)), rates, strict=False)]
    steps.append((sum(gaps) if gaps else 0, 64_000))  # the last rate stays
    packets, cuts = given_them
    (after,) = carry(lab, of_rates(*steps), packets, cuts).departures
    assert after.at_ps.tolist() == leave_by_fractions(steps, packets)


@pytest.mark.parametrize("by_events", [False, True])
@pytest.mark.parametrize(
    "element",
    [
        of_opportunities(10, limit=Buffer(2, "packet")),
        of_rates((0, 1_200_000), limit=Buffer(2, "packet")),
    ],
)
def test_what_finds_two_before_it_is_lost(lab, element, by_events):
    """A packet of 1,500 bytes leaves every 10 ms: of two that wait the first leaves at 10 ms."""
    packets = [(at, 1_500) for at in (0, 0, MS, 10 * MS, 10 * MS)]
    if element.file.opportunities_ps:
        packets[0] = packets[1] = (1, 1_500)
    got = carry(lab, element, packets, by_events=by_events)
    (after,) = got.departures
    assert after.at_ps.tolist() == [10 * MS, 20 * MS, 30 * MS]
    assert [(cause, number) for cause, *_, number in got.lost] == [("overflow", 2), ("overflow", 4)]
    assert [until for _, until in got.waits] == [10 * MS, 20 * MS, 30 * MS]


def test_what_comes_with_an_opportunity_waits_for_the_next(lab):
    """`mm-link` spends what is due, up to now, and then reads what has come."""
    packets = [(0, 100), (MS, 100), (5 * MS, 100), (8 * MS - 1, 100)]
    (after,) = carry(lab, of_opportunities(0, 1, 3, 5), packets).departures
    assert after.at_ps.tolist() == [MS, 3 * MS, 6 * MS, 8 * MS]


def test_a_long_pause_is_passed_over_at_once(lab):
    """Twelve days are 10^9 rounds of 1 ms."""
    (after,) = carry(lab, of_opportunities(1), [(0, 100), (10**18 + 1, 100)]).departures
    assert after.at_ps.tolist() == [MS, 10**18 + MS]


@pytest.mark.parametrize("slow", [of_opportunities(10**9), of_rates((0, 1))])
def test_what_would_take_months_is_refused(lab, slow):
    with pytest.raises(TooLateError):
        carry(lab, slow, [(0, 65_535)] * 1_000)


def read(folder, text):
    """Return what is said of a trace, and the file if nothing is."""
    (folder / "a.trace").write_bytes(text.encode())
    (folder / "a.qos").write_text(FILE, encoding="utf-8")
    problems = Problems()
    checked = check([folder / "a.qos"], discover(), problems)
    said = [problem.message for problem in problems.all if problem.code == "E0214"]
    if said:
        return said, None
    (test,) = checked.suite.tests
    assert "a.trace" in {source.recorded_name for source in checked.suite.sources}
    elements = [instance.element for instance in test.cases[0].networks[""].elements]
    return said, next(element.file for element in elements if isinstance(element, LinkTrace))


def test_both_formats_are_read(tmp_path):
    _, file = read(tmp_path, "0\r\n 3 \n3\n10\n")
    assert (file.opportunities_ps, file.rates) == ((0, 3 * MS, 3 * MS, 10 * MS), ())
    _, file = read(tmp_path, "time [s],rate [Mbit/s]\n0,1.5\n0.25,0\n1,12\n")
    assert file.rates == ((0, 1_500_000), (S // 4, 0), (S, 12_000_000))
    _, file = read(tmp_path, "\ufeff0\n5\n")
    assert file.opportunities_ps == (0, 5 * MS), "editors put a mark before the first line"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "its first line is no number of milliseconds, and names no time and rate"),
        ("-5\n", "its first line is no number of milliseconds, and names no time and rate"),
        ("1\n2\n1\n", "line 3: the time is before the one above it"),
        ("1\n2.5\n", "line 2: `2.5` is no time in whole milliseconds"),
        ("1\n\n2\n", "line 2: `` is no time in whole milliseconds"),
        ("1\n1234567890\n", "line 2: `1234567890` is no time"),
        ("0\n0\n", "all its times are 0"),
        ("time [s],rate [pkt/s]\n0,1\n", "its first line does not name a time and a rate"),
        ("time [s],rate [Mbit/s]\n0,1\n1,0\n", "its last rate is 0, and stays"),
        ("time [s],rate [bit/s]\n0,1.5\n", "a rate of 1.5 bit/s is no whole number"),
        ("time [s],rate [Gbit/s]\n0,101\n", "line 2: the rate is too high"),
    ],
)
def test_what_is_no_trace_is_refused_at_its_line(tmp_path, text, said):
    (message,), _ = read(tmp_path, text)
    assert message.startswith("the trace `a.trace`: ")
    assert said in message
