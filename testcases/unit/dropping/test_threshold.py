"""Tail drop with a threshold for each class."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.dropping.threshold import Threshold
from qospec.elements.fifo import Fifo
from qospec.protocol.marks import set_marks

AF1 = {10: set_marks(dscp=10), 12: set_marks(dscp=12), 14: set_marks(dscp=14)}


@given(data=st.data())
def test_each_class_has_its_threshold(bench, data):
    traffic, limit = data.draw(bench.traffic([*AF1.values(), 0])), data.draw(bench.limits)
    amounts = st.integers(1, limit.amount)
    at = data.draw(st.dictionaries(st.sampled_from([10, 12, 14]), amounts, min_size=1))
    policy = Threshold("dscp", tuple((str(k), Buffer(n, limit.unit)) for k, n in at.items()))
    bench.agree(traffic, limit, policy, bench.rules("dscp", at, {}, None))


def test_colours_have_names(bench):
    packets = bench.packets
    policy = Threshold("colour", (("yellow", packets(2)), ("red", packets(1))))
    colours = [set_marks(colour=n) for n in (0, 2, 2, 1, 1, 0, 0)]
    assert bench.lost(packets(3), policy, colours) == [
        ("threshold", 2),
        ("threshold", 4),
        ("overflow", 6),
    ]


@pytest.mark.parametrize(
    ("by", "key", "message"),
    [
        ("dscp", "64", "`64` is not a dscp; expected 0 to 63"),
        ("colour", "blue", "`blue` is not a colour; expected one of green, yellow, red"),
        ("clp", "high", "`high` is not a clp; expected 0 to 1"),
    ],
)
def test_a_value_that_no_mark_has_is_refused(bench, by, key, message):
    with pytest.raises(ValueError, match=re.escape(f"at[{key}]: {message}")):
        Threshold(by, ((key, bench.packets(1)),))


@pytest.mark.parametrize(
    ("amount", "message"),
    [
        (Buffer(5, "packet"), "at: the threshold 5 is never reached, as at most 4 may wait"),
        (Buffer(64, "byte"), "at: expected packets, as in the limit, found bytes"),
    ],
)
def test_a_threshold_fits_the_queue(bench, amount, message):
    with pytest.raises(ValueError, match=message):
        Fifo(bench.packets(4), Threshold("dscp", (("10", amount),)))
