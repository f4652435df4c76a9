"""Scenarios are drawn that do something to a device."""

from collections import Counter
from fractions import Fraction
from functools import cache
from random import Random  # noqa: TID251 -- of what Hypothesis draws

import pytest
from hypothesis import Phase, find, settings
from hypothesis.errors import NoSuchExample

from qospec.catalogue.kinds import discover
from qospec.check import Checked
from qospec.fuzz import explore
from qospec.fuzz.device import list_devices, list_ports
from qospec.fuzz.devices import DeviceTarget
from qospec.fuzz.scenario import Scenario, draw_scenario, write_specification
from qospec.fuzz.sending import Contract, Sending, Source

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


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory):
    @cache
    def read(text: str):
        folder = tmp_path_factory.mktemp("device")
        (folder / "switches.qos").write_text(text, encoding="utf-8")
        checked = Checked([folder / "switches.qos"], discover())
        assert not checked.problems.errors
        (only,) = list_devices(checked)
        return only

    return read


@pytest.fixture(scope="module")
def drawn(device):
    """Return what draws scenarios of a device by itself, once for all tests."""
    return cache(lambda text: draw_scenarios(device(text)))


def draw_scenarios(device) -> list[Scenario]:
    """Return scenarios of a device by itself, equal ones each time."""
    found = []
    how = settings(max_examples=DRAWN, database=None, phases=(Phase.generate,))
    with pytest.raises(NoSuchExample), explore._draw_anew():
        find(draw_scenario(device), found.append, settings=how, random=Random(1))  # noqa: S311
    return [
        scenario for scenario in found if isinstance(scenario, Scenario) and not scenario.facing
    ]


def test_a_port_is_known_from_which_a_wire_leads_to_another(device):
    template = device(ONE_WAY).get_template(())
    assert [(port.name, port.is_wire) for port in list_ports(template)] == [
        ("west", False),
        ("east", True),
    ]


@pytest.mark.slow
def test_flows_come_mostly_by_ports_behind_which_there_is_something(drawn):
    origins = Counter(flow.origin for scenario in drawn(ONE_WAY) for flow in scenario.flows)
    assert origins[0] > 1.5 * origins[1] > 0


@pytest.mark.slow
def test_flows_come_by_all_ports_behind_which_there_is_something(drawn):
    origins = Counter(flow.origin for scenario in drawn(TWO_WAYS) for flow in scenario.flows)
    assert 3 / 4 < origins[0] / origins[1] < 4 / 3


@pytest.mark.slow
def test_flows_to_one_host_are_as_frequent_as_flows_both_ways(drawn):
    """What shares a queue shows in the former, and what shares a processor in the latter."""
    some = [scenario for scenario in drawn(TWO_WAYS) if len(scenario.flows) > 1]
    ways = Counter(len({flow.origin for flow in scenario.flows}) for scenario in some)
    assert ways[1] > len(some) / 4
    assert ways[2] > len(some) / 4


@pytest.mark.slow
def test_a_load_that_changes_is_drawn_and_fits_its_links(device, drawn):
    """A point refuses what a first link cannot carry, so few examples may ask for that."""
    switch = device(TWO_WAYS)
    some = drawn(TWO_WAYS)
    changing = [scenario for scenario in some if scenario.changes]
    assert len(some) / 12 < len(changing) < len(some) / 4
    subject = DeviceTarget(switch, switch._checked)
    texts = [write_specification(scenario) for scenario in changing]
    assert all("  point p {" in text and "    at " in text for text in texts)
    found = [subject._plan_text(text) for text in texts]
    refused = Counter(refusal for refusal in found if isinstance(refusal, str))
    assert refused["what E0305 asks for"] < len(texts) / 10
    assert refused.total() < len(texts) / 4


def test_a_burst_that_changes_comes_more_often():
    """A hundred packets in 10 ms are 10,000 packets/s, and then 1,000."""
    source = Source("burst", Fraction(10_000), burst=100, later=Fraction(1_000))
    flow = Sending(0, 1, Contract("packets", Fraction(10_000), size=64), source)
    assert dict(flow.list_fields("pace0"))["source"] == "burst { size = 100 pkt, every = pace0 }"
    assert (source.write_pace(source.rate, "pkt"), source.write_pace(source.later, "pkt")) == (
        "10 ms",
        "100 ms",
    )
    assert (flow.per_second, flow.later_per_second) == (10_000, 1_000)


def test_so_many_items_come_before_the_change_and_so_many_after(device):
    """At first 110 cells at 1,000 cells/s take 110 ms, then 22 at 100 cells/s another 220 ms."""
    flow = Sending(0, 1, Contract("ubr", Fraction(1_000))).change_rate(Fraction(1, 10))
    switch = device(ONE_WAY)
    whole = Scenario(
        switch, (), list_ports(switch.get_template(())), ("stm1", "stm1"), "", (flow,), 110
    )
    whole = whole._replace(later_items=22)
    assert (whole.measured_ps, whole.changed_ps) == (33 * 10**10, 11 * 10**10)
    assert "pace0 = 1000 cell/s" in write_specification(whole)
    assert "at 110 ms { pace0 = 100 cell/s }" in write_specification(whole)
