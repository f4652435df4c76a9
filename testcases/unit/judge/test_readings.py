"""What a trial observed, as values of the language: of flows, queues, machines and places."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from qospec.catalogue.kinds import discover
from qospec.catalogue.machine import Counts, StateCount
from qospec.catalogue.statistics import name_share_above
from qospec.engine.measure.occupancy import Occupancy
from qospec.judge.readings import Bounded, BoundError, ConservationError, Readings
from qospec.model.expression import Constant, Counted, Found, Measured, Operation, Place
from qospec.plan.proofs.proofs import Proof, Proofs
from qospec.units import CELLS, COUNT, PACKETS, TIME

US_PS = 10**6
US = Fraction(1, 10**6)
TEXT = """
let lane = line { rate = 424 Mbit/s @cell, slotted = false, length = 0 m }
device box {
  port w, e: cell
  q = fifo { limit = 9 cell }
  w.rx -> q -> e.tx
  e.rx -> w.tx
}
topology one {
  a, b = host
  x = box
  link a -- x.w via lane
  link x.e -- b via lane
  c, d = host
  link c -- d via media.fast_ethernet
}
test t on one {
  flow f = ubr { pcr = 100_000 cell/s, source = replay { at = [0 us, 0 us, 9 us] } } from a to b
  flow idle = ubr { pcr = 1 cell/s, source = replay { at = [1 s] } } from a to b
  flow web = packets { rate = 100 kpkt/s, size = 64 B @ip } from c to d
  run { measure = 20 us }
  expect x.q.occupancy.max >= 0 cell
  report x.e.tx.items
  report f.sent every 10 us
  report web.sent every 10 us
}
"""
"""Three cells and nothing through a queue that both share, and packets on a line of their own."""


@pytest.fixture
def seen(planned, ran):
    """Return the plan and the observation of the network."""
    (case,) = planned(TEXT)
    (network,) = ran(case).readings._seen.values()
    return network


def readings(seen, proofs=None, **changed) -> Readings:
    planned, observation = replace(seen[0]), seen[1]._replace(**changed)
    if proofs is not None:
        vars(planned)["proofs"] = proofs
    return Readings(discover(), {"": (planned, observation)})


def measured(metric, flow="f", **more) -> Measured:
    fields = {"network": "", "member": None, "part": "user", "statistic": "", "text": ""}
    return Measured(**{**fields, "flow": flow, "metric": metric, "dimension": CELLS, **more})


def counted(observed, path="x.q", dimension=COUNT) -> Counted:
    return Counted("", path, None, dimension, "", observed)


def test_delays_and_queues_stand_beside_what_is_proved(seen):
    proofs = Proofs({(0, 1): Proof(5 * US_PS)}, {}, unbounded={"x.q": "it is open"})
    assert list(readings(seen, proofs).list_bounds())[::3] == [
        Bounded("delay of f", 5 * US, 2 * US, TIME, "", 2 * US),
        Bounded("items in x.q", None, Fraction(0), COUNT, "it is open"),
    ]
    *_, queue = readings(seen).list_bounds()
    assert (queue.most, queue.why) == (0, "")


@pytest.mark.parametrize(("most_ps", "most"), [(2 * US_PS - 1, 4), (2 * US_PS, 3)])
def test_what_exceeds_a_proved_bound_is_an_error_and_what_meets_it_is_none(seen, most_ps, most):
    """A cell takes 2 us."""
    waiting = {"occupancies": {"x.q": Occupancy(4, 0)}}
    met = Proofs({(0, 2): Proof(2 * US_PS)}, {"x.q": 4})
    assert readings(seen, met, **waiting).occupancies == {"x.q": 4}
    exceeded = Proofs({(0, 2): Proof(most_ps)}, {"x.q": most})
    with pytest.raises(BoundError, match=r"f was delayed" if most == 4 else "4 items waited"):
        readings(seen, exceeded, **waiting)


def test_items_that_were_consumed_are_neither_lost_nor_too_few(seen):
    once = (seen[1].sent > 0).astype(int)
    assert readings(seen, sent=seen[1].sent + once, consumed=once).read(measured("sent")) == 4
    with pytest.raises(ConservationError, match="f: 3 cells sent, 3 received, 0 lost, 1 consumed"):
        readings(seen, consumed=once)
    with pytest.raises(ConservationError, match=r"f: 4 cells sent, 3 received, 0 lost$"):
        readings(seen, sent=seen[1].sent + once)


def test_what_is_not_measured_has_no_value(seen):
    read = readings(seen).read
    assert read(Found("ndr", "load", CELLS, "")) is None
    assert read(measured("sent", network="bare")) is None
    assert read(measured("transfer_delay", part="oam", statistic="mean")) is None
    assert read(measured("sent", part="oam")) == 0
    assert read(measured("transfer_delay", statistic=name_share_above(US_PS))) == 1
    assert read(measured("transfer_delay", "idle", statistic=name_share_above(US_PS))) is None
    port = Place("x.e.tx", "x.e.tx", 0, "cell", framed=True)
    assert read(measured("items", place=port)) == 3
    assert read(measured("items", part="oam", place=port)) == 0


def test_flows_that_send_nothing_in_the_window_are_named(seen):
    assert list(readings(seen).describe_silent_flows()) == ["idle sent no cell within the window"]


def test_all_that_is_recorded_is_measured_in_units_of_its_items(seen):
    found = {(whose, name): row for whose, name, *row in readings(seen).list_all()}
    assert found["f", "sent"] == [3, CELLS]
    assert found["web", "sent"] == [2, PACKETS]
    assert found["f", "transfer_delay.mean"] == [2 * US, TIME]
    assert ("f", "jitter") not in found


def test_anything_drawn_in_any_network_makes_seeds_differ(seen):
    planned, observation = seen
    two = {"": (planned, observation), "bare": (planned, observation._replace(drawn=False))}
    assert Readings(discover(), two).drawn
    assert not readings(seen, drawn=False).drawn


def test_a_series_has_a_value_in_each_interval(seen):
    read = readings(seen)
    sent, oam = measured("sent"), measured("sent", part="oam")
    assert read.read_series(sent, 10 * US_PS) == [3, 0]
    assert read.read_series(Operation("+", (oam, sent)), 10 * US_PS) == [None, None]
    assert read.read_series(Constant(Fraction(1), CELLS), 10 * US_PS) == []
    assert readings(seen, series=None).read_series(sent, 10 * US_PS) == []
    rates = [measured("bit_rate", flow, statistic="payload") for flow in ("f", "web")]
    cells, packets = (read.read_series(rate, 10 * US_PS) for rate in rates)
    assert cells == [number * 48 * 8 / (10 * US) for number in (2, 1)]  # the third arrives at 11 us
    assert sum(packets) / 2 == read.read(rates[1])


def test_a_queue_or_server_that_nothing_can_reach_is_idle(seen):
    watched = {"busy_ps": {"x.cpu": 5 * US_PS}, "occupancies": {"x.q": Occupancy(4, US_PS)}}
    read = readings(seen, Proofs({}, {"x.q": 4}), **watched)
    for observed, path, value in [
        ("utilisation", "x.cpu", Fraction(1, 4)),
        ("utilisation", "x.far", 0),
        ("occupancy.max", "x.q", 4),
        ("occupancy.max", "x.far", 0),
        ("occupancy.mean", "x.q", Fraction(1, 20)),
        ("occupancy.mean", "x.far", 0),
        ("occupancy.bound", "x.q", 4),
        ("occupancy.bound", "x.far", None),
    ]:
        assert read.read(counted(observed, path)) == value


def test_a_machine_is_observed_by_state_and_counter(seen):
    up = StateCount(
        instances=2,
        most=3,
        entered=5,
        stays=4,
        sum_ps=10 * US_PS,
        shortest_ps=US_PS,
        longest_ps=6 * US_PS,
        first_ps=0,
        last_ps=9 * US_PS,
    )
    never = StateCount(0, 0, 0, 0, 0, 0, 0, 0, 0)
    counts = Counts({"up": up, "never": never}, {"n": 7}, (), 8, 9, 10, 11)
    read = readings(seen, machines={"x.m": counts})
    assert read.machines == {"x.m": counts}
    for asked, dimension, value in [
        ("counter.n", COUNT, 7),
        ("counter.n", TIME, Fraction(7, 10**12)),
        ("ignored", COUNT, 8),
        ("incomplete", COUNT, 11),
        ("state.up.count", COUNT, 2),
        ("state.up.most", COUNT, 3),
        ("state.up.entered", COUNT, 5),
        ("state.up.time.min", TIME, US),
        ("state.up.time.max", TIME, 6 * US),
        ("state.up.first_entered", TIME, 0),
        ("state.up.last_entered", TIME, 9 * US),
        ("state.never.last_entered", TIME, None),
        ("state.up.time.mean", TIME, Fraction(5, 2) * US),
        ("state.never.time.max", TIME, None),
    ]:
        assert read.read(counted(f"machine.{asked}", "x.m", dimension)) == value


def test_single_stays_are_in_the_order_in_which_they_began_and_quantiles_of_those_that_ended(seen):
    """Of four stays the third goes on; the others last 5, 3 and 4 us."""
    begins = [(who, who * US_PS, 0) for who in range(4)]
    log = np.array([*begins, (1, 4 * US_PS, 1), (0, 5 * US_PS, 1), (3, 7 * US_PS, 1)], np.int64)
    never = StateCount(0, 0, 0, 0, 0, 0, 0, 0, 0)
    counts = Counts({"up": never, "down": never}, {}, (), 0, 0, 0, 0, log.tobytes())
    read = readings(seen, machines={"x.m": counts})
    for statistic, value in [
        ("stay_1", 5 * US),
        ("stay_2", 3 * US),
        ("stay_3", None),
        ("stay_4", 4 * US),
        ("stay_5", None),
        ("p1", 3 * US),
        ("p33", 3 * US),
        ("p34", 4 * US),
        ("p99_9", 5 * US),
    ]:
        assert read.read(counted(f"machine.state.up.time.{statistic}", "x.m", TIME)) == value


def test_what_was_watched_in_the_test_s_own_topology(seen):
    read = readings(seen)
    assert (read.occupancies, read.passed) == ({"x.q": 0}, {"x.e.tx": 3})
    assert readings(seen, passages=None).passed == {}
    bare = Readings(discover(), {"bare": seen})
    assert (bare.occupancies, bare.passed) == ({}, {})
