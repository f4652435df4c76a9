"""Where the cells of a case go in a network, and whether that fits: found without arrays.

A plan goes on from here; `qos check` tells what does not fit, and leaves it at that.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.engine.source.sizes import mean_bytes
from qospec.plan import feasibility, tolerances, warnings
from qospec.plan.assembly import drafted
from qospec.plan.paths import partition_by_table
from qospec.plan.tables import Member, NoWayError, TwoWaysError
from qospec.plan.warnings import Classes
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.marks import marked

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from qospec.diagnostics import Problems
    from qospec.engine.items.connections import Contract
    from qospec.engine.line.clock import Clock
    from qospec.model.expression import Value
    from qospec.model.suite import Case, Flow, Network, Suite
    from qospec.plan.assembly import Drafts
    from qospec.plan.tables import Passing, Table


class Survey(NamedTuple):
    """A network with the ways of a case's cells.

    Attributes:
        members: Each origin and target of each flow.
        drafts: The elements in place.
        tables: Which output cells take, of every router and classifier.
        passing: Where cells pass.
    """

    members: tuple[Member, ...]
    drafts: Drafts
    tables: dict[int, Table]
    passing: Passing


def surveyed(case: Case, name: str, problems: Problems) -> Survey | None:
    """Return where the cells of a case go in one of its networks.

    None if it does not fit, which is in `problems`.
    """
    network = case.networks[name]
    members = tuple(_members(case.flows, network))
    survey = _ways(case, network, members, problems)
    return survey if survey is not None and _fits(case, name, survey, problems) else None


def verify(suite: Suite, problems: Problems) -> None:
    """Tell what of a checked suite cannot be planned: no way, or a line asked for too much.

    Ways do not hang on rates, so those of cases that differ in nothing else are looked for once.
    """
    ways: dict[Hashable, Survey | None] = {}
    fitting: set[Hashable] = set()
    classes = Classes()
    for case in (case for test in suite.tests for case in test.cases if not case.skip):
        for name, network in case.networks.items():
            members = tuple(_members(case.flows, network))
            key = (id(network), tuple(map(_way_of, members)))
            if key not in ways:
                survey = ways[key] = _ways(case, network, members, problems)
                if survey is not None:
                    classes.add(case, survey)
            survey = ways[key]
            streams = tuple(
                s and (s.sizes, s.encapsulation) for s in (f.stream for f in case.flows)
            )
            rates = () if case.run.overload else tuple(map(cell_rate, case.flows))
            contracts = tuple(member.contract for member in members)
            load = (key, streams, rates, contracts)
            if survey is None or load in fitting:
                continue
            if _fits(case, name, survey._replace(members=members), problems):
                fitting.add(load)
    for each in classes.unfed():
        problems.add(each)


def _ways(
    case: Case, network: Network, members: tuple[Member, ...], problems: Problems
) -> Survey | None:
    drafts = drafted(network)
    try:
        return Survey(members, drafts, *partition_by_table(network, drafts, members))
    except NoWayError as error:
        problems.add(feasibility.no_way(case, network, error))
        return None
    except TwoWaysError as error:
        problems.add(feasibility.two_ways(case, network, error))
        return None


def _way_of(member: Member) -> Hashable:
    """Return all of a member that its way may hang on: of its contract, what there is of it."""
    sustainable = member.contract.sustainable_cell_rate and Fraction(1)
    contract = replace(
        member.contract,
        peak_cell_rate=Fraction(1),
        cell_delay_variation_tolerance_ps=0,
        sustainable_cell_rate=sustainable,
        maximum_burst_size=1,
    )
    return replace(member, contract=contract)


def _fits(case: Case, name: str, survey: Survey, problems: Problems) -> bool:
    unfit = [
        *feasibility.unlike_framing(case, name, survey.drafts, survey.passing, survey.members),
        *feasibility.marks_without_place(case, survey.drafts, survey.passing),
    ]
    if not unfit and not case.run.overload:
        passing, network = survey.passing, case.networks[name]
        drafts, members = survey.drafts, survey.members
        unfit = [*feasibility.overloads(case, network, drafts, passing, members, _asked_bps)]
    doubtful = [
        *warnings.short_turns(case, case.networks[name], survey),
        *warnings.small_queues(case, survey),
        *warnings.small_buckets(case, survey),
        *warnings.unreached_rates(survey),
        *tolerances.too_small(case, survey),
    ]
    for each in (*unfit, *doubtful):
        problems.add(each)
    return not unfit


def cell_rate(flow: Flow) -> Fraction:
    """Return the cells/s of one member of a flow."""
    return Fraction(flow.arrivals.mean_cell_rate(flow.connections))


def _asked_bps(flow: Flow, clock: Clock) -> Fraction:
    """Return what a member of a flow asks of a line, as the line counts bits."""
    framed = clock.encapsulation
    if flow.stream is None or framed is None:
        return cell_rate(flow) * CELL_BYTES * 8
    return cell_rate(flow) * 8 * mean_bytes(flow.stream.sizes, framed, "line", 0)


def _members(flows: tuple[Flow, ...], network: Network) -> Iterator[Member]:
    first = 0
    for number, flow in enumerate(flows):
        contract, marks, asked = _sent(flow)
        for turn, (origin, target) in enumerate(zip(flow.origins, flow.targets, strict=True)):
            yield Member(
                number,
                flow.name if len(flow.origins) == 1 else f"{flow.name}[{turn}]",
                network.host(origin),
                network.host(target),
                first,
                flow.connections,
                contract,
                marks,
                asked,
            )
            first += flow.connections


def _sent(flow: Flow) -> tuple[Contract, int, tuple[tuple[str, Value], ...]]:
    """Return a flow's contract, what its items are marked with, and what else a classifier asks."""
    if flow.stream is not None:
        stream = flow.stream
        return stream.contract, stream.marks, tuple(sorted(stream.asked.items()))
    contract = flow.traffic.contract()
    asked = (("category", contract.category), ("virtual_path", Fraction(flow.virtual_path)))
    return contract, marked(clp=flow.clp), asked
