"""`Checked`: files that are checked once, and texts that import them."""

from pathlib import Path

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import Checked
from qospec.diagnostics import Problems

DEVICE = """qos 1
device pipe(buffer: Count = 4 cell) {
  port a, b: cell
  q = fifo { limit = buffer }
  a.rx -> q -> b.tx
  b.rx -> a.tx
}
"""
TEXT = """qos 1
import std.media, device
topology t {
  a, b = host
  dut = device.pipe(buffer = %s)
  link a -- dut.a via media.stm1
  link dut.b -- b via media.stm1
}
test one on t {
  flow f = cbr { pcr = 1_000 cell/s, cdvt = 0 s } from a to b
  run { measure = 1 ms }
  report f.lost
}
"""


@pytest.fixture
def checked(tmp_path):
    (tmp_path / "device.qos").write_text(DEVICE)
    return Checked([tmp_path / "device.qos"], discover())


def text(checked, buffer) -> tuple[int, list[str]]:
    """Return how many tests a text has, with or without cases, and the codes of its mistakes."""
    problems = Problems()
    path = Path(checked.units[0].path).with_name("text.qos")
    suite = checked.check(TEXT % buffer, path, problems)
    return len(suite.suite.tests), [error.code for error in problems.errors]


def test_a_text_uses_what_was_checked(checked):
    assert text(checked, "8 cell") == (1, [])
    limits = {"8 cell": 8, "9 cell": 9}
    for written, limit in limits.items():
        suite = checked.check(TEXT % written, checked.units[0].path.with_name("x.qos"), Problems())
        (case,) = suite.suite.tests[0].cases
        (queue,) = [element for element in case.networks[""].elements if element.path == "dut.q"]
        assert queue.element.limit.amount == limit


def test_mistakes_of_a_text_are_its_own(checked):
    assert text(checked, "1 us") == (1, ["E0204"])
    assert text(checked, "8 cell") == (1, [])
    assert text(checked, "1 us") == (1, ["E0204"])
    assert not checked.problems.errors


def test_mistakes_in_the_files_are_known_at_once(tmp_path):
    (tmp_path / "device.qos").write_text(DEVICE.replace("4 cell", "4 us"))
    checked = Checked([tmp_path / "device.qos"], discover())
    assert [error.code for error in checked.problems.errors] == ["E0204"]
