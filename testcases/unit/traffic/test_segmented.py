"""Cells of packets: equal whatever the cut, and as many as the packets have."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.catalogue.kinds import SizeMix
from qospec.traffic.segmented import Segmented

LAST_PS = 10**10
MIX = SizeMix(((40, 3), (1_500, 1)), "ip")
"""Of 2 and 32 cells of AAL5, with 16 B around each packet: 9.5 on average."""


@settings(max_examples=settings().max_examples // 4)
@given(
    cuts=st.lists(st.integers(0, LAST_PS), max_size=20),
    connections=st.sampled_from([1, 7]),
    gaps=st.sampled_from(["constant", "poisson"]),
    in_order=st.booleans(),
)
def test_cuts_change_nothing(flow, cuts, connections, gaps, in_order):
    size = MIX._replace(in_order=in_order)
    process = Segmented(rate=Fraction(10_000), size=size, gaps=gaps)
    whole = flow.cells(process, LAST_PS, connections)
    assert flow.cells(process, LAST_PS, connections, cuts=cuts) == whole
    assert whole == sorted(whole, key=lambda cell: cell[0])


def test_its_rate_is_that_of_cells():
    process = Segmented(rate=Fraction(1_000), size=MIX, gaps="poisson")
    assert process.compute_mean_rate(3) == 28_500
    assert Segmented(rate=Fraction(1_000), size=MIX, aal="aal3_4").compute_mean_rate(1) == 10_250
    assert process.count_most_items(1, LAST_PS) is None


def test_at_intervals_no_more_come_than_its_curve_says():
    """Two packets in 1 ms and a ps, at most of 32 cells each; at random there is no bound."""
    process = Segmented(rate=Fraction(1_000), size=MIX)
    assert process.bound_items(1, "random").count_within(10**9) == 64
    assert (
        not Segmented(rate=Fraction(1_000), size=MIX, gaps="poisson")
        .bound_items(1, "random")
        .is_bounded
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"size": SizeMix(((65_528, 1),), "ip")}, "65528 B exceed the MTU of 9180 B"),
        ({"size": SizeMix(((40, 1),), "payload")}, "are counted @ip, not @payload"),
        ({"rate": Fraction(1, 1_001), "gaps": "poisson"}, "at least one in 1000 s"),
    ],
)
def test_packets_fit_their_layers(given, words):
    with pytest.raises(ValueError, match=words):
        Segmented(**{"rate": Fraction(10), "size": MIX, **given})
