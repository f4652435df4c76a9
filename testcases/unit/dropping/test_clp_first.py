"""Cells with CLP 1 lose their place first: partial buffer sharing."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.dropping.clp_first import ClpFirst
from qospec.elements.fifo import Fifo

shares = st.one_of(st.sampled_from([Fraction(0), Fraction(4, 5), Fraction(1)]), st.fractions(0, 1))


@given(data=st.data(), at=shares)
def test_cells_of_low_priority_are_lost_above_the_threshold(bench, data, at):
    traffic = data.draw(bench.traffic([0, 1], data.draw(bench.clocks)))
    limit = data.draw(bench.limits)
    limit = Buffer(limit.amount, "byte" if limit.unit == "byte" else "cell")
    open_to_all = at.numerator * limit.amount // at.denominator
    rules = bench.rules("clp", {1: open_to_all}, {}, None)
    bench.agree(traffic, limit, ClpFirst(at), rules)


def test_eight_of_ten_places_are_open_to_all(bench):
    """All at once: one is sent, eight wait, of either kind; two more wait with CLP 0."""
    lost = bench.lost(Buffer(10, "cell"), ClpFirst(Fraction(4, 5)), [1] * 10 + [0] * 3)
    assert lost == [("threshold", 9), ("overflow", 12)]


def test_packets_have_no_clp(bench):
    with pytest.raises(ValueError, match="drop: only cells have a clp"):
        Fifo(bench.packets(10), ClpFirst(Fraction(1, 2)))


def test_its_queue_says_what_it_may_discard_for():
    queue = Fifo(Buffer(10, "cell"), ClpFirst(Fraction(1, 2)))
    assert queue.discards_for == ("overflow", "threshold")
