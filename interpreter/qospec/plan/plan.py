"""From the checked specification to experiments: the one module that knows both halves.

A plan says, before anything runs, which trials there are and how many items they send at most, and
rejects what does not fit: no path between hosts, an overloaded line, a loop without delay, a trial
beyond the limit. A population is what is measured as one, such as the flow `ab` or its OAM cells
`ab.oam`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.dataclass import dataclass
from qospec.engine.experiment import Experiment, Intervals, MeasurementSpec, Source
from qospec.engine.graph.emulation import zero_delay_cycle
from qospec.engine.items.connections import Connections
from qospec.engine.queue import drop_policy
from qospec.engine.source.sizes import CELLS
from qospec.model.expression import counted, measurements
from qospec.plan import feasibility
from qospec.plan.lowering import Lowered, lower
from qospec.plan.survey import cell_rate, survey_network
from qospec.protocol.atm import PLANES
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qospec.diagnostics import Diagnostic, Problems
    from qospec.model.expression import Measured
    from qospec.model.suite import Case, Flow, Goal, Network, Search, Suite, Test
    from qospec.plan.tables import Member
    from qospec.protocol.atm import Plane


@dataclass(frozen=True)
class Bounds:
    """What a plan may cost. `most_items` is per trial; the command's `--max-cells` raises it."""

    most_items: int = 10**9


@dataclass(frozen=True)
class Planned:
    """One network of a case, ready to run.

    Attributes:
        experiment: With the seed's names up to the case; a repeat adds its own.
        populations: What is measured, by name.
        discarders: By flow, the elements on its paths that may discard: (path, causes); of a
            scheduler, the queues before it.
        lines: As of `Lowered`.
        packets: The flows of packets.
    """

    experiment: Experiment
    populations: dict[str, Population]
    discarders: dict[str, tuple[tuple[str, tuple[str, ...]], ...]]
    lines: dict[str, str]
    packets: frozenset[str] = frozenset()


@dataclass(frozen=True)
class CasePlan:
    """A case, ready to run: its networks under "" and the controls' names.

    `cells` is the number of items that each trial sends: at most if `bounded`, else on average.
    `refusal` says why the case cannot be executed.
    """

    test: str
    case: Case
    networks: dict[str, Planned]
    cells: int
    bounded: bool = True
    refusal: Diagnostic | None = None

    @property
    def cost(self) -> Cost:
        """Return how many trials the case takes, and how much emulated time; a search, at most."""
        if self.case.search is not None and self.networks:
            return cost(self.case, self.case.search)
        run = self.case.run
        trials = len(self.networks) * run.repeat
        return Cost(trials, trials * (run.warmup_ps + run.measure_ps))

    @property
    def trials(self) -> int:
        """Return how many trials the case takes, at most."""
        return self.cost.trials


def plan(suite: Suite, seed: str, bounds: Bounds, problems: Problems) -> tuple[CasePlan, ...]:
    """Return the plan of every case; what does not fit is in `problems`.

    The plan of a case that is left out holds no networks.
    """
    plans = []
    for test in suite.tests:
        for case in test.cases:
            found = (
                CasePlan(test.name, case, {}, 0)
                if case.skip
                else _case(test, case, seed, bounds, problems)
            )
            if found is not None:
                plans.append(found)
    return tuple(plans)


def _case(test: Test, case: Case, seed: str, bounds: Bounds, problems: Problems) -> CasePlan | None:
    length_ps = case.run.warmup_ps + case.run.measure_ps
    sent = [_sent(flow, length_ps) for flow in case.flows]
    cells = round(sum(count for count, _ in sent))
    if cells > bounds.most_items:
        problems.add(feasibility.too_many_cells(test, case, cells, bounds.most_items))
        return None
    networks = {}
    for name, network in case.networks.items():
        draws = test.name if case.run.common_draws else case.name
        planned = _network(case, network, name, (seed, draws), problems)
        if planned is None:
            return None
        networks[name] = planned
    bounded = all(bound for _, bound in sent)
    return CasePlan(test.name, case, networks, cells, bounded, feasibility.unsupported(test, case))


