"""Rings that cells go round, against an emulator with a heap of events."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest
from connected import Connected

from qospec.catalogue.kinds import Buffer
from qospec.elements.delay import Delay
from qospec.elements.fifo import Fifo
from qospec.elements.line import Line
from qospec.elements.vc_switch import VcSwitch
from qospec.engine.element import BrokenPromiseError
from qospec.engine.event import component
from qospec.engine.event.component import EndlessError
from qospec.engine.event.transition import CONNECTION, DONE, SENT, SIZE, Transition, make, send
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.items.batch import Batch, TooLateError
from qospec.engine.kernel import kernel
from qospec.engine.line.clock import Clock
from qospec.engine.measure.observation import Observation, Recorder
from qospec.engine.source.sizes import CELLS

Vcs = Callable[..., Connected]
Cells = list[list[tuple[int, int]]]
"""Per host, (time, connection within the host)."""

HOSTS = 3
MAX_OUTPUTS = [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)]
"""Per connection, the host that sends and the one that receives, clockwise round the ring."""
HOST_LINE = Clock(Fraction(622_080_000), slotted=False, stamps=True)
RING_LINE = Clock(Fraction(149_760_000), slotted=False, propagation_ps=1_234_567)
LATENCY_PS = 700_001
PLACES = 3


@pytest.fixture(autouse=True)
def _checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QOS_CHECK", "1")
    monkeypatch.delenv("QOS_CHUNK", raising=False)


@pytest.fixture
def arrived(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int]]:
    """Return a list to which every arrival, as (time, time sent, connection), is added."""
    cells: list[tuple[int, int, int]] = []
    record = Recorder.count_arrived

    def note(self: Recorder, batch: Batch, point: int) -> None:
        columns = (batch.at_ps, batch.sent_ps, batch.connection)
        cells.extend(zip(*(column.tolist() for column in columns), strict=True))
        record(self, batch, point)

    monkeypatch.setattr(Recorder, "count_arrived", note)
    return cells


def ring(vcs: Vcs, listed: Any, cells: Cells, *, leave: bool = True) -> Experiment:
    """Return hosts' lines into switches in a ring; if none may `leave`, they go round for ever."""
    nodes: list[Node] = []
    for host in range(HOSTS):
        out = [0 if leave and receiver == host else 1 for _, receiver in MAX_OUTPUTS]
        table = np.array([[way, way] for way in out], np.uint8)
        nodes += [
            Node(f"host[{host}]", Line(HOST_LINE.bit_rate, slotted=False), HOST_LINE),
            Node(f"switch[{host}]", VcSwitch(2, latency=LATENCY_PS), outputs=table),
            Node(f"ring[{host}]", Fifo(Buffer(PLACES, "cell")), RING_LINE),
        ]
    wires = []
    for host in range(HOSTS):
        line, switch, queue, following = (3 * host + n for n in (0, 1, 2, 4))
        wires += [
            Wire(line, 0, switch, 0),
            Wire(switch, 0, END),
            Wire(switch, 1, queue),
            Wire(queue, 0, following % (3 * HOSTS), 1),
        ]
    # Late enough for the hosts' lines to have sent all by then.
    stop_ps = 10**9 + max(at_ps for host in cells for at_ps, _ in host)
    sources = tuple(
        Source(f"f{host}", listed(cells[host], stop_ps), 2 * host, 2, "even", CELLS, 0, 3 * host)
        for host in range(HOSTS)
    )
    measurement = MeasurementSpec(0, stop_ps, (0,) * len(MAX_OUTPUTS))
    return Experiment(
        *vcs(len(MAX_OUTPUTS)), sources, tuple(nodes), tuple(wires), measurement, ("s",)
    )


def drawn(seed: int, count: int, mean_gap_ps: int) -> Cells:
    stream = np.random.Generator(np.random.Philox(seed))

    def host() -> Iterator[tuple[int, int]]:
        at_ps = np.cumsum(stream.exponential(mean_gap_ps, count).astype(np.int64))
        yield from zip(at_ps.tolist(), stream.integers(0, 2, count).tolist(), strict=True)

    return [list(host()) for _ in range(HOSTS)]


