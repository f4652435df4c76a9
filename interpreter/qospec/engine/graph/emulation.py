"""Runs a trial: carries batches from the sources through all nodes, window by window.

Every wire has a watermark: nothing earlier will follow. A node works up to the lowest watermark of
its inputs, its horizon, so one pass in topological order carries a window through. The nodes of a
cycle are one part, a `Cycle`, and run event by event. How time is cut into windows changes only the
speed.
"""

from __future__ import annotations

import os
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from qospec.engine.arrays import np
from qospec.engine.element import Setting
from qospec.engine.event.component import EndlessError
from qospec.engine.event.process import EventProcess
from qospec.engine.experiment import DISCARD, END
from qospec.engine.graph.chain import Chain, join_chains, start_process
from qospec.engine.graph.components import (
    Budget,
    ZeroDelayError,
    find_components,
    find_onward,
    find_zero_delay_cycle,
    is_cyclic,
)
from qospec.engine.graph.cycle import Cycle
from qospec.engine.graph.fusion import fuse_classifiers
from qospec.engine.graph.node import Discard, End, Link, NodeRuntime, Sink, Unconnected
from qospec.engine.graph.promises import Conduct, with_promises_checked
from qospec.engine.items.batch import FOREVER_PS, build_batch
from qospec.engine.line.tagging import count_tag_bytes
from qospec.engine.measure.observation import Recorder
from qospec.engine.random import Draws
from qospec.engine.source.closed_loop import ClosedLoop
from qospec.engine.source.framing import Numbering
from qospec.engine.source.sizes import Repeated
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qospec.engine.arrays import Whole
    from qospec.engine.element import Process
    from qospec.engine.event.transition import Transition
    from qospec.engine.experiment import Experiment, Node, Source
    from qospec.engine.line.tandem import Hop
    from qospec.engine.measure.observation import Observation
    from qospec.engine.measure.observer import Observer

__all__ = ["CHUNK", "EndlessError", "ZeroDelayError", "run"]

CHUNK = 393_216
"""Items per window. Kernels that read columns clear the caches of the interpreter, whose steps then
take 0.2 ms in place of a tenth: that outweighs that columns of 3 MB exceed the second-level cache.
"""
MIXED_CHUNK = 196_608
"""The same where sizes differ: more columns are read and written, so calls weigh less. Half as many
items take 4 to 6 % longer in benchmark `w2`, twice as many take the same time and more memory."""


class _Runnable(Protocol):
    def advance(self) -> bool: ...


def run(
    experiment: Experiment,
    *,
    chunk: int | None = None,
    by_events: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
    observer: Observer | None = None,
    conducts: list[tuple[Node, Conduct]] | None = None,
) -> Observation:
    """Return what one trial of `experiment` observed.

    Args:
        experiment: The whole trial.
        chunk: About how many items the sources have ready per window; `QOS_CHUNK`, else what
            `_choose_chunk` says.
        by_events: Run all nodes event by event, not only those on cycles: the same, more slowly.
        on_progress: Called after each window with its end and the time when the sources stop.
        observer: What else is told of the items.
        conducts: Written, if given: the nodes, and what each took and did.

    Raises:
        ValueError: An output is wired twice, or an item leaves by one that is not wired; or an
            element on a cycle works in batches only.
        ZeroDelayError: A cycle takes no time.
        EndlessError: Items would go round a cycle for ever.
        BudgetError: An endpoint makes items without end.
    """
    if chunk is None:
        chunk = int(os.environ.get("QOS_CHUNK", _choose_chunk(experiment)))
    if chunk < 1:
        raise ValueError("a chunk holds at least one cell")
    keep_memory()
    answering = frozenset(range(len(experiment.nodes))) if by_events else list_answering(experiment)
    experiment = fuse_classifiers(experiment, answering)
    recorder = Recorder(experiment, observer)
    draws = Draws(experiment.seed)
    network = _Network(experiment, recorder, draws, answering, conducts)
    stop_ps = experiment.measurement.stop_ps
    for until_ps in _list_windows(experiment, chunk):
        watermark_ps = until_ps if until_ps < stop_ps else FOREVER_PS
        for origin in network.origins:
            origin.emit(until_ps, watermark_ps)
        for part in network.parts:
            part.advance()
        if observer is not None:
            observer.advance()
        if on_progress is not None:
            on_progress(until_ps, stop_ps)
    entries: dict[str, Whole] = {}
    for runtime in network.runtimes:
        entries[runtime.path] = runtime.entries + entries.get(runtime.path, 0)
    return recorder.build_observation(entries, drawn=bool(draws.opened))


