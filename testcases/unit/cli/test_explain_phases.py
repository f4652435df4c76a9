"""`qos explain` of tests with phases: what is searched, and at which load fields are shown."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from qospec import cli

PHASED = """qos 1
import std.media

topology pair {
  a, b = host
  link a -- b via media.fast_ethernet
}

## Two searches and a point.
test limits(line: Rate @line = 8 Mbit/s @line) {
  search load in 10% of line .. line {
    goal ndr { loss = 0 }
    goal pdr { loss = 1%, width = 1 kbit/s @line }
    trial = 1 s
  }
  search burst in 1 frame .. 90 frame {
    goal back_to_back { loss = 0 }
    load = line  # as fast as it goes
    method = binary
    trial = burst
  }
  point half { load = 50% * ndr.load, measure = 2 s, repeat = 3 }
}

test mine = limits() on pair {
  sweep size in [100 B @frame, 200 B @frame]
  flow user = packets { rate = load, size = size } from a to b
  expect ndr.load > 1 kbit/s @line
}

test later on pair {
  point slow {
    n = 3
    measure = 1 s
    at 500 ms { n = 2 }
  }
  flow user = packets { rate = n * 10 pkt/s, size = 100 B @frame } from a to b
  expect slow.user.lost == 0 pkt
}
"""


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a file of tests, and go to its folder."""
    (tmp_path / "lib.qos").write_text(PHASED, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def explain(*arguments: str) -> str:
    result = CliRunner().invoke(cli.qos, ["explain", *arguments])
    assert result.exit_code == 0, result.stderr
    return result.stdout


def phases(name: str) -> list[tuple[str, str]]:
    """Return the entries of the phases of a test, without how they are broken into lines."""
    lines = explain(name).partition("  phases\n")[2].partition("\n\n")[0].split("\n")
    found: list[tuple[str, str]] = []
    for line in lines:
        heading, _, text = line.strip().partition("  ")
        if line[:22].strip():
            found.append((heading, text.strip()))
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
    return found


def test_a_test_shows_its_phases_in_order() -> None:
    default = "exceed 0 % (default), width 1 frame (default)"
    common = "trial 1 s, total 21 s (default), exceed 50 % (default)"
    assert phases("lib.qos::mine") == [
        ("search load", "from 800 kbit/s @line to 8 Mbit/s @line, by mlrsearch"),
        ("goal ndr", f"loss 0 %, {common}, width 0.5 % (default)"),
        ("goal pdr", f"loss 1 %, {common}, width 1 kbit/s @line"),
        (
            "search burst",
            "from 1 frame to 90 frame in steps of 1 frame, by binary, with load = line",
        ),
        (
            "goal back_to_back",
            f"loss 0 %, trial up to 10.8 ms, which depends on burst, {default}",
        ),
        ("point half", "each trial 2 s, 3 repeats, load = 50% * ndr.load"),
    ]


def test_a_test_with_phases_says_at_which_load_its_fields_are() -> None:
    (found,) = json.loads(explain("lib.qos::mine", "--json"))["explained"]
    assert found["at"] == [{"name": "load", "value": "8 Mbit/s @line"}]
    title = "fields of the first case, at the highest load of `load`: load = 8 Mbit/s @line"
    assert f"  {title}\n" in explain("lib.qos::mine")


def test_a_point_shows_what_changes_in_it() -> None:
    assert phases("lib.qos::later") == [
        ("point slow", "each trial 1 s, n = 3, at 500 ms { n = 2 }")
    ]
    assert "  fields, at the load of `slow`: n = 3\n" in explain("lib.qos::later")


def test_a_template_shows_its_phases_as_they_are_written() -> None:
    assert phases("lib.qos::limits") == [
        ("search load", "in 10% of line .. line, trial = 1 s"),
        ("goal ndr", "loss = 0"),
        ("goal pdr", "loss = 1%, width = 1 kbit/s @line"),
        ("search burst", "in 1 frame .. 90 frame, load = line, method = binary, trial = burst"),
        ("goal back_to_back", "loss = 0"),
        ("point half", "load = 50% * ndr.load, measure = 2 s, repeat = 3"),
    ]
