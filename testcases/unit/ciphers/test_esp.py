"""ESP packets: sizes, round trips, damage, numbers that may not repeat, and what is refused."""

import pickle

import numpy as np
import pytest
from associations import SPI, association, ends, formats, keys_of, packets_of
from hypothesis import given
from hypothesis import strategies as st

from qospec.ciphers.esp import FAULTS, Association, Rows
from qospec.ciphers.headers import DONT_FRAGMENT, compute_checksum
from qospec.ciphers.key import Key, KeyLengthError
from qospec.ciphers.numbering import ExhaustedError, NonceError
from qospec.protocol.esp import ENCRYPTIONS, INTEGRITIES, Esp

GCM = Esp(ENCRYPTIONS["aes_128_gcm"])
CBC = Esp(ENCRYPTIONS["aes_128_cbc"], INTEGRITIES["hmac_sha1_96"])
ALL = formats("tunnel", "transport")


def sealed_of(esp, packets, numbers, name="test"):
    (sealed,) = association(esp, name).seal(Rows(np.array(numbers), packets))
    return sealed


@given(st.sampled_from(ALL), st.integers(40, 300), st.sampled_from([1, 7, 2**32 - 5]))
def test_esp_opens_what_it_sealed_and_has_the_declared_size(esp, size, first):
    packets = packets_of(esp.family, size, seed=size)
    numbers = np.arange(first, first + 3)
    sealed = sealed_of(esp, packets, numbers)
    assert sealed.shape == (3, esp.count_protected_bytes(size))
    opened = association(esp).open(sealed)
    assert opened.faults.tolist() == [0, 0, 0]
    assert opened.size_bytes.tolist() == [size] * 3
    assert np.array_equal(opened.packets[:, :size], packets)


