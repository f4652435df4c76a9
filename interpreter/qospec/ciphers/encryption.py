"""The transforms that encrypt, over rows: each with an initialisation vector of its own.

A block cipher is called once for many packets: modes of operation chain the blocks of all rows at
once. Only GCM is called packet by packet, as its check sequence cannot be had otherwise.

Initialisation vectors follow from the key and the number of a packet, so a run can be repeated
byte by byte. Sources: NIST SP 800-38A, 6.2 (CBC), 6.5 (counter mode) and appendix C (the vector of
CBC is unpredictable if it is a number that the cipher has encrypted); RFC 3686, 4; RFC 4106, 3.1
and 4 (counters must only differ).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from qospec.ciphers.octets import big_endian, each_row, rows_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import BlockCipherAlgorithm, CipherContext

    from qospec.ciphers.key import Key
    from qospec.ciphers.octets import Numbers, Octets, Truths
    from qospec.protocol.esp import Encryption

Parts = Sequence["Octets"]
"""(n, any) What each row has side by side, as a payload and its trailer."""
BLOCK_BYTES = 16
"""Of AES."""
AT_ONCE_BYTES = 2**16
"""What GCM copies at a time: it then stays in the processor's nearer caches."""


class RowCipher(Protocol):
    """Encrypts and decrypts rows."""

    def vectors(self, numbers: Numbers) -> Octets:
        """Return (n, iv_bytes) the initialisation vectors of packets with these numbers."""

    def encrypt(self, plain: Parts, vectors: Octets, known: Octets, into: Octets) -> None:
        """Write plaintext encrypted to (n, size + icv_bytes); authenticate `known` with it."""

    def decrypt(self, sealed: Octets, vectors: Octets, known: Octets) -> tuple[Octets, Truths]:
        """Return (n, size) the plaintext, and (n,) whether it is genuine; else it is zero."""


def row_cipher(encryption: Encryption, key: Key) -> RowCipher:
    """Return a transform with its key.

    Raises:
        KeyLengthError: The transform takes no key of this length.
    """
    salt_bytes = encryption.salt_bytes
    key.check(encryption.name, encryption.key_bytes + salt_bytes, salt_bytes=salt_bytes)
    secret = key.revealed()[: encryption.key_bytes]
    salt = key.revealed()[encryption.key_bytes :]
    if encryption.chaining == "gcm":
        return _Gcm(secret, salt)
    if encryption.chaining == "ctr":
        return _Ctr(secret, salt)
    if encryption.chaining == "cbc":
        return _Cbc(secret, encryption)
    return _Null()


def block_cipher(algorithm: BlockCipherAlgorithm) -> tuple[CipherContext, CipherContext]:
    """Return what encrypts single blocks with a key, and what decrypts them."""
    from cryptography.hazmat.primitives.ciphers import Cipher, modes

    cipher = Cipher(algorithm, modes.ECB())  # noqa: S305  the modes here are built on single blocks
    return cipher.encryptor(), cipher.decryptor()


def _aes(secret: bytes) -> BlockCipherAlgorithm:
    from cryptography.hazmat.primitives.ciphers.algorithms import AES

    return AES(secret)


def _triple_des(secret: bytes) -> BlockCipherAlgorithm:
    from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES

    return TripleDES(secret)


def _through(context: CipherContext, blocks: Octets) -> Octets:
    """Return whole blocks, of any shape, each through a block cipher."""
    done = context.update(np.ascontiguousarray(blocks).reshape(-1).data)
    return np.frombuffer(done, np.uint8).reshape(blocks.shape)


def _all_genuine(rows: Octets) -> Truths:
    return np.ones(len(rows), np.bool_)


class _Null:
    """No encryption."""

    def vectors(self, numbers: Numbers) -> Octets:
        return np.empty((len(numbers), 0), np.uint8)

    def encrypt(self, plain: Parts, vectors: Octets, known: Octets, into: Octets) -> None:  # noqa: ARG002
        np.concatenate(plain, axis=1, out=into)

    def decrypt(self, sealed: Octets, vectors: Octets, known: Octets) -> tuple[Octets, Truths]:  # noqa: ARG002
        return sealed, _all_genuine(sealed)


