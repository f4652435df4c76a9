"""Sizes by the exponential law: their probabilities by its definition, and as they are drawn."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.check.evaluate.functions import STEPS, compute_probabilities
from qospec.engine.random import Draws
from qospec.engine.source.sizes import Sizes

WIRE = """
import std.media
topology wire {
  a, b = host
  link a -- b via media.fast_ethernet
}
test t on wire {
  sweep mean in [200 B, 500 B]
  flow f = packets { rate = 1 Mbit/s @ip, size = SIZE } from a to b
  run { measure = 10 ms }
  expect f.lost == 0
}
"""
LAW = "exponential(mean, min = 40 B, max = 1_500 B) @ip"


@given(
    st.fractions(Fraction(1, 10), 5_000, max_denominator=100),
    st.integers(1, 200),
    st.integers(1, 400),
)
def test_they_are_those_of_the_law_rounded_and_limited(mean, least, more):
    largest = least + more
    found = dict(compute_probabilities(mean, least, largest))
    assert sum(found.values()) == STEPS
    assert min(found.values()) > 0
    for size in range(least, largest + 1):
        low = 0 if size == least else 1 - math.exp(-(size - 0.5) / mean)
        high = 1 if size == largest else 1 - math.exp(-(size + 0.5) / mean)
        assert abs(found.get(size, 0) - (high - low) * STEPS) <= 1.001


@pytest.mark.parametrize(("mean", "least", "largest"), [(500, 40, 1_500), (120, 28, 9_000)])
def test_the_mean_is_that_of_the_limited_law(mean, least, largest):
    sizes = Sizes(
        *map(tuple, zip(*compute_probabilities(Fraction(mean), least, largest), strict=True))
    )
    limited = least + mean * (math.exp(-least / mean) - math.exp(-largest / mean))
    assert float(sizes.compute_mean(lambda size: size)) == pytest.approx(limited, abs=1 / 24 / mean)


def test_sizes_are_drawn_by_it():
    """No part of the distribution function is farther off than chance takes it once in 10,000."""
    count = 100_000
    parts = compute_probabilities(Fraction(500), 40, 1_500)
    sizes = Sizes(*map(tuple, zip(*parts, strict=True)))
    drawn = Counter(sizes.start(1, Draws(("test",))).take_next(np.zeros(count, np.int32)).tolist())
    assert set(drawn) <= set(sizes.size_bytes)
    seen, expected, farthest = 0, 0, 0.0
    for size, steps in parts:
        seen, expected = seen + drawn[size], expected + steps
        farthest = max(farthest, abs(seen / count - expected / STEPS))
    # Dvoretzky, Kiefer and Wolfowitz: 2 exp(-2 n d²)
    assert 2 * math.exp(-2 * count * farthest**2) > 1e-4


def test_a_rate_in_bits_becomes_packets_by_the_mean_of_what_is_drawn(checked):
    suite, problems = checked(WIRE.replace("SIZE", LAW))
    assert problems == ()
    for case, mean in zip(suite.tests[0].cases, (200, 500), strict=True):
        stream = case.flows[0].packets
        parts = compute_probabilities(Fraction(mean), 40, 1_500)
        assert tuple(zip(stream.sizes.size_bytes, stream.sizes.weights, strict=True)) == parts
        mean_bytes = Fraction(sum(size * steps for size, steps in parts), STEPS)
        assert stream.contract.peak_cell_rate == Fraction(10**6, 8) / mean_bytes


def test_headers_that_do_not_fit_the_least_size_are_reported(checked):
    _, problems = checked(WIRE.replace("SIZE", LAW.replace("40 B", "20 B")))
    assert {problem.code for problem in problems} == {"E0301"}
