"""The seal of a packet: three numbers and a bit in one."""

import pytest

from qospec.engine.security import seal
from qospec.engine.security.seal import TAMPERED, index_in, number_in, seal_of, size_in


@pytest.mark.parametrize("number", [1, 2, seal.LARGEST_NUMBER])
@pytest.mark.parametrize("index", [seal.LEAST_INDEX, 257, seal.LARGEST_INDEX])
@pytest.mark.parametrize("size_bytes", [1, 1_500, 65_535])
def test_what_is_sealed_is_read_again_even_if_it_was_changed(number, index, size_bytes):
    made = seal_of(number, index, size_bytes)
    assert made > 0
    for each in (made, made | TAMPERED):
        assert (number_in(each), index_in(each), size_in(each)) == (number, index, size_bytes)
