"""ESP against Scapy's, in both directions: an implementation that nobody here wrote."""

import warnings

import numpy as np
import pytest
from associations import FAR, FAR_6, NEAR, NEAR_6, SPI, association, formats, keys_of, packets_of

from qospec.ciphers.esp import FAULTS, NAT_TRAVERSAL_PORT, Rows
from qospec.ciphers.fragments import cut_fragment
from qospec.ciphers.octets import read_rows

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of ciphers that it offers and nobody here uses
    from scapy.layers.inet import IP, UDP, defragment
    from scapy.layers.inet6 import IPv6
    from scapy.layers.ipsec import ESP, SecurityAssociation

pytestmark = pytest.mark.untraced

ENCRYPTIONS = {
    ("aes", "cbc"): "AES-CBC",
    ("aes", "ctr"): "AES-CTR",
    ("aes", "gcm"): "AES-GCM",
    ("triple_des", "cbc"): "3DES",
    ("null", "null"): "NULL",
}
INTEGRITIES = {
    "hmac_md5_96": "HMAC-MD5-96",
    "hmac_sha1_96": "HMAC-SHA1-96",
    "hmac_sha2_256_128": "SHA2-256-128",
    "hmac_sha2_384_192": "SHA2-384-192",
    "hmac_sha2_512_256": "SHA2-512-256",
}
LAYERS = {"ipv4": IP, "ipv6": IPv6}
SIZES = (60, 61, 130, 1_400)
FORMATS = formats("tunnel", "transport")


CHECKSUMMED = [esp for esp in FORMATS if esp.in_udp and esp.family == "ipv6"]
"""RFC 3948 speaks of IPv4; Scapy sends no checksum over either."""


def of_scapy(esp):
    """Return Scapy's association of the same format and keys."""
    encryption, integrity = keys_of(esp)
    near, far = (NEAR, FAR) if esp.family == "ipv4" else (NEAR_6, FAR_6)
    header = LAYERS[esp.family](src=near, dst=far) if esp.mode == "tunnel" else None
    udp = UDP(sport=NAT_TRAVERSAL_PORT, dport=NAT_TRAVERSAL_PORT) if esp.in_udp else None
    return SecurityAssociation(
        ESP,
        spi=SPI,
        crypt_algo=ENCRYPTIONS[esp.encryption.algorithm, esp.encryption.chaining],
        crypt_key=encryption.reveal(),
        auth_algo=esp.integrity and INTEGRITIES[esp.integrity.name],
        auth_key=integrity and integrity.reveal(),
        tunnel_header=header,
        nat_t_header=udp,
    )


def shown(esp):
    names = [esp.encryption.name, esp.integrity and esp.integrity.name, esp.mode, esp.family]
    return "-".join(filter(None, [*names, esp.in_udp and "udp"]))


@pytest.mark.parametrize("esp", FORMATS, ids=shown)
def test_scapy_opens_esp(esp):
    one_way = association(esp)
    for number, size in enumerate(SIZES, 9):
        packets = packets_of(esp.family, size, 1)
        (sealed,) = one_way.seal(Rows(np.array([number]), packets))
        found = of_scapy(esp).decrypt(LAYERS[esp.family](sealed.tobytes()))
        assert bytes(found) == packets.tobytes()


@pytest.mark.parametrize("esp", FORMATS, ids=shown)
def test_esp_of_scapy_is_opened_and_is_the_same_but_for_the_outer_header(esp):
    number = 9
    for size in SIZES:
        packets = packets_of(esp.family, size, 1)
        (sealed,) = association(esp).seal(Rows(np.array([number]), packets))
        start = esp.clear_bytes - esp.encryption.iv_bytes
        vector = sealed[0, start : esp.clear_bytes].tobytes()
        theirs = of_scapy(esp).encrypt(
            LAYERS[esp.family](packets.tobytes()), seq_num=number, iv=vector
        )
        row = read_rows([bytes(theirs)])
        if esp in CHECKSUMMED:
            sealed[:, esp.ip_bytes + 6 : esp.ip_bytes + 8] = 0
        assert row[:, esp.ip_bytes :].tobytes() == sealed[:, esp.ip_bytes :].tobytes()
        opened = association(esp).open(row)
        assert FAULTS[opened.faults[0]] == ""
        assert opened.packets[0, : opened.size_bytes[0]].tobytes() == packets.tobytes()


@pytest.mark.parametrize("esp", CHECKSUMMED, ids=shown)
def test_esp_in_udp_over_ipv6_has_the_checksum_of_scapy(esp):
    """Source: RFC 8200, 8.1."""
    packets = packets_of(esp.family, 61, 1)
    (sealed,) = association(esp).seal(Rows(np.array([9]), packets))
    theirs = IPv6(sealed.tobytes())
    said = theirs[UDP].chksum
    del theirs[UDP].chksum
    assert IPv6(bytes(theirs))[UDP].chksum == said != 0


def test_scapy_puts_fragments_together_also_of_fragments():
    packet = packets_of("ipv4", 2_900, 1)
    first, last = cut_fragment(packet, 0, 1_480), cut_fragment(packet, 1_480, 1_400)
    parts = [cut_fragment(first, 0, 800), cut_fragment(first, 800, 680), last]
    whole = defragment([IP(part.tobytes()) for part in parts])
    assert [bytes(packet) for packet in whole] == [packet.tobytes()]
