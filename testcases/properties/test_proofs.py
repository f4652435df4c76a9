"""No delay and no backlog of any network exceeds what network calculus proves of it."""

from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import pytest
from books import in_bytes
from connected import connected
from drivers import drawn_networks
from endpoints import ROUTED
from hypothesis import HealthCheck, assume, given, settings, target
from hypothesis import strategies as st
from networks import MARKS, Plan, line_of

from qospec.catalogue.kinds import Buffer
from qospec.elements.custom import Custom
from qospec.elements.drr import Drr
from qospec.elements.fifo import Fifo
from qospec.elements.gates import Gates
from qospec.elements.line import Line
from qospec.elements.processor import Processor
from qospec.elements.reorder import Reorder
from qospec.elements.router import Router
from qospec.elements.scfq import Scfq
from qospec.elements.shape import Shape
from qospec.elements.strict import Strict
from qospec.elements.vc_switch import VcSwitch
from qospec.elements.wf2q_plus import Wf2qPlus
from qospec.elements.wfq import Wfq
from qospec.elements.wrr import Wrr
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.scheduler.scheduler import Scheduler
from qospec.engine.source.sizes import Sizes
from qospec.plan.proofs.proofs import Proofs, prove
from qospec.traffic.replay import Replay

some = settings(
    max_examples=settings().max_examples // 4,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)


NAMES = ("a", "b", "c")
WEIGHTS = st.tuples(*[st.integers(1, 5)] * len(NAMES)).map(
    lambda values: tuple(zip(NAMES, map(Fraction, values), strict=True))
)
COUNTS = st.tuples(*[st.integers(1, 4)] * len(NAMES)).map(
    lambda values: tuple(zip(NAMES, values, strict=True))
)
BYTES = st.tuples(*[st.integers(1, 3_000)] * len(NAMES)).map(
    lambda values: tuple(zip(NAMES, values, strict=True))
)
SCHEDULERS = (
    st.permutations(NAMES).map(lambda order: Strict(tuple(order)))
    | st.builds(Wrr, COUNTS)
    | st.builds(Custom, BYTES)
    | st.builds(Drr, WEIGHTS, st.sampled_from([50, 1_500]))
    | st.builds(Scfq, WEIGHTS)
    | st.builds(Wfq, WEIGHTS)
    | st.builds(Wf2qPlus, WEIGHTS)
)
INSTANTS = st.lists(st.sampled_from([0, 0, 10**6, 7 * 10**6, 10**8]), min_size=1, max_size=12).map(
    lambda gaps: tuple(accumulate(gaps))
)
SIZES = st.sampled_from([(200,), (200,), (46, 1_500), (1_500,)])
FAULTS = st.sampled_from([None, None, Reorder(first=2, every=3, time=4 * 10**7)])
CELLS = Line(Fraction(149_760_000), phase=0)


WIDE = st.sampled_from([124 * 10**6, 200 * 10**6, 260 * 10**6, 700 * 10**6])
"""Windows in which the largest packet fits."""
IN_TURN = st.tuples(WIDE, WIDE, WIDE).map(
    lambda times: tuple(zip(NAMES, ((time,) for time in times), strict=True))
)
TOGETHER = st.tuples(WIDE, WIDE, WIDE, WIDE).map(
    lambda t: tuple(
        zip(
            NAMES,
            ((0, t[0], t[0] + t[1], t[0] + t[1] + t[2]), (t[0], t[0] + t[1]), (0, sum(t))),
            strict=True,
        )
    )
)
"""The first has two windows, beside the second alone, and the last is open all the time."""


@st.composite
def bottlenecks(draw: st.DrawFn, schedulers: Any = SCHEDULERS) -> Experiment:
    """Draw a scheduler that three sources with fast lines share."""
    in_cells, scheduler = draw(st.booleans()), draw(schedulers)
    in_cells = in_cells and schedulers is SCHEDULERS
    fast, slow = (
        (CELLS, CELLS) if in_cells else (line_of(Fraction(10**9)), line_of(Fraction(10**8)))
    )
    limits = st.none() | st.builds(Buffer, st.integers(0, 4), st.just("packet"))
    queues = tuple(Waiting(name, draw(limits)) for name in scheduler.inputs)
    lines = [Node(f"l{name}", fast, clock=fast.build_clock(stamps=True)) for name in NAMES]
    shared = Node("s", scheduler, clock=slow.build_clock(stamps=False), queues=queues)
    wires = [Wire(n, 0, len(NAMES), n) for n in range(len(NAMES))]
    sources = []
    for number, name in enumerate(NAMES):
        sizes = (53,) if in_cells else draw(SIZES)
        mix = Sizes(sizes, (1,) * len(sizes), in_order=True)
        framed = None if in_cells else fast.build_clock(stamps=False).encapsulation
        sources.append(
            Source(name, Replay(draw(INSTANTS)), number, 1, "even", mix, 0, number, 0, framed)
        )
    count = len(NAMES)
    measured = MeasurementSpec(0, 10**10, (0,) * count, queues=scheduler.inputs)
    return Experiment(
        *connected((ROUTED,) * count),
        tuple(sources),
        (*lines, shared),
        (*wires, Wire(count, 0, END)),
        measured,
        ("s",),
    )


class Way(NamedTuple):
    """The hops at which a flow enters and leaves, both included, and its queue at each."""

    first: int
    last: int
    queue: int


@st.composite
def tandems(draw: st.DrawFn) -> Experiment:
    """Draw nodes in a row; flows join and leave them, and send all that they have at once."""
    in_cells = draw(st.booleans())
    hops = draw(st.integers(2, 4))
    whole = st.just(Way(0, hops - 1, 0))
    ways = [draw(whole), *draw(st.lists(whole | ways_through(hops), min_size=1, max_size=4))]
    plan, wires = Plan(len(ways)), list[Wire]()
    fast = CELLS if in_cells else line_of(Fraction(10**9))
    lines = [
        plan.node(f"l{n}", fast, clock=fast.build_clock(stamps=True)) for n in range(len(ways))
    ]
    before = None
    for hop in range(hops):
        served = draw(hop_servers("cell" if in_cells else "packet"))
        rate = draw(st.sampled_from([Fraction(149_760_000), Fraction(10**8), Fraction(10**8, 3)]))
        line = Line(rate, phase=0) if in_cells else line_of(rate)
        names = served.inputs if isinstance(served, Scheduler) else ("",)
        limits = draw(st.sampled_from([None, None, Buffer(2, "cell" if in_cells else "packet")]))
        queues = tuple(Waiting(f"{hop}.{name}", limits) for name in names)
        clock = None if isinstance(served, Processor | Shape) else line.build_clock(stamps=False)
        named = queues if isinstance(served, Scheduler) else ()
        node = plan.node(f"hop[{hop}]", served, clock=clock, queues=named)
        rows = [
            [way.queue % len(names) if way.first <= hop <= way.last else len(names)] * len(MARKS)
            for way in ways
        ]
        fabric = (VcSwitch if in_cells else Router)(len(ways) + len(names) + 1, latency=hop)
        table = np.array(rows, np.uint8)
        router = plan.node(f"r[{hop}]", fabric, outputs=table, columns=MARKS)
        wires += [Wire(router, k, node, k) for k in range(len(names))]
        wires += [Wire(lines[n], 0, router, n + 1) for n, w in enumerate(ways) if w.first == hop]
        wires += [Wire(router, len(names), END)]
        if before is not None:
            wires += [Wire(_behind(plan, wires, before, draw(FAULTS)), 0, router, 0)]
        before = node
    wires += [Wire(node, 0, END)]
    sources = []
    for number in range(len(ways)):
        sizes = (53,) if in_cells else draw(SIZES)
        mix = Sizes(sizes, (1,) * len(sizes), in_order=True)
        framed = None if in_cells else fast.build_clock(stamps=False).encapsulation
        line = lines[number]
        sources.append(
            Source(f"f{number}", Replay(draw(INSTANTS)), number, 1, "even", mix, 0, line, 0, framed)
        )
    measured = MeasurementSpec(0, 10**10, (0,) * len(ways))
    connections = connected((ROUTED,) * len(ways))
    return Experiment(
        *connections, tuple(sources), tuple(plan.nodes), tuple(wires), measured, ("s",)
    )


def _behind(plan: Plan, wires: list[Wire], before: int, fault: Reorder | None) -> int:
    """Put a fault behind a node, if there is one; return the last of both."""
    if fault is None:
        return before
    last = plan.node(f"fault[{before}]", fault)
    wires.append(Wire(before, 0, last, 0))
    return last


def ways_through(hops: int) -> st.SearchStrategy[Way]:
    ends = st.tuples(*[st.integers(0, hops - 1)] * 2).map(sorted)
    return st.builds(lambda both, queue: Way(*both, queue), ends, st.integers(0, 2))


def hop_servers(unit: Any) -> st.SearchStrategy[Any]:
    fifo = st.builds(Fifo, st.builds(Buffer, st.sampled_from([3, 500]), st.just(unit)))
    if unit == "cell":
        return fifo | SCHEDULERS
    few = st.builds(Buffer, st.just(64), st.just("packet"))
    processors = st.builds(
        Processor,
        st.sampled_from([10**6, 2 * 10**7]),
        few,
        per_byte=st.sampled_from([0, 777]),
        housekeeping=st.sampled_from([0, 3 * 10**7]),
        housekeeping_every=st.just(10**9),
    )
    rates = st.sampled_from([Fraction(10**6), Fraction(10**7)])
    steady = st.builds(in_bytes, st.just(Shape), rates, st.sampled_from([1_500, 4_000]), few)
    refills = st.sampled_from([0, 8 * 10**8, 12 * 10**8])
    shapers = st.builds(lambda shape, refill: replace(shape, refill=refill), steady, refills)
    return fifo | fifo | SCHEDULERS | processors | shapers


@pytest.mark.slow
@some
@given(tandems())
def test_no_chain_takes_longer_than_is_proved(experiment: Experiment) -> None:
    _compare(experiment, prove(experiment))


@pytest.mark.slow
@some
@given(bottlenecks())
def test_no_share_of_a_scheduler_is_less_than_is_proved(experiment: Experiment) -> None:
    _compare(experiment, prove(experiment))


@some
@given(bottlenecks(st.builds(Gates, IN_TURN | TOGETHER, begins=st.sampled_from([0, 10**8]))))
def test_no_gate_serves_less_than_is_proved(experiment: Experiment) -> None:
    _compare(experiment, prove(experiment))


@pytest.mark.slow
@some
@given(data=st.data())
def test_nothing_exceeds_what_is_proved(drawing: Any, data: st.DataObject) -> None:
    experiment = data.draw(drawn_networks(drawing.elements).filter(_is_open))
    _compare(experiment, _proofs(experiment))


def _compare(experiment: Experiment, proofs: Proofs) -> None:
    """Run an experiment, and compare it with what is proved of it."""
    seen = emulation.run(experiment)
    shares = [0.0]
    for (first, stop), proof in proofs.delays.items():
        longest_ps = seen.pool(first, stop).delays.max_ps
        if longest_ps is not None and proof.most_ps is not None:
            assert longest_ps <= proof.most_ps, proof.path
            shares.append(longest_ps / proof.most_ps)
    for path, most in seen.occupancies.items():
        assert most.most <= proofs.waiting.get(path, most.most)
    target(max(shares))


def _is_open(experiment: Experiment) -> bool:
    """Return whether no endpoint answers, so that anything can be proved."""
    return not any(node.element.makes for node in experiment.nodes)


def _proofs(experiment: Experiment) -> Proofs:
    try:
        return prove(experiment)
    except ValueError:  # no plan has such packets: encrypted twice, or decrypted otherwise
        assume(condition=False)
        raise
