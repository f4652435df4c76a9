"""Chains of hops: a window passes all of them in one call, and what is seen is the same."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from connected import connected
from definition import kernels_as_python
from drivers import Sums, sums
from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.delay import Delay
from qospec.elements.fifo import Fifo
from qospec.elements.line import Line
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Tap, Wire
from qospec.engine.graph import chain, emulation
from qospec.engine.graph.node import NodeRuntime
from qospec.engine.items.contract import Contract
from qospec.engine.line import tandem
from qospec.engine.line.transmission import DENOMINATOR, FIELDS, FREE, PART, PROPAGATION
from qospec.engine.source.sizes import CELLS
from qospec.protocol.atm import CELL_BYTES
from qospec.traffic.replay import Replay

FEW = settings(max_examples=settings().max_examples // 6)
STOP_PS = 2_000_000
RATES = (Fraction(8 * 10**9), Fraction(8 * 10**9, 3), Fraction(149_760_000 * 64))
"""By which a cell takes 53,000 ps, three times that, and 44,236 ps and 4 of 117 parts."""


def hop(path: str, rate: Fraction, limit: int = 0, *, stamps: bool = False) -> Node:
    """Return a line, behind a queue of its own if there is a limit."""
    line = Line(rate, slotted=False)
    element = Fifo(Buffer(limit, "cell")) if limit else line
    return Node(path, element, line.build_clock(stamps=stamps), size_bytes=CELL_BYTES)


def experiment(nodes: tuple[Node, ...], times_ps: list[int], **measured: Any) -> Experiment:
    """Return nodes one behind the other, and at each of these times a cell of two connections."""
    last = len(nodes) - 1
    return Experiment(
        *connected((Contract("c", Fraction(1), 0),) * 2),
        (Source("f", Replay(tuple(sorted(times_ps))), 0, 2, "even", CELLS, 0, 0),),
        nodes,
        tuple(Wire(n, 0, END if n == last else n + 1) for n in range(last + 1)),
        MeasurementSpec(0, STOP_PS, (0, 0), **measured),
        ("chain",),
    )


def joined(given: Experiment, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the paths of the nodes of each chain."""
    paths: list[list[str]] = []

    class Noted(chain.Chain):
        def __init__(self, runtimes: list[NodeRuntime], *others: Any) -> None:
            paths.append([runtime.path for runtime in runtimes])
            super().__init__(runtimes, *others)

    monkeypatch.setattr(emulation, "Chain", Noted)
    emulation.run(given)
    return paths


def apart(runtimes: list[NodeRuntime], _: Any) -> list[list[NodeRuntime]]:
    """Return each node alone, in place of chains."""
    return [[runtime] for runtime in runtimes]


