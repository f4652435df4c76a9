"""Custom queueing against a server that goes from queue to queue; and what it does to shares."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.custom import Custom
from qospec.engine.line.clock import Clock

NAMES = ("high", "middle", "low")


counts = st.sampled_from([1, 100, 150, 200, 1_500, 3_100])


@given(data=st.data(), byte_counts=st.lists(counts, min_size=1, max_size=3))
def test_it_serves_by_the_book(schedulers, data, byte_counts):
    case = data.draw(schedulers.case(len(byte_counts)))
    element = Custom(tuple(zip(NAMES, byte_counts, strict=False)))
    schedulers.agree(element, schedulers.rounds(byte_counts, lambda size: size), case)


@pytest.mark.parametrize(
    ("counts", "high", "low"),
    [
        ((200, 150, 100), 4 * 60, 1_550),  # 6.46 to 1 where 0.5 is meant
        ((3_100, 2_325, 1_550), 52 * 60, 1_550),
    ],
)
def test_large_packets_take_more_than_the_byte_counts_say(lab, counts, high, low):
    """The UNH thesis's example: per pass, so many bytes leave the high queue and the low one."""
    where = lab.setting(clock=Clock(Fraction(10**9), slotted=False))
    batches = [
        lab.cells([0] * 600, size_bytes=60),
        lab.cells([]),
        lab.cells([0] * 10, connection=2, size_bytes=1_550),
    ]
    (left,) = lab.carry(Custom(tuple(zip(NAMES, counts, strict=True))), where, *batches).departures
    first_ten = left.select_range(0, 10 * (high // 60 + low // 1_550))
    shares = [int(first_ten.size_bytes[first_ten.connection == k].sum()) for k in (0, 2)]
    assert shares == [10 * high, 10 * low]


@pytest.mark.parametrize("counts", [(), (("a", 0),), (("a", 1), ("a", 2))])
def test_byte_counts_are_above_zero_and_inputs_have_names_of_their_own(counts):
    with pytest.raises(ValueError, match=r"^byte_counts: "):
        Custom(counts)
