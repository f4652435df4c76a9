"""The transforms that encrypt, over rows: each with an initialisation vector of its own.

A block cipher is called once for many packets: modes of operation chain the blocks of all rows at
once.

Initialisation vectors follow from the key and the number of a packet, so a run can be repeated
byte by byte. Sources: NIST SP 800-38A, 6.2 (CBC), 6.5 (counter mode) and appendix C (the vector of
CBC is unpredictable if it is a number that the cipher has encrypted); RFC 3686, 4; RFC 4106, 3.1
and 4 (counters must only differ).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from qospec.ciphers.ghash import Ghash
from qospec.ciphers.octets import encode_big_endian

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import BlockCipherAlgorithm, CipherContext

    from qospec.ciphers.key import Key
    from qospec.ciphers.octets import Numbers, Octets, Truths
    from qospec.protocol.esp import Encryption

Parts = Sequence["Octets"]
"""(n, any) What each row has side by side, as a payload and its trailer."""
BLOCK_BYTES = 16
"""Of AES."""
AT_ONCE_BYTES = 2**18
"""What GCM seals or opens at a time: it then stays in the processor's nearer caches."""


class RowCipher(Protocol):
    """Encrypts and decrypts rows."""

    def make_vectors(self, numbers: Numbers) -> Octets:
        """Return (n, iv_bytes) the initialisation vectors of packets with these numbers."""

    def encrypt(self, plain: Parts, vectors: Octets, known: Octets, into: Octets) -> None:
        """Write plaintext encrypted to (n, size + icv_bytes); authenticate `known` with it."""

    def decrypt(self, sealed: Octets, vectors: Octets, known: Octets) -> tuple[Octets, Truths]:
        """Return (n, size) the plaintext, and (n,) whether it is genuine; else it is zero."""


def make_row_cipher(encryption: Encryption, key: Key) -> RowCipher:
    """Return a transform with its key.

    Raises:
        KeyLengthError: The transform takes no key of this length.
    """
    salt_bytes = encryption.salt_bytes
    key.check(encryption.name, encryption.key_bytes + salt_bytes, salt_bytes=salt_bytes)
    secret = key.reveal()[: encryption.key_bytes]
    salt = key.reveal()[encryption.key_bytes :]
    if encryption.chaining == "gcm":
        return _Gcm(secret, salt)
    if encryption.chaining == "ctr":
        return _Ctr(secret, salt)
    if encryption.chaining == "cbc":
        return _Cbc(secret, encryption)
    return _Null()


def make_block_cipher(algorithm: BlockCipherAlgorithm) -> tuple[CipherContext, CipherContext]:
    """Return what encrypts single blocks with a key, and what decrypts them."""
    from cryptography.hazmat.primitives.ciphers import Cipher, modes

    cipher = Cipher(algorithm, modes.ECB())  # noqa: S305  the modes here are built on single blocks
    return cipher.encryptor(), cipher.decryptor()


def _make_aes(secret: bytes) -> BlockCipherAlgorithm:
    from cryptography.hazmat.primitives.ciphers.algorithms import AES

    return AES(secret)


def _make_triple_des(secret: bytes) -> BlockCipherAlgorithm:
    from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES

    return TripleDES(secret)


def _pass_through(context: CipherContext, blocks: Octets) -> Octets:
    """Return whole blocks, of any shape, each through a block cipher."""
    done = context.update(np.ascontiguousarray(blocks).reshape(-1).data)
    return np.frombuffer(done, np.uint8).reshape(blocks.shape)


