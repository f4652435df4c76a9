"""No number is used twice with one key: what is found, and when."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from connected import connected

from qospec import cli
from qospec.ciphers.numbering import NonceError
from qospec.cli import exits
from qospec.elements.cell_encrypt import CellEncrypt
from qospec.elements.esp_encrypt import EspEncrypt
from qospec.engine.experiment import Experiment, MeasurementSpec, Node
from qospec.engine.items.batch import Batch, allocate_batch
from qospec.engine.items.contract import Contract
from qospec.engine.security.seal import TAMPERED, build_seal
from qospec.payload.nonces import Nonces


def nonces(*elements: object) -> Nonces:
    nodes = tuple(Node(f"n{number}", element) for number, element in enumerate(elements))  # type: ignore[arg-type]
    connections = connected((Contract("cbr", 1, 0),) * 2)  # type: ignore[arg-type]
    return Nonces(Experiment(*connections, (), nodes, (), MeasurementSpec(0, 1, ()), ("s",)))


def sealed(seals: list[int], at_ps: int = 0, connection: list[int] | None = None) -> Batch:
    count = len(seals)
    return (
        allocate_batch(count)
        ._replace(
            at_ps=np.arange(count) * 10**6 + at_ps,
            connection=np.array(connection or [0] * count, np.int32),
        )
        .with_column("seal", np.array(seals, np.int64))
    )


def esp(*numbers: int, index: int = 256) -> list[int]:
    return [build_seal(number, index, 100) for number in numbers]


def test_numbers_rise_may_have_gaps_and_begin_anew_with_a_successor() -> None:
    of = nonces(EspEncrypt("aes_128_gcm"), CellEncrypt())
    of.claim(0, sealed([*esp(1, 2, 7), 0, *esp(1, 2, index=257)]))
    of.claim(1, sealed([1, 1, 2, 1 << 32, 2], connection=[0, 1, 0, 0, 1]))


@pytest.mark.parametrize(
    ("node", "seals_of"),
    [
        (0, lambda: esp(1, 2, 2)),
        (0, lambda: esp(1, 2, 1)),
        (0, lambda: [*esp(1), esp(1)[0] | TAMPERED]),
        (1, lambda: [1, 2, 2]),
    ],
    ids=["equal", "falling", "tampered", "cells"],
)
@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_device_that_counts_wrongly_is_stopped(
    node: int, seals_of: Callable[[], list[int]], cut: int
) -> None:
    seals = seals_of()
    of, whole = nonces(EspEncrypt("aes_128_gcm"), CellEncrypt()), sealed(seals)
    said = rf"`n{node}` would use a number of its key twice, at 0\.00000{len(seals) - 1}000 s"

    def claim_in_parts() -> None:
        for part in (whole.select_range(0, cut), whole.select_range(cut, whole.count)):
            of.claim(node, part)

    with pytest.raises(NonceError, match=said):
        claim_in_parts()


KEY = "00112233445566778899aabbccddeeff00112233"
SPEC = f"""qos 1
import std.media

device gateway(own: Int, other: Int) {{
  port inner, outer: packet
  seal = esp_encrypt {{ encryption = aes_128_gcm, spi = own, key = "{KEY}" }}
  open = esp_decrypt {{ encryption = aes_128_gcm, spi = other, key = "{KEY}" }}
  out, back = fifo {{ limit = 8 pkt }}
  inner.rx -> seal -> out -> outer.tx
  outer.rx -> open -> back -> inner.tx
}}
topology vpn {{
  a, b = host
  left = gateway(own = 300, other = 301)
  right = gateway(own = 301, other = 300)
  link a -- left.inner via media.fast_ethernet
  link left.outer -- right.outer via media.fast_ethernet
  link right.inner -- b via media.fast_ethernet
}}
test both_ways on vpn {{
  flow there = packets {{ rate = 1_000 pkt/s, size = 100 B @ip }} from a to b
  flow back = packets {{ rate = 1_000 pkt/s, size = 300 B @ip }} from b to a
  run {{ measure = 10 ms }}
  expect there.lost + back.lost == 0 pkt
}}
"""


WITH_BYTES = SPEC.replace("10 ms", "10 ms, payload = true")


@pytest.mark.parametrize(
    ("encryption", "key", "rfc"),
    [
        ("aes_128_gcm", KEY, "RFC 4106"),
        ("aes_128_ctr, integrity = hmac_sha1_96", KEY, "RFC 3686"),
        ("aes_128_cbc, integrity = hmac_sha1_96", KEY[:32], "RFC 3602"),
        ("triple_des_cbc, integrity = hmac_sha1_96", (KEY + KEY)[:48], "RFC 2451"),
    ],
)
def test_a_key_of_two_devices_is_refused_with_the_standard_of_its_transform(
    tmp_path: Path, encryption: str, key: str, rfc: str
) -> None:
    file = tmp_path / "a.qos"
    file.write_text(SPEC.replace(KEY, key).replace("aes_128_gcm", encryption), "utf-8")
    done = CliRunner().invoke(cli.qos, ["check", str(file)])
    assert done.exit_code == exits.WRONG
    assert "E0314" in done.output
    assert re.findall(r"RFC \d+", done.output) == [rfc]


@pytest.mark.parametrize(
    ("text", "exit_code"),
    [
        (SPEC, exits.WRONG),
        (WITH_BYTES, exits.WRONG),
        (WITH_BYTES.replace(f', key = "{KEY}"', ""), exits.PASSED),
        (WITH_BYTES.replace("from b to a", "from a to b"), exits.PASSED),
    ],
)
def test_a_key_of_two_devices_is_refused_with_and_without_bytes(
    tmp_path: Path, text: str, exit_code: int
) -> None:
    file = tmp_path / "a.qos"
    file.write_text(text, "utf-8")
    options = ["--record", str(tmp_path / "records"), "--no-progress"]
    done = CliRunner().invoke(cli.qos, ["run", str(file), *options])
    assert done.exit_code == exit_code, done.output
    if exit_code == exits.WRONG:
        assert "`right.seal` would repeat a nonce: it has the key of `left.seal`" in done.output
        assert "give each a `key` of its own, or none" in done.output
    assert KEY not in done.output
