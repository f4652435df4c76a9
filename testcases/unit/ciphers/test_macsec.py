"""MACsec frames: the examples of the standard, damage, numbers, and sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.ciphers.key import Key, KeyLengthError
from qospec.ciphers.macsec import SecureChannel
from qospec.ciphers.numbering import ExhaustedError, NonceError
from qospec.ciphers.octets import rows_of
from qospec.protocol.encapsulation import macsec_bytes

SCI = bytes.fromhex("12153524c0895e81")
# Source: IEEE 802.1AE, annex on test vectors, the 60-byte frame in confidentiality mode.
ADDRESSES = "d609b1f056637a0d46df998d"
PLAIN = (
    "08000f101112131415161718191a1b1c1d1e1f202122232425262728292a"
    "2b2c2d2e2f303132333435363738393a0002"
)
TAG = "88e52e00b2c2846512153524c0895e81"
NUMBER = 0xB2C28465
SEALED = {
    "ad7a2bd03eac835a6f620fdcb506b345": (
        "701afa1cc039c0d765128a665dab69243899bf7318ccdc81c9931da17fbe8edd7d17cb8b4c26fc81e3284f2b7f"
        "ba713d4f8d55e7d3f06fd5a13c0c29b9d5b880"
    ),
    "e3c08a8f06c6e3ad95a70557b23f75483ce33021a9c72b7025666204c69c0b72": (
        "e2006eb42f5277022d9b19925bc419d7a592666c925fe2ef718eb4e308efeaa7c5273b394118860a5be2a97f56"
        "ab7836"
    ),
}


def channel(key=bytes(16), **more):
    return SecureChannel(Key(key), SCI, **more)


def frames_of(size, count=3):
    return np.random.default_rng(size).integers(0, 256, (count, size), dtype=np.uint8)


@pytest.mark.parametrize(("key", "expected"), SEALED.items(), ids=["128", "256"])
def test_macsec_examples_of_the_standard(key, expected):
    sender = channel(bytes.fromhex(key), association=2)
    frame = rows_of([bytes.fromhex(ADDRESSES + PLAIN)])
    sealed = sender.seal(frame, np.array([NUMBER])).tobytes().hex()
    assert sealed.startswith(ADDRESSES + TAG + expected)
    assert len(sealed) == 2 * (60 + 32)


@given(st.integers(14, 200), st.booleans())
def test_macsec_opens_what_it_sealed_and_has_the_declared_size(size, explicit):
    frames = frames_of(size)
    sender, receiver = (channel(explicit=explicit) for _ in range(2))
    sealed = sender.seal(frames, np.array([1, 2, 3]))
    assert sealed.shape == (3, size + macsec_bytes(explicit=explicit))
    opened, genuine = receiver.open(sealed)
    assert genuine.all()
    assert np.array_equal(opened, frames)


@given(st.integers(14, 100), st.booleans(), st.data())
def test_any_bit_of_a_macsec_frame_that_is_flipped_is_refused(size, explicit, data):
    sealed = channel(explicit=explicit).seal(frames_of(size), np.array([1, 2, 3]))
    bit = data.draw(st.integers(0, 8 * sealed.shape[1] - 1))
    sealed[1, bit // 8] ^= 128 >> bit % 8
    opened, genuine = channel(explicit=explicit).open(sealed)
    assert genuine.tolist() == [True, False, True]
    assert not opened[1].any()


def test_a_frame_of_64_bytes_has_96_with_macsec():
    """Source: shared facts; 107,758.62 frames/s at 100 Mbit/s with 20 bytes between frames."""
    assert macsec_bytes(explicit=True) == 32
    assert macsec_bytes(explicit=False) == 24
    assert round(100e6 / 8 / (64 + macsec_bytes(explicit=True) + 20), 2) == 107_758.62


def test_a_macsec_number_that_would_repeat_is_never_encrypted():
    sender = channel()
    sender.seal(frames_of(60), np.array([1, 2, 3]))
    with pytest.raises(NonceError, match="the number 3 would repeat a nonce"):
        sender.seal(frames_of(60), np.array([3, 4, 5]))
    with pytest.raises(ExhaustedError, match="4294967295 is the last number of a key"):
        sender.seal(frames_of(60), np.array([4, 5, 2**32]))
    assert sender.seal(frames_of(60, 0), np.array([], np.int64)).shape == (0, 92)


def test_macsec_names_the_lengths_of_its_keys_and_channels():
    with pytest.raises(KeyLengthError, match="MACsec takes a key of 16 or 32 bytes, not of 24"):
        SecureChannel(Key(bytes(24)), SCI)
    with pytest.raises(ValueError, match="has 8 bytes, not 6"):
        SecureChannel(Key(bytes(16)), SCI[:6])
