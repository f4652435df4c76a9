"""Sizes of fragments, alone and with ESP."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.protocol.esp import ENCRYPTIONS, INTEGRITIES, Esp
from qospec.protocol.fragments import (
    encrypted_then_fragmented,
    fragment_bytes,
    fragmented_then_encrypted,
)

ESP = Esp(ENCRYPTIONS["aes_128_cbc"], INTEGRITIES["hmac_md5_96"])


@given(st.integers(20, 65_535), st.integers(68, 9_000))
def test_fragments_carry_everything_and_fit(packet, mtu):
    sizes = fragment_bytes(packet, mtu)
    assert sum(size - 20 for size in sizes) == packet - 20
    assert max(sizes) <= mtu
    assert all((size - 20) % 8 == 0 for size in sizes[:-1])


def test_a_packet_of_1560_bytes_of_esp_needs_two_fragments():
    """The paper's routers sent 1 364 bytes of UDP over VPN since 1 470 become 1 560."""
    assert encrypted_then_fragmented(ESP, 1_470 + 28, 1_500) == (1_500, 80)
    assert encrypted_then_fragmented(ESP, 1_364 + 28, 1_500) == (1_464,)


def test_fragments_that_are_encrypted_fit_the_path_of_esp():
    """The largest packet has 1 438 bytes: 1 416 of data, a multiple of 8, and 20; then the rest."""
    sizes = fragmented_then_encrypted(ESP, 1_498, 1_500)
    assert sizes == (ESP.size_of(1_436), ESP.size_of(1_498 - 1_416))


def test_transport_mode_of_esp_protects_no_fragments():
    transport = Esp(ESP.encryption, ESP.integrity, "transport")
    with pytest.raises(ValueError, match="transport mode protects whole packets"):
        fragmented_then_encrypted(transport, 1_500, 1_500)


def test_an_mtu_below_68_bytes_is_refused():
    with pytest.raises(ValueError, match="at least 68 B, not 60 B"):
        fragment_bytes(100, 60)
