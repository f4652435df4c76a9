"""The seal of a packet: three numbers and a bit in one."""

import pytest

from qospec.engine.security import seal
from qospec.engine.security.seal import TAMPERED, build_seal, number_in, read_index, size_in


@pytest.mark.parametrize("number", [1, 2, seal.LARGEST_NUMBER])
@pytest.mark.parametrize("index", [seal.LEAST_INDEX, 257, seal.LARGEST_INDEX])
@pytest.mark.parametrize("size_bytes", [1, 1_500, 65_535])
def test_what_is_sealed_is_read_again_even_if_it_was_changed(number, index, size_bytes):
    made = build_seal(number, index, size_bytes)
    assert made > 0
    for value in (made, made | TAMPERED):
        assert (number_in(value), read_index(value), size_in(value)) == (number, index, size_bytes)
