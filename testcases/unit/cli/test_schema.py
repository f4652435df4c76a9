"""`qos schema`: sound, knows the catalogue, takes what is right and refuses what is not."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from night import sample_files

from qospec import cli
from qospec.catalogue.kinds import discover
from qospec.diagnostics import Problems
from qospec.resources import STDLIB
from qospec.source import Source
from qospec.yaml_twin.writer import write_yaml

TESTCASES = Path(__file__).parents[2]
FOLDERS = (TESTCASES / "language" / "accept", TESTCASES / "suites", STDLIB)
FILES = [path for folder in FOLDERS for path in sorted(folder.rglob("*.qos"))]
RIGHT = """
qos: "1"
import: [std.media, std.devices.atm_switches as switches]
let: {cell_time: 53 B / 149.76 Mbit/s, limit: {type: Time, is: 3 s}}
traffic:
  video:
    is: vbr_rt
    with: {pcr: 30_000 cell/s, scr: 12_000 cell/s, maximum_burst_size: 200 cell, cdvt: 100 us}
  bursts: {is: video, with: {source: {is: burst, with: {size: 4 * mbs, every: 50 ms}}}}
  many: {parameters: {n: Int = 1}, is: video, with: {connections: n}}
device:
  policer:
    parameters: {ports: Int = 4}
    port: {"p[4], q": cell}
    meter: {is: gcra, with: {violate: tag}}
    sort: {is: classify, with: {fast: "vc.category in [cbr]", rest: otherwise}}
    "->": [p.rx -> sort, sort.fast -> q.tx]
    for: {"i in 0 .. 3": {x: fifo(limit = 3 cell)}}
topology:
  pair:
    "a, b": host
    link: [a -- b via media.stm1, {between: a -- b, via: media.oc3, with: {length: 50 km}}]
test:
  passes:
    on: pair
    covers: '["a"]'
    sweep: {load: 50% .. 80% step 15%, c: {in: "[1]", where: c > 2}}
    flow: {f: {is: traffic.calls(count = 30), from: a, to: b}}
    run: {warmup: 2 s, measure: 30 s, repeat: 10}
    require: {offered: f.sent within 0.1% of f.planned}
    expect: [f.lost == 0, {prompt: f.delay.p99 < 1 ms}]
"""


@pytest.fixture(scope="module")
def schema() -> Any:
    shown = CliRunner().invoke(cli.qos, ["schema"])
    assert shown.exit_code == 0
    return json.loads(shown.stdout)


def mistakes(schema: Any, text: str) -> list[str]:
    document = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 -- it makes nothing but text
    return [error.message for error in Draft202012Validator(schema).iter_errors(document)]


def test_it_is_a_schema(schema: Any) -> None:
    Draft202012Validator.check_schema(schema)


def test_what_is_right_is_valid(schema: Any) -> None:
    assert mistakes(schema, RIGHT) == []


def test_a_file_may_be_a_list(schema: Any) -> None:
    assert mistakes(schema, '- qos: "1"\n  let: {a: 1 s}\n- let: {b: 2 s}\n') == []


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "a text",
        "let: {a: 1 s}",
        'qos: "2"',
        'qos: "1"\nimport: std.media',
        'qos: "1"\nlet: {3a: 4}',
        'qos: "1"\nlet: {a: [1]}',
        'qos: "1"\ntopologi: {a: {}}',
        'qos: "1"\ntraffic: {v: {is: x, wit: {}}}',
        'qos: "1"\ntraffic: {v: {is: vbr_rt, with: {pcr: 1 cell/s}}}',
        'qos: "1"\ntraffic: {v: {is: ubr, with: {pcr: 1 cell/s, pr: 3}}}',
        'qos: "1"\ntest: {a: {on: b, run: {measure: 3 s, mesure: 3}}}',
        'qos: "1"\ntest: {a: {on: b, flow: {f: {is: x, from: y}}}}',
        'qos: "1"\ndevice: {a: {via: x}}',
        'qos: "1"\ntopology: {a: {link: [a b]}}',
        '- let: {b: 2 s}\n- qos: "1"',
    ],
)
def test_what_is_wrong_is_not(schema: Any, text: str) -> None:
    assert mistakes(schema, text)


@pytest.mark.parametrize("role", ["traffic", "element", "arrivals", "dropping", "congestion"])
def test_every_field_of_every_kind_is_offered_with_its_words(schema: Any, role: Any) -> None:
    for kind in discover().select_role(role).values():
        offered = schema["$defs"][f"fields of {kind.name}"]["properties"]
        for parameter in kind.parameters.values():
            names = {parameter.name, parameter.alias} - {""}
            assert names <= set(offered)
            assert all(offered[name]["description"].strip() for name in names)


def test_keywords_have_their_descriptions(schema: Any) -> None:
    offered = schema["$defs"]["statements"]["properties"]
    assert offered["sweep"]["description"] == "makes one case for each value"
    assert offered["link"]["description"] == "connects two nodes through a medium"


@pytest.mark.untraced
@pytest.mark.parametrize("path", sample_files(FILES), ids=lambda path: path.stem)
def test_every_file_as_yaml_is_valid(schema: Any, path: Path) -> None:
    problems = Problems()
    text = write_yaml(Source(path.name, path.read_text(encoding="utf-8")), problems)
    assert text is not None, problems.all
    assert mistakes(schema, text) == []
