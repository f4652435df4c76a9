"""What changes during a trial, as the engine takes it.

A flow has a source that changes, and an element that restarts knows when.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.engine.source.changing import Changing
from qospec.plan.offered import cell_rate

if TYPE_CHECKING:
    from qospec.model.suite import Case, Flow, Run
    from qospec.plan.lowering import Lowered


def with_changes(case: Case) -> Case:
    """Return a case whose flows have sources that change when the flows do."""
    return replace(case, flows=tuple(_changing(flow, case.run.warmup_ps) for flow in case.flows))


def _changing(flow: Flow, warmup_ps: int) -> Flow:
    """Return a flow of one source; what it declares is that of its highest rate."""
    if not flow.changes:
        return flow
    later = ((warmup_ps + each.at_ps, each.flow.arrivals) for each in flow.changes)
    busiest = max((flow, *(each.flow for each in flow.changes)), key=cell_rate)
    arrivals = Changing(((0, flow.arrivals), *later))
    return replace(busiest, arrivals=arrivals, changes=(), places=flow.places)


def with_restarts(lowered: Lowered, run: Run) -> Lowered:
    """Return a network whose elements know when they restart."""
    found: dict[str, list[int]] = {}
    for each in run.restarts:
        for path in each.elements:
            found.setdefault(path, []).append(run.warmup_ps + each.at_ps)
    nodes = (
        node._replace(restarts_ps=tuple(found.get(node.path, ()))) if node.element.down_ps else node
        for node in lowered.nodes
    )
    return replace(lowered, nodes=tuple(nodes))
