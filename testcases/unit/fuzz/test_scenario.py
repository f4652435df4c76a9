"""Scenarios are drawn that do something to a device."""

from collections import Counter
from pathlib import Path
from random import Random  # noqa: TID251 -- of what Hypothesis draws

import pytest
from hypothesis import Phase, find, settings
from hypothesis.errors import NoSuchExample

from qospec.catalogue.kinds import discover
from qospec.check import Checked
from qospec.fuzz import explore
from qospec.fuzz.device import devices_of, ports_of
from qospec.fuzz.scenario import Scenario, scenarios

DRAWN = 400
ONE_WAY = """qos 1
device switch {
  port west, east: cell
  there = fifo { limit = 8 cell }
  west.rx -> there -> east.tx
  east.rx -> west.tx
}
"""
TWO_WAYS = """qos 1
device switch {
  port west, east: cell
  there, back = fifo { limit = 8 cell }
  west.rx -> there -> east.tx
  east.rx -> back -> west.tx
}
"""


@pytest.fixture
def device(tmp_path: Path):
    def read(text: str):
        (tmp_path / "switches.qos").write_text(text, encoding="utf-8")
        checked = Checked([tmp_path / "switches.qos"], discover())
        assert not checked.problems.errors
        (only,) = devices_of(checked)
        return only

    return read


def drawn(device) -> list[Scenario]:
    """Return scenarios of a device by itself, equal ones each time."""
    found = []
    how = settings(max_examples=DRAWN, database=None, phases=(Phase.generate,))
    with pytest.raises(NoSuchExample), explore._examples_drawn_anew():
        find(scenarios(device), found.append, settings=how, random=Random(1))  # noqa: S311
    return [each for each in found if isinstance(each, Scenario) and not each.facing]


def test_a_port_is_known_from_which_a_wire_leads_to_another(device):
    template = device(ONE_WAY).template(())
    assert [(each.name, each.is_wire) for each in ports_of(template)] == [
        ("west", False),
        ("east", True),
    ]


def test_flows_come_mostly_by_ports_behind_which_there_is_something(device):
    origins = Counter(flow.origin for each in drawn(device(ONE_WAY)) for flow in each.flows)
    assert origins[0] > 1.5 * origins[1] > 0


def test_flows_come_by_all_ports_behind_which_there_is_something(device):
    origins = Counter(flow.origin for each in drawn(device(TWO_WAYS)) for flow in each.flows)
    assert 3 / 4 < origins[0] / origins[1] < 4 / 3


def test_flows_to_one_host_are_as_frequent_as_flows_both_ways(device):
    """What shares a queue shows in the former, and what shares a processor in the latter."""
    some = [each for each in drawn(device(TWO_WAYS)) if len(each.flows) > 1]
    ways = Counter(len({flow.origin for flow in each.flows}) for each in some)
    assert ways[1] > len(some) / 4
    assert ways[2] > len(some) / 4
