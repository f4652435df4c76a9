"""The payload of ATM cells in counter mode, with a key for each connection.

The keystream of a key is one long stream, AES over a counter from 0 on; a cell takes the 48 bytes
at its position. Connections that share a key have a nonce each, ahead of the count. Two ends keep a
position each, which counts user cells and jumps at OAM cells, and an OAM cell hands over that of
the sender. A cell lost or inserted between shifts one against the other, so all that follow are
garbled until the next OAM cell. What the positions are is an element's affair; here they are given,
so the bytes of each cell follow from its stream and position alone.

Source: ATM Forum Security 1.1 (af-sec-0100.002), on counter mode: the header stays clear, and
nothing is added. Its state vector is for ciphers of 64-bit blocks; with blocks of 128 bits three
counts make a payload (NIST SP 800-38A, 6.5).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from qospec.ciphers.encryption import BLOCK_BYTES
from qospec.ciphers.octets import encode_big_endian, iterate_rows
from qospec.protocol.atm import CELL_PAYLOAD_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cryptography.hazmat.primitives.ciphers import CipherContext

    from qospec.ciphers.key import Key
    from qospec.ciphers.octets import Numbers, Octets

NAME = "aes_ctr of cells"
BLOCKS = CELL_PAYLOAD_BYTES // BLOCK_BYTES
"""Of the cipher in a payload."""
KEY_BYTES = (16, 24, 32)
SPARE_BYTES = BLOCK_BYTES - 1
"""More room than `update_into` needs, but less is refused."""
MOST_UNUSED = 4
"""How many times as many cells as there are a keystream may have; more are split in two."""
_LATEST = np.iinfo(np.int64).max


class _Layout:
    """The positions that cells take of each stream, from the first to the last, laid in a row.

    Attributes:
        streams: (n,) The stream of each cell, of `total`.
        positions: (n,) Its position in the stream.
        used: (m,) The streams of these cells.
        first: (m,) The first position of each.
        count: (m,) How many there are from it to the last.
    """

    def __init__(self, streams: Numbers, positions: Numbers, total: int) -> None:
        first, last = np.full(total, _LATEST), np.full(total, -1)
        np.minimum.at(first, streams, positions)
        np.maximum.at(last, streams, positions)
        self.streams, self.positions, self._total = streams, positions, total
        self.used = np.flatnonzero(last >= 0)
        self.first = first[self.used]
        self.count = last[self.used] - self.first + 1

    @functools.cached_property
    def is_dense(self) -> bool:
        """Whether the cells are a fair part of all positions, so that these may be made."""
        limit = MOST_UNUSED * len(self.streams)
        return bool(self.count.max() <= limit and self.count.sum() <= limit)

    @functools.cached_property
    def places(self) -> Numbers:
        """(n,) Where each cell is, if it is dense."""
        offsets = np.zeros(self._total, np.int64)
        offsets[self.used] = np.cumsum(self.count) - self.count - self.first
        return self.positions + offsets[self.streams]

    def split(self) -> Iterator[tuple[_Layout, slice]]:
        """Yield the cells in two parts, and which they are."""
        half = len(self.streams) // 2
        for part in (slice(half), slice(half, None)):
            yield _Layout(self.streams[part], self.positions[part], self._total), part


class CellCipher:
    """The keys of many connections, or of one that changed its key: each is a stream."""

    def __init__(self, keys: Sequence[Key], nonces: Sequence[int] = ()) -> None:
        """Take the key of each stream, and what its counter begins with, which is else 0.

        Streams of one key are different if their nonces are.

        Raises:
            KeyLengthError: AES takes no key of this length.
        """
        from cryptography.hazmat.primitives.ciphers import Cipher, modes
        from cryptography.hazmat.primitives.ciphers.algorithms import AES

        def make_keystream(key: Key) -> CipherContext:
            key.check(NAME, *KEY_BYTES)
            return Cipher(AES(key.reveal()), modes.CTR(bytes(BLOCK_BYTES))).encryptor()

        self._keystreams = [make_keystream(key) for key in keys]
        self._nonces = np.array(nonces or [0] * len(keys), np.int64)

    def xor(self, streams: Numbers, positions: Numbers, payloads: Octets) -> Octets:
        """Return (n, 48) payloads encrypted, or decrypted: each with its part of a keystream added.

        What is decrypted is garbled where a position is not the sender's.
        """
        if not len(streams):
            return payloads
        return self._xor(_Layout(streams, positions, len(self._keystreams)), payloads)

    def _xor(self, layout: _Layout, payloads: Octets) -> Octets:
        """Return payloads, each xored with its part of the keystream."""
        if not layout.is_dense:
            parts = [self._xor(half, payloads[part]) for half, part in layout.split()]
            return np.concatenate(parts)
        keystream = self._make_keystream(layout).view(np.uint64)
        words = np.take(keystream, layout.places, axis=0)
        words ^= np.ascontiguousarray(payloads).view(np.uint64)
        return words.view(np.uint8)

    def _make_keystream(self, layout: _Layout) -> Octets:
        """Return (total count, 48) the keystream of all positions, one behind the other."""
        lengths = layout.count * CELL_PAYLOAD_BYTES
        ends = np.cumsum(lengths)
        made = np.empty(int(ends[-1]) + SPARE_BYTES, np.uint8)
        zeros, room = memoryview(bytes(int(lengths.max()))), made.data
        counters = np.zeros((len(lengths), BLOCK_BYTES), np.uint8)
        counters[:, :8] = encode_big_endian(self._nonces[layout.used], 8)
        counters[:, -8:] = encode_big_endian(layout.first * BLOCKS, 8)
        contexts = map(self._keystreams.__getitem__, layout.used.tolist())
        every = zip(
            contexts,
            iterate_rows(counters),
            lengths.tolist(),
            (ends - lengths).tolist(),
            strict=True,
        )
        for context, counter, length, start in every:
            context.reset_nonce(counter)
            context.update_into(zeros[:length], room[start : start + length + SPARE_BYTES])
        return made[: int(ends[-1])].reshape(-1, CELL_PAYLOAD_BYTES)
