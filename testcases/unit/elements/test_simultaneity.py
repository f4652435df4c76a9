"""What is simultaneous in exact time is simultaneous in whole ps, at rates that are no whole ps."""

import math
from fractions import Fraction

import pytest

from qospec.catalogue.kinds import Buffer
from qospec.elements.fifo import Fifo
from qospec.elements.line import Line
from qospec.engine.line.clock import Clock
from qospec.engine.random import Draws
from qospec.traffic.constant import Constant

RATES = [Fraction(149_760_000), Fraction(155_520_000), Fraction(44_736_000), Fraction(10**8, 3)]
CELLS = 5_000


def slots_ps(rate, count=CELLS):
    """Return the whole ps in which slots of that rate begin."""
    return [math.floor(k * 424 * 10**12 / rate) for k in range(count)]


def sent(lab, element, at_ps, rate, *, slotted=False):
    """Return when cells that arrive at these times leave an element with a line of that rate."""
    where = lab.setting(clock=Clock(rate, slotted))
    (left,) = lab.carry(element, where, lab.cells(at_ps)).departures
    return left.at_ps.tolist()


def emitted(rate, connections):
    """Return the times of a source of that many connections, which begin evenly spread."""
    state = Constant(rate / connections).start(connections, "even", Draws(("test",)))
    return Constant(rate / connections).emit(state, int(CELLS * 10**12 / rate))[0].tolist()


@pytest.mark.parametrize("rate", RATES)
def test_of_one_connection_and_of_three_in_turn_at_a_third_of_its_rate(rate):
    cell_rate = rate / 424 * Fraction(6, 7)
    exact = [math.floor(n * 10**12 / cell_rate) for n in range(CELLS * 6 // 7)]
    assert emitted(cell_rate, 1)[: len(exact)] == emitted(cell_rate, 3)[: len(exact)] == exact


@pytest.mark.parametrize("slotted", [False, True])
@pytest.mark.parametrize("rate", RATES)
def test_of_saturated_lines_whatever_saturates_them(lab, rate, slotted):
    """All cells at once, just in time, or twice as fast as they are sent."""
    line, expected = Line(rate, slotted=slotted), slots_ps(rate, CELLS + 1)[1:]
    for at_ps in ([0] * CELLS, slots_ps(rate), slots_ps(2 * rate)):
        assert sent(lab, line, at_ps, rate, slotted=slotted) == expected


@pytest.mark.parametrize("rate", RATES)
def test_of_idle_lines_in_series(lab, rate):
    """Each adds one time to all cells."""
    times_ps = [emitted(rate / 424 * Fraction(6, 7), 1)]
    for _ in range(3):
        times_ps.append(sent(lab, Line(rate, slotted=False), times_ps[-1], rate))
    cell_ps = math.floor(424 * 10**12 / rate)
    assert times_ps[3] == [t + 3 * cell_ps for t in times_ps[0]]


@pytest.mark.parametrize("slotted", [False, True])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("limit", [Buffer(1, "cell"), Buffer(2 * 53, "byte")])
def test_a_cell_that_arrives_as_another_begins_finds_its_place(lab, rate, slotted, limit):
    """The queue is full all the time, and a line of the same rate feeds it."""
    places = 1 if limit.unit == "cell" else 2
    at_ps = [0] * places + slots_ps(rate)
    where = lab.setting(clock=Clock(rate, slotted))
    got = lab.carry(Fifo(limit), where, lab.cells(at_ps))
    assert got.lost == []
    again = lab.carry(Fifo(limit), where, lab.cells(sorted([*at_ps, *slots_ps(rate)[1:]])))
    assert len(again.lost) == CELLS - 1
