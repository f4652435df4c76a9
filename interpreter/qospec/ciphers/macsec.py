"""MACsec frames: everything behind the addresses is encrypted, behind a tag.

Source: IEEE 802.1AE, 9 (format), 14 (GCM-AES-128 and GCM-AES-256). Frames are from the destination
address on, without their check sequence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qospec.ciphers.encryption import Gcm
from qospec.ciphers.numbering import Numbering
from qospec.ciphers.octets import big_endian, numbers_in
from qospec.protocol.encapsulation import SCI_BYTES, SECTAG_BYTES, macsec_bytes

if TYPE_CHECKING:
    from qospec.ciphers.key import Key
    from qospec.ciphers.octets import Numbers, Octets, Truths

ADDRESSES_BYTES = 12
ETHERTYPE = 0x88E5
ENCRYPTED, END_STATION, EXPLICIT_SCI = 0b0000_1100, 0b0100_0000, 0b0010_0000
"""Bits of the tag control information; the last two of it are the association number."""
SHORT_BYTES = 48
"""Less than it, and the tag has the length of what is encrypted."""
KEY_BYTES = (16, 32)


class SecureChannel:
    """One direction of a secure channel, with one key, which counts what it seals.

    Attributes:
        numbering: The packet numbers that it has used.
    """

    def __init__(
        self, key: Key, channel: bytes, *, explicit: bool = True, association: int = 0
    ) -> None:
        """Set it up; `channel` is its identifier (SCI), which each tag repeats if `explicit`.

        Raises:
            KeyLengthError: GCM-AES takes no key of this length.
            ValueError: The identifier is not of 8 bytes.
        """
        key.check("gcm_aes of MACsec", *KEY_BYTES)
        if len(channel) != SCI_BYTES:
            raise ValueError(f"the identifier of a channel has 8 bytes, not {len(channel)}")
        self.numbering = Numbering("gcm_aes of MACsec", 2**32 - 1)
        self._cipher = Gcm(key.revealed(), channel)
        self._repeated = channel if explicit else b""
        self._control = (EXPLICIT_SCI if explicit else END_STATION) | ENCRYPTED | association
        self._added_bytes = macsec_bytes(explicit=explicit)

    def seal(self, frames: Octets, numbers: Numbers) -> Octets:
        """Return (n, size + macsec_bytes) frames of one size sealed, with these packet numbers.

        Raises:
            NonceError: A packet number was used before, or occurs twice.
            ExhaustedError: A packet number has more than 32 bits.
        """
        self.numbering.claim(numbers)
        start = ADDRESSES_BYTES + SECTAG_BYTES + len(self._repeated)
        sealed = np.empty((len(frames), frames.shape[1] + self._added_bytes), np.uint8)
        if not len(frames):
            return sealed
        sealed[:, :ADDRESSES_BYTES] = frames[:, :ADDRESSES_BYTES]
        plain = frames[:, ADDRESSES_BYTES:]
        sealed[:, ADDRESSES_BYTES:start] = self._tag(plain.shape[1], numbers)
        known = sealed[:, :start]
        self._cipher.encrypt(plain, big_endian(numbers, 4), known, sealed[:, start:])
        return sealed

    def _tag(self, secure_bytes: int, numbers: Numbers) -> Octets:
        """Return the tags ahead of so many bytes that are encrypted."""
        tags = np.empty((len(numbers), SECTAG_BYTES + len(self._repeated)), np.uint8)
        short = secure_bytes if secure_bytes < SHORT_BYTES else 0
        first = ETHERTYPE.to_bytes(2, "big") + bytes([self._control, short])
        tags[:, :4] = np.frombuffer(first, np.uint8)
        tags[:, 4:SECTAG_BYTES] = big_endian(numbers, 4)
        tags[:, SECTAG_BYTES:] = np.frombuffer(self._repeated, np.uint8)
        return tags

    def open(self, frames: Octets) -> tuple[Octets, Truths]:
        """Return (n, size - macsec_bytes) what was sealed, and whether it is genuine; else zero."""
        start = ADDRESSES_BYTES + SECTAG_BYTES + len(self._repeated)
        place = ADDRESSES_BYTES + 4
        numbers = numbers_in(frames[:, place : place + 4])
        known = frames[:, :start]
        vectors = big_endian(numbers, 4)
        plain, genuine = self._cipher.decrypt(frames[:, start:], vectors, known)
        expected = self._tag(plain.shape[1], numbers)
        genuine &= (frames[:, ADDRESSES_BYTES:start] == expected).all(axis=1)
        opened = np.concatenate([frames[:, :ADDRESSES_BYTES], plain], axis=1)
        opened[~genuine] = 0
        return opened, genuine
