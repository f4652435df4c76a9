"""Queues that share a buffer, against all that waits, followed in exact fractions."""

import math
from fractions import Fraction

import pytest
from arriving import draw_inputs
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.shared_buffer import SharedBuffer
from qospec.engine.line.clock import Clock

STM1 = Fraction(149_760_000)
TURN_PS = 2_831_196
CLOCKS = (Clock(STM1, slotted=False, propagation_ps=7), Clock(STM1 / 2, slotted=False))


def by_the_book(inputs, buffer):
    """Return when each item begins, by number, and the causes of what is lost.

    Choudhury and Hahne 1998, II: what comes is blocked if its queue is at or above the threshold.
    """
    free, waiting, began, lost = [Fraction(0)] * len(inputs), [], {}, []
    coming = [(t, port, n, size) for port, some in enumerate(inputs) for t, size, n in some]
    for t, port, number, size in sorted(coming):
        waiting = [item for item in waiting if math.floor(item[0]) > t]
        begins = max(Fraction(t), free[port])
        amount = 1 if buffer.limit.unit == "cell" else size
        if math.floor(begins) > t:
            held = sum(item[2] for item in waiting)
            mine = sum(item[2] for item in waiting if item[1] == port)
            room = buffer.limit.amount - held
            if amount > room:
                lost.append((number, "overflow"))
                continue
            most = buffer.limit if buffer.threshold is None else buffer.threshold
            is_above = mine + amount > most.amount
            if mine >= room * buffer.alpha if buffer.alpha is not None else is_above:
                lost.append((number, "threshold"))
                continue
            waiting.append((begins, port, amount))
        began[number] = math.floor(begins)
        free[port] = begins + size * CLOCKS[port].byte_time_ps
    return began, lost


@st.composite
def buffers(draw):
    unit = draw(st.sampled_from(["cell", "byte"]))
    limit = draw(st.sampled_from([1, 4, 9] if unit == "cell" else [53, 500, 1_200]))
    kind = draw(st.sampled_from(["", "alpha", "threshold"]))
    alphas = st.sampled_from([Fraction(1, 4), Fraction(2, 3), Fraction(1), Fraction(8)])
    return SharedBuffer(
        len(CLOCKS),
        Buffer(limit, unit),
        alpha=draw(alphas) if kind == "alpha" else None,
        threshold=Buffer(draw(st.integers(1, limit)), unit) if kind == "threshold" else None,
    )


@given(
    inputs=draw_inputs(
        [0, 0, 0, 1, TURN_PS - 1, TURN_PS, TURN_PS + 1, 5 * TURN_PS], [53, 53, 60, 400], most=25
    ),
    buffer=buffers(),
    cuts=st.lists(st.integers(0, 40 * TURN_PS), max_size=3),
)
def test_it_shares_by_the_book(lab, inputs, buffer, cuts):
    got = lab.carry(buffer, lab.setting(clocks=CLOCKS), *lab.inputs(inputs), cuts=cuts)
    began, lost = by_the_book(inputs, buffer)
    left = [
        dict(zip(batch.sent_ps.tolist(), batch.at_ps.tolist(), strict=True))
        for batch in got.departures
    ]
    assert [set(some) for some in left] == [
        {number for *_, number in some} & set(began) for some in inputs
    ]
    assert {**left[0], **left[1]} == began
    assert sorted((number, cause) for cause, _, _, number in got.lost) == sorted(lost)


@pytest.mark.parametrize(("busy", "most"), [(1, 600), (2, 360)])
def test_overloaded_queues_have_alpha_times_what_is_free(lab, busy, most):
    """T = alpha B / (1 + alpha k) of k overloaded queues: 600 of 900 cells, or 360 for each of two.

    That is how many turns the last that is let in waits, less what is left of the first.
    """
    buffer = SharedBuffer(2, Buffer(900, "cell"), alpha=Fraction(2))
    at_ps = [n * TURN_PS // 10 for n in range(9_000)]
    inputs = [lab.cells(at_ps, sent_ps=at_ps), lab.cells(at_ps * (busy - 1))]
    got = lab.carry(buffer, lab.setting(clocks=CLOCKS[:1] * 2), *inputs, by_events=False)
    waits_ps = got.departures[0].at_ps - got.departures[0].sent_ps
    assert most - 1 < waits_ps.max() / TURN_PS <= most
