"""What a terminal says of the criteria of a template: at the user's test, with their labels."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from qospec.cli import qos

UNPOLICED = """qos 1
import std.media, std.procedures.y1564
topology cable {
  a, b = host
  link a -- b via media.fast_ethernet
}
test y = y1564.activation(
  cir = 20 Mbit/s @frame, bursts = BURSTS @frame, loss = 0.1%, delay = 2 ms, variation = 1 ms,
  step_time = 50 ms, performance_time = 50 ms
) on cable {
  flow user = packets { rate = load, size = 512 B @frame, phases = even } from a to b
}
"""


@pytest.fixture
def told(tmp_path, monkeypatch):
    """Return a function that runs the test with bursts of a size, and gives what is printed."""

    def run(bursts: str) -> list[str]:
        monkeypatch.chdir(tmp_path)
        Path("y.qos").write_text(UNPOLICED.replace("BURSTS", bursts), encoding="utf-8")
        result = CliRunner().invoke(qos, ["run", "y.qos", "--record", str(tmp_path / "records")])
        return result.output.splitlines()

    return run


def test_a_failed_criterion_of_a_template_has_its_test_label_point_and_flow(told):
    lines = told("10 kB")
    at = lines.index("FAIL  y")
    assert lines[at + 1] == "  y.qos:7:1: test y"
    label = "expect policed_to_limit: f.bit_rate.frame - frame <= limit"
    assert "/y1564.qos:" in lines[at + 2]
    assert lines[at + 2].endswith(f": {label}")
    assert lines[at + 3].split() == ["at", "policed.user"]


def test_so_has_one_that_could_not_be_decided(told):
    lines = told("1 MB")
    at = lines.index("INCONCLUSIVE  y")
    assert lines[at + 1] == "  y.qos:7:1: test y"
    assert ": require step_time_is_long_enough: f.sent / " in lines[at + 2]
    assert lines[at + 3].split() == ["at", "policed.user"]


def test_criteria_that_are_alike_are_warned_of_once_at_the_argument(told):
    """Five points have too few packets, that of a quarter of CIR the fewest: 62 in 50 ms."""
    lines = told("10 kB")
    cannot = "62 packets cannot show `f.loss_ratio <= loss`"
    (at,) = (n for n, line in enumerate(lines) if line.startswith("warning[W0611]"))
    assert lines[at] == f"warning[W0611]: {cannot}"
    assert lines[at + 1].strip() == "--> y.qos:8:50"
    assert any(line.endswith("measure = step_time }") for line in lines)
    assert "   = note: 5 criteria are alike; the shortfall of this one is largest" in lines
    assert not [line for line in lines if line.startswith("warning: ")], "it was said before"
