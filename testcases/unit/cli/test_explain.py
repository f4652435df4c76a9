"""`qos explain`: pages of codes, words, and names of the language and its library."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qospec import cli
from qospec.catalogue.kinds import discover
from qospec.check.device.observables import list_observables
from qospec.check.device.predicates import ATTRIBUTES
from qospec.check.evaluate.functions import FUNCTIONS
from qospec.protocol.encapsulation import LAYERS
from qospec.reference.builtins import BUILT_IN
from qospec.reference.members import describe_members

ADVISED = """qos 1

import std.media

topology wire {
  a, b = host
  link a -- b via media.stm1
}

test advised on wire {
  flow calls = cbr { pcr = 100 cell/s, cdvt = 1 us } from a to b
  run { measure = 1 s }
  expect calls.lost == 0
  ADVICE
}
"""


def explain(*arguments: str) -> Result:
    return CliRunner().invoke(cli.qos, ["explain", *arguments])


@pytest.mark.parametrize("code", ["E0203", "e0203"])
def test_a_code_shows_its_page(code: str) -> None:
    shown = explain(code)
    assert shown.exit_code == 0
    assert "cannot be compared" in shown.stdout
    assert "    expect user.delay.p99 < 200 cell" in shown.stdout
    assert "```" not in shown.stdout


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        ("sweep", "makes one case for each value"),
        ("vbr_rt", "A contract for bursts within a peak"),
        ("clr", "cell_loss_ratio"),
        ("sent", "a count of cells or a count of packets or a count of frames, exact"),
        ("throughput", "a cell rate or a packet rate or a frame rate, measured"),
        ("throughput", "every …   throughput"),
        ("transfer_delay", "every …     mean min max"),
        ("bit_rate", "of packets  line frame ip payload"),
        ("classify", "colour"),
        ("delay.p99", "99 % of the cells or packets"),
        ("kbit/s", "a bit rate"),
        ("CellRate", "a cell rate"),
        ("quantile", "the value that this share of cells or packets does not exceed"),
        ("confidence", "over all repeats"),
        ("template", "a test with parameters or without a topology"),
        ("phase", "a search or a point"),
        ("search", "      goal ndr { loss = 0 }"),
        ("search", "    confirm  a whole number"),
        ("goal", "    loss    a ratio, from 0 to 0.99, required"),
        ("point", "    measure  a time"),
        ("run", "      run { warmup = 100 ms"),
        ("occupancy", "Count what waits in a queue"),
        ("covers", "what a test covers"),
        ("not_reproduced", "what a test does not reproduce of a publication"),
        ("inconclusive", "undecided"),
        ("not applicable", "never counts as a pass"),
        ("forerunner_le155", "oam_policing"),
        ("std.media.oc3", "a copy of stm1"),
    ],
)
def test_a_name_is_explained(name: str, piece: str) -> None:
    shown = explain(name)
    assert shown.exit_code == 0
    assert piece in shown.stdout


def test_a_name_of_several_things_shows_all() -> None:
    document = json.loads(explain("delay", "--json").stdout)
    sorts = [entry["sort"] for entry in document["explained"]]
    assert sorts == ["function of properties", "element", "metric"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gcraa", "nothing is named `gcraa`: did you mean `gcra`?"),
        ("fifo.limti", "did you mean `fifo.limit`?"),
        ("pkt.dcsp", "did you mean `pkt.dscp`?"),
        ("std.trafic", "did you mean `std.traffic`?"),
        ("std.trafic.imix", "did you mean `std.traffic.imix`?"),
        ("std.traffic.imx", "did you mean `std.traffic.imix`?"),
        ("std.trafic.imix.simple", "did you mean `std.traffic.imix.simple`?"),
        ("std.traffic.imix.simpel", "did you mean `simple`?"),
        ("E9999", "there is no code `E9999`"),
        ("e9999", "there is no code `E9999`"),
        ("hiccup", "a former name of a field of `processor`: renamed to `random_interruption`"),
        ("ways", "`merge`, `processor`, `router`, `vc_switch`: renamed to `ports`"),
        ("NDR", "there is `std.procedures.mlrsearch.ndr_pdr`"),
        ("macsec", "there are `std.media.macsec_fast_ethernet`, `std.media.macsec_gigabit_eth"),
        ("xyzzy", "name a declaration as `FILE.qos::name`"),
        ("", "nothing is named ``"),
        ("..", "nothing is named `..`"),
        ("nowhere.qos::a", "nowhere.qos cannot be read"),
    ],
)
def test_what_is_not_known_is_refused(name: str, words: str) -> None:
    result = explain(name)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_the_lines_of_its_help_stay_apart() -> None:
    lines = [line.strip() for line in explain("--help").stdout.splitlines()]
    assert any(line.startswith("qos explain sweep") for line in lines)
    assert "\\b" not in explain("--help").stdout


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        ("host", "a port of the tester"),
        ("flows", "list of all flows"),
        ("worst", "largest"),
        ("p99", "99 % of"),
        ("p99_9", "99.9 % of"),
        ("pcr", "cbr"),
        ("cdvt", "cell delay variation tolerance"),
        ("limit", "fifo"),
        ("ip", "IP packets"),
        ("@ip", "IP packets"),
        ("@cell", "53"),
    ],
)
def test_what_stands_in_every_file_is_known(name: str, piece: str) -> None:
    shown = explain(name)
    assert shown.exit_code == 0, shown.stderr
    assert piece in shown.stdout


QUEUES = " ".join(
    kind.name
    for kind in discover().select_role("element").values()
    if kind.duty == "queue" or kind.build.holds
)


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        ("vc", "vc.category vc.path"),
        ("pkt.dscp", "in a class: a whole number from 0 to 63"),
        ("dscp", "an attribute of a packet, `pkt.dscp`"),
        ("vc.category", "in a class: a service category"),
        ("pkt.input", "the port of the device"),
        ("cell.oam", "in a class: true or false"),
        ("source_address", "an address"),
        ("green", "a colour"),
        ("udp", "`pkt.protocol`"),
        ("mark", "police.exceed"),
        ("overflow", "`lost.overflow`"),
        ("overflow", "fifo"),
        ("discarded", "`lost.discarded`"),
        ("discarded", "on purpose"),
        ("occupancy", f"of {QUEUES}"),
        ("occupancy.max", f"of {QUEUES}"),
        ("fifo.occupancy.mean", "what waits in a queue, a shaper or a processor"),
        ("fifo.lost", "the number of items lost there"),
        ("gcra.policed", "the number of items lost there"),
        ("fifo.limit", "from 1 to"),
        ("search.method", "mlrsearch"),
        ("machine.messages", "a field of machine"),
        ("lost.overflow", "counted by `lost.overflow`"),
        ("delay.p99_9", "99.9 %"),
        ("rx", "items enter"),
        ("rx.count", "measured of a port"),
        ("discard", "on purpose"),
        ("oam", "OAM cells of a flow"),
        ("answers", "`ask.answers.loss`"),
        ("exchanges", "`ask.exchanges.delay.p99`"),
        ("timed_out", "of echo"),
    ],
)
def test_what_a_criterion_or_a_class_asks_for_is_known(name: str, piece: str) -> None:
    shown = explain(name)
    assert shown.exit_code == 0, shown.stderr
    assert piece in " ".join(shown.stdout.split())


@pytest.mark.parametrize("name", [*FUNCTIONS, *BUILT_IN, *LAYERS])
def test_every_name_that_is_built_in_is_explained(name: str) -> None:
    shown = explain(name)
    assert shown.exit_code == 0, shown.exception
    assert name in shown.stdout


def test_what_is_said_of_flows_can_be_written(tmp_path: Path) -> None:
    (advice,) = re.findall(r"`(.*)`", " ".join(explain("flows").stdout.split()))
    path = tmp_path / "advised.qos"
    path.write_text(ADVISED.replace("ADVICE", advice), encoding="utf-8")
    checked = CliRunner().invoke(cli.qos, ["check", str(path)])
    assert checked.exit_code == 0, checked.stderr


@pytest.mark.parametrize("word", ["search", "goal", "point", "run"])
def test_the_example_of_a_statement_can_be_written(word: str, tmp_path: Path) -> None:
    pages = json.loads(explain(word, "--json").stdout)["explained"]
    (statement,) = re.findall(r"```qos\n(.*?)```", pages[0]["description"], re.DOTALL)
    pace = "1 Mbit/s @line" if word == "run" else "load"
    path = tmp_path / "example.qos"
    text = ADVISED.partition("test advised")[0].replace("media.stm1", "media.fast_ethernet")
    flow = f"flow user = packets {{ rate = {pace}, size = 64 B @frame }} from a to b"
    path.write_text(f"{text}test t on wire {{\n{statement}\n{flow}\n}}\n", encoding="utf-8")
    checked = CliRunner().invoke(cli.qos, ["check", str(path)])
    assert checked.exit_code == 0, checked.stderr


def test_the_worst_is_not_always_the_greatest() -> None:
    assert "the smallest if more is better" in " ".join(explain("worst").stdout.split())


def test_a_module_is_explained_by_what_it_declares() -> None:
    shown = explain("std.traffic.imix").stdout
    assert shown.startswith("std.traffic.imix\n  a module: `import std.traffic.imix`\n")
    assert "simple" in shown
    assert "7:4:1" in shown
    assert "stm1" in explain("std.media").stdout


def test_a_folder_of_the_library_is_explained_by_its_modules() -> None:
    assert "std.traffic.imix" in explain("std.traffic").stdout
    assert "std.media" in explain("std").stdout


def test_all_that_is_observed_of_an_element_is_explained() -> None:
    catalogue = discover()
    every = [(kind.name, kind) for kind in catalogue.select_role("element").values()]
    below = [
        f"{name}.{observable}" for name, kind in every for observable in list_observables(kind)
    ]
    below += [f"{name}.{parameter}" for name, kind in every for parameter in kind.parameters]
    below += [".".join(pair) for pair in ATTRIBUTES]
    assert "fifo.occupancy.max" in below
    for name in below:
        assert list(describe_members(name, catalogue)), name