@given(st.sampled_from(formats("tunnel")), st.integers(40, 120), st.data())
def test_any_bit_of_an_esp_packet_that_is_flipped_is_refused(esp, size, data):
    """Of an outer header over IPv6 nothing is checked but what the association says of it.

    The checksum of UDP is not checked: RFC 3948, 2.1.
    """
    sealed = sealed_of(esp, packets_of(esp.family, size), [1, 2, 3])
    first = 0 if esp.family == "ipv4" else 8 * esp.ip_bytes
    bit = data.draw(st.integers(first, 8 * sealed.shape[1] - 1))
    sealed[1, bit // 8] ^= 128 >> bit % 8
    faults = association(esp).open(sealed).faults
    assert faults.tolist()[::2] == [0, 0]
    if esp.in_udp and bit // 8 - esp.ip_bytes in (6, 7):
        assert FAULTS[faults[1]] == ""
        return
    assert FAULTS[faults[1]] in ("malformed", "tampered")
    if bit >= 8 * (esp.clear_bytes - esp.encryption.iv_bytes - 4):
        assert FAULTS[faults[1]] == "tampered", "all behind the SPI is authenticated"


def test_an_esp_packet_of_another_key_is_tampered():
    sealed = sealed_of(GCM, packets_of("ipv4", 100), [1, 2, 3], name="other")
    assert set(association(GCM).open(sealed).faults) == {FAULTS.index("tampered")}


@pytest.mark.parametrize("cut", [1, 16, 90])
def test_an_esp_packet_that_is_cut_off_is_malformed(cut):
    sealed = sealed_of(GCM, packets_of("ipv4", 64), [1, 2, 3])
    opened = association(GCM).open(sealed[:, :-cut])
    assert set(opened.faults) == {FAULTS.index("malformed")}
    assert set(opened.size_bytes) == {0}


def test_wrong_padding_of_esp_is_found_if_nothing_authenticates():
    """Two bytes of padding follow a packet of 60; CBC carries over damage to the next block."""
    esp = Esp(ENCRYPTIONS["aes_128_cbc"])
    sealed = sealed_of(esp, packets_of("ipv4", 60), [1, 2, 3])
    sealed[1, esp.clear_bytes + 60 - 16] ^= 1
    assert [FAULTS[fault] for fault in association(esp).open(sealed).faults] == ["", "padding", ""]


def test_the_outer_header_of_esp_takes_over_what_rfc_4301_says():
    packets = packets_of("ipv4", 100, tos=0xB8, flags=DONT_FRAGMENT)
    outer = sealed_of(GCM, packets, [65_537, 65_538, 65_540])[:, :20]
    assert outer[:, 1].tolist() == [0xB8] * 3, "DSCP and congestion notification"
    assert outer[:, 4:6].tolist() == [[0, 1], [0, 2], [0, 4]], "the number identifies it"
    assert outer[:, 6:8].tolist() == [[0x40, 0]] * 3, "DF"
    assert outer[:, 12:].tobytes() == ends("ipv4") * 3
    assert compute_checksum(outer).tolist() == [0, 0, 0]


def test_the_outer_header_of_esp_takes_over_the_class_of_the_other_family():
    inside = packets_of("ipv4", 80, tos=0xB9)
    over_ipv6 = sealed_of(Esp(GCM.encryption, family="ipv6"), inside, [1, 2, 3])
    assert over_ipv6[:, :4].tolist() == [[0x6B, 0x90, 0, 0]] * 3
    inside = packets_of("ipv6", 80)
    inside[:, :2] = [0x6B, 0x90]
    outer = sealed_of(GCM, inside, [1, 2, 3])
    assert outer[:, 1].tolist() == [0xB9] * 3
    assert outer[:, 6].tolist() == [0x40] * 3, "a packet of IPv6 is not cut on its way"


def test_ipv4_in_esp_over_ipv6_and_the_other_way_round():
    for outer, inner in (("ipv6", "ipv4"), ("ipv4", "ipv6")):
        esp = Esp(ENCRYPTIONS["aes_128_gcm"], family=outer)
        packets = packets_of(inner, 80)
        opened = association(esp).open(sealed_of(esp, packets, [1, 2, 3]))
        assert np.array_equal(opened.packets[:, :80], packets)


def test_the_vectors_of_esp_follow_from_key_and_number():
    """And so a run can be repeated; those of CBC look random, those of GCM are the numbers."""
    packets = packets_of("ipv4", 64)
    for esp in (CBC, GCM):
        assert np.array_equal(
            sealed_of(esp, packets, [5, 6, 7]), sealed_of(esp, packets, [5, 6, 7])
        )
    vectors = sealed_of(CBC, packets, [5, 6, 7])[:, 28:44]
    assert len(np.unique(vectors, axis=0)) == 3
    assert sealed_of(GCM, packets, [5, 6, 7])[:, 28:36].tolist() == [
        [0, 0, 0, 0, 0, 0, 0, number] for number in (5, 6, 7)
    ]


@pytest.mark.parametrize("esp", [GCM, CBC], ids=["gcm", "cbc"])
@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ([3, 4, 5], "the number 3 would repeat a nonce, since 3 was used"),
        ([1, 8, 9], "the number 1 would repeat a nonce"),
        ([7, 9, 7], "the number 7 would be used twice"),
        ([0, 1, 2], "the number 0 would repeat"),
    ],
)
def test_a_number_of_esp_that_would_repeat_is_never_encrypted(esp, numbers, message):
    one_way = association(esp)
    packets = packets_of("ipv4", 64)
    one_way.seal(Rows(np.array([1, 2, 3]), packets))
    with pytest.raises(NonceError, match=message):
        one_way.seal(Rows(np.array(numbers), packets))
    assert one_way.numbering.last == 3, "nothing was claimed"


def test_numbers_of_esp_may_be_in_any_order_in_batches_of_several_sizes():
    one_way = association(GCM)
    small, large = packets_of("ipv4", 40), packets_of("ipv4", 1_500)
    sealed = one_way.seal(Rows(np.array([1, 4, 6]), small), Rows(np.array([5, 2, 9]), large))
    assert [rows.shape[1] for rows in sealed] == [
        GCM.count_protected_bytes(40),
        GCM.count_protected_bytes(1_500),
    ]
    assert one_way.numbering.last == 9