def counted(given: Experiment, chunk: int, *, alone: bool = False) -> Sums:
    """Return what a trial counts, if wanted by nodes alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("QOS_CHECK", raising=False)
        if alone:
            patch.setattr(emulation, "join_chains", apart)
        return sums(given, emulation.run(given, chunk=chunk))


@st.composite
def chains(draw: st.DrawFn) -> Experiment:
    """Return a chain of lines and queues, of which some lose."""
    limits = st.sampled_from((0, 0, 1, 3, 100))
    some = st.lists(st.tuples(st.sampled_from(RATES), limits), min_size=1, max_size=4)
    hops = [hop(f"hop[{n}]", *parameters) for n, parameters in enumerate(draw(some))]
    tester = hop("tester", draw(st.sampled_from(RATES)), stamps=True)
    times_ps = draw(st.lists(st.integers(0, STOP_PS), min_size=1, max_size=30))
    return experiment((tester, *hops), times_ps)


@FEW
@given(chains(), st.integers(1, 40), st.integers(1, 40))
def test_a_chain_counts_what_its_nodes_count_one_by_one(
    given: Experiment, chunk: int, other: int
) -> None:
    assert counted(given, chunk) == counted(given, other, alone=True)


def leave(at_ps: list[int], time_ps: Fraction, way_ps: int) -> list[int]:
    """Return when items leave a line by definition: one after the other, in exact time."""
    free_ps, left_ps = Fraction(0), []
    for ready_ps in at_ps:
        free_ps = max(Fraction(ready_ps), free_ps) + time_ps
        left_ps.append(int(free_ps) + way_ps)
    return left_ps


LINES = st.tuples(st.fractions(1, 9, max_denominator=60), st.integers(0, 3))


@FEW
@given(
    st.lists(LINES, min_size=1, max_size=4),
    st.lists(st.integers(0, 150), min_size=1, max_size=40).map(sorted),
    st.integers(1, 9),
    st.integers(1, 9),
)
def test_tiles_leave_when_items_do_by_definition(
    lines: list[tuple[Fraction, int]], at_ps: list[int], tile: int, tiles_at_once: int
) -> None:
    with pytest.MonkeyPatch.context() as patch, kernels_as_python():
        patch.setattr(tandem, "TILE", tile)
        patch.setattr(tandem, "MOST_AT_ONCE", tile * tiles_at_once)
        left_ps = np.zeros(len(at_ps), np.int64)
        sent = tandem.Tandem(*itertools.starmap(exact_hop, lines)).send(np.array(at_ps), left_ps)
    assert sent == len(at_ps)
    for line in lines:
        at_ps = leave(at_ps, *line)
    assert left_ps.tolist() == at_ps


def exact_hop(time_ps: Fraction, way_ps: int = 0, room_ps: int = tandem.NO_LIMIT_PS) -> tandem.Hop:
    """Return a line that takes so long for an item, and so long a way."""
    line = np.zeros(FIELDS, np.int64)
    line[DENOMINATOR], line[PROPAGATION] = time_ps.denominator, way_ps
    whole_ps, part = divmod(time_ps, 1)
    return tandem.Hop(line, whole_ps, int(part * time_ps.denominator), room_ps)


def test_hops_are_a_chain_up_to_what_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QOS_CHECK", raising=False)
    fast = RATES[0]
    nodes = (
        hop("tester", fast, stamps=True),
        hop("a", fast),
        hop("b", fast, 9),
        hop("c", fast),
        Node("delay", Delay(5)),
        hop("d", fast),
        Node("slotted", Line(fast), Line(fast).build_clock(stamps=False), size_bytes=CELL_BYTES),
        hop("e", fast),
        hop("mixed", fast)._replace(size_bytes=0),
        hop("f", fast),
        hop("g", fast),
    )
    everything = experiment(nodes, [0])
    assert joined(everything, monkeypatch) == [["tester", "a", "b", "c"], ["f", "g"]]
    tapped = experiment(nodes, [0], taps=(Tap("place", 2, 0),))
    assert joined(tapped, monkeypatch) == [["tester", "a", "b"], ["f", "g"]]
    watched = experiment(nodes, [0], queues=("b",))
    assert joined(watched, monkeypatch) == [["tester", "a"], ["f", "g"]]
    frames = experiment(nodes, [0], followed=(("one_point_variation", 0, 2),))
    assert joined(frames, monkeypatch) == [["a", "b", "c"], ["f", "g"]]
    monkeypatch.setenv("QOS_CHECK", "1")
    assert joined(everything, monkeypatch) == []


def test_a_full_queue_sends_the_window_from_node_to_node() -> None:
    """Six cells come at once from a faster line: one is sent, and one finds room to wait."""
    slow, fast = Fraction(10**9), Fraction(8 * 10**9)
    nodes = (hop("tester", fast, stamps=True), hop("a", fast), hop("b", slow, 1))
    found = emulation.run(experiment(nodes, [0, 0, 0]), chunk=100)
    assert found.losses[("b", "overflow")].sum() == 4
    accounts = found.ledger
    assert (accounts.sum_items("a").came, accounts.sum_items("a").left) == (6, 6)
    assert (accounts.sum_items("b").came, accounts.sum_items("b").left) == (6, 2)


def test_times_of_several_lines_are_exact() -> None:
    """10/3 ps for an item, then 2 ps and 5 ps of way: 3 1/3, 6 2/3, 10; and one by itself."""
    thirds, whole = exact_hop(Fraction(10, 3)), exact_hop(Fraction(2), 5)
    left_ps = np.zeros(4, np.int64)
    assert tandem.Tandem(thirds, whole).send(np.array([0, 0, 0, 20]), left_ps) == 4
    assert left_ps.tolist() == [3 + 7, 6 + 7, 10 + 7, 23 + 7]
    assert (thirds.line[FREE], thirds.line[PART], whole.line[FREE]) == (23, 1, 25)


def test_lines_are_as_before_if_one_has_no_room() -> None:
    """At the second line, free at 7 ps, the third item would wait from 3 ps on: more than 3 ps."""
    first, second = exact_hop(Fraction(1)), exact_hop(Fraction(3), room_ps=3)
    at_ps, left_ps = np.array([0, 0, 0]), np.zeros(3, np.int64)
    assert tandem.Tandem(first, second).send(at_ps, left_ps) < 3
    assert at_ps.tolist() == [0, 0, 0]
    assert (first.line[FREE], second.line[FREE]) == (0, 0)
