"""`qos pcap --keys`: what is encrypted on a link, and the keys that open it."""

import io
import shutil
import stat
from pathlib import Path

import pytest
from invoking import qos
from scapy.layers.inet import IP, defragment
from scapy.layers.ipsec import ESP, SecurityAssociation
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapNgReader

from qospec.cli import exits

BOTH_WAYS = """ {
  flow there = packets { rate = 1_000 pkt/s, size = mix [100 B, 900 B] @ip } from a to b
  flow back = packets { rate = 1_000 pkt/s, size = 300 B @ip } from b to a
  run { measure = 10 ms }
  expect there.lost + back.lost == 0 pkt
}
"""
SPEC = (
    """qos 1
import std.media, std.devices.crypto_gateways

device gateway(own: Int, other: Int) {
  port inner, outer: packet
  seal = esp_encrypt { encryption = aes_128_cbc, integrity = hmac_sha1_96, spi = own }
  open = esp_decrypt { encryption = aes_128_cbc, integrity = hmac_sha1_96, spi = other }
  out, back = fifo { limit = 8 pkt }
  inner.rx -> seal -> out -> outer.tx
  outer.rx -> open -> back -> inner.tx
}
topology vpn {
  a, b = host
  left = gateway(own = 4_660, other = 300)
  right = gateway(own = 300, other = 4_660)
  link a -- left.inner via media.fast_ethernet
  link left.outer -- right.outer via media.ethernet { mtu = 1_600 B }
  link right.inner -- b via media.fast_ethernet
}
topology library {
  a, b = host
  left, right = crypto_gateways.in_software
  link a -- left.inner via media.fast_ethernet
  link left.outer -- right.outer via media.ethernet { mtu = 1_600 B }
  link right.inner -- b via media.fast_ethernet
}
test sealed on vpn"""
    + BOTH_WAYS
)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pcap")
    text = f"{SPEC}test by_the_library on library{BOTH_WAYS}"
    (folder / "a.qos").write_text(text, encoding="utf-8")
    done = qos("run", folder / "a.qos", "--record", folder / "records", "--no-progress")
    assert done.exit_code == exits.PASSED, done.output
    (found,) = (folder / "records").iterdir()
    return found


def packets(path: Path) -> list[IP]:
    reader = RawPcapNgReader(io.BytesIO(path.read_bytes()))
    return [Ether(frame[:-4])[IP] for frame, _ in reader]


def fields(path: Path) -> list[str]:
    (line,) = path.read_text(encoding="utf-8").splitlines()
    return line.removeprefix('"').removesuffix('"').split('","')


@pytest.mark.parametrize(
    ("case", "indices"), [("sealed", [4_660, 300]), ("by_the_library", [256, 256])]
)
def test_the_keys_open_what_was_sent_on_another_link(
    record: Path, tmp_path: Path, case: str, indices: list[int]
) -> None:
    keys, spis = tmp_path / "esp_sa", []
    for outer, inner in (("left.outer.tx", "a.tx"), ("left.outer.rx", "b.tx")):
        sealed, plain = tmp_path / "sealed.pcapng", tmp_path / "plain.pcapng"
        options = ("-o", sealed, "--keys", keys, "--force")
        assert qos("pcap", record, case, outer, *options).exit_code == 0
        assert qos("pcap", record, case, inner, "-o", plain, "--force").exit_code == 0
        _, _, _, spi, _, encryption_key, _, integrity_key = fields(keys)
        spis.append(int(spi, 16))
        peer = SecurityAssociation(
            ESP,
            spi=int(spi, 16),
            crypt_algo="AES-CBC",
            crypt_key=bytes.fromhex(encryption_key[2:]),
            auth_algo="HMAC-SHA1-96",
            auth_key=bytes.fromhex(integrity_key[2:]),
            tunnel_header=IP(),
        )
        opened = [bytes(peer.decrypt(packet)) for packet in packets(sealed)]
        assert opened == [bytes(packet) for packet in packets(plain)]
        assert len(opened) == 10
    assert spis == indices


def test_keys_are_shown_to_their_owner_only(record: Path, tmp_path: Path) -> None:
    keys, path = tmp_path / "esp_sa", tmp_path / "x.pcapng"
    done = qos("pcap", record, "sealed", "left.outer.tx", "-o", path, "--keys", keys)
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    secrets = [field[2:] for field in fields(keys) if field.startswith("0x") and len(field) > 10]
    assert len(secrets) == 2
    held = [*record.rglob("*.json"), path]
    for secret in secrets:
        assert secret not in done.output
        assert not any(secret.encode() in content.read_bytes() for content in held)
        assert not any(bytes.fromhex(secret) in content.read_bytes() for content in held)


