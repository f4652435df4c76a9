"""From a case of the checked specification to its plan, by the passes of this room.

A plan says, before anything runs, which trials there are and how many items they send at most, and
rejects what does not fit: no path between hosts, an overloaded line, a loop without delay, a trial
beyond the limit.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from qospec.catalogue.statistics import is_of_single_stays
from qospec.dataclass import NamedTuple, dataclass
from qospec.diagnostics import Problems
from qospec.engine.experiment import (
    Experiment,
    Intervals,
    MeasurementSpec,
    Monitor,
    Source,
    Tap,
)
from qospec.engine.graph.components import find_cycle_in_batches, find_zero_delay_cycle
from qospec.engine.measure.occupancy import find_silent
from qospec.engine.queue import drop_policy
from qospec.engine.source.framing import Framing
from qospec.engine.source.sizes import CELLS
from qospec.engine.source.skewed import skew
from qospec.model.expression import list_counted, list_measurements
from qospec.model.suite import Point
from qospec.plan import legal
from qospec.plan.changes import with_changes, with_outages, with_restarts
from qospec.plan.channels import with_machines
from qospec.plan.endpoints import with_endpoints
from qospec.plan.findings import feasibility
from qospec.plan.lowering import Lowered, lower
from qospec.plan.offered import MOST_ITEMS, count_items
from qospec.plan.pauses import with_pauses
from qospec.plan.phases import check_ends, gather_at_use, make_trials_between
from qospec.plan.proofs.proofs import Proofs, prove
from qospec.plan.survey import KnownSurveys, Overall, survey_network
from qospec.plan.tables import group_by_flow
from qospec.plan.waits import Waits, find_waits
from qospec.protocol.streams import INSERTED, Population, Streams
from qospec.search.method import begin, count_trials_of_load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from qospec.diagnostics import Diagnostic
    from qospec.engine.arrays import Marks
    from qospec.engine.experiment import Node, Wire
    from qospec.model.checked import CaseMaker, CheckedSuite, Examiner
    from qospec.model.expression import Measured, Place
    from qospec.model.suite import Case, Flow, Network, Phase, Test
    from qospec.plan.forms import Survey
    from qospec.plan.tables import Member
    from qospec.source import Span


@dataclass(frozen=True)
class Bounds:
    """What a plan may cost. `most_items` is per trial; the command's `--max-cells` raises it."""

    most_items: int = MOST_ITEMS


class Planning(NamedTuple):
    """What cases are planned with.

    Attributes:
        bounds: What a plan may cost.
        problems: What does not fit.
        overall: Takes what is so in all cases, if that is asked.
        known: What is known of other cases of the test, if it has several.
    """

    bounds: Bounds
    problems: Problems
    overall: Overall | None = None
    known: KnownSurveys | None = None


@dataclass(frozen=True)
class Planned:
    """One network of a case, ready to run.

    Attributes:
        experiment: With the seed's names up to the case; a repeat adds its own.
        populations: What is measured, by name.
        discarders: By flow, the elements on its paths that may discard: (path, causes); of a
            scheduler, the queues before it.
        lines: As of `Lowered`.
        holders: By flow, the places on its paths where items may wait: queues, lines without one,
            elements that hold items.
        packets: The flows of packets.
        waits: For what its machines wait.
    """

    experiment: Experiment
    populations: dict[str, Population]
    discarders: dict[str, tuple[tuple[str, tuple[str, ...]], ...]]
    lines: dict[str, str]
    holders: dict[str, tuple[str, ...]]
    packets: frozenset[str] = frozenset()
    waits: Waits = Waits()

    @cached_property
    def proofs(self) -> Proofs:
        """Return what is proved of its delays and queues."""
        return prove(self.experiment)


@dataclass(frozen=True)
class PhasePlan:
    """A phase of a case: what it costs at most, and how many items a trial sends, as of a case.

    Of a search, `loads` is the largest number of loads that are tried for each goal. `flows` are
    those of its lowest load, then those of its highest.
    """

    phase: Phase
    cost: Cost
    cells: int
    bounded: bool = True
    loads: tuple[int, ...] = ()
    flows: tuple[Flow, ...] = ()


