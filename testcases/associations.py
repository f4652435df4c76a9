"""Security associations and packets, for the tests of ciphers."""

import ipaddress

import numpy as np

from qospec.ciphers.esp import Association
from qospec.ciphers.headers import compute_checksum
from qospec.ciphers.key import Key
from qospec.ciphers.octets import encode_big_endian
from qospec.protocol.esp import ENCRYPTIONS, INTEGRITIES, Esp

NEAR, FAR = "192.0.2.1", "198.51.100.2"
NEAR_6, FAR_6 = "2001:db8::1", "2001:db8::2"
SPI = 0x1234_5678
UNASSIGNED = 253
"""The protocol in packets: for experiments, so no decoder looks further (RFC 3692)."""


def ends(family):
    """Return the addresses of a tunnel's two ends."""
    near, far = (NEAR, FAR) if family == "ipv4" else (NEAR_6, FAR_6)
    return ipaddress.ip_address(near).packed + ipaddress.ip_address(far).packed


def keys_of(esp, name="test"):
    """Return drawn keys of both transforms of a format."""
    length = esp.encryption.key_bytes + esp.encryption.salt_bytes
    integrity = esp.integrity and Key.draw(esp.integrity.key_bytes, [name, "integrity"])
    return Key.draw(length, [name, "encryption"]), integrity


def association(esp, name="test"):
    """Return an association of a format, with drawn keys."""
    encryption, integrity = keys_of(esp, name)
    outer = ends(esp.family) if esp.mode == "tunnel" else b""
    return Association(esp, SPI, encryption, integrity, outer)


def packets_of(family, size, count=3, seed=1, **fields):
    """Return (count, size) packets of random content behind a header that is right."""
    made = np.random.default_rng(seed).integers(0, 256, (count, size), dtype=np.uint8)
    if family == "ipv6":
        made[:, 0] = 0x60
        made[:, 4:6] = encode_big_endian([size - 40], 2)
        made[:, 6] = UNASSIGNED
        return made
    made[:, 0], made[:, 1], made[:, 9] = 0x45, fields.get("tos", 0), UNASSIGNED
    made[:, 2:4] = encode_big_endian([size], 2)
    made[:, 6:8] = encode_big_endian([fields.get("flags", 0)], 2)
    made[:, 10:12] = 0
    made[:, 10:12] = encode_big_endian(compute_checksum(made[:, :20]), 2)
    return made


PAIRS = [
    *((name, None) for name in ENCRYPTIONS if name.endswith("_gcm")),
    *(("aes_128_cbc", name) for name in INTEGRITIES),
    ("aes_192_cbc", "hmac_sha1_96"),
    ("aes_256_cbc", "hmac_sha2_256_128"),
    ("aes_256_ctr", "hmac_sha1_96"),
    ("triple_des_cbc", "hmac_md5_96"),
    ("null", "hmac_sha1_96"),
]
"""Every transform at least once."""


def formats(*modes):
    """Return ESP in these modes, over both families, with all transforms, in UDP and not."""
    found = []
    for encryption, integrity in PAIRS:
        for mode in modes:
            for family in ("ipv4", "ipv6"):
                for in_udp in (False, True):
                    pair = ENCRYPTIONS[encryption], integrity and INTEGRITIES[integrity]
                    found.append(Esp(*pair, mode, family, in_udp))
    return found
