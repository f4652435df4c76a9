"""Sizes of fragments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.protocol.fragments import list_fragment_bytes


@given(st.integers(20, 65_535), st.integers(68, 9_000))
def test_fragments_carry_everything_and_fit(packet, mtu):
    sizes = list_fragment_bytes(packet, mtu)
    assert sum(size - 20 for size in sizes) == packet - 20
    assert max(sizes) <= mtu
    assert all((size - 20) % 8 == 0 for size in sizes[:-1])


def test_a_packet_of_1560_bytes_needs_two_fragments():
    assert list_fragment_bytes(1_560, 1_500) == (1_500, 80)
    assert list_fragment_bytes(1_464, 1_500) == (1_464,)


def test_an_mtu_below_68_bytes_is_refused():
    with pytest.raises(ValueError, match="at least 68 B, not 60 B"):
        list_fragment_bytes(100, 60)
