"""Asynchronous shaping against the standard's ProcessFrame in exact fractions, and by hand."""

import math
from fractions import Fraction

import pytest
from books import in_bytes
from hypothesis import given
from hypothesis import strategies as st

from qospec.calculus.curve import Curve
from qospec.calculus.guarantee import bound_items
from qospec.elements.ats import Ats
from qospec.engine.items.contract import Contract
from qospec.units import PS_PER_S

MS = 10**9
RATES = [Fraction(8_000), Fraction(12 * 10**6), Fraction(10**8, 3), Fraction(49_999_999)]


def by_the_book(ats, packets):
    """Return when each packet is eligible; None of one that is lost. 802.1Q-2022, 8.6.11.3."""
    rate = ats.committed_information_rate.amount / 8 / PS_PER_S
    to_full = ats.committed_burst_size.amount / rate
    empty, group, found = {}, Fraction(0), []
    for at, size, connection in packets:
        stream = connection if ats.streams == "each" else 0
        was_empty = empty.get(stream, -to_full)
        scheduled, full = was_empty + size / rate, was_empty + to_full
        eligible = max(Fraction(at), group, scheduled)
        if eligible > at + ats.max_residence:
            found.append(None)
            continue
        group = eligible
        empty[stream] = scheduled if eligible < full else scheduled + eligible - full
        found.append(math.floor(eligible))
    return found


def carry(lab, ats, packets, cuts=(), **how):
    """Return the same of the element."""
    times, sizes, connections = (list(column) for column in zip(*packets, strict=True))
    batch = lab.cells(times, size_bytes=sizes, connection=connections)
    contracts = (Contract("packets", Fraction(1), 0),) * 2
    setting = lab.setting(contracts=contracts, inserted=(), watched=True)
    got = lab.carry(ats, setting, batch, cuts=cuts, **how)
    (left,) = got.departures
    lost = {number for _, _, _, number in got.lost}
    waits = [(a, b) for a, b in got.waits]
    remaining = iter(left.at_ps.tolist())
    found = [None if n in lost else next(remaining) for n in range(len(packets))]
    assert waits == [
        (at, to) for (at, *_), to in zip(packets, found, strict=True) if to and to > at
    ]
    return found


@given(st.data())
def test_packets_are_eligible_by_the_book(lab, data):
    rate, burst = data.draw(st.sampled_from(RATES)), data.draw(st.sampled_from([64, 1_500, 3_001]))
    time = int(data.draw(st.sampled_from([64, 1_500])) * 8 * PS_PER_S / rate)
    longest = data.draw(st.sampled_from([1, time, 3 * time, 10**15]))
    streams = data.draw(st.sampled_from(["each", "all"]))
    ats = in_bytes(Ats, rate, burst, longest, streams)
    packets, now = [], 0
    for _ in range(data.draw(st.integers(1, 20))):
        now += data.draw(st.sampled_from([0, 0, 1, time, time + 1]) | st.integers(0, 3 * time))
        packets.append(
            (now, data.draw(st.sampled_from([20, 64, 576, 1_500])), data.draw(st.integers(0, 1)))
        )
    cuts = data.draw(st.lists(st.integers(0, 2 * now + 2), max_size=4))
    wanted = by_the_book(ats, packets)
    assert carry(lab, ats, packets, cuts) == wanted
    assert carry(lab, ats, packets, by_events=True) == wanted


@pytest.mark.parametrize(("streams", "second"), [("each", 1), ("all", 2)])
def test_a_packet_waits_behind_one_of_another_stream(lab, streams, second):
    """1,500 B take 1 ms. Both of a stream's come at 0, and one of another right behind them.

    Its own bucket is full, but the packet ahead of it in the group is eligible after 1 ms only.
    """
    ats = in_bytes(Ats, Fraction(12 * 10**6), 1_500, 10 * MS, streams)
    packets = [(0, 1_500, 0), (0, 1_500, 0), (0, 1_500, 1)]
    assert carry(lab, ats, packets) == [0, MS, second * MS]


def test_what_would_stay_for_too_long_is_lost_and_takes_no_tokens(lab):
    """With 2 ms to stay, of four at once three go; what comes at 3 ms finds tokens at once."""
    ats = in_bytes(Ats, Fraction(12 * 10**6), 1_500, 2 * MS)
    packets = [*[(0, 1_500, 0)] * 5, (3 * MS, 1_500, 0)]
    assert carry(lab, ats, packets) == [0, MS, 2 * MS, None, None, 3 * MS]


@pytest.mark.parametrize(("size", "is_bounded"), [(1_500, True), (1_501, False)])
def test_its_bucket_bounds_no_packets_that_are_longer(lab, size, is_bounded):
    """Of 1,501 B one goes on at once after a pause, which is more than the bucket holds."""
    ats = in_bytes(Ats, Fraction(12 * 10**6), 1_500, 10 * MS, "all")
    assert carry(lab, ats, [(MS, size, 0)]) == [MS]
    arriving = bound_items(Curve.from_lines([(Fraction(1), Fraction(0))]), [size])
    assert (ats.guarantee_service((arriving,), None, ()).leaves is not None) == is_bounded


@pytest.mark.parametrize(
    ("shaper", "note"),
    [
        ("ats { cir = 1 Mbit/s @ip, cbs = 99 B, max_residence = 1 ms }", "lends longer ones the"),
        ("shape { rate = 1 Mbit/s @ip, burst = 99 B, limit = 9 pkt }", "longer ones never conform"),
    ],
)
def test_a_warning_says_what_becomes_of_packets_longer_than_the_bucket(
    planned, problems, shaper, note
):
    planned(f"""
device box {{
  port west, east: packet
  smooth = {shaper}
  q = fifo {{ limit = 64 pkt }}
  west.rx -> smooth -> q -> east.tx
  east.rx -> discard
}}
topology bench {{
  a, b = host
  m = box
  link a -- m.west via media.fast_ethernet
  link m.east -- b via media.fast_ethernet
}}
test t on bench {{
  flow f = packets {{ rate = 100 pkt/s, size = 100 B @ip }} from a to b
  run {{ measure = 10 ms }}
  report f.lost
}}
""")
    (warning,) = problems.all
    assert (warning.code, note in warning.notes[0]) == ("W0607", True)
