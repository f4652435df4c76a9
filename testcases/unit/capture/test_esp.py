"""Sealed packets in a capture: Scapy opens them, and finds what was sent."""

import ipaddress

import numpy as np
import pytest
from connected import connected
from scapy.layers.inet import IP
from scapy.layers.ipsec import ESP as ESP_LAYER
from scapy.layers.ipsec import IPSecIntegrityError, SecurityAssociation
from scapy.layers.l2 import Ether

from qospec.capture.error import CaptureError
from qospec.capture.esp import find_associations, make_wrap, reveal_keys
from qospec.capture.packets import build_frames
from qospec.catalogue.kinds import Lifetime
from qospec.ciphers.esp import GENUINE, Association, Rows
from qospec.ciphers.key import Key
from qospec.elements.encapsulate import Encapsulate
from qospec.elements.esp_decrypt import EspDecrypt
from qospec.elements.esp_encrypt import EspEncrypt
from qospec.engine.experiment import Experiment, MeasurementSpec, Node, Wire
from qospec.engine.items.batch import allocate_batch
from qospec.engine.security.seal import FAILED, TAMPERED
from qospec.payload import associations
from qospec.payload.associations import Secured
from qospec.payload.fill import Fill
from qospec.payload.flight import Items
from qospec.payload.packets import Flow
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


def peer_of(name: str) -> SecurityAssociation:
    keys = {
        "gcm": {"crypt_algo": "AES-GCM", "crypt_key": bytes(range(20))},
        "cbc": {
            "crypt_algo": "AES-CBC",
            "crypt_key": bytes(range(16)),
            "auth_algo": "HMAC-SHA1-96",
            "auth_key": bytes(range(20)),
        },
    }[name]
    return SecurityAssociation(ESP_LAYER, spi=secured(name).spi, tunnel_header=IP(), **keys)


def items(size_bytes: int, count: int = 3) -> Items:
    """Return packets of which the first is not encrypted; the others have numbers 8, 9 …"""
    number = np.arange(count) + 7
    seal = np.where(number == 7, 0, (number << 15 | 300) << 16 | PACKET_BYTES)
    batch = (
        allocate_batch(count)
        ._replace(
            at_ps=np.arange(count),
            sent_ps=np.arange(count),
            connection=np.zeros(count, np.int32),
            size_bytes=np.full(count, size_bytes, np.int32),
            marks=np.zeros(count, np.uint32),
        )
        .with_column("seal", seal)
    )
    sent = np.full(count, PACKET_BYTES, np.int32)
    return Items(batch, np.arange(count), sent, *[np.zeros(count, np.int64)] * 2)


@pytest.mark.parametrize("name", ["gcm", "cbc"])
def test_what_was_sealed_is_opened_with_the_keys(name: str) -> None:
    of = secured(name)
    size = of.esp.count_protected_bytes(PACKET_BYTES)
    found = build_frames(items(size), ETHERNET, [FLOW], Fill(1), make_wrap({300: of}))
    plain = build_frames(items(PACKET_BYTES), ETHERNET, [FLOW], Fill(1), make_wrap({300: of}))
    assert {len(frame) for frame in found} == {18 + size}
    peer = peer_of(name)
    for number, (sealed, sent) in enumerate(zip(found, plain, strict=True)):
        outer = Ether(sealed[:-4])[IP]
        if number == 0:
            assert bytes(outer)[size - PACKET_BYTES :] == sent[14:-4]
            continue
        assert (outer.src, outer.dst, outer[ESP_LAYER].seq) == (*ENDS, number + 7)
        assert bytes(peer.decrypt(outer)) == sent[14:-4]


@pytest.mark.parametrize(("inside", "outside"), [(24, 0), (0, 20), (20, 24)])
def test_headers_may_be_inside_and_outside(inside: int, outside: int) -> None:
    of = secured("cbc")
    size = of.esp.count_protected_bytes(PACKET_BYTES + inside)
    seal = (8 << 15 | 300) << 16 | PACKET_BYTES + inside
    passed = items(size + outside, 1)
    passed = passed._replace(batch=passed.batch.with_column("seal", np.array([seal])))
    (found,) = build_frames(passed, ETHERNET, [FLOW], Fill(1), make_wrap({300: of}))
    outer = IP(bytes(Ether(found[:-4])[IP])[outside:])
    assert (outer.len, outer[ESP_LAYER].spi) == (size, 0x5678)
    opened = bytes(peer_of("cbc").decrypt(outer))
    assert IP(opened).len == PACKET_BYTES + inside
    assert IP(opened[inside:]).len == PACKET_BYTES


def test_two_calls_may_have_the_same_numbers() -> None:
    of = secured("gcm")
    inner = np.zeros((1, PACKET_BYTES), np.uint8)
    inner[:, 0] = 0x45
    numbers = np.array([5])
    assert (of.seal(numbers, inner) == of.seal(numbers, inner)).all()
    assert of.seal(numbers, inner).shape[1] > PACKET_BYTES + IPV4_HEADER_BYTES