def test_a_link_without_encryption_has_no_keys(record: Path, tmp_path: Path) -> None:
    keys, path = tmp_path / "esp_sa", tmp_path / "x.pcapng"
    done = qos("pcap", record, "sealed", "a.tx", "-o", path, "--keys", keys)
    assert done.exit_code == exits.WRONG
    assert "nothing that goes over `a -> left.inner` is encrypted" in done.output
    assert not keys.exists()
    keys.touch()
    done = qos("pcap", record, "sealed", "left.outer.tx", "-o", path, "--keys", keys)
    assert "exists: write another by `--keys FILE`" in done.output


def test_a_file_that_others_may_read_is_theirs_no_more(record: Path, tmp_path: Path) -> None:
    keys, path = tmp_path / "esp_sa", tmp_path / "x.pcapng"
    keys.touch(0o644)
    options = ("-o", path, "--keys", keys, "--force")
    assert qos("pcap", record, "sealed", "left.outer.tx", *options).exit_code == 0
    assert keys.read_text(encoding="utf-8")
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("-", "keys are not shown: name a file"),
        ("./x.pcapng", "cannot hold the capture and the keys"),
        ("none/esp_sa", "there is no folder `none`"),
        (".", "it is a folder"),
    ],
)
def test_where_keys_may_not_be_nothing_is_written(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ("-o", "x.pcapng", "--keys", keys, "--force")
    done = qos("pcap", record.resolve(), "sealed", "left.outer.tx", *options)
    assert done.exit_code == exits.WRONG
    assert why in done.output
    assert not list(tmp_path.iterdir())


def test_the_keys_of_an_association_that_is_replaced_open_the_packets_of_each(
    tmp_path: Path,
) -> None:
    rekeyed = SPEC.replace("spi = own }", "spi = own, rekey = 4 pkt }").replace(
        "spi = other }", "spi = other, overlap = 1 s }"
    )
    (tmp_path / "a.qos").write_text(rekeyed, encoding="utf-8")
    done = qos("run", tmp_path / "a.qos", "--record", tmp_path / "records", "--no-progress")
    assert done.exit_code == exits.PASSED, done.output
    (record,) = (tmp_path / "records").iterdir()
    keys, sealed, plain = (tmp_path / name for name in ("esp_sa", "sealed", "plain"))
    qos("pcap", record, "sealed", "left.outer.rx", "-o", sealed, "--keys", keys)
    qos("pcap", record, "sealed", "b.tx", "-o", plain)
    peers = {}
    for line in keys.read_text(encoding="utf-8").splitlines():
        _, _, _, spi, _, encryption_key, _, integrity_key = line[1:-1].split('","')
        peers[int(spi, 16)] = SecurityAssociation(
            ESP,
            spi=int(spi, 16),
            crypt_algo="AES-CBC",
            crypt_key=bytes.fromhex(encryption_key[2:]),
            auth_algo="HMAC-SHA1-96",
            auth_key=bytes.fromhex(integrity_key[2:]),
            tunnel_header=IP(),
        )
    found = packets(sealed)
    assert [(packet[ESP].spi, packet[ESP].seq) for packet in found] == [
        (300 + n // 4, 1 + n % 4) for n in range(10)
    ]
    opened = [bytes(peers[packet[ESP].spi].decrypt(packet)) for packet in found]
    assert opened == [bytes(packet) for packet in packets(plain)]
    assert list(peers) == [300, 301, 302]


GIVEN = "00112233445566778899aabbccddeeff"


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the record of the same test with keys of its own, in the text and in a file."""
    folder = tmp_path_factory.mktemp("given")
    text = SPEC.replace("spi = own", "spi = own, key = near").replace(
        "own: Int,", "own: Int, near: Text,"
    )
    text = text.replace("spi = other", "spi = other, key = far").replace(
        "other: Int)", "other: Int, far: Text)"
    )
    near, far = f'"0x{GIVEN}"', '"file:k.txt"'
    text = text.replace("other = 300)", f"other = 300, near = {near}, far = {far})")
    text = text.replace("other = 4_660)", f"other = 4_660, near = {far}, far = {near})")
    (folder / "a.qos").write_text(text, encoding="utf-8")
    (folder / "k.txt").write_text(GIVEN[::-1], encoding="ascii")
    done = qos("run", folder / "a.qos", "--record", folder / "records", "--no-progress")
    assert done.exit_code == exits.PASSED, done.output
    (found,) = (folder / "records").iterdir()
    return found


def test_a_record_holds_no_key_that_was_given(given: Path) -> None:
    texts = [path.read_text(encoding="utf-8") for path in given.rglob("*") if path.is_file()]
    assert len(texts) > 2
    assert not any(GIVEN in text or GIVEN[::-1] in text for text in texts)
    assert any(32 * "*" in text for text in texts)


def test_a_capture_has_the_keys_of_a_project_that_is_at_hand(
    given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(given.parents[1])
    found = qos(
        "pcap", given, "sealed", "left.outer.tx", "-o", tmp_path / "x", "--keys", tmp_path / "k"
    )
    assert found.exit_code == 0, found.output
    assert "warning" not in found.output
    assert fields(tmp_path / "k")[5] == f"0x{GIVEN}"


def test_without_it_other_keys_are_drawn_and_that_is_said(given: Path, tmp_path: Path) -> None:
    apart = tmp_path / "apart"
    shutil.copytree(given, apart)
    found = qos(
        "pcap", apart, "sealed", "left.outer.tx", "-o", tmp_path / "x", "--keys", tmp_path / "k"
    )
    assert found.exit_code == 0, found.output
    assert "a record holds no keys, so others are drawn" in found.output
    assert GIVEN not in (tmp_path / "k").read_text(encoding="utf-8")


CUT = """qos 1
import std.media

device near {
  port inner, outer: packet
  cut = fragment { mtu = 600 B }
  seal = esp_encrypt { encryption = aes_128_cbc, integrity = hmac_sha1_96, spi = 300 }
  out = fifo { limit = 64 pkt }
  inner.rx -> THERE -> out -> outer.tx
  outer.rx -> inner.tx
}
device far {
  port inner, outer: packet
  join = reassemble {}
  open = esp_decrypt { encryption = aes_128_cbc, integrity = hmac_sha1_96, spi = 300 }
  back = fifo { limit = 64 pkt }
  inner.rx -> outer.tx
  outer.rx -> HERE -> back -> inner.tx
}
topology path {
  a, b = host
  left = near
  right = far
  link a -- left.inner via media.fast_ethernet
  link left.outer -- right.outer via media.ethernet
  link right.inner -- b via media.fast_ethernet
}
test parts on path {
  flow f = packets { rate = 250 pkt/s, size = mix [1_500 B, 100 B] @ip } from a to b
  run { measure = 80 ms }
  expect f.lost == 0 pkt
}
"""


@pytest.mark.parametrize(
    ("there", "here"), [("cut -> seal", "open -> join"), ("seal -> cut", "join -> open")]
)
def test_fragments_give_packets_again_in_the_order_of_the_other_end(
    tmp_path: Path, there: str, here: str
) -> None:
    """Scapy puts them together and decrypts them: first the one, then the other."""
    text = CUT.replace("THERE", there).replace("HERE", here)
    (tmp_path / "a.qos").write_text(text, encoding="utf-8")
    done = qos("run", tmp_path / "a.qos", "--record", tmp_path / "records", "--no-progress")
    assert done.exit_code == exits.PASSED, done.output
    (record,) = (tmp_path / "records").iterdir()
    keys, cut, plain = (tmp_path / name for name in ("esp_sa", "cut", "plain"))
    done = qos("pcap", record, "parts", "left.outer.tx", "-o", cut, "--keys", keys)
    assert done.exit_code == 0, done.output
    assert qos("pcap", record, "parts", "right.inner.tx", "-o", plain).exit_code == 0
    _, _, _, _, _, encryption_key, _, integrity_key = fields(keys)
    peer = SecurityAssociation(
        ESP,
        spi=300,
        crypt_algo="AES-CBC",
        crypt_key=bytes.fromhex(encryption_key[2:]),
        auth_algo="HMAC-SHA1-96",
        auth_key=bytes.fromhex(integrity_key[2:]),
        tunnel_header=IP(),
    )
    seen, sent = packets(cut), sorted(bytes(packet) for packet in packets(plain))
    large = sum(len(packet) == 1_500 for packet in sent)
    assert 0 < large < len(sent)
    assert len(seen) == len(sent) + 2 * large
    if there.startswith("cut"):
        assert not any(packet.flags.MF or packet.frag for packet in seen)
        whole = defragment([IP(bytes(peer.decrypt(packet))) for packet in seen])
    else:
        assert sum(bool(packet.flags.MF) for packet in seen) == 2 * large
        whole = [peer.decrypt(IP(bytes(packet))) for packet in defragment(seen)]
    assert sorted(bytes(packet) for packet in whole) == sent
