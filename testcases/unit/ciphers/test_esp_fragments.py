"""Fragments of packets, before and after encryption, against a decoder nobody here wrote too."""

import pytest
from associations import association, packets_of
from hypothesis import given
from hypothesis import strategies as st

from qospec.ciphers.esp import Rows
from qospec.ciphers.fragments import FragmentationError, Reassembly, fragmented
from qospec.ciphers.headers import DONT_FRAGMENT
from qospec.ciphers.octets import rows_of
from qospec.protocol.esp import ENCRYPTIONS, INTEGRITIES, Esp
from qospec.protocol.fragments import (
    encrypted_then_fragmented,
    fragment_bytes,
    fragmented_then_encrypted,
)

ESP = Esp(ENCRYPTIONS["aes_128_cbc"], INTEGRITIES["hmac_md5_96"])


def packet_of(size, **fields):
    return packets_of("ipv4", size, 1, **fields)[0].tobytes()


def together(fragments):
    """Return what a reassembly makes of fragments."""
    reassembly = Reassembly()
    whole = [found for found in map(reassembly.add, fragments) if found is not None]
    assert reassembly.incomplete == 0
    return whole


@given(st.integers(40, 3_000), st.integers(68, 1_500), st.randoms(use_true_random=False))
def test_fragments_in_any_order_are_put_together(size, mtu, random):
    packet = packet_of(size)
    parts = fragmented(packet, mtu)
    assert tuple(map(len, parts)) == fragment_bytes(size, mtu)
    random.shuffle(parts)
    assert together(parts) == [packet]


def test_a_fragment_is_cut_again():
    packet = packet_of(3_000)
    twice = [part for first in fragmented(packet, 1_500) for part in fragmented(first, 576)]
    assert together(twice) == [packet]


def test_fragments_of_several_packets_are_told_apart():
    one, other = packet_of(900, seed=1), packet_of(900, seed=2)
    first, second = fragmented(one, 500), fragmented(other, 500)
    assert together([first[0], second[1], second[0], first[1]]) == [other, one]


def test_a_reassembly_waits_for_what_is_missing():
    reassembly = Reassembly()
    parts = fragmented(packet_of(1_400), 500)
    assert [reassembly.add(part) for part in (parts[0], parts[2], parts[2])] == [None] * 3
    assert reassembly.incomplete == 1
    assert reassembly.add(parts[1]) is not None


def test_fragments_that_overlap_are_refused():
    parts = fragmented(packet_of(1_400), 500)
    shifted = bytearray(parts[1])
    shifted[7] -= 1
    reassembly = Reassembly()
    reassembly.add(parts[0])
    with pytest.raises(ValueError, match="overlap"):
        reassembly.add(bytes(shifted))
    assert reassembly.incomplete == 0


def test_a_fragment_that_was_seen_with_other_content_is_refused():
    part = fragmented(packet_of(1_400), 500)[1]
    reassembly = Reassembly()
    reassembly.add(part)
    with pytest.raises(ValueError, match="overlap"):
        reassembly.add(part[:-1] + b"!")


def test_a_fragment_behind_the_last_is_refused():
    """The middle one says that it is the last, and the last that more follow."""
    first, middle, last = map(bytearray, fragmented(packet_of(1_400), 500))
    middle[6], last[6] = middle[6] & 0x1F, last[6] | 0x20
    reassembly = Reassembly()
    assert reassembly.add(bytes(last)) is None
    assert reassembly.add(bytes(middle)) is None
    with pytest.raises(ValueError, match="behind the last"):
        reassembly.add(bytes(first))


def test_a_packet_that_may_not_be_cut_is_an_error_with_its_cause():
    packet = packet_of(1_560, flags=DONT_FRAGMENT)
    with pytest.raises(FragmentationError, match=r"1560 B exceeds the path MTU of 1500 B.*\(DF\)"):
        fragmented(packet, 1_500)
    assert fragmented(packet, 1_560) == [packet]


def test_a_packet_with_options_is_not_cut():
    with pytest.raises(ValueError, match="without options"):
        fragmented(b"\x46" + packet_of(600)[1:], 500)


def test_esp_fragmented_after_encryption_is_put_together_and_opened():
    packet = packet_of(1_498)
    (sealed,) = association(ESP).seal(
        Rows(association(ESP).numbering.following(1), rows_of([packet]))
    )
    parts = fragmented(sealed[0].tobytes(), 1_500)
    assert tuple(map(len, parts)) == encrypted_then_fragmented(ESP, 1_498, 1_500)
    opened = association(ESP).open(rows_of(together(parts)))
    assert opened.packets[0, : opened.size_bytes[0]].tobytes() == packet


def test_esp_fragmented_before_encryption_fits_the_path():
    packet = packet_of(1_498)
    sender, receiver = association(ESP), association(ESP)
    parts = fragmented(packet, ESP.largest_within(1_500))
    sealed = [
        sender.seal(Rows(sender.numbering.following(1), rows_of([part])))[0] for part in parts
    ]
    assert tuple(rows.shape[1] for rows in sealed) == fragmented_then_encrypted(ESP, 1_498, 1_500)
    opened = [receiver.open(rows) for rows in sealed]
    parts = [each.packets[0, : each.size_bytes[0]].tobytes() for each in opened]
    assert together(parts) == [packet]


def test_esp_with_the_df_flag_copied_may_not_be_cut_after_encryption():
    packets = packets_of("ipv4", 1_498, 1, flags=DONT_FRAGMENT)
    sender = association(ESP)
    (sealed,) = sender.seal(Rows(sender.numbering.following(1), packets))
    with pytest.raises(FragmentationError, match="1560 B exceeds the path MTU of 1500 B"):
        fragmented(sealed[0].tobytes(), 1_500)