@pytest.mark.parametrize("name", ["gcm", "cbc"])
def test_an_association_is_set_up_once_and_seals_as_a_new_one(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    of, made = secured(name), []
    monkeypatch.setattr(
        associations, "Association", lambda *given: made.append(given) or Association(*given)
    )
    associations._build_association.cache_clear()
    inner = np.zeros((2, PACKET_BYTES), np.uint8)
    inner[:, 0] = 0x45
    for numbers in ([7, 8], [5, 9], [7, 8]):
        found = of.seal(np.array(numbers), inner)
        (fresh,) = Association(*of).seal(Rows(np.array(numbers), inner))
        assert (found == fresh).all()
        assert (of.open(found).faults == GENUINE).all()
    assert len(made) == 1


def test_a_line_for_a_decoder_shows_the_keys() -> None:
    assert reveal_keys(secured("cbc")) == (
        '"IPv4","192.0.2.1","198.51.100.2","0x00005678","AES-CBC [RFC3602]",'
        '"0x000102030405060708090a0b0c0d0e0f","HMAC-SHA-1-96 [RFC2404]",'
        '"0x000102030405060708090a0b0c0d0e0f10111213"'
    )
    assert '"AES-GCM with 16 octet ICV [RFC4106]"' in reveal_keys(secured("gcm"))
    assert reveal_keys(secured("gcm")).endswith(',"NULL",""')
    assert "0x0001" not in repr(secured("gcm"))


def test_one_index_of_two_devices_on_a_link_is_refused() -> None:
    nodes = (
        Node("left.seal", EspEncrypt("aes_128_gcm", spi=300)),
        Node("right.seal", EspEncrypt("aes_128_gcm", spi=300)),
        Node("beyond.open", EspDecrypt("aes_128_gcm", spi=300)),
        Node("before.seal", EspEncrypt("aes_128_gcm", spi=300)),
        Node("line", Encapsulate(20)),
    )
    wires = [Wire(0, 0, 4), Wire(2, 0, 4), Wire(3, 0, 2)]
    connections = connected(())
    of = Experiment(*connections, (), nodes, tuple(wires), MeasurementSpec(0, 1, ()), ("0", "case"))
    assert list(find_associations(of, 4)) == [300]
    assert find_associations(of, 2) == {}
    both = of._replace(wires=(*wires, Wire(1, 0, 4)))
    with pytest.raises(CaptureError, match=r"`left\.seal` and `right.seal` encrypt"):
        find_associations(both, 4)
    alone = find_associations(of, 4)[300]
    other = find_associations(both._replace(wires=(Wire(1, 0, 4),)), 4)[300]
    assert alone.encryption_key != other.encryption_key


def test_each_successor_of_an_association_has_keys_of_its_own() -> None:
    rekeyed = EspEncrypt("aes_128_gcm", spi=300, rekey=Lifetime(9, "packet"))
    nodes = (
        Node("left.seal", rekeyed),
        Node("right.seal", EspEncrypt("aes_128_gcm", spi=4_395)),
        Node("line", Encapsulate(20)),
    )
    connections, wire = connected(()), Wire(0, 0, 2)
    of = Experiment(*connections, (), nodes, (wire,), MeasurementSpec(0, 1, ()), ("0", "case"))
    found = find_associations(of, 2)
    assert list(found) == [*range(300, 300 + 4_096)]
    assert len({keys.encryption_key for keys in found.values()}) == 4_096
    again = (Node("left.seal", EspEncrypt("aes_128_gcm", spi=300)), *nodes[1:])
    assert find_associations(of._replace(nodes=again), 2)[300] == found[300]
    with pytest.raises(CaptureError, match=r"same index 4395: give .* at least 4096 away"):
        find_associations(of._replace(wires=(wire, Wire(1, 0, 2))), 2)


def test_a_packet_that_was_changed_fails_the_check_of_a_decoder() -> None:
    of, passed = secured("gcm"), items(secured("gcm").esp.count_protected_bytes(PACKET_BYTES))
    seal = passed.batch.read_column("seal") | np.array([0, 0, TAMPERED])
    passed = passed._replace(batch=passed.batch.with_column("seal", seal))
    _, genuine, changed = build_frames(passed, ETHERNET, [FLOW], Fill(1), make_wrap({300: of}))
    assert IP(bytes(peer_of("gcm").decrypt(Ether(genuine[:-4])[IP]))).len == PACKET_BYTES
    with pytest.raises(IPSecIntegrityError):
        peer_of("gcm").decrypt(Ether(changed[:-4])[IP])


def test_what_failed_its_check_is_a_changed_packet_in_the_clear() -> None:
    passed = items(PACKET_BYTES)
    passed = passed._replace(
        batch=passed.batch.with_column("seal", np.array([0, TAMPERED, FAILED]))
    )
    frames = build_frames(passed, ETHERNET, [FLOW], Fill(1), make_wrap({300: secured("gcm")}))
    whole = [frame[14:-4] for frame in frames]
    assert [len(packet) for packet in whole] == [PACKET_BYTES] * 3
    cleared = passed.batch.with_column("seal", np.zeros(3, np.int64))
    genuine = build_frames(passed._replace(batch=cleared), ETHERNET, [FLOW], Fill(1), make_wrap({}))
    differs = [
        sum((a ^ b).bit_count() for a, b in zip(packet, frame[14:-4], strict=True))
        for packet, frame in zip(whole, genuine, strict=True)
    ]
    assert differs == [0, 1, 1]
