"""`qos explain` of declarations in files: where fields came from, and what is inside."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qospec import cli

VIDEO = """qos 1

## Coded video.
traffic video = vbr_rt {
  pcr  = 30_000 cell/s
  scr  = 12_000 cell/s
  mbs  = 200 cell
  cdvt = 100 us
}

traffic hd = video { pcr = 60_000 cell/s }

## Same contract, dishonest source.
traffic cheating = hd { source = burst { size = 4 * mbs, every = 50 ms } }

traffic voice(calls: Int) = cbr { pcr = calls * 10 cell/s, cdvt = 250 us }

let slot = 2 * 3 us
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with a file of traffic, and go there."""
    (tmp_path / "traffic.qos").write_text(VIDEO, encoding="utf-8")
    (tmp_path / "tests.qos").write_text("qos 1\nimport traffic\n\nlet a = 1 s\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def explain(*arguments: str) -> Result:
    return CliRunner().invoke(cli.qos, ["explain", *arguments])


def fields(name: str) -> dict[str, dict[str, object]]:
    (found,) = json.loads(explain(name, "--json").stdout)["explained"]
    return {field["name"]: field for field in found["origins"]}


@pytest.mark.parametrize("name", ["traffic.qos::cheating", "traffic.cheating"])
@pytest.mark.usefixtures("folder")
def test_each_field_says_its_value_and_its_line(name: str) -> None:
    known = fields(name)
    assert known["pcr"]["value"] == "60_000 cell/s"
    assert known["pcr"]["place"] == "traffic.qos:11"
    assert known["pcr"]["instead_of"] == [
        {"of": "video", "written": "30_000 cell/s", "place": "traffic.qos:5"}
    ]
    assert known["mbs"]["place"] == "traffic.qos:7"
    assert known["connections"]["default"]
    assert known["connections"]["description"] == "Number of identical connections."


@pytest.mark.usefixtures("folder")
def test_what_depends_on_a_field_is_worked_out() -> None:
    size = fields("traffic.cheating")["source.size"]
    assert (size["value"], size["written"]) == ("800 cell", "4 * mbs")


@pytest.mark.usefixtures("folder")
def test_the_chain_of_copies_is_shown() -> None:
    shown = explain("traffic.qos::cheating").stdout
    assert "a copy of hd (traffic.qos:11), a copy of video (traffic.qos:4)" in shown
    assert "Same contract, dishonest source." in shown


@pytest.mark.usefixtures("folder")
def test_what_an_import_declares_is_found_through_it() -> None:
    assert fields("tests.qos::traffic.video")["cdvt"]["place"] == "traffic.qos:8"


@pytest.mark.usefixtures("folder")
def test_what_a_parameter_leaves_open_is_shown_as_written() -> None:
    assert fields("traffic.voice")["pcr"]["value"] == "calls * 10 cell/s"


@pytest.mark.usefixtures("folder")
def test_a_value_is_explained() -> None:
    assert fields("traffic.slot")["slot"]["value"] == "6 us"


LAB = """qos 1
import std.media, traffic

device box {
  port p[2]: cell
  p[0].rx -> p[1].tx
  p[1].rx -> discard
}

topology lab(haul: Length = 5 km) {
  a, b = host
  many = host(count = 30)
  one = box
  link a -- one.p[0] via media.oc3 { length = haul }
  link one.p[1] -- b via media.oc3
  for i in 0 .. 13 { link many[i] -- many[i + 14] via media.e3 }
}