def _sent(flow: Flow, length_ps: int) -> tuple[Fraction, bool]:
    """Return how many cells a flow sends at most, and true; on average, and false, if random."""
    most = flow.arrivals.most_items(flow.connections, length_ps)
    each = cell_rate(flow) * length_ps / PS_PER_S if most is None else Fraction(most)
    return len(flow.origins) * each, most is not None


def _network(
    case: Case, network: Network, name: str, seed: tuple[str, ...], problems: Problems
) -> Planned | None:
    survey = survey_network(case, name, problems)
    if survey is None:
        return None
    members = survey.members
    connections = Connections(
        contracts=tuple(c for m in members for c in [m.contract] * m.connections),
        flow=tuple(i for m in members for i in [m.flow] * m.connections),
        planes=_planes(network),
    )
    lowered = lower(network, survey, connections)
    loop = zero_delay_cycle(lowered.nodes, lowered.wires)
    if loop is not None:
        problems.add(feasibility.loop(loop, network, case))
        return None
    experiment = Experiment(
        connections=connections,
        sources=tuple(_sources(case.flows, members, lowered)),
        nodes=lowered.nodes,
        wires=lowered.wires,
        measurement=_measurement(case, name, connections, members),
        seed=seed,
    )
    return Planned(
        experiment,
        {p.name: p for p in _populations(case, name, connections, members)},
        {flow.name: tuple(_discarders(i, lowered, members)) for i, flow in enumerate(case.flows)},
        lowered.lines,
        frozenset(flow.name for flow in case.flows if flow.stream is not None),
    )


def _planes(network: Network) -> tuple[Plane, ...]:
    """Return the planes in use: that of user items, and those of which something is inserted."""
    inserted = {plane for each in network.elements for plane in each.element.inserts}
    return tuple(plane for plane in PLANES if plane == "user" or plane in inserted)


def _sources(
    flows: tuple[Flow, ...], members: tuple[Member, ...], lowered: Lowered
) -> Iterator[Source]:
    for member in members:
        flow = flows[member.flow]
        stream = flow.stream
        yield Source(
            name=member.name,
            arrivals=flow.arrivals,
            first=member.first,
            connections=member.connections,
            phases=flow.phases,
            sizes=CELLS if stream is None else stream.sizes,
            marks=member.marks,
            node=lowered.entry[member.origin],
            encapsulation=None if stream is None else stream.encapsulation,
            transport_bytes=0 if stream is None else stream.transport_bytes,
        )


# ---- what is recorded


def _measurement(
    case: Case, network: str, connections: Connections, members: tuple[Member, ...]
) -> MeasurementSpec:
    """Give each plane of each flow, and each member that a statement names, a histogram."""
    planes, flows = range(len(connections.planes)), len(case.flows)
    rows = [plane * flows + flow for plane in planes for flow in connections.flow]
    fresh = len(planes) * flows
    populations = list(_populations(case, network, connections, members))
    for population in populations:
        if population.member is not None:
            rows[population.first : population.stop] = [fresh] * (
                population.stop - population.first
            )
            fresh += 1
    named = {population.name: population for population in populations}
    followed = {
        (need, named[of].first, named[of].stop)
        for m in _measured(case, network)
        for need in m.needs
        if (of := population_name(m.flow, m.member, m.plane)) in named
    }
    return MeasurementSpec(
        start_ps=case.run.warmup_ps,
        stop_ps=case.run.warmup_ps + case.run.measure_ps,
        histogram_row=tuple(rows),
        followed=tuple(sorted(followed)),
        queues=tuple(sorted(_queues(case, network))),
        series=tuple(sorted(_series(case, network, named))),
    )


def _series(case: Case, network: str, named: Mapping[str, Population]) -> set[Intervals]:
    """Return what reports ask for by intervals."""
    asked = (
        (statement.every_ps, named.get(population_name(m.flow, m.member, m.plane)))
        for statement in case.statements
        for m in measurements(statement.expression)
        if m.network == network
    )
    return {Intervals(of.first, of.stop, every_ps) for every_ps, of in asked if every_ps and of}


