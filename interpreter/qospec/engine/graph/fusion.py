"""Fusion of a classifier with the scheduler behind it, so that batches are not partitioned.

Partitioning a batch, only for a scheduler to merge the parts, would move each item twice. So where
all outputs of a classifier lead to one scheduler, that gets the output table and the whole batch.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.items.partition import MAX_OUTPUTS, build_routing_table
from qospec.engine.scheduler.arrivals import group_by_routes
from qospec.engine.scheduler.scheduler import Scheduler, serve_arrivals

if TYPE_CHECKING:
    from qospec.engine.element import Setting
    from qospec.engine.experiment import Experiment, MeasurementSpec, Node, Wire
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.partition import RoutingTable
    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.scheduler import State


SOURCE = -1
"""Stands for a source among the nodes that feed another."""


class _FusedState(NamedTuple):
    routes: RoutingTable
    state: State


@dataclass(frozen=True)
class _FusedScheduler(Element):
    """A scheduler that takes the arrivals of all its inputs in one batch."""

    scheduler: Scheduler

    def find_lookahead_ps(self, clock: Clock | None) -> int:
        return self.scheduler.find_lookahead_ps(clock)

    def start(self, setting: Setting) -> _FusedState:
        return _FusedState(build_routing_table(setting), self.scheduler.start(setting))

    def process(self, state: _FusedState, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        inputs = len(self.scheduler.inputs)
        return serve_arrivals(state.state, group_by_routes(batch, state.routes, inputs), until_ps)


@dataclass(frozen=True)
class _PassThrough(Element):
    """What a fused classifier becomes: all items go on."""

    def process(self, state: None, arrivals: tuple[Batch, ...], until_ps: int) -> Step:  # noqa: ARG002
        return Step(arrivals, (until_ps,))


def fuse_classifiers(experiment: Experiment, by_events: frozenset[int] = frozenset()) -> Experiment:
    """Return the same experiment with classifiers fused into the schedulers behind them.

    A classifier is fused if all its outputs lead to inputs of one scheduler that nothing else
    feeds. One before an observed scheduler is left as it is, for the arrivals at each queue are
    observed. So is one whose own outputs are observed, or whose wires are wrong, which is reported
    elsewhere; and one of `by_events`, the nodes that take no batches.
    """
    kept = by_events | {tap.node for tap in experiment.measurement.taps}
    nodes, wires = list(experiment.nodes), list(experiment.wires)
    feeding: dict[int, set[int]] = defaultdict(set)
    leaving: dict[int, list[Wire]] = defaultdict(list)
    for source in experiment.sources:
        feeding[source.node].add(SOURCE)
    for wire in wires:
        feeding[wire.to].add(wire.node)
        leaving[wire.node].append(wire)
    for number, outgoing in leaving.items():
        to, classifier = outgoing[0].to, nodes[number]
        alone = {wire.to for wire in outgoing} == {to} and feeding[to] == {number}
        if number in kept or not (classifier.element.only_splits and alone and to >= 0):
            continue
        if not _can_fuse_into(nodes[to], outgoing, experiment.measurement) or not _is_fully_wired(
            classifier, outgoing
        ):
            continue
        nodes[number] = classifier._replace(element=_PassThrough(), outputs=None)
        nodes[to] = _fuse(nodes[to], classifier, outgoing)
        wires[wires.index(outgoing[0])] = outgoing[0]._replace(output=0, input=0)
        for wire in outgoing[1:]:
            wires.remove(wire)
    return experiment._replace(nodes=tuple(nodes), wires=tuple(wires))


def _can_fuse_into(node: Node, outgoing: list[Wire], measurement: MeasurementSpec) -> bool:
    """Return whether a node is an unobserved scheduler with at most one wire at each input."""
    watched = {queue.element for queue in node.queues} & set(measurement.queues)
    once = len({wire.input for wire in outgoing}) == len(outgoing)
    fits = isinstance(node.element, Scheduler) and len(node.element.inputs) <= MAX_OUTPUTS
    return fits and once and not watched


def _is_fully_wired(classifier: Node, outgoing: list[Wire]) -> bool:
    """Return whether each output in the table is wired, and none twice."""
    if classifier.outputs is None:
        return False
    wired = [wire.output for wire in outgoing]
    planned = set(np.unique(classifier.outputs).tolist()) - {MAX_OUTPUTS}
    return len(set(wired)) == len(wired) and planned <= set(wired)


def _fuse(node: Node, classifier: Node, outgoing: list[Wire]) -> Node:
    assert isinstance(node.element, Scheduler)  # noqa: S101 -- see above
    assert classifier.outputs is not None  # noqa: S101 -- likewise
    input_of = np.full(MAX_OUTPUTS + 1, MAX_OUTPUTS, np.uint8)
    for wire in outgoing:
        input_of[wire.output] = wire.input
    table = input_of[classifier.outputs]
    return node._replace(
        element=_FusedScheduler(node.element), outputs=table, columns=classifier.columns
    )
