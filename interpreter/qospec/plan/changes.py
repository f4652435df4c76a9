"""What changes during a trial, as the engine takes it.

A flow has a source that changes, behind a line that fails stands what loses its items, and an
element that restarts knows when.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.diagnostics import Diagnostic
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.line.outage import Outage
from qospec.engine.source.changing import Changing, list_spans
from qospec.model.suite import Wire
from qospec.plan.offered import compute_cell_rate
from qospec.protocol.marks import LEG
from qospec.units import PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qospec.model.suite import Case, Flow, Network, Run
    from qospec.plan.lowering import Lowered
    from qospec.plan.tables import Member


def with_changes(case: Case) -> Case:
    """Return a case whose flows have sources that change when the flows do."""
    if not any(flow.changes for flow in case.flows):
        return case
    return replace(
        case, flows=tuple(_change_source(flow, case.run.warmup_ps) for flow in case.flows)
    )


def _change_source(flow: Flow, warmup_ps: int) -> Flow:
    """Return a flow of one source; what it declares is that of its highest rate."""
    if not flow.changes:
        return flow
    later = ((warmup_ps + change.at_ps, change.flow.arrivals) for change in flow.changes)
    busiest = max((flow, *(change.flow for change in flow.changes)), key=compute_cell_rate)
    arrivals = Changing(((0, flow.arrivals), *later))
    same = replace(busiest, places=flow.places, via=flow.via, ways=flow.ways)
    return replace(same, arrivals=arrivals, changes=())


class Stage(NamedTuple):
    """A part of a trial in which nothing changes, or all of it.

    Attributes:
        says: Which part, in words; "" for a trial in which no flow changes.
        length_s: How long it is.
        rates: The items/s of one member of each flow.
    """

    says: str
    length_s: Fraction
    rates: tuple[Fraction, ...]


def list_stages(case: Case) -> list[Stage]:
    """Return the parts of a trial from change to change; if there are several, the whole, too."""
    run, flows = case.run, with_changes(case).flows
    changed_ps = sorted(
        {begin_ps for flow in flows for begin_ps, _, _ in list_spans(flow.arrivals)[1:]}
    )
    found = []
    for begin_ps, end_ps in pairwise([0, *changed_ps, run.warmup_ps + run.measure_ps]):
        rates = tuple(_rate_at(flow, begin_ps) for flow in flows)
        since = format_value(Fraction(begin_ps - run.warmup_ps, PS_PER_S), TIME) if begin_ps else ""
        says = f" from {since} on" if since else " at first" if changed_ps else ""
        found.append(Stage(says, Fraction(end_ps - begin_ps, PS_PER_S), rates))
    if changed_ps:
        whole_s = sum((stage.length_s for stage in found), Fraction(0))
        shares = [[stage.length_s / whole_s * rate for rate in stage.rates] for stage in found]
        means = tuple(sum(column, Fraction(0)) for column in zip(*shares, strict=True))
        found.append(Stage(" on average", whole_s, means))
    return found


def _rate_at(flow: Flow, at_ps: int) -> Fraction:
    """Return the items/s of one member of a flow at a time since the trial began."""
    spans = list_spans(flow.arrivals)
    process = next(arrivals for begin_ps, stop_ps, arrivals in spans if begin_ps <= at_ps < stop_ps)
    return Fraction(process.compute_mean_rate(flow.connections))


def find_too_many_ways(case: Case, members: Sequence[Member]) -> Iterator[Diagnostic]:
    """Yield each flow whose ways have more legs than a mark can count, once."""
    found = dict.fromkeys(m.stream.flow for m in members if len(m.legs) > LEG.highest + 1)
    for flow in found:
        yield Diagnostic(
            "E0523",
            f"`{case.flows[flow].name}` has too many ways in one trial",
            case.flows[flow].span,
            notes=(
                f"all of its ways together name at most {LEG.highest} ports; each counts as one",
            ),
            help="let fewer links fail, or change fewer ports",
        )


def with_outages(case: Case) -> Case:
    """Return a case in whose networks each line that fails loses what is on it while it is down.

    What passes a port is counted behind that.
    """
    spans: dict[str, list[tuple[int, int]]] = {}
    for change in case.run.links:
        at_ps = case.run.warmup_ps + change.at_ps
        for path in change.lines:
            if change.is_up:
                (down_ps, _) = spans[path].pop()
                spans[path].append((down_ps, at_ps))
            else:
                spans.setdefault(path, []).append((at_ps, FOREVER_PS))
    networks = {name: _with_outages(network, spans) for name, network in case.networks.items()}
    return replace(case, networks=networks) if spans else case


def _with_outages(network: Network, spans: Mapping[str, list[tuple[int, int]]]) -> Network:
    elements, wires, behind = list(network.elements), list(network.wires), dict[str, str]()
    for index, instance in enumerate(network.elements):
        if instance.path in spans:
            outage = Outage(instance.element.build_clock(stamps=False), tuple(spans[instance.path]))
            kind, path = replace(instance.kind, duty="element"), f"{instance.path} (down)"
            place, behind[instance.path] = len(elements), path
            elements.append(replace(instance, path=path, kind=kind, element=outage))
            wires = [replace(w, element=place) if w.element == index else w for w in wires]
            wires.append(Wire(index, 0, "element", place))
    sides = {
        side: behind.get(line, line) if side.endswith(".rx") else line
        for side, line in network.sides.items()
    }
    return replace(network, elements=tuple(elements), wires=tuple(wires), sides=sides)


def with_restarts(lowered: Lowered, run: Run) -> Lowered:
    """Return a network whose elements know when they restart."""
    found: dict[str, list[int]] = {}
    for restart in run.restarts:
        for path in restart.elements:
            found.setdefault(path, []).append(run.warmup_ps + restart.at_ps)
    nodes = (
        node._replace(restarts_ps=tuple(found.get(node.path, ()))) if node.element.down_ps else node
        for node in lowered.nodes
    )
    return replace(lowered, nodes=tuple(nodes))