def _measured(case: Case, network: str) -> Iterator[Measured]:
    """Yield what statements measure on a network."""
    for statement in case.statements:
        for each in measurements(statement.expression):
            if each.network == network:
                yield each


def _queues(case: Case, network: str) -> set[str]:
    """Return the paths of the queues of which statements ask how much waits there."""
    asked = (each for s in case.statements for each in counted(s.expression))
    return {each.path for each in asked if each.occupancy and each.network == network}


def _populations(
    case: Case, network: str, connections: Connections, members: tuple[Member, ...]
) -> Iterator[Population]:
    """Yield each plane of each flow, and the members that statements name."""
    named = {(m.flow, m.member, m.plane) for m in _measured(case, network) if m.member is not None}
    for number, flow in enumerate(case.flows):
        mine = [member for member in members if member.flow == number]
        for plane in connections.planes:
            shift = connections.index(0, plane)
            last = mine[-1].first + flow.connections
            shares = flow.connections if len(mine) > 1 else 1
            yield Population(flow.name, None, plane, mine[0].first + shift, last + shift, shares)
            for turn, member in enumerate(mine):
                if (flow.name, turn, plane) in named:
                    first = member.first + shift
                    yield Population(flow.name, turn, plane, first, first + flow.connections)


def _discarders(
    flow: int, lowered: Lowered, members: tuple[Member, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    mine = {number for number, member in enumerate(members) if member.flow == flow}
    for node, reach in zip(lowered.nodes, lowered.reach, strict=True):
        if not mine & reach:
            continue
        for queue in node.queues:  # a scheduler discards nothing itself
            if queue.limit is not None:
                yield queue.element, drop_policy.causes(queue.drop, queue.limit)
        if node.element.discards_for:
            yield node.path, node.element.discards_for


@dataclass(frozen=True)
class Population:
    """A range of connection indices that is measured as one.

    What it carries is divided among members of `each` connections.
    """

    flow: str
    member: int | None
    plane: Plane
    first: int
    stop: int
    each: int = 1

    @property
    def name(self) -> str:
        """Return how a statement names it."""
        return population_name(self.flow, self.member, self.plane)


def population_name(flow: str, member: int | None, plane: Plane) -> str:
    """Return how a statement names a flow, a member of it, or its OAM cells."""
    index = "" if member is None else f"[{member}]"
    return f"{flow}{index}{'' if plane == 'user' else f'.{plane}'}"


class Cost(NamedTuple):
    """The largest number of trials and the emulated time in all."""

    trials: int
    emulated_ps: int


def cost(case: Case, search: Search) -> Cost:
    """Return what the search of a case may cost at most, in all repeats and on its controls.

    In the worst case each goal is searched by itself: at both ends of the range, then by bisection
    on a logarithmic scale until the bounds are as close as its width, each load for all of `total`.
    A search that has spent this much ends.
    """
    often = len(case.networks) * case.run.repeat
    trials = {goal: loads(search, goal) * trials_of_a_load(goal) for goal in search.goals}
    length_ps = {goal: case.run.warmup_ps + goal.trial_ps for goal in search.goals}
    emulated_ps = sum(count * length_ps[goal] for goal, count in trials.items())
    return Cost(often * sum(trials.values()), often * emulated_ps)


def loads(search: Search, goal: Goal) -> int:
    """Return the largest number of loads that a search tries for one goal."""
    span = search.high / search.low  # more than a float holds, it may be
    steps = (math.log(span.numerator) - math.log(span.denominator)) / -math.log1p(
        -float(goal.width)
    )
    return 2 + max(0, math.ceil(math.log2(steps)))


def trials_of_a_load(goal: Goal) -> int:
    """Return the number of trials that fill the total length of a load."""
    return -(-goal.total_ps // goal.trial_ps)