@dataclass(frozen=True)
class CasePlan:
    """A case, ready to run: its networks under "" and the controls' names.

    `cells` is the number of items that each trial sends: at most if `bounded`, else on average.
    `phases` are those of a case with phases, whose `networks` are those of the first one's highest
    load. `span` is where its test is written. `maker` makes the trials of its phases, whose random
    draws depend on `seed`; `examiner` evaluates it if it is of a property.
    """

    test: str
    case: Case
    networks: dict[str, Planned]
    cells: int
    bounded: bool = True
    phases: tuple[PhasePlan, ...] = ()
    span: Span | None = field(default=None, compare=False)
    maker: CaseMaker | None = field(default=None, compare=False, repr=False)
    examiner: Examiner | None = field(default=None, compare=False, repr=False)
    seed: tuple[str, ...] = ()

    @property
    def cost(self) -> Cost:
        """Return how many trials the case takes, and how much emulated time; a search, at most."""
        if self.case.phases and self.networks:
            costs = [phase.cost for phase in self.phases]
            return Cost(sum(cost.trials for cost in costs), sum(c.emulated_ps for c in costs))
        run = self.case.run
        trials = len(self.networks) * run.repeat
        return Cost(trials, trials * (run.warmup_ps + run.measure_ps))

    @property
    def trials(self) -> int:
        """Return how many trials the case takes, at most."""
        return self.cost.trials

    def release(self) -> None:
        """Let go of the networks, once the case has ended: of thousands, most of a run's memory."""
        self.networks.clear()


def plan(
    checked: CheckedSuite,
    seed: str,
    bounds: Bounds,
    problems: Problems,
    *,
    whole: bool = False,
) -> tuple[CasePlan, ...]:
    """Return the plan of every case; what does not fit is in `problems`.

    The plan of a case that is left out holds no networks. If the suite is the `whole` one, and not
    what was selected of it, problems tell what is so in none of its cases, too.
    """
    plans = []
    overall = Overall() if whole else None
    for test in checked.suite.tests:
        known = KnownSurveys() if len(test.cases) > 1 else None
        planning = Planning(bounds, problems, overall, known)
        for case in test.cases:
            found = (
                CasePlan(test.name, case, {}, 0)
                if case.skip
                else _plan_case(checked, test, case, seed, planning)
            )
            if found is not None:
                plans.append(found)
    if overall is not None and not problems.errors:
        overall.report(problems)
    return tuple(plans)


def plan_trial(
    whole: CasePlan, phase: Phase, case: Case, bounds: Bounds
) -> CasePlan | tuple[Diagnostic, ...]:
    """Return the plan of a trial of a phase, or the errors in it; `case` is from its maker.

    Its draws have the same seed in all trials: what runs a trial adds to it.
    """
    problems = Problems()
    planned = _plan_trial(whole.test, case, phase.span, whole.seed, Planning(bounds, problems))
    return planned or problems.errors


def outline_plan(checked: CheckedSuite, test: Test, case: Case, seed: str) -> CasePlan:
    """Return of a case with phases what the plans of its trials need, and no plan of its own."""
    draws = test.name if case.run.common_draws else case.name
    maker = checked.makers[case.name]
    return CasePlan(test.name, case, {}, 0, span=test.span, maker=maker, seed=(seed, draws))


def _plan_case(
    checked: CheckedSuite,
    test: Test,
    case: Case,
    seed: str,
    planning: Planning,
) -> CasePlan | None:
    if case.chosen is not None:
        examiner = checked.examiners[test.name]
        return CasePlan(test.name, case, {}, 0, span=test.span, examiner=examiner)
    if case.phases:
        unfit, whole = Problems(), outline_plan(checked, test, case, seed)
        found = _plan_phased(whole, checked.makers[case.name], planning._replace(problems=unfit))
        for problem in gather_at_use(unfit.all, checked.makers[case.name]):
            planning.problems.add(problem)
        return found
    draws = test.name if case.run.common_draws else case.name
    found = _plan_trial(test.name, case, test.span, (seed, draws), planning)
    return found and replace(found, span=test.span)