def keep_memory() -> None:
    """Make the C library keep freed memory, on large pages, for columns of 1 MB come and go.

    Otherwise each column is mapped and cleared again, which takes as long as the work on it. After
    one block has been mapped and freed, glibc takes smaller ones from its heap and keeps twice as
    much there (mallopt(3), M_MMAP_THRESHOLD; at most 32 MB). The second block comes from that heap;
    NumPy asks for large pages for blocks of its size, and later blocks inherit them.
    """
    np.empty(31 * 2**20, np.uint8)
    np.empty(30 * 2**20, np.uint8)


def _choose_chunk(experiment: Experiment) -> int:
    """Return `CHUNK`, or `MIXED_CHUNK` if sizes differ; fewer if an element cuts items in parts."""
    sizes = [source.sizes for source in experiment.sources]
    largest_bytes = max((max(mix.size_bytes) for mix in sizes), default=0)
    parts = max((node.element.count_parts(largest_bytes) for node in experiment.nodes), default=1)
    return max(1, (CHUNK if all(mix.alike for mix in sizes) else MIXED_CHUNK) // parts)


def _list_windows(experiment: Experiment, chunk: int) -> Iterator[int]:
    """Yield the end of each window, the last at the time when the sources stop."""
    stop_ps = experiment.measurement.stop_ps
    rates = [
        source.arrivals.compute_highest_rate(source.connections) for source in experiment.sources
    ]
    cell_rate = Fraction(sum(rates))
    length_ps = max(1, int(chunk * PS_PER_S / cell_rate)) if cell_rate else stop_ps
    until_ps = length_ps
    while until_ps < stop_ps:
        yield until_ps
        until_ps += length_ps
    yield stop_ps


class _Origin:
    """A source with its state."""

    def __init__(
        self, source: Source, draws: Draws, link: Link, recorder: Recorder, *, stamped: bool
    ) -> None:
        self._source = source
        self._stamped = stamped
        self._state = source.arrivals.start(source.connections, source.phases, draws)
        self._link = link
        self._recorder = recorder
        self._sizes = source.sizes.start(source.connections, draws)
        self._frames = source.framing and Numbering(
            source.framing, source.arrivals, source.first, source.connections, draws
        )
        listed = np.frombuffer(source.mark_order, np.uint32)
        self._marks = (
            Repeated(listed, source.connections)
            if len(listed)
            else Repeated(np.array([source.marks], np.uint32), 1)
        )
        self._index = Repeated(np.array([source.first], np.int32), 1)

    def emit(self, until_ps: int, watermark_ps: int) -> None:
        """Send the items that are ready before `until_ps`."""
        at_ps, connection = self._source.arrivals.emit(self._state, until_ps)
        if self._recorder.samples.needed:
            for told in self._source.arrivals.tell(self._state):
                self._recorder.samples.tell(told, self._source.first)
        sizes, marks = self._sizes.take_next(connection), self._marks.take_next(connection)
        if self._source.connections == 1:
            connection = self._index.take_next(connection)
        elif self._source.first:
            connection = connection + np.int32(self._source.first)
        # Only items that a line will stamp may share columns of times: others may write over them.
        sent_ps = at_ps if self._stamped else at_ps.copy()
        batch = build_batch(
            at_ps=at_ps,
            sent_ps=sent_ps,
            connection=connection,
            size_bytes=sizes,
            marks=marks,
        )
        if self._frames is not None:
            batch = self._frames.note_frames(batch)
        if batch.count:
            if self._source.sizes.alike:
                self._recorder.totals.know_alike(batch)
            self._recorder.count_planned(batch, alone=self._source.connections == 1)
        self._link.put(batch, watermark_ps)


class _Network:
    """The sources, nodes and wires of a trial at work.

    Attributes:
        origins: The sources.
        runtimes: The nodes, in order of the experiment.
        parts: The nodes in topological order; those of a cycle as one `Cycle`.
    """

    def __init__(
        self,
        experiment: Experiment,
        recorder: Recorder,
        draws: Draws,
        answering: frozenset[int],
        conducts: list[tuple[Node, Conduct]] | None,
    ) -> None:
        cycle = find_zero_delay_cycle(experiment.nodes, experiment.wires)
        if cycle is not None:
            raise ZeroDelayError(cycle)
        self._recorder = recorder
        self._settings = [
            _build_setting(number, experiment, recorder, draws)
            for number in range(len(experiment.nodes))
        ]
        if conducts is not None:
            for node, setting in zip(experiment.nodes, self._settings, strict=True):
                conducts.append((node, Conduct(len(node.element.outputs), setting)))
        self.runtimes = [
            _build_node_runtime(
                node,
                setting,
                recorder,
                None if conducts is None else conducts[number][1],
                by_events=number in answering,
            )
            for number, (node, setting) in enumerate(
                zip(experiment.nodes, self._settings, strict=True)
            )
        ]
        ports: list[list[list[Link]]] = [[[] for _ in n.element.inputs] for n in experiment.nodes]
        self.origins = []
        for source in experiment.sources:
            link = Link(0)
            ports[source.node][source.input].append(link)
            below = draws.derive("flow", source.name)
            clock = experiment.nodes[source.node].clock
            stamped = clock is not None and clock.stamps
            self.origins.append(_Origin(source, below, link, recorder, stamped=stamped))
        sinks = self._build_sinks(experiment, ports)
        for number, (into, out_of) in enumerate(zip(ports, sinks, strict=True)):
            passages = recorder.passages.list_passages(number, len(out_of))
            watched = recorder.list_taps(number)
            self.runtimes[number].connect(tuple(map(tuple, into)), tuple(out_of), passages, watched)
        self.parts = self._build_parts(experiment, answering)

    def _build_sinks(
        self, experiment: Experiment, ports: list[list[list[Link]]]
    ) -> list[list[Sink]]:
        sinks: list[list[Sink]] = [
            [Unconnected(f"{node.path}.{output}") for output in node.element.outputs]
            for node in experiment.nodes
        ]
        wired = Counter((wire.node, wire.output) for wire in experiment.wires)
        twice = [experiment.nodes[node].path for (node, _), wires in wired.items() if wires > 1]
        if twice:
            raise ValueError(f"an output is wired twice at {', '.join(twice)}")
        for number, wire in enumerate(experiment.wires):
            runtime = self.runtimes[wire.node]
            if wire.to == END:
                sink: Sink = End(self._recorder, number)
            elif wire.to == DISCARD:
                sink = Discard(self._recorder, runtime.path)
            else:
                sink = link = Link(runtime.lookahead_ps)
                ports[wire.to][wire.input].append(link)
            sinks[wire.node][wire.output] = sink
        return sinks

    def _build_parts(self, experiment: Experiment, answering: frozenset[int]) -> list[_Runnable]:
        parts: list[_Runnable] = []
        budget = _compute_budget(experiment)
        in_order = find_components(_list_onward(experiment))
        in_batches = [i for component in in_order for i in component if i not in answering]
        joined = join_chains([self.runtimes[i] for i in in_batches], self._recorder)
        chains = {chain[0]: chain for chain in joined}
        if len(answering) == len(experiment.nodes):
            in_order = [[node for component in in_order for node in component]]
        for component in in_order:
            runtimes = [self.runtimes[i] for i in component]
            if component[0] in answering:
                transitions = [
                    _build_transition(experiment.nodes[i], self._settings[i]) for i in component
                ]
                parts.append(Cycle(runtimes, transitions, self._recorder, experiment, budget))
            elif chain := chains.get(runtimes[0]):
                parts.append(Chain(chain, self._recorder) if len(chain) > 1 else chain[0])
        return parts


def _build_transition(node: Node, setting: Setting) -> Transition:
    if node.element.build_transition is None:
        raise ValueError(f"{node.path} is on a cycle, and works in batches only")
    transition: Transition = node.element.build_transition(setting)
    return transition


def _compute_budget(experiment: Experiment) -> Budget:
    """Return how many items endpoints may make: for each request an answer, and an exchange."""
    endpoints = frozenset(node.path for node in experiment.nodes if node.element.makes)
    stop_ps = experiment.measurement.stop_ps
    most = sum(
        source.arrivals.count_most_items(source.connections, stop_ps)
        for source in experiment.sources
        if isinstance(source.arrivals, ClosedLoop)
    )
    of_machines = sum(node.element.most_made for node in experiment.nodes)
    # The sources are those of requests, and of answers.
    return Budget(endpoints, most * 3 // 2 + of_machines)


def _list_onward(experiment: Experiment) -> list[list[int]]:
    """Return, per node, the nodes that it feeds."""
    return find_onward(experiment.nodes, experiment.wires)


def on_cycles(experiment: Experiment) -> frozenset[int]:
    """Return the nodes that are on cycles."""
    onward = _list_onward(experiment)
    cycles = (component for component in find_components(onward) if is_cyclic(component, onward))
    return frozenset(node for component in cycles for node in component)


def list_answering(experiment: Experiment) -> frozenset[int]:
    """Return the nodes that are on cycles, and those that make items."""
    making = {number for number, node in enumerate(experiment.nodes) if node.element.makes}
    return on_cycles(experiment) | making


def _build_setting(
    number: int, experiment: Experiment, recorder: Recorder, draws: Draws
) -> Setting:
    node = experiment.nodes[number]
    return Setting(
        contracts=experiment.contracts,
        streams=experiment.streams,
        draws=draws.derive("element", node.path),
        clock=node.clock,
        queues=node.queues,
        outputs=node.outputs,
        columns=node.columns,
        size_bytes=node.size_bytes,
        owns_times=True,
        watched=recorder.is_watched(node),
        stop_ps=experiment.measurement.stop_ps,
        restarts_ps=node.restarts_ps,
        path=node.path,
        number=number,
        clocks=node.clocks,
        told=node.told,
    )


def _build_node_runtime(
    node: Node,
    setting: Setting,
    recorder: Recorder,
    conduct: Conduct | None,
    *,
    by_events: bool,
) -> NodeRuntime:
    """Return a node, which a `Cycle` runs if it does by events."""
    element = node.element
    process: Process | None = None
    alone: Process
    hop: Hop | None = None
    lookahead_ps = element.find_lookahead_ps(node.clock)
    if not by_events:
        if setting.watched and not (element.holds or element.serves):
            # What waits for a line is reported by transitions only: a loop over batches that kept
            # account of each item would cost every trial.
            alone = EventProcess(element, setting).process
        else:
            alone, hop = start_process(element, setting)
        process = alone
        if conduct is not None:
            process = conduct.wrap_process(process)
        process = recorder.occupancies.wrap_process(process, node)
        if os.environ.get("QOS_CHECK") == "1":
            process = with_promises_checked(
                process, node.path, lookahead_ps, setting.streams.indices, node.size_bytes
            )
        if process is not alone:  # who looks at each step is to see it
            hop = None
    runtime = NodeRuntime(
        node.path,
        process,
        recorder,
        lookahead_ps=lookahead_ps,
        stamps=node.clock is not None and node.clock.stamps,
        inserts=element.inserts,
    )
    runtime.conduct, runtime.hop = conduct, hop
    if node.tagged:
        runtime.tag_bytes = count_tag_bytes(setting.streams, node.tagged)
    return runtime
