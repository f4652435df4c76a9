"""Interruptions: none is left out, none overlaps, and they are as frequent and as long as said."""

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.processor.interruptions import (
    BLOCK,
    Interruptions,
    Periodic,
    RandomInterruptions,
)
from qospec.engine.random import Draws

US = 10**6
MS = 10**9
DRAWS = Draws(("test",))


def lasting(interruptions):
    return [(int(begin), int(end)) for begin, end in interruptions.known[:-1]]


@pytest.mark.parametrize("lengths", ["constant", "uniform", "exponential"])
def test_random_ones_are_as_frequent_and_as_long_as_said(lengths):
    random = RandomInterruptions(20 * US, 500 * US, lengths)
    interruptions = Interruptions(Periodic(0, MS, None), random, DRAWS)
    while interruptions.until_ps < 10**12:
        interruptions.extend(0)
    found = lasting(interruptions)
    within = [(begin, end) for begin, end in found if begin < 10**12 and end > begin]
    assert len(within) == pytest.approx(2_000, rel=0.1)
    mean_ps = Fraction(sum(end - begin for begin, end in within), len(within))
    assert float(mean_ps) == pytest.approx(20 * US, rel=0.1)
    if lengths == "constant":
        assert {end - begin for begin, end in within} == {20 * US}
    if lengths == "uniform":
        assert max(end - begin for begin, end in within) <= 40 * US


def by_the_book(periodic, random, until_ps):
    """Return from when to when each lasts that comes before `until_ps`, one after the other."""
    length_ps, every_ps, phase_ps = periodic
    coming = [(at_ps, 0, length_ps) for at_ps in range(phase_ps, until_ps, every_ps)]
    gaps, lengths = DRAWS.derive("intervals").open_stream(), DRAWS.derive("lengths").open_stream()
    at_ps = 0
    while at_ps < until_ps:
        blocks = {
            "constant": lambda: [random.length_ps] * BLOCK,
            "uniform": lambda: lengths.integers(0, 2 * random.length_ps, BLOCK, endpoint=True),
            "exponential": lambda: lengths.exponential(float(random.length_ps), BLOCK),
        }
        drawn = blocks[random.lengths]()
        for gap_ps, drawn_ps in zip(gaps.exponential(random.every_ps, BLOCK), drawn, strict=True):
            at_ps += int(gap_ps)
            coming.append((at_ps, 1, int(drawn_ps)))
    free_ps, lasting = 0, []
    for comes_ps, _, lasts_ps in sorted(item for item in coming if item[0] < until_ps):
        begins_ps = max(comes_ps, free_ps)
        free_ps = begins_ps + lasts_ps
        lasting.append((begins_ps, free_ps))
    return [(begin, end) for begin, end in lasting if end > begin]


@given(
    periodic=st.builds(
        Periodic, st.sampled_from([0, 1, 9 * US]), st.just(20 * US), st.integers(0, 50 * US)
    ),
    random=st.builds(
        RandomInterruptions,
        st.sampled_from([0, 1, 8 * US]),
        st.just(25 * US),
        st.sampled_from(["constant", "uniform", "exponential"]),
    ),
    now_ps=st.integers(0, 40 * MS),
)
@example(Periodic(9 * US, 20 * US, 0), RandomInterruptions(8 * US, 25 * US, "exponential"), MS)
def test_one_lasts_after_the_other_by_the_book(periodic, random, now_ps):
    """Each begins when it comes or when those ahead of it have ended; what is done is forgotten."""
    interruptions = Interruptions(periodic, random, DRAWS)
    if not periodic.length_ps and not random.length_ps:
        assert interruptions.until_ps == FOREVER_PS
        return
    interruptions.extend(0)
    first = lasting(interruptions)
    ended = interruptions.extend(now_ps)
    assert ended == sum(end <= now_ps for _, end in first)
    found = first[:ended] + lasting(interruptions)
    expected = by_the_book(periodic, random, interruptions.until_ps)
    assert [(begin, end) for begin, end in found if end > begin] == expected


def test_a_phase_that_is_not_given_is_drawn_within_a_period():
    periodic = Periodic(US, 100 * US, None)
    phases = set()
    for name in ("a", "b", "c"):
        interruptions = Interruptions(
            periodic, RandomInterruptions(0, MS, "constant"), Draws((name,))
        )
        interruptions.extend(0)
        phases.add(lasting(interruptions)[0][0])
    assert len(phases) == 3
    assert all(0 <= phase < 100 * US for phase in phases)