def _plan_phased(
    whole: CasePlan,
    maker: CaseMaker,
    planning: Planning,
) -> CasePlan | None:
    """Return the plan of a case with phases: each planned at both ends, the highest last."""
    case, problems = whole.case, planning.problems
    plans: list[PhasePlan] = []
    networks: dict[str, Planned] = {}
    for number, phase in enumerate(case.phases):
        ends = check_ends(maker, phase, problems)
        if ends is None:
            return None
        for made in make_trials_between(maker, phase, problems):
            survey_network(made, "", problems)
        if problems.errors:
            return None
        found = [
            _plan_trial(whole.test, made, phase.span, whole.seed, planning)
            for made in (ends if ends.low is not ends.high else ends[:1])
        ]
        highest = found[-1]
        if None in found or highest is None:
            return None
        flows = (*ends.low.flows, *ends.high.flows)
        plans.append(replace(_plan_phase(case, phase, highest), flows=flows))
        if number == 0:
            networks = highest.networks
    cells, bounded = (
        max(phase_plan.cells for phase_plan in plans),
        all(phase_plan.bounded for phase_plan in plans),
    )
    return replace(whole, networks=networks, cells=cells, bounded=bounded, phases=tuple(plans))


def _plan_trial(
    test: str,
    case: Case,
    span: Span,
    seed: tuple[str, ...],
    planning: Planning,
) -> CasePlan | None:
    bounds, problems = planning.bounds, planning.problems
    whole, case = case, with_outages(with_changes(case))
    cells, bounded = count_items(case)
    if cells > bounds.most_items:
        problems.add(feasibility.report_too_many_items(span, case, cells, bounds.most_items))
        return None
    networks = {}
    for name, network in case.networks.items():
        planned = _plan_network(case, network, name, seed, planning)
        if planned is None:
            return None
        networks[name] = planned
    return CasePlan(test, whole, networks, cells, bounded)


def _plan_network(
    case: Case, network: Network, name: str, seed: tuple[str, ...], planning: Planning
) -> Planned | None:
    problems = planning.problems
    survey = survey_network(case, name, problems, planning.overall, planning.known)
    if survey is None:
        return None
    members = survey.members
    streams = _build_streams(case, network, members)
    places = _list_places(case, name)
    lowered = _lower_by_passes(case, network, survey, streams, frozenset(p.path for p in places))
    for find, refuse in (
        (find_zero_delay_cycle, feasibility.report_loop_without_time),
        (find_cycle_in_batches, feasibility.report_loop_in_batches),
    ):
        loop = find(lowered.nodes, lowered.wires)
        if loop is not None:
            problems.add(refuse(loop, network, case))
            return None
    measurement = _build_measurement(case, name, streams)
    if (silent := find_silent(measurement, lowered.nodes)) is not None:
        problems.add(feasibility.report_unobservable_queue(silent, network, case))
        return None
    experiment = Experiment(
        contracts=tuple(c for m in members for c in [m.contract] * m.stream.connections),
        streams=streams,
        sources=tuple(_build_sources(case.flows, network, members, lowered)),
        nodes=lowered.nodes,
        wires=lowered.wires,
        measurement=measurement._replace(taps=tuple(_build_taps(places, network, lowered))),
        seed=seed,
    )
    legal.verify("measurement", network, members, streams, lowered, experiment)
    populations = {p.name: p for p in _list_populations(case, name, streams)}
    of_flow = group_by_flow(members)
    paths = {
        flow.name: dict(_on_path(of_flow[number], lowered))
        for number, flow in enumerate(case.flows)
    }
    return Planned(
        experiment,
        populations,
        {flow: tuple(_list_discarders(on_path.values())) for flow, on_path in paths.items()},
        lowered.lines,
        {f: tuple(_list_holders(populations[f], on, lowered)) for f, on in paths.items()},
        frozenset(flow.name for flow in case.flows if flow.packets is not None),
        find_waits(members, network),
    )


def _lower_by_passes(
    case: Case,
    network: Network,
    survey: Survey,
    streams: Streams,
    places: frozenset[str],
) -> Lowered:
    """Return what items can reach, pass by pass."""
    members = survey.members
    passes: tuple[tuple[str, Callable[[Lowered], Lowered]], ...] = (
        (
            "endpoints",
            lambda lowered: with_endpoints(lowered, case.flows, members, network, streams.inserted),
        ),
        ("machines", lambda lowered: with_machines(lowered, members, network)),
        ("pauses", lambda lowered: with_pauses(lowered, members, network)),
        ("restarts", lambda lowered: with_restarts(lowered, case.run)),
    )
    lowered = lower(network, survey, streams, places)
    legal.verify("lowering", network, members, streams, lowered)
    for name, added in passes:
        lowered = added(lowered)
        legal.verify(name, network, members, streams, lowered)
    return lowered


