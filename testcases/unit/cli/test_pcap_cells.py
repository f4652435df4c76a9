"""`qos pcap` of encrypted cells: with the keys, and what OAM cells announce, they are decrypted."""

import io
import stat
from collections import Counter
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from invoking import qos
from scapy.utils import RawPcapNgReader

from qospec.cli import exits

SPEC = """qos 1
import std.media, std.devices.sitline

topology secured {
  a, b, c = host
  left, third, right = sitline.ciphering_encryptor(
    resynchronisation = 100 cell/s,
    oam_cells_per_key = 2 cell
  )
  fabric = switch
  link a -- left.red via media.stm1
  link c -- third.red via media.stm1
  link left.black -- fabric.p[0] via media.stm1
  link third.black -- fabric.p[1] via media.stm1
  link fabric.p[2] -- right.black via media.stm1
  link right.red -- b via media.stm1
}
device switch {
  port p[3]: cell
  fabric = vc_switch { ports = 3 }
  q = fifo { limit = 64 cell }
  p[0].rx -> fabric.entry[0]
  p[1].rx -> fabric.entry[1]
  p[2].rx -> fabric.entry[2]
  fabric.exit[0] -> p[0].tx
  fabric.exit[1] -> p[1].tx
  fabric.exit[2] -> q -> p[2].tx
}
test sealed on secured {
  flow near = cbr { pcr = 2_000 cell/s, cdvt = 1 ms, connections = 2 } from a to b
  flow other = cbr { pcr = 2_000 cell/s, cdvt = 1 ms } from c to b
  run { measure = 50 ms }
  expect near.lost + other.lost == 0 cell
}
"""
HEADING = "VPI,VCI,key,secret"
OAM, SECURITY = 0b101, 0xF2


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pcap")
    (folder / "a.qos").write_text(SPEC, encoding="utf-8")
    done = qos("run", folder / "a.qos", "--record", folder / "records", "--no-progress")
    assert done.exit_code == exits.PASSED, done.output
    (found,) = (folder / "records").iterdir()
    return found


def cells(path: Path) -> list[tuple[int, int, bytes]]:
    """Return the VCI, payload type and payload of each cell."""
    records = [record for record, _ in RawPcapNgReader(io.BytesIO(path.read_bytes()))]
    headers = [int.from_bytes(record[16:20], "big") for record in records]
    return [
        (header >> 4 & 0xFFFF, header >> 1 & 7, record[20:])
        for header, record in zip(headers, records, strict=True)
    ]


def key_table(path: Path) -> dict[tuple[int, int], bytes]:
    """Return keys by VCI and number."""
    heading, *rows = path.read_text(encoding="utf-8").splitlines()
    assert heading == HEADING
    fields = [row.split(",") for row in rows]
    return {(int(vci), int(key)): bytes.fromhex(secret[2:]) for _, vci, key, secret in fields}


def decrypted(key: bytes, position: int, payload: bytes) -> bytes:
    """Return a payload of three blocks in counter mode; the first has three times the position."""
    counter = (3 * position).to_bytes(16, "big")
    return Cipher(algorithms.AES(key), modes.CTR(counter)).decryptor().update(payload)


@pytest.fixture(scope="module")
def captured(record: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a capture of the link where cells of two encryptors go, and the keys."""
    folder = tmp_path_factory.mktemp("captures")
    sealed, keys = folder / "sealed.pcapng", folder / "keys.csv"
    done = qos("pcap", record, "sealed", "right.black.rx", "-o", sealed, "--keys", keys)
    assert done.exit_code == 0, done.output
    return sealed, keys


def test_a_receiver_decrypts_what_two_encryptors_sent(
    record: Path, captured: tuple[Path, Path], tmp_path: Path
) -> None:
    sealed, keys = captured
    plain = tmp_path / "plain.pcapng"
    assert qos("pcap", record, "sealed", "b.rx", "-o", plain).exit_code == 0
    secrets = key_table(keys)
    position, number, opened = Counter[int](), Counter[int](), list[tuple[int, bytes]]()
    for vci, payload_type, payload in cells(sealed):
        if payload_type == OAM:
            assert payload[0] == SECURITY
            number[vci] += payload[1] != number[vci] & 1  # a bank is used in turn with the other
            position[vci] = int.from_bytes(payload[2:10], "big")
            continue
        position[vci] += 1
        text = decrypted(secrets[vci, number[vci]], position[vci], payload)
        assert payload != text
        opened.append((vci, text))
    expected = [(vci, payload) for vci, _, payload in cells(plain)]
    assert sorted(opened) == sorted(expected)
    assert len(opened) == 300
    assert {vci for vci, _ in opened} == {32, 33, 34}
    assert all(number[vci] >= 2 for vci in (32, 33, 34))


def test_no_position_of_a_key_is_used_twice(captured: tuple[Path, Path]) -> None:
    position, used = Counter[int](), Counter[tuple[int, int]]()
    for vci, payload_type, payload in cells(captured[0]):
        if payload_type == OAM:
            assert int.from_bytes(payload[2:10], "big") > position[vci]
            position[vci] = int.from_bytes(payload[2:10], "big")
        else:
            position[vci] += 1
            used[vci, position[vci]] += 1
    assert set(used.values()) == {1}


def test_keys_of_cells_are_shown_to_their_owner_only(
    record: Path, captured: tuple[Path, Path]
) -> None:
    sealed, keys = captured
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    secrets = key_table(keys).values()
    assert len({*secrets}) == len(secrets) >= 9
    held = [content.read_bytes() for content in (*record.rglob("*.json"), sealed)]
    for secret in secrets:
        assert not any(secret in content or secret.hex().encode() in content for content in held)


def test_cells_in_the_clear_have_no_keys(record: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys.csv"
    done = qos("pcap", record, "sealed", "b.rx", "-o", tmp_path / "x.pcapng", "--keys", keys)
    assert done.exit_code == exits.WRONG
    assert "nothing that goes over `right.red -> b` is encrypted, so it has no keys" in done.output
    assert not keys.exists()