test t on lab(haul = 7 km) {
  sweep load in 1% .. 30% step 1%
  control bare = lab
  flow f = traffic.hd { scr = load of 30_000 cell/s } from a to b
  run { measure = 1 s }
  expect f.lost == 0
}
"""


def test_a_test_says_where_its_fields_are_from(folder: Path) -> None:
    (folder / "lab.qos").write_text(LAB, encoding="utf-8")
    known = fields("lab.t")
    assert (known["f.scr"]["value"], known["f.scr"]["place"]) == ("300 cell/s", "lab.qos:22")
    assert [entry["of"] for entry in known["f.scr"]["instead_of"]] == ["video"]
    assert known["f.pcr"]["place"] == "traffic.qos:11"
    assert (known["run.measure"]["value"], known["run.repeat"]["default"]) == ("1 s", True)
    shown = explain("lab.t").stdout
    assert "    t:load=1%\n" in shown
    assert "and 10 more cases" in shown
    assert "bare  lab: 32 hosts" in shown
    assert "f  vbr_rt from a to b" in shown
    assert "fields of the first case" in shown


def test_a_topology_says_what_is_in_it(folder: Path) -> None:
    (folder / "lab.qos").write_text(LAB, encoding="utf-8")
    shown = explain("lab.lab").stdout
    assert "many[0 .. 29]  host(count = 30)" in shown
    assert "one  box" in shown
    assert "via media.oc3 { length = haul }, 149.76 Mbit/s @cell" in shown
    assert "many[13] -- many[27]" in shown


ROUTER = """qos 1

## A policer that lets nothing pass. It is never asked how.
let blocked = police { cir = 8 bit/s @ip, cbs = 0 B }

## One queue.
device output(buffer: Packets = 64 pkt) {
  port entry, exit: packet
  wait = fifo { limit = buffer }
  entry.rx -> wait -> exit.tx
  exit.rx -> discard
}

device router(
  ports: Int,
  buffer: Packets = 64 pkt,  ## of each port
  pause: Time = 2 ms
) {
  port p[ports]: packet
  let rest = pause / 2
  fabric = router {
    ports = ports  # a comment
    latency = rest
  }
  for i in 0 .. ports - 1 {
    ## Stops what is not wanted.
    none, never = blocked
    out = output(buffer = buffer)
    p[i].rx -> none -> fabric.entry[i]
    for k in 1 .. 2 { fabric.exit[i] -> out.entry.rx }
  }
}
"""


def test_a_device_says_what_is_in_it(folder: Path) -> None:
    (folder / "router.qos").write_text(ROUTER, encoding="utf-8")
    shown = explain("router.qos::router").stdout
    assert (
        shown.partition("  parameters\n")[2]
        == """\
    ports   Int, required
    buffer  Packets, default 64 pkt
            of each port
    pause   Time, default 2 ms

  ports
    p  ports of packet

  values
    rest  pause / 2

  elements
    fabric  router { ports = ports, latency = rest }
    none    blocked, for i in 0 .. ports - 1
            Stops what is not wanted.
    never   blocked, for i in 0 .. ports - 1
            Stops what is not wanted.
    out     output(buffer = buffer), for i in 0 .. ports - 1
            One queue.

  wires
    p[i].rx -> none -> fabric.entry[i]  for i in 0 .. ports - 1
    fabric.exit[i] -> out.entry.rx      for i in 0 .. ports - 1, for k in 1 .. 2