def _build_streams(case: Case, network: Network, members: tuple[Member, ...]) -> Streams:
    """Return the streams of a trial: of its members, and of what elements insert into them."""
    inserted = {kind for element in network.elements for kind in element.element.inserts}
    return Streams(
        tuple(flow.name for flow in case.flows),
        tuple(member.stream for member in members),
        tuple(kind for kind in INSERTED if kind in inserted),
    )


def _build_sources(
    flows: tuple[Flow, ...], network: Network, members: tuple[Member, ...], lowered: Lowered
) -> Iterator[Source]:
    streams = (member.stream for member in members)
    framed = iter([stream.first for stream in streams if stream.kind == "frames"])
    for member in members:
        if not member.stream.is_sent:
            continue
        flow, packets = flows[member.stream.flow], member.packets
        near, far = (network.hosts[end].tester for end in (member.origin, member.target))
        yield Source(
            name=member.name,
            arrivals=(packets and packets.loop) or flow.arrivals
            if flow.traffic.is_answered
            else skew(flow.traffic.begin(flow.arrivals), near.skew),
            first=member.stream.first,
            connections=member.stream.connections,
            phases=flow.phases,
            sizes=CELLS if packets is None else packets.sizes,
            marks=member.marks,
            node=lowered.entry[member.origin],
            encapsulation=None if packets is None else packets.encapsulation,
            transport_bytes=0 if packets is None else packets.transport_bytes,
            call=None if packets is None else packets.call,
            monitor=Monitor(network.hosts[member.target].path, far.resolution_ps, far.overhead_ps),
            framing=Framing(flow.traffic.frame_cells, next(framed), flow.traffic.drawn)
            if flow.traffic.is_framed
            else None,
            mark_order=b"" if packets is None else packets.mark_order,
            is_tagged=member.is_tagged,
            origin=network.hosts[member.origin].path,
        )


# ---- what is recorded


def _build_measurement(case: Case, network: str, streams: Streams) -> MeasurementSpec:
    """Give each stream of each flow, and each member that a statement names, a histogram."""
    rows = [-1] * streams.indices
    populations = list(_list_populations(case, network, streams))
    whole = sorted(populations, key=lambda population: population.member is not None)
    for row, population in enumerate(whole):  # a member's row replaces that of the whole
        rows[population.first : population.stop] = [row] * (population.stop - population.first)
    followed = {
        (need, of.first, of.stop)
        for m in _list_measured(case, network)
        for need in m.needs
        if need != "payload"
        and (of := streams.select_population(m.flow, m.member, m.part)) is not None
    }
    if case.run.payload:
        followed.add(("payload", 0, streams.count))
    changes_ps = case.run.changes_ps
    return MeasurementSpec(
        start_ps=case.run.warmup_ps,
        stop_ps=case.run.warmup_ps + case.run.measure_ps,
        histogram_row=tuple(rows),
        followed=tuple(sorted(followed)),
        queues=tuple(sorted(_list_observed(case, network, "occupancy"))),
        servers=tuple(sorted(_list_observed(case, network, "utilisation"))),
        machines=tuple(sorted(_list_logged(case, network))),
        series=tuple(sorted(_list_series(case, network, streams))),
        changed_ps=case.run.warmup_ps + max(changes_ps) if changes_ps else None,
        drains=case.run.drains,
    )


def _list_series(case: Case, network: str, streams: Streams) -> set[Intervals]:
    """Return what reports ask for by intervals."""
    asked = (
        (statement.every_ps, streams.select_population(m.flow, m.member, m.part))
        for statement in case.statements
        for m in list_measurements(statement.expression)
        if m.network == network
    )
    return {Intervals(of.first, of.stop, every_ps) for every_ps, of in asked if every_ps and of}


def _list_measured(case: Case, network: str) -> Iterator[Measured]:
    """Yield what statements measure on a network."""
    for statement in case.statements:
        for measurement in list_measurements(statement.expression):
            if measurement.network == network:
                yield measurement


def _list_observed(case: Case, network: str, what: str) -> set[str]:
    """Return the paths of the elements of which statements ask for an occupancy or utilisation."""
    asked = (counted for s in case.statements for counted in list_counted(s.expression))
    return {
        counted.path
        for counted in asked
        if counted.observed.partition(".")[0] == what and counted.network == network
    }


