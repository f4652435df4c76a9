"""Scenarios that break a promise are made small by changes that belong together."""

from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace

import pytest

from qospec.fuzz.device import Port
from qospec.fuzz.impairment import Impairment
from qospec.fuzz.scenario import MOST_ITEMS, Scenario
from qospec.fuzz.sending import Contract, Sending, Source
from qospec.fuzz.smaller import list_smaller
from qospec.units import PS_PER_S

MS_PS = PS_PER_S // 1_000
WEST_EAST = (Port("west", "packet"), Port("east", "packet"))


def packets(origin: int = 0, target: int = 1, rate: int = 1_234, **more) -> Sending:
    contract = Contract("packets", Fraction(rate), size=576, connections=3, **more)
    return Sending(origin, target, contract, Source("poisson", Fraction(rate)))


def scenario(*flows: Sending, items: int = 300, facing: str = "", **more) -> Scenario:
    device = SimpleNamespace(named={})
    media = ("gigabit_ethernet", "fast_ethernet")
    return Scenario(
        device, (("a", "1"), ("b", "2")), WEST_EAST, media, facing, flows, items
    )._replace(**more)


def smallest(whole: Scenario, breaks: Callable[[Scenario], bool]) -> Scenario:
    """Return the smallest scenario that is found."""
    assert breaks(whole)
    search = list_smaller(whole)
    smaller = next(search)
    while True:
        broken = breaks(smaller)
        whole = smaller if broken else whole
        try:
            smaller = search.send(broken)
        except StopIteration:
            return whole


def test_everything_goes_that_is_not_needed() -> None:
    fault = Impairment(0, "packet", "lose", (("probability", "10%"),))
    whole = scenario(packets(), packets(), fault=fault, restarts=True, payload=True)
    found = smallest(whole, lambda _: True)
    assert (found.arguments, found.fault, found.restarts, found.payload) == ((), None, False, False)
    assert (found.items, found.media) == (1, ("fast_ethernet", "fast_ethernet"))
    assert found.flows == (Sending(0, 1, Contract("packets", Fraction(1_000), size=64)),)


def test_a_flow_goes_and_the_run_gets_longer_for_it() -> None:
    whole = scenario(packets(rate=2_000), packets(rate=1_000), items=90)
    assert whole.measured_ps == 10 * MS_PS
    found = smallest(whole, lambda example: example.measured_ps >= 8 * MS_PS and example.items > 40)
    assert len(found.flows) == 1
    assert found.items == 41


def test_a_flow_goes_and_another_sends_more_for_it() -> None:
    def load(whole: Scenario) -> Fraction:
        return sum((flow.per_second for flow in whole.flows), Fraction(0))

    whole = scenario(packets(rate=3_000), packets(rate=3_000))
    found = smallest(whole, lambda example: load(example) >= 15_000)
    assert len(found.flows) == 1
    assert load(found) >= 15_000


@pytest.mark.parametrize(("flow", "ends"), [(packets(0, 1), (0, 1)), (packets(1, 0), (1, 0))])
def test_the_second_device_goes_and_a_host_takes_its_place(flow, ends) -> None:
    found = smallest(scenario(flow, facing="east"), lambda example: example.flows != ())
    assert found.facing == ""
    assert {found.flows[0].origin, found.flows[0].target} == set(ends)


def test_either_of_two_devices_may_stay() -> None:
    def enters_west(whole: Scenario) -> bool:
        return whole.facing != "" or whole.ends[whole.flows[0].origin].name == "west"

    found = smallest(scenario(packets(1, 0), facing="east"), enters_west)
    assert found.facing == "", "the peer is entered by its west"


def test_hosts_go_with_which_nobody_speaks() -> None:
    ends = tuple(Port(f"p[{number}]", "packet") for number in range(4))
    whole = scenario(packets(3, 1), ends=ends, media=("fast_ethernet",) * 4)
    found = smallest(whole, lambda example: example.ends[example.flows[0].origin].name == "p[3]")
    assert [end.name for end in found.ends] == ["p[1]", "p[3]"]
    assert (found.flows[0].origin, found.flows[0].target) == (1, 0)


def test_instants_go_that_are_not_needed() -> None:
    replay = Source("replay", gaps_us=(1_000, 3, 20_000, 10))
    whole = scenario(packets()._replace(source=replay))

    def late(example: Scenario) -> bool:
        return example.flows[0].last_ps > 15_000 * 10**6

    found = smallest(whole, late)
    assert found.flows[0].source.gaps_us in ((3, 20_000), (1_000, 20_000))


def test_items_go_and_the_line_is_full_for_it() -> None:
    def fills(whole: Scenario) -> bool:
        """Return whether a queue of 8 packets is full behind a line of 10,000 packets/s."""
        rate = whole.flows[0].per_second
        return whole.items * (1 - 10_000 / rate) > 8

    found = smallest(scenario(packets(rate=11_000), items=MOST_ITEMS), fills)
    assert found.items == 9
    assert found.flows[0].per_second == 100_000, "rounder than a full line, and as many items"


def test_a_restart_goes_and_a_flow_sends_more_for_it() -> None:
    def breaks(whole: Scenario) -> bool:
        return whole.restarts or whole.flows[0].per_second > 50_000

    found = smallest(scenario(packets(rate=100), restarts=True), breaks)
    assert not found.restarts


def falling(**more) -> Sending:
    """Return packets of three connections, 20,000 of them in a second and then 1,500."""
    return packets()._replace(
        source=Source("poisson", Fraction(20_000, 3), later=Fraction(500)), **more
    )


def test_a_change_goes_that_is_not_needed() -> None:
    found = smallest(scenario(falling(), restarts=True), lambda example: example.restarts)
    assert not found.changes


def test_a_change_stays_that_is_needed_and_gets_simpler() -> None:
    def falls(whole: Scenario) -> bool:
        """Return whether 200 packets come less than 100 us after each other, and then 20 others."""
        sent = [(flow.source, flow.contract.connections) for flow in whole.flows]
        dense = sum((source.rate * count for source, count in sent), Fraction(0))
        later = sum((source.later * count for source, count in sent), Fraction(0))
        lengths_s = [Fraction(whole.changed_ps, PS_PER_S), Fraction(whole.measured_ps, PS_PER_S)]
        many = dense * lengths_s[0] >= 200 and later * (lengths_s[1] - lengths_s[0]) >= 20
        return dense >= 10_000 and 0 < later < 5_000 and many

    whole = scenario(falling(), packets(rate=50), items=1_000, later_items=1_000)
    found = smallest(whole, falls)
    (flow,) = found.flows
    assert (flow.source.kind, flow.contract.connections) == ("constant", 1)
    assert flow.source.later in (1, 10, 100, 1_000), "one digit"
    assert flow.source.rate in (10_000, 20_000)
    assert falls(found)
    assert not falls(found._replace(items=found.items - 1))
    assert not falls(found._replace(later_items=found.later_items - 1))
    assert 195 < found.items <= 200, "up to the two digits of the time that they take"
    assert found.later_items == 20, "each side by itself"


def test_what_follows_a_restart_gets_shorter_by_itself() -> None:
    def recovers(whole: Scenario) -> bool:
        """Return whether 150 packets precede a restart, and 3 follow."""
        return whole.restarts and whole.items >= 150 and whole.later_items >= 3

    found = smallest(scenario(packets(), items=400, later_items=400, restarts=True), recovers)
    assert (found.items, found.later_items) == (150, 3)