class Emulated:
    """The ring by the book: one event after the other, all times as fractions."""

    def __init__(self, cells: Cells) -> None:
        self.arrived: list[tuple[int, int, int]] = []
        self.lost: Counter[tuple[str, int]] = Counter()
        self._numbers = 0
        self._free_ps = [Fraction(0)] * HOSTS
        self._starts_ps: list[list[Fraction]] = [[] for _ in range(HOSTS)]
        # (time at the switch, its input, a number for order, switch, time sent, connection)
        self._events: list[tuple[int, int, int, int, int, int]] = []
        for host, ready in enumerate(cells):
            free_ps = Fraction(0)
            for at_ps, connection in sorted(ready):
                start_ps = max(free_ps, Fraction(at_ps))
                free_ps = start_ps + HOST_LINE.slot_ps
                self._add(floor(free_ps), 0, host, floor(start_ps), 2 * host + connection)
        while self._events:
            self._switch(*heapq.heappop(self._events))

    def _add(self, at_ps: int, entry: int, switch: int, sent_ps: int, connection: int) -> None:
        self._numbers += 1
        heapq.heappush(self._events, (at_ps, entry, self._numbers, switch, sent_ps, connection))

    def _switch(
        self, at_ps: int, _entry: int, _number: int, switch: int, sent_ps: int, connection: int
    ) -> None:
        at_ps += LATENCY_PS
        if MAX_OUTPUTS[connection][1] == switch:
            self.arrived.append((at_ps, sent_ps, connection))
            return
        waiting = [start_ps for start_ps in self._starts_ps[switch] if floor(start_ps) > at_ps]
        if floor(self._free_ps[switch]) > at_ps and len(waiting) == PLACES:
            self.lost[f"ring[{switch}]", connection] += 1
            return
        start_ps = max(self._free_ps[switch], Fraction(at_ps))
        self._starts_ps[switch] = [*waiting, start_ps]
        self._free_ps[switch] = start_ps + RING_LINE.slot_ps
        there_ps = floor(self._free_ps[switch]) + RING_LINE.propagation_ps
        self._add(there_ps, 1, (switch + 1) % HOSTS, sent_ps, connection)


def losses(seen: Observation) -> Counter[tuple[str, int]]:
    counts: Counter[tuple[str, int]] = Counter()
    for (path, cause), lost in seen.losses.items():
        assert cause == "overflow"
        counts.update({(path, vc): n for vc, n in enumerate(lost.tolist()) if n})
    return counts


@pytest.mark.parametrize("seed", range(4))
def test_every_cell_arrives_and_is_lost_as_in_the_emulator(
    vcs: Vcs, listed: Any, arrived: list[tuple[int, int, int]], seed: int
) -> None:
    cells = drawn(seed, 60, mean_gap_ps=3_500_000)
    seen = emulation.run(ring(vcs, listed, cells))
    emulated = Emulated(cells)
    assert sorted(arrived) == sorted(emulated.arrived)
    assert losses(seen) == emulated.lost
    assert {connection for *_, connection in arrived} == set(range(len(MAX_OUTPUTS)))
    assert sum(emulated.lost.values()) > 0


def test_a_ring_at_rest_has_no_loss(
    vcs: Vcs, listed: Any, arrived: list[tuple[int, int, int]]
) -> None:
    cells = drawn(9, 40, mean_gap_ps=30_000_000)
    assert losses(emulation.run(ring(vcs, listed, cells))) == Counter()
    assert sorted(arrived) == sorted(Emulated(cells).arrived)
    assert len(arrived) == 40 * HOSTS


@pytest.mark.parametrize("chunk", [1, 10, 1_000])
def test_the_cut_into_chunks_changes_nothing(
    vcs: Vcs, listed: Any, arrived: list[tuple[int, int, int]], chunk: int
) -> None:
    experiment = ring(vcs, listed, drawn(3, 60, mean_gap_ps=3_500_000))
    whole = emulation.run(experiment, chunk=200_000)
    at_once = sorted(arrived)
    arrived.clear()
    assert losses(emulation.run(experiment, chunk=chunk)) == losses(whole)
    assert sorted(arrived) == at_once