def _list_logged(case: Case, network: str) -> set[str]:
    """Return the paths of the machines of which statements ask for single stays or intervals."""
    return {
        counted.path
        for statement in case.statements
        for counted in list_counted(statement.expression)
        if counted.network == network
        and counted.observed.startswith("machine.state.")
        and (statement.every_ps is not None or is_of_single_stays(counted.observed))
    }


def _list_places(case: Case, network: str) -> list[Place]:
    """Return the places inside of which statements measure what passes."""
    return sorted(
        {measured.place for measured in _list_measured(case, network) if measured.place is not None}
    )


def _build_taps(places: list[Place], network: Network, lowered: Lowered) -> Iterator[Tap]:
    """Yield the outputs by which items come to the places; there are none where no item passes."""
    for place in places:
        path = lowered.lines.get(network.sides.get(place.path, place.path))
        for number, node in enumerate(lowered.nodes):
            if node.path == path:
                yield Tap(place.name, number, place.output)


def _list_populations(case: Case, network: str, streams: Streams) -> Iterator[Population]:
    """Yield each stream of each flow, and the members that statements name."""
    named = {
        (m.flow, m.member, m.part) for m in _list_measured(case, network) if m.member is not None
    }
    for flow in case.flows:
        for kind in streams.list_kinds(flow.name):
            for member in (None, *range(len(flow.origins))):
                if member is None or (flow.name, member, kind) in named:
                    population = streams.select_population(flow.name, member, kind)
                    assert population is not None  # noqa: S101 -- the flow has this kind
                    yield population


def _on_path(members: Iterable[int], lowered: Lowered) -> Iterator[tuple[int, Node]]:
    """Yield the nodes that items of these members may pass, each with its number."""
    for number, (node, reach) in enumerate(zip(lowered.nodes, lowered.reach, strict=True)):
        if not reach.isdisjoint(members):
            yield number, node


def _may_pass(wire: Wire, table: Marks | None, rows: slice) -> bool:
    """Return whether items of these connections may pass, by the table of the node before it."""
    return table is None or bool((table[rows] == wire.output).any())


def _list_holders(
    population: Population, on_path: Mapping[int, Node], lowered: Lowered
) -> Iterator[str]:
    rows = slice(population.first, population.stop)
    for number, node in on_path.items():
        if node.queues:
            passed = {
                wire.input
                for wire in lowered.wires
                if wire.to == number
                if wire.node in on_path and _may_pass(wire, on_path[wire.node].outputs, rows)
            }
            yield from (node.queues[place].element for place in sorted(passed))
        elif node.element.holds or (node.clock is not None and not node.clock.stamps):
            yield node.path  # a delay begins when the line of the source sends: none is of it


def _list_discarders(on_path: Iterable[Node]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for node in on_path:
        for queue in node.queues:  # a scheduler discards nothing itself
            if queue.limit is not None:
                yield queue.element, drop_policy.list_causes(queue.drop, queue.limit)
        if node.element.discards_for:
            yield node.path, node.element.discards_for


class Cost(NamedTuple):
    """The largest number of trials and the emulated time in all."""

    trials: int
    emulated_ps: int


def _plan_phase(case: Case, phase: Phase, highest: CasePlan) -> PhasePlan:
    """Return what a phase costs at most in all repeats, and its trials at the highest load.

    Of a search, that is what its method may spend: on each goal as if it were alone, so many loads,
    each with trials for all of `total`. A search that has spent this much ends.
    """
    often, warmup_ps = case.run.repeat, highest.case.run.warmup_ps
    if isinstance(phase, Point):
        trials = often * phase.run.repeat
        cost = Cost(trials, trials * (warmup_ps + phase.run.measure_ps))
        return PhasePlan(phase, cost, highest.cells, highest.bounded)
    loads = begin(phase).most_loads
    trials_of_loads = [
        count * count_trials_of_load(goal) for count, goal in zip(loads, phase.goals, strict=True)
    ]
    lengths_ps = [warmup_ps + goal.trial_ps for goal in phase.goals]
    emulated_ps = sum(count * ps for count, ps in zip(trials_of_loads, lengths_ps, strict=True))
    cost = Cost(often * sum(trials_of_loads), often * emulated_ps)
    return PhasePlan(phase, cost, highest.cells, highest.bounded, loads)
