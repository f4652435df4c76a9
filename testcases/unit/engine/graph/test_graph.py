"""Whole small networks without cycles, on the real elements."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from connected import Connected, connected

from qospec.catalogue.kinds import Buffer
from qospec.elements.aal_segment import AalSegment
from qospec.elements.delay import Delay
from qospec.elements.fifo import Fifo
from qospec.elements.line import Line
from qospec.elements.oam_insert import OamInsert
from qospec.elements.vc_switch import VcSwitch
from qospec.engine.element import BrokenPromiseError, Setting, Step
from qospec.engine.experiment import (
    DISCARD,
    END,
    Experiment,
    Intervals,
    MeasurementSpec,
    Node,
    Source,
    Tap,
    Wire,
)
from qospec.engine.graph import emulation
from qospec.engine.items.batch import FOREVER_PS, Batch
from qospec.engine.line.clock import Clock
from qospec.engine.measure.observation import Observation
from qospec.engine.source.sizes import CELLS, Sizes

Vcs = Callable[..., Connected]
STOP_PS = 1_000_000
BUSY_PS = 8_000_000
CELL_PS = 53_000
"""At 8 Gbit/s, a byte takes 1,000 ps."""


@pytest.fixture(autouse=True)
def _checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QOS_CHECK", "1")
    monkeypatch.delenv("QOS_CHUNK", raising=False)


def line(path: str, gbit_rate: int = 8, *, stamps: bool = False) -> Node:
    element = Line(Fraction(gbit_rate * 10**9), slotted=False)
    return Node(path, element, element.build_clock(stamps=stamps))


def source(listed: Any, cells: list[tuple[int, int]], node: int = 0, first: int = 0) -> Source:
    count = 1 + max(connection for _, connection in cells)
    return Source(f"f{first}", listed(cells), first, count, "even", CELLS, 0, node)


FOLLOWED = (("one_point_variation", 0, 12), ("variation", 0, 6))


def measurement(vcs: int) -> MeasurementSpec:
    return MeasurementSpec(0, STOP_PS, (0,) * vcs)


def same(one: Observation, other: Observation) -> bool:
    """Return whether two observations are equal, bit for bit."""

    def flat(seen: Observation) -> list[Any]:
        losses = [(name, *counts.tolist()) for name, counts in seen.losses.items()]
        apart = ("measurement", "latencies", "variations", "series", "passages")
        plain = seen._replace(**dict.fromkeys(apart))
        series = [
            list(seen.series.pool_intervals(intervals, 53)) for intervals in seen.measurement.series
        ]
        columns = [losses if isinstance(v, dict) else np.asarray(v).tolist() for v in plain]
        passed = [
            seen.passages.pool(tap.place, slice(i, i + 1), packets=True)
            for tap in seen.measurement.taps
            for i in range(len(seen.sent))
        ]
        return [*columns, *series, *passed, *(seen.pool(i, i + 1) for i in range(len(seen.sent)))]

    return flat(one) == flat(other)


def test_a_cell_takes_the_time_of_each_line_and_delay(vcs: Vcs, listed: Any) -> None:
    nodes = (line("tx", stamps=True), Node("pipe", Delay(7_000)), line("out", 16))
    wires = (Wire(0, 0, 1), Wire(1, 0, 2), Wire(2, 0, END))
    sources = (source(listed, [(100, 0)]),)
    seen = emulation.run(Experiment(*vcs(1), sources, nodes, wires, measurement(1), ("s",)))
    tally = seen.pool(0, 1)
    assert (tally.planned, tally.sent, tally.received, tally.lost) == (1, 1, 1, {})
    assert tally.delays.min_ps == CELL_PS + 7_000 + CELL_PS // 2
    assert seen.cell_hops == 3


def test_cells_that_were_ready_in_the_window_but_sent_after_it_do_not_count(
    vcs: Vcs, listed: Any
) -> None:
    sources = (source(listed, [(STOP_PS - 1, 0), (STOP_PS - 1, 0), (STOP_PS, 0)]),)
    wires = (Wire(0, 0, END),)
    experiment = Experiment(
        *vcs(1), sources, (line("tx", stamps=True),), wires, measurement(1), ("s",)
    )
    tally = emulation.run(experiment).pool(0, 1)
    assert (tally.planned, tally.sent, tally.received) == (2, 1, 1)


def test_ties_go_to_sources_in_order_then_to_wires_in_order(vcs: Vcs, listed: Any) -> None:
    """Four cells come to one line in the same ps: the order of leaving shows in the delays."""
    nodes = (line("join"), Node("late", Delay(50)), Node("early", Delay(50)))
    sources = (
        source(listed, [(0, 0)], node=1, first=0),
        source(listed, [(0, 0)], node=2, first=1),
        source(listed, [(50, 0)], node=0, first=2),
        source(listed, [(50, 0)], node=0, first=3),
    )
    wires = (Wire(2, 0, 0), Wire(1, 0, 0), Wire(0, 0, END))
    seen = emulation.run(Experiment(*vcs(4), sources, nodes, wires, measurement(4), ("s",)))
    waits = [seen.pool(vc, vc + 1).delays.min_ps for vc in range(4)]
    assert waits == [50 + 4 * CELL_PS, 50 + 3 * CELL_PS, CELL_PS, 2 * CELL_PS]


def test_what_is_thrown_away_is_lost_there(vcs: Vcs, listed: Any) -> None:
    table = np.array([[0, 0], [1, 1]], np.uint8)
    nodes = (line("tx", stamps=True), Node("split", VcSwitch(2), outputs=table))
    wires = (Wire(0, 0, 1), Wire(1, 0, END), Wire(1, 1, DISCARD))
    sources = (source(listed, [(0, 0), (0, 1), (9, 1)]),)
    seen = emulation.run(Experiment(*vcs(2), sources, nodes, wires, measurement(2), ("s",)))
    assert seen.pool(1, 2).lost == {("split", "discarded"): 2}
    assert seen.pool(0, 1).lost == {}
    assert seen.received.tolist() == [1, 0]


def busy(vcs: Vcs, listed: Any, start_ps: int = 0) -> Experiment:
    """Return two hosts' lines into one switch, a short queue before its busier output, and OAM."""
    stream = np.random.Generator(np.random.Philox(1))
    cells = [
        [(int(stream.integers(0, BUSY_PS)), int(stream.integers(0, 3))) for _ in range(60)]
        for _ in range(2)
    ]
    exit_line = Line(Fraction(29 * 10**8, 7), slotted=False, length=Fraction(3)).build_clock(
        stamps=False
    )
    table = np.array([[0, 0], [0, 0], [1, 1]] * 4, np.uint8)
    nodes = (
        line("tx_a", stamps=True),
        line("tx_b", stamps=True),
        Node("oam", OamInsert(Fraction(10**6))),
        Node("switch", VcSwitch(2, latency=500), outputs=table),
        Node("queue", Fifo(Buffer(4, "cell")), exit_line),
        line("exit", 16),
    )
    sources = (source(listed, cells[0]), source(listed, cells[1], node=1, first=3))
    wires = (
        Wire(0, 0, 2),
        Wire(2, 0, 3, 0),
        Wire(1, 0, 3, 1),
        Wire(3, 0, 4),
        Wire(3, 1, 5),
        Wire(4, 0, END),
        Wire(5, 0, END),
    )
    series = Intervals(0, 6, BUSY_PS // 7), Intervals(6, 12, BUSY_PS // 3)
    taps = Tap("oam", 2, 0), Tap("switch.exit[1]", 3, 1), Tap("exit", 5, 0)
    seen = MeasurementSpec(start_ps, BUSY_PS, (0,) * 12, FOLLOWED, series=series, taps=taps)
    return Experiment(
        *vcs(6, cell_rate=2 * 10**6, inserted=("oam",)), sources, nodes, wires, seen, ("s",)
    )


def test_both_drivers_count_inserted_cells(vcs: Vcs, listed: Any) -> None:
    experiment = busy(vcs, listed)
    in_batches = emulation.run(experiment)
    assert in_batches.pool(6, 12).sent > 0
    assert same(emulation.run(experiment, by_events=True), in_batches)


@pytest.mark.slow
@pytest.mark.parametrize("start_ps", [0, BUSY_PS // 3])
def test_the_cut_into_chunks_changes_nothing(vcs: Vcs, listed: Any, start_ps: int) -> None:
    experiment = busy(vcs, listed, start_ps)
    whole = emulation.run(experiment, chunk=200_000)
    user, oam = whole.pool(0, 6), whole.pool(6, 12)
    assert user.lost
    assert oam.sent > 0
    assert user.one_point_variation_max_ps
    assert user.variation is not None
    assert user.variation.arrivals.max_ps
    assert all(t.sent == t.received + t.lost_count for t in (user, oam))
    for chunk in (1, 7, 1_000):
        assert same(emulation.run(experiment, chunk=chunk), whole)


def test_the_same_experiment_gives_the_same_and_another_seed_another(vcs: Vcs, listed: Any) -> None:
    experiment = busy(vcs, listed)
    first = emulation.run(experiment)
    assert same(emulation.run(experiment), first)
    assert not same(emulation.run(experiment._replace(seed=("t",))), first)


def test_progress_is_reported_at_the_end_of_each_window(
    vcs: Vcs, listed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = (source(listed, [(at_ps, 0) for at_ps in range(0, STOP_PS, 1_000)]),)
    nodes, wires = (line("tx", stamps=True),), (Wire(0, 0, END),)
    experiment = Experiment(*vcs(1), sources, nodes, wires, measurement(1), ("s",))
    told: list[tuple[int, int]] = []
    monkeypatch.setenv("QOS_CHUNK", "400")
    emulation.run(experiment, on_progress=lambda now_ps, stop_ps: told.append((now_ps, stop_ps)))
    ends_ps = [now_ps for now_ps, _ in told]
    assert ends_ps == pytest.approx([400_000, 800_000, STOP_PS], rel=1e-2)
    assert ends_ps[-1] == STOP_PS
    assert {stop_ps for _, stop_ps in told} == {STOP_PS}


def test_a_window_holds_as_many_cells_as_it_would_hold_packets(
    vcs: Vcs, listed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1,500 B and LLC/SNAP are 32 cells: windows are so much shorter, and memory is as flat."""
    sent = listed([(at_ps, 0) for at_ps in range(0, STOP_PS, 1_000)])
    packets = Source("f0", sent, 0, 1, "even", Sizes((1_500,)), 0, 0)
    nodes = (line("tx", 16_000, stamps=True), Node("cut", AalSegment()))
    contracts, _ = vcs(1)
    wires = (Wire(0, 0, 1), Wire(1, 0, END))
    experiment = Experiment(
        *connected(contracts, ("cells",)), (packets,), nodes, wires, measurement(2), ("s",)
    )
    ends_ps: list[int] = []
    monkeypatch.setattr(emulation, "CHUNK", 32 * 400)
    seen = emulation.run(experiment, on_progress=lambda now_ps, _: ends_ps.append(now_ps))
    assert ends_ps == pytest.approx([400_000, 800_000, STOP_PS], rel=1e-2)
    assert seen.sent.tolist() == [1_000, 31_000]


def test_a_chunk_holds_at_least_one_cell(vcs: Vcs, listed: Any) -> None:
    with pytest.raises(ValueError, match="at least one cell"):
        emulation.run(busy(vcs, listed), chunk=0)


def test_an_output_that_is_not_wired_may_not_be_used(vcs: Vcs, listed: Any) -> None:
    sources = (source(listed, [(0, 0)]),)
    experiment = Experiment(*vcs(1), sources, (line("tx"),), (), measurement(1), ("s",))
    with pytest.raises(ValueError, match=r"tx\.out, which is not connected"):
        emulation.run(experiment)


def test_an_output_is_wired_once(vcs: Vcs, listed: Any) -> None:
    wires = (Wire(0, 0, END), Wire(0, 0, DISCARD))
    sources = (source(listed, [(0, 0)]),)
    with pytest.raises(ValueError, match="wired twice at tx"):
        emulation.run(Experiment(*vcs(1), sources, (line("tx"),), wires, measurement(1), ("s",)))


class Forgetful(Delay):
    """An element that keeps every cell for itself."""

    def process(self, state: None, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        assert state is None
        return Step((arrivals[0].select_range(0, 0),), (until_ps,))


def test_a_broken_promise_names_the_element(vcs: Vcs, listed: Any) -> None:
    nodes, wires = (Node("dev.box", Forgetful(0)),), (Wire(0, 0, END),)
    sources = (source(listed, [(0, 0), (5, 0)]),)
    with pytest.raises(BrokenPromiseError, match=r"`dev\.box` kept 2 cells"):
        emulation.run(Experiment(*vcs(1), sources, nodes, wires, measurement(1), ("s",)))


class Curious(Delay):
    """An element that shows what it was started with."""

    met: list[tuple[Setting, Clock | None]] = []  # noqa: RUF012 - shared on purpose

    def find_lookahead_ps(self, clock: Clock | None) -> int:
        self.met.append((None, clock))
        return super().find_lookahead_ps(clock)

    def start(self, setting: Setting) -> None:
        self.met.append((setting, setting.clock))


def test_an_element_starts_with_its_own_draws_and_clock(vcs: Vcs, listed: Any) -> None:
    clock = line("l").clock
    sources, wires = (source(listed, [(0, 0)]),), (Wire(0, 0, END),)
    nodes = (Node("a.b", Curious(0), clock),)
    Curious.met.clear()
    emulation.run(Experiment(*vcs(1), sources, nodes, wires, measurement(1), ("s", "1")))
    (setting,) = [setting for setting, _ in Curious.met if setting is not None]
    assert setting.draws.path == ("s", "1", "element", "a.b")
    assert {met for _, met in Curious.met} == {clock}


class Overwriter(Delay):
    """An element that makes use of owning the times of what comes."""

    def start(self, setting: Setting) -> None:
        assert setting.owns_times
        assert setting.size_bytes == 53

    def process(self, state: None, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        assert state is None
        at_ps = arrivals[0].at_ps
        at_ps += self.time
        return Step(arrivals, (min(until_ps + self.time, FOREVER_PS),))


@pytest.mark.parametrize("chunk", [1, 1_000])
def test_an_element_may_write_over_the_times_of_what_comes(
    vcs: Vcs, listed: Any, chunk: int
) -> None:
    """Even behind a source, where a cell's time and the time sent begin as one and the same."""
    places = (("a", 5), ("b", 7))
    nodes = tuple(Node(path, Overwriter(time), size_bytes=53) for path, time in places)
    cells = [(at_ps, 0) for at_ps in range(0, 90, 3)]
    sources, wires = (source(listed, cells),), (Wire(0, 0, 1), Wire(1, 0, END))
    experiment = Experiment(*vcs(1), sources, nodes, wires, measurement(1), ("s",))
    delays = emulation.run(experiment, chunk=chunk).pool(0, 1).delays
    assert (delays.count, delays.min_ps, delays.max_ps) == (30, 12, 12)


def test_each_element_is_given_the_size_at_its_node(vcs: Vcs, listed: Any) -> None:
    nodes = (Node("a", Curious(0), size_bytes=53), Node("b", Curious(0)))
    sources, wires = (source(listed, [(0, 0)]),), (Wire(0, 0, 1), Wire(1, 0, END))
    Curious.met.clear()
    emulation.run(Experiment(*vcs(1), sources, nodes, wires, measurement(1), ("s",)))
    assert [setting.size_bytes for setting, _ in Curious.met if setting is not None] == [53, 0]
