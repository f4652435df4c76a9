"""Cells in counter mode: bytes, loss and misinsertion until resynchronised."""

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, modes
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from hypothesis import given
from hypothesis import strategies as st

from qospec.ciphers.cells import CellCipher
from qospec.ciphers.key import Key, KeyLengthError

KEYS = [Key.draw((16, 24, 32)[number % 3], ["vc", str(number)]) for number in range(6)]


def payloads_of(count):
    return np.random.default_rng(count).integers(0, 256, (count, 48), dtype=np.uint8)


def whole(*values):
    return np.array(values, np.int64)


def one_by_one(streams, positions, payloads):
    """Return payloads encrypted by one call each: the key's stream from its beginning on."""
    found = []
    for stream, position, payload in zip(streams, positions, payloads, strict=True):
        counter = (3 * int(position)).to_bytes(16, "big")
        context = Cipher(AES(KEYS[stream].reveal()), modes.CTR(counter)).encryptor()
        found.append(list(context.update(payload.tobytes())))
    return found


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 40)), min_size=1, unique=True))
def test_each_cipher_key_makes_one_stream_of_its_cells(cells):
    streams, positions = (whole(*column) for column in zip(*cells, strict=True))
    payloads = payloads_of(len(cells))
    sealed = CellCipher(KEYS).xor(streams, positions, payloads)
    assert sealed.tolist() == one_by_one(streams, positions, payloads)
    assert np.array_equal(CellCipher(KEYS).xor(streams, positions, sealed), payloads)


def test_the_first_cell_of_a_cipher_has_the_blocks_of_its_counter():
    """Source: FIPS 197 by way of NIST's known answers: AES of zero under a key of zero."""
    sealed = CellCipher([Key(bytes(16))]).xor(whole(0), whole(0), np.zeros((1, 48), np.uint8))
    assert sealed[0, :16].tobytes().hex() == "66e94bd4ef8a2c3b884cfa59ca342b2e"


def test_cells_far_apart_in_the_stream_of_a_cipher():
    """Their keystream is made for themselves, not for all that lies between."""
    streams, positions = whole(0, 0, 1, 0), whole(5, 2**40, 2**59, 7)
    payloads = payloads_of(4)
    sealed = CellCipher(KEYS).xor(streams, positions, payloads)
    assert sealed.tolist() == one_by_one(streams, positions, payloads)


def test_batches_of_cells_of_a_cipher_are_as_good_as_one():
    streams, positions = np.arange(60) % 6, np.arange(60) // 6
    payloads = payloads_of(60)
    cut = CellCipher(KEYS)
    parts = [cut.xor(*(column[i : i + 7] for column in (streams, positions, payloads)))
             for i in range(0, 60, 7)]  # fmt: skip
    assert np.array_equal(np.concatenate(parts), CellCipher(KEYS).xor(streams, positions, payloads))


def garbled(received_positions, sent_positions):
    """Return which cells are not what was sent, of one stream."""
    payloads = payloads_of(len(sent_positions))
    streams = np.zeros(len(sent_positions), np.int64)
    sealed = CellCipher(KEYS).xor(streams, whole(*sent_positions), payloads)
    opened = CellCipher(KEYS).xor(streams, whole(*received_positions), sealed)
    return np.flatnonzero((opened != payloads).any(axis=1)).tolist()


def test_a_lost_cell_garbles_what_the_cipher_opens_until_it_is_resynchronised():
    """Cell 3 of 0 to 9 is lost; an OAM cell before cell 7 hands over its position."""
    assert garbled([0, 1, 2, 3, 4, 5, 7, 8, 9], [0, 1, 2, 4, 5, 6, 7, 8, 9]) == [3, 4, 5]


def test_a_misinserted_cell_garbles_what_the_cipher_opens_until_it_is_resynchronised():
    """Behind cell 1 the receiver counts one that was never sent; it resynchronises before 5."""
    assert garbled([0, 1, 3, 4, 5, 5, 6], [0, 1, 2, 3, 4, 5, 6]) == [2, 3, 4]


def test_a_changed_cipher_key_is_another_stream():
    """Cells 3 and on have the new key at both ends; one end that changes late garbles the rest."""
    payloads, positions = payloads_of(6), whole(0, 1, 2, 0, 1, 2)
    sealed = CellCipher(KEYS).xor(whole(0, 0, 0, 1, 1, 1), positions, payloads)
    late = CellCipher(KEYS).xor(whole(0, 0, 0, 0, 1, 1), whole(0, 1, 2, 3, 1, 2), sealed)
    assert np.flatnonzero((late != payloads).any(axis=1)).tolist() == [3]


def test_no_cells_need_no_cipher():
    none = np.empty((0, 48), np.uint8)
    cipher = CellCipher(KEYS)
    assert cipher.xor(whole(), whole(), none).shape == (0, 48)


def test_a_cipher_of_cells_names_the_lengths_of_its_keys():
    with pytest.raises(KeyLengthError, match="cells takes a key of 16 or 24 or 32 bytes, not of 8"):
        CellCipher([Key(bytes(8))])
