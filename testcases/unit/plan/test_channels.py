"""Machines that exchange messages: what a check says of them."""

from pathlib import Path

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Diagnostic, Problems
from qospec.plan.survey import verify

SUITES = Path(__file__).parents[2] / "suites" / "signalling"

ASKS_DIFFERENTLY = """qos 1
import std.devices.signalling

device terminal {
  port line: cell
  queue = fifo { limit = 16 cell }
  line.rx -> call.line
  call.line -> queue -> line.tx
  machine call {
    ports = [line]
    messages = { setup: [hold], connect: [] }
    values = { hold: 5 ms }
    state idle { on setup -> idle { send = [connect] } }
  }
}
topology pair {
  a = signalling.caller()
  b = terminal()
  link a.line -- b.line via line { rate = 212 Mbit/s @cell }
}
test a_call on pair {
  run { measure = 1 s }
  expect b.call.ignored == 0
}
"""


def said(path: Path) -> list[Diagnostic]:
    problems = Problems()
    verify(check([path], discover(), problems), problems)
    return list(problems.all)


@pytest.mark.slow  # they are whole suites
@pytest.mark.parametrize("name", ["calls.qos", "keys.qos"])
def test_nothing_is_said_of_machines_that_agree(name):
    assert said(SUITES / name) == []  # the tests of calls have no flow


def test_a_disagreement_with_a_device_of_the_library_is_shown_at_ones_own(tmp_path):
    (tmp_path / "calls.qos").write_text(ASKS_DIFFERENTLY, encoding="utf-8")
    (error,) = (problem for problem in said(tmp_path / "calls.qos") if problem.code == "E0315")
    assert error.span.source.name.endswith("calls.qos")
    assert error.span.text == "setup"
    assert error.label == "`setup` carries `hold` (a time)"
    assert error.secondary[0].span.source.recorded_name == "std/devices/signalling.qos"