class _Cbc:
    """Cipher block chaining, block after block in all rows at once."""

    def __init__(self, secret: bytes, encryption: Encryption) -> None:
        algorithm = _aes if encryption.algorithm == "aes" else _triple_des
        self._forward, self._backward = block_cipher(algorithm(secret))
        self._block_bytes = encryption.block_bytes

    def vectors(self, numbers: Numbers) -> Octets:
        blocks = np.zeros((len(numbers), self._block_bytes), np.uint8)
        blocks[:, -8:] = big_endian(numbers, 8)
        return _through(self._forward, blocks)

    def encrypt(self, plain: Parts, vectors: Octets, known: Octets, into: Octets) -> None:  # noqa: ARG002
        rows, before = np.concatenate(plain, axis=1), vectors
        for start in range(0, rows.shape[1], self._block_bytes):
            part = slice(start, start + self._block_bytes)
            before = into[:, part] = _through(self._forward, rows[:, part] ^ before)

    def decrypt(self, sealed: Octets, vectors: Octets, known: Octets) -> tuple[Octets, Truths]:  # noqa: ARG002
        before = np.concatenate([vectors, sealed[:, : -self._block_bytes]], axis=1)
        return _through(self._backward, sealed) ^ before, _all_genuine(sealed)


class _Ctr:
    """Counter mode: salt, initialisation vector and a counter from 1 on make each block."""

    def __init__(self, secret: bytes, salt: bytes) -> None:
        self._forward, _ = block_cipher(_aes(secret))
        self._salt = salt

    def vectors(self, numbers: Numbers) -> Octets:
        return big_endian(numbers, 8)

    def encrypt(self, plain: Parts, vectors: Octets, known: Octets, into: Octets) -> None:  # noqa: ARG002
        rows = np.concatenate(plain, axis=1)
        np.bitwise_xor(rows, self._stream(vectors, rows.shape[1]), out=into)

    def _stream(self, vectors: Octets, width: int) -> Octets:
        count = len(vectors)
        blocks = np.empty((count, -(-width // BLOCK_BYTES), BLOCK_BYTES), np.uint8)
        blocks[:, :, :4] = np.frombuffer(self._salt, np.uint8)
        blocks[:, :, 4:12] = vectors[:, None]
        blocks[:, :, 12:] = big_endian(np.arange(1, blocks.shape[1] + 1), 4)
        return _through(self._forward, blocks).reshape(count, -1)[:, :width]

    def decrypt(self, sealed: Octets, vectors: Octets, known: Octets) -> tuple[Octets, Truths]:  # noqa: ARG002
        return sealed ^ self._stream(vectors, sealed.shape[1]), _all_genuine(sealed)


class _Gcm:
    """Galois/counter mode, with a check value of 16 bytes."""

    def __init__(self, secret: bytes, salt: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._cipher = AESGCM(secret)
        self._salt = salt

    def vectors(self, numbers: Numbers) -> Octets:
        return big_endian(numbers, 8)

    def _nonces(self, vectors: Octets) -> list[bytes]:
        words = np.empty((len(vectors), 3), np.uint32)
        words[:, :1] = np.frombuffer(self._salt, np.uint32)
        words[:, 1:] = vectors.view(np.uint32)
        return each_row(words.view(np.uint8))

    def encrypt(self, plain: Parts, vectors: Octets, known: Octets, into: Octets) -> None:
        nonces, beside = self._nonces(vectors), each_row(known)
        step = max(1, AT_ONCE_BYTES // into.shape[1])
        for start in range(0, len(into), step):
            part = slice(start, start + step)
            rows = each_row(np.concatenate([each[part] for each in plain], axis=1))
            sealed = map(self._cipher.encrypt, nonces[part], rows, beside[part])
            into[part] = np.frombuffer(b"".join(sealed), np.uint8).reshape(into[part].shape)

    def decrypt(self, sealed: Octets, vectors: Octets, known: Octets) -> tuple[Octets, Truths]:
        from cryptography.exceptions import InvalidTag

        nothing = bytes(sealed.shape[1] - BLOCK_BYTES)

        def opened(nonce: bytes, row: bytes, beside: bytes) -> bytes | None:
            try:
                return self._cipher.decrypt(nonce, row, beside)
            except InvalidTag:
                return None

        found = list(map(opened, self._nonces(vectors), each_row(sealed), each_row(known)))
        genuine = np.array([row is not None for row in found], np.bool_)
        return rows_of([nothing if row is None else row for row in found]), genuine
