"""Every example of a kind that `qos explain` prints stands in a file that `qos check` takes."""

from pathlib import Path
from typing import NamedTuple

import pytest

from qospec.catalogue.kinds import Kind, discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.plan.survey import verify
from qospec.reference.kinds import describe_kind

CATALOGUE = discover()


class Carried(NamedTuple):
    """What a file has around an example, by what it carries."""

    unit: str
    layer: str
    traffic: str
    urgent: str


AROUND = {
    "cell": Carried("cell", "cell", "cbr { pcr = 10 cell/s, cdvt = 1 ms }", "cell.clp == 0"),
    "packet": Carried(
        "pkt", "line", "packets { rate = 10 pkt/s, size = 1_000 B @ip }", "pkt.dscp == 46"
    ),
}
WIRES = {
    "queue": "p.rx -> e -> q.tx",
    "scheduler": (
        "sort = classify {{ high = {urgent}, low = otherwise }}\n"
        "  high, low = fifo {{ limit = 64 {unit} }}\n"
        "  p.rx -> sort\n  sort.high -> high -> e.high\n  sort.low -> low -> e.low\n  e -> q.tx"
    ),
    "shared_buffer": (
        "port r[3]: {carries}\n  p.rx -> e.entry[0]\n  e.exit[0] -> q.tx\n"
        "  for i in 1 .. 3 {{\n    r[i - 1].rx -> e.entry[i]\n"
        "    e.exit[i] -> r[i - 1].tx\n  }}"
    ),
    "pause_queue": (
        "port r: {carries}\n  p.rx -> e.in\n  e.out -> q.tx\n  e.pause -> discard\n"
        "  r.rx -> e.heard"
    ),
    "pause_queue.priorities": (
        "port r: {carries}\n  sort = classify {{ high = {urgent}, low = otherwise }}\n"
        "  p.rx -> sort\n  sort.high -> e.high\n  sort.low -> e.low\n"
        "  e.out -> q.tx\n  e.pause -> discard\n  r.rx -> e.heard"
    ),
    "credit": "out = fifo {{ limit = 64 {unit} }}\n  p.rx -> out -> e -> q.tx",
    "router": (
        "port r[4]: {carries}\n  for i in 0 .. 3 {{\n    out = fifo {{ limit = 64 {unit} }}\n"
        "    e.exit[i] -> out -> r[i].tx\n    r[i].rx -> e.entry[i]\n  }}\n  p.rx -> q.tx"
    ),
    "element": "out = fifo {{ limit = 64 {unit} }}\n  p.rx -> e -> out -> q.tx",
    "envelope": (
        "sort = classify {{ high = {urgent}, low = otherwise }}\n"
        "  out = fifo {{ limit = 64 {unit} }}\n  p.rx -> sort\n"
        "  sort.high -> e.high\n  sort.low -> e.low\n  e -> out -> q.tx"
    ),
    "fragment": (
        "whole = reassemble\n  out = fifo {{ limit = 64 {unit} }}\n"
        "  p.rx -> e -> whole -> out -> q.tx"
    ),
    "tell_mtu": (
        "port r: {carries}\n  p.rx -> e.there\n  e.there -> q.tx\n"
        "  r.rx -> e.back\n  e.back -> r.tx"
    ),
    "aal_segment": (
        "join = {other_end}\n  out = fifo {{ limit = 64 {unit} }}\n"
        "  p.rx -> e -> join -> out -> q.tx"
    ),
    "aal_reassemble": (
        "cut = {other_end}\n  out = fifo {{ limit = 64 {unit} }}\n  p.rx -> cut -> e -> out -> q.tx"
    ),
    "merge": (
        "port r[3]: {carries}\n  out = fifo {{ limit = 64 {unit} }}\n  p.rx -> e.in[0]\n"
        "  for i in 1 .. 3 {{\n    r[i - 1].rx -> e.in[i]\n  }}\n  e -> out -> q.tx"
    ),
}
"""How an element is wired, by its duty, or by its name, or by that and a field of it."""
OTHER_END = {"aal_segment": "aal_reassemble", "aal_reassemble": "aal_segment"}
"""What takes what an element makes, or makes what it takes: of the same fields but its timeout."""
OF_CELLS = ("clp_first", "epd")
"""Drop policies with fields for what only cells have."""
SMALL = "packets { rate = 10 pkt/s, size = 400 B @ip }"
"""Packets below the MTU of an example."""


BESIDE = {
    "batches": "rate = 30_000 cell/s",
    "burst": "every = 10 ms",
    "duplicate": "first = 4",
    "esp_decrypt.integrity_key": "integrity = hmac_md5_96",
    "esp_encrypt.integrity_key": "integrity = hmac_md5_96",
    "frames": "cells = 20 cell",
    "frames.mtu": "size = 9_180 B @ip",
    "frames.size": "size = 9_180 B @ip",
    "jitter.deviation": "distribution = normal",
    "jitter.mean": "distribution = exponential",
    "line.aal": "carries = packet",
    "line.encapsulation": "aal = aal5, carries = packet",
    "lose": "first = 4",
    "misinsert": "first = 4",
    "mmpp": "rate = 30_000 cell/s",
    "pause_queue": "obeys = true, xoff = 64 pkt",
    "pause_queue.obeys": "xoff = 20 pkt",
    "pause_queue.xoff": "obeys = true",
    "packets": "rate = 64 kbit/s @ip",
    "reorder": "first = 4",
    "tamper": "first = 4",
    "remark.by": "dscp = { green: 10 }",
    "tcp.read_size": "read_every = 10 ms",
    "tcp.rediscover_after": "path_mtu_discovery = true",
    "tcp.request": "response = 20 kB",
    "tcp.response": "request = 480 B",
    **dict.fromkeys(
        (f"{fault}.mean_run" for fault in ("duplicate", "lose", "misinsert", "reorder", "tamper")),
        "probability = 5%",
    ),
}
"""What has to be given with a field, or with any field of a kind: one of several, each optional."""
CAPTURE = bytes.fromhex(
    "d4c3b2a1 02000400 0000000000000000 ffff0000 01000000"
    "00000000 00000000 32000000 02020000"
    "020000000001 020000000002 88a8 0004 8100 0004 0800"
    "45 10 01ec 00000000 40 11 0000 0a010007 0a010007 0004 0004 01d8 0000"
)
"""The file of an example: a packet with two tags of VLAN 4 and DSCP 4 from 10.1.0.7, port 4."""


