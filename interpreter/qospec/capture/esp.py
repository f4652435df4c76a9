"""ESP in a capture: the bytes that an association makes of packets, and its keys for a decoder.

Times and sizes are those of the emulation; only the bytes are computed here, from what the device
that encrypted a packet has noted of it: the association and the sequence number.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, NamedTuple

from qospec.capture.packets import outer_header
from qospec.ciphers.esp import Association, Rows
from qospec.engine.arrays import np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qospec.capture.packets import Bytes, Wrap
    from qospec.capture.sightings import Items
    from qospec.ciphers.key import Key
    from qospec.engine.arrays import Whole
    from qospec.protocol.esp import Esp

    Noted = Callable[[Items], tuple[Whole, Whole]]
    """(n,) Of n items, which association sealed them, and their sequence numbers."""

NONE = -1
"""In place of an association: the packet is not sealed, or not any more."""

ENCRYPTIONS = {
    "aes_cbc": "AES-CBC [RFC3602]",
    "aes_ctr": "AES-CTR [RFC3686]",
    "aes_gcm": "AES-GCM with 16 octet ICV [RFC4106]",
    "triple_des_cbc": "TripleDES-CBC [RFC2451]",
    "null_null": "NULL",
}
"""By algorithm and chaining, what Wireshark calls a transform in its table `esp_sa`."""
INTEGRITIES = {
    "": "NULL",
    "hmac_md5_96": "HMAC-MD5-96 [RFC2403]",
    "hmac_sha1_96": "HMAC-SHA-1-96 [RFC2404]",
    "hmac_sha2_256_128": "HMAC-SHA-256-128 [RFC4868]",
    "hmac_sha2_384_192": "HMAC-SHA-384-192 [RFC4868]",
    "hmac_sha2_512_256": "HMAC-SHA-512-256 [RFC4868]",
}


class Secured(NamedTuple):
    """One direction of a security association; see `ciphers.esp.Association`."""

    esp: Esp
    spi: int
    encryption_key: Key
    integrity_key: Key | None = None
    ends: bytes = b""

    def sealed(self, numbers: Whole, packets: Bytes) -> Bytes:
        """Return packets of one size sealed, with these sequence numbers.

        A packet passes a link once, but captures are made again and at several links: so each call
        has an association of its own, which does not refuse the numbers of another.
        """
        keys = self.encryption_key, self.integrity_key
        association = Association(self.esp, self.spi, *keys, self.ends)
        (made,) = association.seal(Rows(numbers, packets))
        return made

    def revealed(self) -> str:
        """Return its line of Wireshark's table `esp_sa`: it shows the keys."""
        encryption, integrity = self.esp.encryption, self.esp.integrity
        middle = len(self.ends) // 2
        ends = [
            str(ipaddress.ip_address(each)) if each else "*"
            for each in (self.ends[:middle], self.ends[middle:])
        ]
        fields = [
            {"ipv4": "IPv4", "ipv6": "IPv6"}[self.esp.family],
            *ends,
            f"0x{self.spi:08x}",
            ENCRYPTIONS[f"{encryption.algorithm}_{encryption.chaining}"],
            _hexadecimal(self.encryption_key),
            INTEGRITIES[integrity.name if integrity else ""],
            _hexadecimal(self.integrity_key),
        ]
        return ",".join(f'"{field}"' for field in fields)


def _hexadecimal(key: Key | None) -> str:
    return f"0x{key.revealed().hex()}" if key is not None and key.length else ""


def sealing(associations: Sequence[Secured], noted: Noted) -> Wrap:
    """Return what puts ESP around packets that were sealed, and plain headers around others."""

    def wrap(items: Items, inner: Bytes, size_bytes: int) -> Bytes:
        made = np.empty((items.total, inner.shape[1] + size_bytes), np.uint8)
        which, numbers = noted(items)
        for each in np.unique(which).tolist():
            mine = np.flatnonzero(which == each)
            if each == NONE:
                made[mine] = outer_header(items.where(mine), inner[mine], size_bytes)
            else:
                made[mine] = associations[each].sealed(numbers[mine], inner[mine])
        return made

    return wrap