def count_blocks(width: int) -> int:
    """Return how many blocks of AES cover a row."""
    return -(-width // BLOCK_BYTES)


def _accept_all(rows: Octets) -> Truths:
    return np.ones(len(rows), np.bool_)


class _Null:
    """No encryption."""

    def make_vectors(self, numbers: Numbers) -> Octets:
        return np.empty((len(numbers), 0), np.uint8)

    def encrypt(self, plain: Parts, vectors: Octets, known: Octets, into: Octets) -> None:  # noqa: ARG002
        np.concatenate(plain, axis=1, out=into)

    def decrypt(self, sealed: Octets, vectors: Octets, known: Octets) -> tuple[Octets, Truths]:  # noqa: ARG002
        return sealed, _accept_all(sealed)


class _Cbc:
    """Cipher block chaining, block after block in all rows at once."""

    def __init__(self, secret: bytes, encryption: Encryption) -> None:
        algorithm = _make_aes if encryption.algorithm == "aes" else _make_triple_des
        self._forward, self._backward = make_block_cipher(algorithm(secret))
        self._block_bytes = encryption.block_bytes

    def make_vectors(self, numbers: Numbers) -> Octets:
        blocks = np.zeros((len(numbers), self._block_bytes), np.uint8)
        blocks[:, -8:] = encode_big_endian(numbers, 8)
        return _pass_through(self._forward, blocks)

    def encrypt(self, plain: Parts, vectors: Octets, known: Octets, into: Octets) -> None:  # noqa: ARG002
        rows, before = np.concatenate(plain, axis=1), vectors
        for start in range(0, rows.shape[1], self._block_bytes):
            part = slice(start, start + self._block_bytes)
            before = into[:, part] = _pass_through(self._forward, rows[:, part] ^ before)

    def decrypt(self, sealed: Octets, vectors: Octets, known: Octets) -> tuple[Octets, Truths]:  # noqa: ARG002
        before = np.concatenate([vectors, sealed[:, : -self._block_bytes]], axis=1)
        return _pass_through(self._backward, sealed) ^ before, _accept_all(sealed)


class _Ctr:
    """Counter mode: salt, initialisation vector and a counter from 1 on make each block."""

    def __init__(self, secret: bytes, salt: bytes) -> None:
        self._forward, _ = make_block_cipher(_make_aes(secret))
        self._salt = np.frombuffer(salt, np.uint32)

    def make_vectors(self, numbers: Numbers) -> Octets:
        return encode_big_endian(numbers, 8)

    def encrypt(self, plain: Parts, vectors: Octets, known: Octets, into: Octets) -> None:  # noqa: ARG002
        rows = np.concatenate(plain, axis=1)
        np.bitwise_xor(rows, self.make_stream(vectors, rows.shape[1])[:, : rows.shape[1]], out=into)

    def make_stream(self, vectors: Octets, width: int) -> Octets:
        """Return what is added to rows of a width: (n, whole blocks)."""
        words = np.empty((len(vectors), count_blocks(width), BLOCK_BYTES // 4), np.uint32)
        words[:, :, 0] = self._salt
        words[:, :, 1], words[:, :, 2] = np.ascontiguousarray(vectors).view(np.uint32).T[:, :, None]
        words[:, :, 3] = np.arange(1, words.shape[1] + 1, dtype=">u4").view(np.uint32)
        return _pass_through(self._forward, words.view(np.uint8)).reshape(len(words), -1)

    def decrypt(self, sealed: Octets, vectors: Octets, known: Octets) -> tuple[Octets, Truths]:  # noqa: ARG002
        width = sealed.shape[1]
        return sealed ^ self.make_stream(vectors, width)[:, :width], _accept_all(sealed)


class _Gcm:
    """Galois/counter mode: what is authenticated is the ciphertext. Source: NIST SP 800-38D, 7.

    The first block of the stream hides the check value; the text begins with the second.
    """

    def __init__(self, secret: bytes, salt: bytes) -> None:
        self._counter = _Ctr(secret, salt)
        self._hash = Ghash(make_block_cipher(_make_aes(secret))[0].update(bytes(BLOCK_BYTES)))

    def make_vectors(self, numbers: Numbers) -> Octets:
        return self._counter.make_vectors(numbers)

    def encrypt(self, plain: Parts, vectors: Octets, known: Octets, into: Octets) -> None:
        width = into.shape[1] - BLOCK_BYTES
        for part in _split(into):
            stream = self._counter.make_stream(vectors[part], BLOCK_BYTES + width)
            hashed, text = _to_hash(known[part], width)
            np.concatenate([column[part] for column in plain], axis=1, out=text[:, :width])
            words = text.view(np.int64)  # eight bytes at a time
            np.bitwise_xor(words, stream[:, BLOCK_BYTES:].view(np.int64), out=words)
            text[:, width:] = 0
            into[part, :width] = text[:, :width]
            into[part, width:] = self._hash.hash_rows(hashed) ^ stream[:, :BLOCK_BYTES]

    def decrypt(self, sealed: Octets, vectors: Octets, known: Octets) -> tuple[Octets, Truths]:
        width = sealed.shape[1] - BLOCK_BYTES
        plain = np.empty((len(sealed), width), np.uint8)
        genuine = np.empty(len(sealed), np.bool_)
        for part in _split(sealed):
            stream = self._counter.make_stream(vectors[part], BLOCK_BYTES + width)
            hashed, text = _to_hash(known[part], width)
            text[:, :width] = sealed[part, :width]
            value = self._hash.hash_rows(hashed) ^ stream[:, :BLOCK_BYTES]
            genuine[part] = (value == sealed[part, width:]).all(axis=1)
            plain[part] = (text ^ stream[:, BLOCK_BYTES:])[:, :width]
        plain[~genuine] = 0
        return plain, genuine


def _split(rows: Octets) -> Iterator[slice]:
    """Yield parts of rows that stay in the processor's nearer caches."""
    step = max(1, AT_ONCE_BYTES // rows.shape[1])
    for start in range(0, len(rows), step):
        yield slice(start, start + step)


def _to_hash(known: Octets, width: int) -> tuple[Octets, Octets]:
    """Return what GCM hashes of each row, and the blocks in it for a ciphertext of a width.

    Both parts are filled up to whole blocks; their lengths in bits follow. Source: as of _Gcm, 7.1.
    """
    start = count_blocks(known.shape[1]) * BLOCK_BYTES
    hashed = np.zeros((len(known), start + (count_blocks(width) + 1) * BLOCK_BYTES), np.uint8)
    hashed[:, : known.shape[1]] = known
    hashed[:, -BLOCK_BYTES:] = encode_big_endian([8 * known.shape[1], 8 * width], 8).ravel()
    return hashed, hashed[:, start:-BLOCK_BYTES]