"""
    )


def test_loops_are_listed_apart_from_what_is_in_them(folder: Path) -> None:
    (folder / "router.qos").write_text(ROUTER, encoding="utf-8")
    (device,) = json.loads(explain("router.qos::router", "--json").stdout)["explained"]
    (rest,) = device["values"]
    assert (rest["value"], rest["loops"]) == ("pause / 2", [])
    assert device["elements"][-1]["type"] == "output(buffer = buffer)"
    assert device["wires"][-1]["name"] == "fabric.exit[i] -> out.entry.rx"
    assert device["wires"][-1]["loops"] == ["for i in 0 .. ports - 1", "for k in 1 .. 2"]


def test_a_device_of_yaml_is_explained_in_the_words_of_the_language(folder: Path) -> None:
    (folder / "router.qos").write_text(ROUTER, encoding="utf-8")
    made = CliRunner().invoke(cli.qos, ["convert", "--to", "yaml", "router.qos"])
    (folder / "twin.yaml").write_text(made.stdout, encoding="utf-8")
    inside = explain("router.qos::output").stdout.partition("  parameters\n")[2]
    assert "entry.rx -> wait -> exit.tx" in inside
    assert explain("twin.yaml::output").stdout.partition("  parameters\n")[2] == inside


def test_a_device_of_the_library_says_the_same_by_each_of_its_names() -> None:
    inside = explain("std.devices.sitline.encryptor").stdout
    assert "seal    delay { time = pipeline }" in inside
    assert "strip.oam -> terminate" in inside
    assert explain("encryptor").stdout == inside


def test_what_is_long_is_wrapped_beside_its_name() -> None:
    lines = explain("vendor_a").stdout.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("    cpu "))
    assert max(map(len, lines)) <= 110
    assert lines[at + 1].startswith(" " * 12)


def test_a_test_with_a_mistake_is_refused_with_it(folder: Path) -> None:
    (folder / "lab.qos").write_text(LAB.replace("lost == 0", "losst == 0"), encoding="utf-8")
    result = explain("lab.t")
    assert result.exit_code == 2
    assert "E0501" in result.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("traffic.qos::vidoe", "did you mean `video`?"),
        ("traffic.qos::video.x", "traffic.qos does not declare `video.x`"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_a_file_does_not_declare_is_refused(name: str, words: str) -> None:
    result = explain(name)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_a_declaration_with_a_mistake_is_refused_with_it(folder: Path) -> None:
    (folder / "bad.qos").write_text("qos 1\nlet a = 1 s < 1 m\n", encoding="utf-8")
    result = explain("bad.qos::a")
    assert result.exit_code == 2
    assert "E0203" in result.stderr


def test_a_mistake_elsewhere_in_the_file_is_no_hindrance(folder: Path) -> None:
    text = VIDEO + "\nlet b = 3 sekunden\ntraffic other = cbr {\n  pcr = = 1\n}\n"
    (folder / "traffic.qos").write_text(text, encoding="utf-8")
    shown = explain("traffic.qos::hd")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "60_000 cell/s" in shown.stdout
    assert explain("traffic.qos::other").exit_code == 2


TEMPLATE = """qos 1

## Steps of a load.
test steps(rate: CellRate, shares: [Ratio] = [10%, 20%]) {
  follows = "RFC 2544, 26.3"
  deviations = ["trials of 1 s: nothing is random"]
  require rate > 0
  sweep share in shares
  run { measure = 1 s }
}

topology pair {
  a, b = host
  link a -- b via line { rate = 1 Mbit/s @cell }
}

test doubled(half: CellRate) = steps(rate = 2 * half)

test mine = steps(rate = 10 cell/s) on pair {
  flow user = ubr { pcr = share * 10 cell/s } from a to b
}
"""


def test_a_template_shows_its_parameters_and_what_it_follows(folder: Path) -> None:
    (folder / "lib.qos").write_text(TEMPLATE, encoding="utf-8")
    shown = " ".join(explain("lib.qos::steps").stdout.split())
    assert "follows RFC 2544, 26.3" in shown
    assert "shares [Ratio], default [10%, 20%]" in shown
    assert "- trials of 1 s: nothing is random" in shown
    assert "requires of its arguments - rate > 0" in shown
    assert "- (2 * half) > 0" in " ".join(explain("lib.qos::doubled").stdout.split())


def test_a_test_shows_what_it_is_built_on(folder: Path) -> None:
    (folder / "lib.qos").write_text(TEMPLATE, encoding="utf-8")
    shown = " ".join(explain("lib.qos::mine").stdout.split())
    assert "built on steps (lib.qos:4) follows RFC 2544, 26.3" in shown
    assert "mine:share=10% mine:share=20%" in shown
    assert "run.measure 1 s lib.qos:9" in shown