def fields(role: str) -> list[object]:
    return [
        pytest.param(kind, field["name"], id=f"{name}.{field['name']}")
        for (of, name), kind in sorted(CATALOGUE.kinds.items())
        if of == role
        for field in describe_kind(kind)["fields"]
        if field["example"]
    ]


def written(kind: Kind, field: str) -> str:
    """Return a record with the example of one field, and what has to be given with it."""
    examples = [
        f"{entry['name']} = {entry['example']}"
        for entry in describe_kind(kind)["fields"]
        if entry["required"] or entry["name"] == field
    ]
    beside = BESIDE.get(f"{kind.name}.{field}") or BESIDE.get(kind.name, "")
    if beside and f"{beside.partition(' ')[0]} = " not in ", ".join(examples):
        examples.append(beside)
    return f"{kind.name} {{ {', '.join(examples)} }}"


def file(carries: str, element: str, wires: str, traffic: str = "", medium: str = "") -> str:
    around = AROUND[carries]
    tags = ", vlan_tags = 2, labels = 1, header = 26 B" if carries == "packet" else ""
    name, _, fields = element.partition(" ")
    agreed = "{}" if "timeout" in fields else fields
    other_end = f"{OTHER_END.get(name, name)} {agreed}"
    medium = medium or f"line {{ rate = 100 Mbit/s @{around.layer}, carries = {carries}{tags} }}"
    return f"""qos 1
device box {{
  port p, q: {carries}
  e = {element}
  {wires.format(**around._asdict(), carries=carries, other_end=other_end)}
  q.rx -> p.tx
}}
topology net {{
  a, b = host
  x = box
  link a -- x.p via {medium}
  link x.q -- b via {medium}
}}
test t on net {{
  flow f = {traffic or around.traffic} from a to b
  run {{ measure = 10 ms, overload = true }}
  expect f.lost == 0
}}
"""


def refused(text: str, folder: Path) -> list[str]:
    """Return the errors in a file, each with its place."""
    path = folder / "example.qos"
    path.write_text(text, encoding="utf-8")
    (folder / "site.pcapng").write_bytes(CAPTURE)
    (folder / "day.csv").write_text("time [s],rate [cell/s]\n0,10\n", encoding="utf-8")
    (folder / "leo.csv").write_text("time [s],delay [ms],loss [%]\n0,20,1\n", encoding="utf-8")
    (folder / "lte.up").write_text("1\n3\n", encoding="utf-8")
    problems = Problems()
    suite = check([path], CATALOGUE, problems)
    if not problems.errors:
        verify(suite, problems)
    return [f"{error.span.text}: {error.code} {error.message}" for error in problems.errors]


@pytest.mark.parametrize(("kind", "field"), fields("element"))
def test_an_element_takes_its_examples(kind: Kind, field: str, tmp_path: Path) -> None:
    text = written(kind, field)
    carries = "packet" if kind.name in OTHER_END else kind.carries[-1]
    if kind.duty == "line":
        carries = "packet" if "carries = packet" in text else "cell"
        text = file(carries, "delay { time = 1 us }", WIRES["element"], medium=text)
    else:
        traffic = SMALL if kind.name in OTHER_END else ""
        named = WIRES.get(f"{kind.name}.{field}") or WIRES.get(kind.name)
        text = file(carries, text, named or WIRES[kind.duty], traffic)
    assert refused(text, tmp_path) == []


@pytest.mark.parametrize(("kind", "field"), fields("dropping"))
def test_a_queue_takes_the_examples_of_a_drop_policy(
    kind: Kind, field: str, tmp_path: Path
) -> None:
    carries = "cell" if kind.name in OF_CELLS else "packet"
    queue = f"fifo {{ limit = 256 {AROUND[carries].unit}, drop = {written(kind, field)} }}"
    assert refused(file(carries, queue, WIRES["queue"]), tmp_path) == []


@pytest.mark.parametrize(("kind", "field"), fields("traffic"))
def test_a_flow_takes_the_examples_of_traffic(kind: Kind, field: str, tmp_path: Path) -> None:
    element = "delay { time = 1 us }"
    text = file(kind.carries[0], element, WIRES["element"], traffic=written(kind, field))
    assert refused(text, tmp_path) == []


@pytest.mark.parametrize(("kind", "field"), fields("arrivals"))
def test_cells_leave_as_the_examples_of_arrivals_say(
    kind: Kind, field: str, tmp_path: Path
) -> None:
    traffic = f"ubr {{ pcr = 100_000 cell/s, source = {written(kind, field)} }}"
    text = file("cell", "delay { time = 1 us }", WIRES["element"], traffic=traffic)
    assert refused(text, tmp_path) == []