def test_cells_that_never_leave_end_the_trial(
    vcs: Vcs, listed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(component, "MOST_EVENTS", 1_000)
    experiment = ring(vcs, listed, [[(0, 0)], [(0, 1)], [(3, 0)]], leave=False)
    with pytest.raises(EndlessError, match="3 items never leave") as caught:
        emulation.run(experiment)
    assert set(caught.value.paths) == {
        f"{kind}[{host}]" for kind in ("switch", "ring") for host in range(HOSTS)
    }


def test_cells_that_leave_one_after_the_other_are_no_endless_loop(
    vcs: Vcs, listed: Any, arrived: list[tuple[int, int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few are inside at any time, and all of them together take more events than may be idle."""
    monkeypatch.setattr(component, "MOST_EVENTS", 1_000)
    cells = [[(number * 10**9, 0) for number in range(2_000)], [], []]
    emulation.run(ring(vcs, listed, cells), chunk=10**6)
    assert len(arrived) == 2_000


@kernel
def _copy(state: Any, items: Any, item: int, port: int, now_ps: int, out: Any) -> int:  # noqa: ARG001
    copy = make(items, out, items[item, CONNECTION], items[item, SIZE], 0, items[item, SENT])
    send(out, 0, copy, now_ps)
    send(out, 1, item, now_ps + state[0])
    return DONE


class Copier(Delay):
    """An element that lets a copy leave, and sends the item round."""

    inputs = ("", "round")
    outputs = ("", "round")

    def build_transition(self, setting: Any) -> Transition:  # noqa: ARG002
        return Transition(np.array([self.time]), _copy)


def test_a_cell_that_goes_round_is_found_though_its_copies_leave(
    vcs: Vcs, listed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(component, "MOST_EVENTS", 1_000)
    nodes = (Node("a", Copier(5)), Node("b", Delay(5)))
    sources = (Source("f", listed([(0, 0)]), 0, 1, "even", CELLS, 0, 0),)
    wires = (Wire(0, 0, END), Wire(0, 1, 1), Wire(1, 0, 0, 1))
    experiment = Experiment(*vcs(1), sources, nodes, wires, MeasurementSpec(0, 10, (0,)), ("s",))
    with pytest.raises(EndlessError, match="1 items never leave the cycle through a, b"):
        emulation.run(experiment)


@kernel
def _keep(state: Any, items: Any, item: int, port: int, now_ps: int, out: Any) -> int:  # noqa: ARG001
    return DONE


class Keeper(Delay):
    """An element that never gives its cells away."""

    process = None

    def build_transition(self, setting: Any) -> Transition:  # noqa: ARG002
        return Transition(np.zeros(0, np.int64), _keep)


def test_cells_that_wait_for_ever_end_the_trial(vcs: Vcs, listed: Any) -> None:
    nodes = (Node("a", Keeper(5)), Node("b", Delay(5)))
    sources = (Source("f", listed([(0, 0)]), 0, 1, "even", CELLS, 0, 0),)
    wires = (Wire(0, 0, 1), Wire(1, 0, 0))
    experiment = Experiment(*vcs(1), sources, nodes, wires, MeasurementSpec(0, 10, (0,)), ("s",))
    with pytest.raises(EndlessError, match="1 items never leave the cycle through a, b"):
        emulation.run(experiment)


def test_a_cell_may_wait_long_beside_a_short_cycle(
    vcs: Vcs, listed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cell waits as long as a million rounds of the short cycle take, then it leaves."""
    monkeypatch.setattr(component, "MOST_EVENTS", 1_000)
    table = np.array([[2, 2]], np.uint8)
    nodes = (
        Node("far", Delay(10**7)),
        Node("hub", VcSwitch(3, latency=5), outputs=table),
        Node("near", Delay(5)),
    )
    sources = (Source("f", listed([(0, 0)]), 0, 1, "even", CELLS, 0, 0),)
    wires = (
        Wire(0, 0, 1, 0),
        Wire(1, 0, 0),
        Wire(1, 1, 2),
        Wire(2, 0, 1, 1),
        Wire(1, 2, END),
    )
    experiment = Experiment(*vcs(1), sources, nodes, wires, MeasurementSpec(0, 10, (0,)), ("s",))
    assert emulation.run(experiment).pool(0, 1).delays.max_ps == 10**7 + 5


def test_a_cycle_that_nothing_enters_does_not_hold_up_the_rest(vcs: Vcs, listed: Any) -> None:
    nodes = (Node("a", Delay(5)), Node("b", Delay(5)), Node("c", Delay(5)))
    sources = (Source("f", listed([(0, 0)]), 0, 1, "even", CELLS, 0, 2),)
    wires = (Wire(0, 0, 1), Wire(1, 0, 0), Wire(2, 0, END))
    experiment = Experiment(*vcs(1), sources, nodes, wires, MeasurementSpec(0, 10, (0,)), ("s",))
    assert emulation.run(experiment).pool(0, 1).delays.max_ps == 5


def test_a_cycle_without_delay_is_refused(vcs: Vcs, listed: Any) -> None:
    nodes = (Node("a", Delay(0)), Node("b", Delay(0)))
    sources = (Source("f", listed([(0, 0)]), 0, 1, "even", CELLS, 0, 0),)
    wires = (Wire(0, 0, 1), Wire(1, 0, 0))
    experiment = Experiment(*vcs(1), sources, nodes, wires, MeasurementSpec(0, 10, (0,)), ("s",))
    with pytest.raises(emulation.ZeroDelayError, match=r"(a -> b -> a|b -> a -> b)") as caught:
        emulation.run(experiment)
    assert sorted(caught.value.paths) == ["a", "b"]


class Hasty(VcSwitch):
    """A switch that claims to take longer than it does."""

    def find_lookahead_ps(self, clock: Clock | None) -> int:  # noqa: ARG002
        return 100 * self.latency


def test_an_element_of_a_cycle_that_leaves_sooner_than_it_claims_is_named(
    vcs: Vcs, listed: Any
) -> None:
    experiment = ring(vcs, listed, [[(5, 0), (10**7, 0)], [], []])
    nodes, wires = list(experiment.nodes), list(experiment.wires)
    nodes[4] = nodes[4]._replace(element=Hasty(2, latency=LATENCY_PS))
    nodes.append(Node("behind", Delay(0)))
    wires[wires.index(Wire(4, 0, END))] = Wire(4, 0, len(nodes) - 1)
    wires.append(Wire(len(nodes) - 1, 0, END))
    hasty = experiment._replace(nodes=tuple(nodes), wires=tuple(wires))
    with pytest.raises(BrokenPromiseError, match=r"`switch\[1\]` sent an item below its watermark"):
        emulation.run(hasty, chunk=1)


def test_an_element_inside_a_cycle_is_checked_too(vcs: Vcs, listed: Any) -> None:
    experiment = ring(vcs, listed, [[(5, 0), (10**7, 0)], [], []])
    nodes = list(experiment.nodes)
    nodes[4] = nodes[4]._replace(element=Hasty(2, latency=LATENCY_PS))
    with pytest.raises(BrokenPromiseError, match=r"`switch\[1\]` sent a cell sooner than"):
        emulation.run(experiment._replace(nodes=tuple(nodes)))


@kernel
def _send_early(state, items, item, port, now_ps, out):  # type: ignore[no-untyped-def]  # noqa: ARG001
    send(out, 0, item, now_ps - 1)
    return DONE


class Early(Delay):
    """An element that sends before it is given anything."""

    process = None

    def build_transition(self, setting: Any) -> Transition:  # noqa: ARG002
        return Transition(np.zeros(0, np.int64), _send_early)


class Unreadable(Delay):
    """An element whose state compiled code cannot read."""

    process = None

    def build_transition(self, setting: Any) -> Transition:  # noqa: ARG002
        return Transition(np.zeros(1), _keep)


class Late(Delay):
    """An element that works by events only."""

    process = None


@pytest.mark.parametrize(
    ("element", "error", "message"),
    [
        (Early(5), BrokenPromiseError, "^`b` acts in the past"),
        (Unreadable(5), BrokenPromiseError, "^`b` has a state that is no row of int64"),
        (Late(2**62), TooLateError, "^what waits at `b` takes it more than 50 days"),
        (
            Keeper(5),
            EndlessError,
            "^1 items never leave (the cycle through a, b|`b`): lead them on",
        ),
    ],
)
@pytest.mark.parametrize("behind", [0, END], ids=["on a cycle", "alone"])
def test_an_element_that_runs_by_events_is_named_by_its_path(
    vcs: Vcs, listed: Any, element: Any, error: type[Exception], message: str, behind: int
) -> None:
    nodes = (Node("a", Delay(5)), Node("b", element))
    sources = (Source("f", listed([(3, 0)]), 0, 1, "even", CELLS, 0, 0),)
    wires = (Wire(0, 0, 1), Wire(1, 0, behind))
    experiment = Experiment(*vcs(1), sources, nodes, wires, MeasurementSpec(0, 10, (0,)), ("s",))
    with pytest.raises(error, match=message):
        emulation.run(experiment)
