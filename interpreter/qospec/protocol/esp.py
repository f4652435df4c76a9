"""IPsec ESP in numbers: its transforms, and what they make of the size of a packet.

Elements compute sizes with this, and `ciphers` makes packets of exactly these. An association has
two rows of the tables below: one that encrypts and one that authenticates, or one that does both.

Source: RFC 4303, 2 (format), 3.1 (modes), 2.4 (padding); RFC 3948, 2.1 (UDP encapsulation).
"""

from __future__ import annotations

from typing import Literal, get_args

from qospec.dataclass import dataclass
from qospec.protocol.ip import FAMILY_EXTRA_BYTES, IPV4_HEADER_BYTES, TRANSPORT_HEADER_BYTES

HEADER_BYTES = 8
"""The security parameters index (SPI) and the sequence number. Source: RFC 4303, 2.1 and 2.2."""
TRAILER_BYTES = 2
"""The length of the padding and the next header. Source: RFC 4303, 2.5 and 2.6."""
ALIGNMENT_BYTES = 4
"""What is encrypted ends at a multiple of it at least. Source: RFC 4303, 2.4."""

Algorithm = Literal["aes", "triple_des", "null"]
Chaining = Literal["cbc", "ctr", "gcm", "null"]
Digest = Literal["md5", "sha1", "sha256", "sha384", "sha512"]
Mode = Literal["tunnel", "transport"]
Family = Literal["ipv4", "ipv6"]
MODES: tuple[str, ...] = get_args(Mode)
FAMILIES: tuple[str, ...] = get_args(Family)


@dataclass(frozen=True)
class Encryption:
    """A transform that encrypts.

    Attributes:
        name: As a specification writes it.
        algorithm: The block cipher.
        chaining: Its mode of operation.
        key_bytes: Length of its key, without the salt.
        source: The RFC that defines it for ESP.
        salt_bytes: What follows the key and begins each nonce.
        iv_bytes: The initialisation vector in each packet.
        block_bytes: What is encrypted is padded to a multiple of it.
        icv_bytes: The integrity check value, of one that also authenticates.
    """

    name: str
    algorithm: Algorithm
    chaining: Chaining
    key_bytes: int
    source: str
    salt_bytes: int = 0
    iv_bytes: int = 0
    block_bytes: int = ALIGNMENT_BYTES
    icv_bytes: int = 0


@dataclass(frozen=True)
class Integrity:
    """A transform that only authenticates: an HMAC, of which the first bytes are sent.

    Attributes:
        name: As a specification writes it.
        digest: Its hash function.
        key_bytes: Length of its key, which is that of the hash.
        icv_bytes: The integrity check value in each packet.
        source: The RFC that defines it for ESP.
    """

    name: str
    digest: Digest
    key_bytes: int
    icv_bytes: int
    source: str


def _make_aes(chaining: Chaining, source: str, **sizes: int) -> tuple[Encryption, ...]:
    """Return a mode of AES with each length of the key."""
    return tuple(
        Encryption(f"aes_{bits}_{chaining}", "aes", chaining, bits // 8, source, **sizes)
        for bits in (128, 192, 256)
    )


ENCRYPTIONS = {
    encryption.name: encryption
    for encryption in (
        *_make_aes("cbc", "RFC 3602", iv_bytes=16, block_bytes=16),
        *_make_aes("ctr", "RFC 3686", salt_bytes=4, iv_bytes=8),
        *_make_aes("gcm", "RFC 4106", salt_bytes=4, iv_bytes=8, icv_bytes=16),
        Encryption(
            "triple_des_cbc", "triple_des", "cbc", 24, "RFC 2451", iv_bytes=8, block_bytes=8
        ),
        Encryption("null", "null", "null", 0, "RFC 2410"),
    )
}
INTEGRITIES = {
    integrity.name: integrity
    for integrity in (
        Integrity("hmac_md5_96", "md5", 16, 12, "RFC 2403"),
        Integrity("hmac_sha1_96", "sha1", 20, 12, "RFC 2404"),
        Integrity("hmac_sha2_256_128", "sha256", 32, 16, "RFC 4868"),
        Integrity("hmac_sha2_384_192", "sha384", 48, 24, "RFC 4868"),
        Integrity("hmac_sha2_512_256", "sha512", 64, 32, "RFC 4868"),
    )
}


@dataclass(frozen=True)
class Esp:
    """What ESP puts around packets.

    Attributes:
        encryption: How they are encrypted.
        integrity: How they are authenticated; None if the encryption does it, or nothing.
        mode: Whether the whole packet is protected, in a tunnel, or what its own header carries.
        family: Of the outer header; in transport mode, of the packet's own.
        in_udp: Whether it travels in UDP, through devices that translate addresses (NAT-T).
    """

    encryption: Encryption
    integrity: Integrity | None = None
    mode: Mode = "tunnel"
    family: Family = "ipv4"
    in_udp: bool = False

    def __post_init__(self) -> None:
        name = self.encryption.name
        if self.encryption.icv_bytes and self.integrity:
            raise ValueError(f"{name} authenticates by itself, without {self.integrity.name}")
        if self.encryption.chaining in ("null", "ctr") and not self.integrity:
            # Source: RFC 4303, 3.2 (never neither); RFC 3686, 2 (a stream is changed bit by bit).
            raise ValueError(f"{name} needs an integrity")

    def __str__(self) -> str:
        integrity = f" and {self.integrity.name}" if self.integrity else ""
        in_udp = " in UDP" if self.in_udp else ""
        return f"{self.encryption.name}{integrity} ({self.mode}, {self.family}{in_udp})"

    def list_differences(self, other: Esp) -> list[str]:
        """Return the names of the attributes in which it differs from another one."""
        return [name for name in vars(self) if getattr(self, name) != getattr(other, name)]

    @property
    def icv_bytes(self) -> int:
        """Return the length of the integrity check value."""
        return self.integrity.icv_bytes if self.integrity else self.encryption.icv_bytes

    @property
    def ip_bytes(self) -> int:
        """Return the length of the IP header ahead of it, without options."""
        return IPV4_HEADER_BYTES + FAMILY_EXTRA_BYTES[self.family]

    @property
    def clear_bytes(self) -> int:
        """Return the length of what precedes the ciphertext: headers and initialisation vector."""
        udp_bytes = TRANSPORT_HEADER_BYTES["udp"] if self.in_udp else 0
        return self.ip_bytes + udp_bytes + HEADER_BYTES + self.encryption.iv_bytes

    def count_ciphertext_bytes(self, payload_bytes: int) -> int:
        """Return the length of the ciphertext of a payload, with padding and trailer."""
        block_bytes = self.encryption.block_bytes
        return -(-(payload_bytes + TRAILER_BYTES) // block_bytes) * block_bytes

    def count_encrypted_bytes(self, packet_bytes: int) -> int:
        """Return the length of the ciphertext of a packet of this size, IP header included."""
        own_bytes = self.ip_bytes if self.mode == "transport" else 0
        return self.count_ciphertext_bytes(packet_bytes - own_bytes)

    def count_protected_bytes(self, packet_bytes: int) -> int:
        """Return the size of the packet that comes of one of this size, IP header included."""
        return self.clear_bytes + self.count_encrypted_bytes(packet_bytes) + self.icv_bytes
