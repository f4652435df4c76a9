"""Sealed packets in a capture: Scapy opens them, and finds what was sent."""

import ipaddress

import numpy as np
import pytest
from scapy.layers.inet import IP
from scapy.layers.ipsec import ESP as ESP_LAYER
from scapy.layers.ipsec import SecurityAssociation
from scapy.layers.l2 import Ether

from qospec.capture.esp import NONE, Secured, sealing
from qospec.capture.packets import Flow, frames
from qospec.capture.payload import Fill
from qospec.capture.sightings import Items
from qospec.ciphers.key import Key
from qospec.engine.arrays import Whole
from qospec.engine.items.batch import uninitialised
from qospec.protocol.encapsulation import Encapsulation
from qospec.protocol.esp import ENCRYPTIONS, INTEGRITIES, Esp
from qospec.protocol.ip import IPV4_HEADER_BYTES

ETHERNET = Encapsulation(8, 18, 64, 12)
PACKET_BYTES = 200
ENDS = "192.0.2.1", "198.51.100.2"
GCM, CBC = Key(bytes(range(20))), Key(bytes(range(16)))
HMAC = Key(bytes(range(20)))
FLOW = Flow(
    0,
    1,
    {
        "family": "ipv4",
        "protocol": "udp",
        "source_address": "10.0.0.1",
        "destination_address": "10.0.0.2",
        "source_port": 5,
        "destination_port": 6,
    },
)


def secured(name: str) -> Secured:
    ends = b"".join(ipaddress.ip_address(end).packed for end in ENDS)
    if name == "gcm":
        return Secured(Esp(ENCRYPTIONS["aes_128_gcm"]), 0x1234, GCM, None, ends)
    esp = Esp(ENCRYPTIONS["aes_128_cbc"], INTEGRITIES["hmac_sha1_96"])
    return Secured(esp, 0x5678, CBC, HMAC, ends)


def items(size_bytes: int, count: int = 3) -> Items:
    batch = uninitialised(count)._replace(
        at_ps=np.arange(count),
        sent_ps=np.arange(count),
        connection=np.zeros(count, np.int32),
        size_bytes=np.full(count, size_bytes, np.int32),
        marks=np.zeros(count, np.uint32),
    )
    sent = np.full(count, PACKET_BYTES, np.int32)
    return Items(batch, np.arange(count), sent, np.zeros(count, np.int64))


def noted(of: Items) -> tuple[Whole, Whole]:
    """The first packet is not sealed; the others have numbers 8, 9 …"""
    return np.where(of.number == 0, NONE, 0), of.number + 7


@pytest.mark.parametrize("name", ["gcm", "cbc"])
def test_what_was_sealed_is_opened_with_the_keys(name: str) -> None:
    of = secured(name)
    size = of.esp.size_of(PACKET_BYTES)
    found = frames(items(size), ETHERNET, [FLOW], Fill(1), sealing([of], noted))
    plain = frames(items(PACKET_BYTES), ETHERNET, [FLOW], Fill(1), sealing([of], noted))
    assert {len(each) for each in found} == {18 + size}
    keys = {
        "gcm": {"crypt_algo": "AES-GCM", "crypt_key": bytes(range(20))},
        "cbc": {
            "crypt_algo": "AES-CBC",
            "crypt_key": bytes(range(16)),
            "auth_algo": "HMAC-SHA1-96",
            "auth_key": bytes(range(20)),
        },
    }[name]
    peer = SecurityAssociation(ESP_LAYER, spi=of.spi, tunnel_header=IP(), **keys)
    for number, (sealed, sent) in enumerate(zip(found, plain, strict=True)):
        outer = Ether(sealed[:-4])[IP]
        if number == 0:
            assert bytes(outer)[size - PACKET_BYTES :] == sent[14:-4]
            continue
        assert (outer.src, outer.dst, outer[ESP_LAYER].seq) == (*ENDS, number + 7)
        assert bytes(peer.decrypt(outer)) == sent[14:-4]


def test_two_calls_may_have_the_same_numbers() -> None:
    of = secured("gcm")
    inner = np.zeros((1, PACKET_BYTES), np.uint8)
    inner[:, 0] = 0x45
    numbers = np.array([5])
    assert (of.sealed(numbers, inner) == of.sealed(numbers, inner)).all()
    assert of.sealed(numbers, inner).shape[1] > PACKET_BYTES + IPV4_HEADER_BYTES


def test_a_line_for_a_decoder_shows_the_keys() -> None:
    assert secured("cbc").revealed() == (
        '"IPv4","192.0.2.1","198.51.100.2","0x00005678","AES-CBC [RFC3602]",'
        '"0x000102030405060708090a0b0c0d0e0f","HMAC-SHA-1-96 [RFC2404]",'
        '"0x000102030405060708090a0b0c0d0e0f10111213"'
    )
    assert '"AES-GCM with 16 octet ICV [RFC4106]"' in secured("gcm").revealed()
    assert secured("gcm").revealed().endswith(',"NULL",""')
    assert "0x0001" not in repr(secured("gcm"))
