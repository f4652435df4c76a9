"""Drops of a class while something waits for the line."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.dropping.congested import Congested
from qospec.elements.fifo import Fifo
from qospec.protocol.marks import set_marks

RED = set_marks(colour=2)


@given(data=st.data())
def test_a_class_is_lost_while_so_many_wait(bench, data):
    traffic, limit = data.draw(bench.traffic([0, RED])), data.draw(bench.limits)
    most = data.draw(st.integers(1, 4))
    policy = Congested("colour", (("red", bench.packets(most)),))
    rules = bench.rules("colour", {}, {}, None, congested={2: most})
    bench.agree(traffic, limit, policy, rules)


def test_what_is_sent_at_once_and_what_is_being_sent_do_not_wait(bench):
    """The first is sent, and the second waits; from then on what is red is lost, and only that."""
    policy = Congested("colour", (("red", bench.packets(1)),))
    assert bench.lost(bench.packets(9), policy, [RED, RED, RED, 0, RED]) == [
        ("threshold", 2),
        ("threshold", 4),
    ]


def test_a_value_that_no_mark_has_is_refused(bench):
    message = "at[blue]: `blue` is not a colour; expected one of green, yellow, red"
    with pytest.raises(ValueError, match=re.escape(message)):
        Congested("colour", (("blue", bench.packets(1)),))


@pytest.mark.parametrize("unit", ["byte", "cell"])
def test_it_counts_what_has_the_mark(bench, unit):
    policy = Congested("colour", (("red", Buffer(1, unit)),))
    with pytest.raises(ValueError, match="at: expected packets, as those of all"):
        Fifo(bench.packets(4), policy)