def test_nothing_is_sealed_of_no_esp_packets():
    one_way = association(GCM)
    (none,) = one_way.seal(Rows(np.array([], np.int64), packets_of("ipv4", 40, 0)))
    assert none.shape == (0, GCM.count_protected_bytes(40))
    assert one_way.numbering.last == 0
    assert one_way.open(none).packets.shape[0] == 0


def test_the_numbers_of_esp_end_with_32_bits():
    last = 2**32 - 1
    one_way = association(GCM)
    with pytest.raises(ExhaustedError, match=f"{last} is the last number of a key.*change the key"):
        one_way.seal(Rows(np.array([1, last, last + 1]), packets_of("ipv4", 64)))
    assert one_way.numbering.last == 0
    one_way.seal(Rows(np.array([last - 2, last - 1, last]), packets_of("ipv4", 64)))


@pytest.mark.parametrize("first", [0x46, 0x60])
def test_transport_mode_of_esp_refuses_options_and_the_other_family(first):
    packets = packets_of("ipv4", 64)
    packets[1, 0] = first
    transport = Esp(GCM.encryption, None, "transport")
    with pytest.raises(ValueError, match="packets of that family, and without options"):
        sealed_of(transport, packets, [1, 2, 3])


def test_a_tunnel_of_esp_needs_two_addresses_of_its_family():
    key, _ = keys_of(GCM)
    with pytest.raises(ValueError, match="tunnel mode over ipv4 are 8 bytes, not 32"):
        Association(GCM, SPI, key, ends=ends("ipv6"))


@pytest.mark.parametrize("spi", [0, 255, 2**32])
def test_an_index_of_esp_that_is_reserved_is_refused(spi):
    key, _ = keys_of(GCM)
    with pytest.raises(ValueError, match=f"from 256 to 4294967295, not {spi}"):
        Association(GCM, spi, key, ends=ends("ipv4"))


def test_a_packet_too_large_for_esp_is_refused_and_claims_no_number():
    one_way = association(GCM)
    largest = 65_478  # 52 B around it, and padding and trailer to a multiple of 4
    with pytest.raises(ValueError, match="would have 65536 B in ESP, and 65535 B is the most"):
        one_way.seal(Rows(np.array([1]), packets_of("ipv4", largest + 1, 1)))
    assert one_way.numbering.last == 0
    (sealed,) = one_way.seal(Rows(np.array([1]), packets_of("ipv4", largest, 1)))
    assert sealed.shape[1] == 65_532


def test_a_key_of_integrity_belongs_to_a_transform_of_esp():
    key, _ = keys_of(GCM)
    with pytest.raises(ValueError, match="belongs to a transform"):
        Association(GCM, SPI, key, key, ends("ipv4"))


@pytest.mark.parametrize(
    ("esp", "encryption_bytes", "integrity_bytes", "message"),
    [
        (GCM, 16, None, r"aes_128_gcm takes a key of 20 bytes \(with a salt of 4 .*not of 16"),
        (CBC, 24, 20, "aes_128_cbc takes a key of 16 bytes, not of 24"),
        (CBC, 16, 16, "hmac_sha1_96 takes a key of 20 bytes, not of 16"),
    ],
)
def test_a_key_of_a_wrong_length_names_the_cipher(esp, encryption_bytes, integrity_bytes, message):
    secret = b"\x5a" * 99
    with pytest.raises(KeyLengthError, match=message) as raised:
        Association(
            esp,
            SPI,
            Key(secret[:encryption_bytes]),
            Key(secret[:integrity_bytes]) if integrity_bytes else None,
            ends("ipv4"),
        )
    assert secret[:8] not in pickle.dumps(raised.value)
    assert "5a5a" not in repr(raised.value)
