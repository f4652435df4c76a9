"""Where the cells of a case go in a network, and whether that fits: found without arrays.

A plan goes on from here; `qos check` tells what does not fit, and leaves it at that.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.run import misfits
from qospec.run.draft import drafted
from qospec.run.routing import routed
from qospec.run.tables import Member, NoWayError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from qospec.diagnostics import Problems
    from qospec.model import Case, Flow, Network, Suite
    from qospec.run.draft import Drafts
    from qospec.run.tables import Passing, Table

CELL_BYTES = 53


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


def surveyed(case: Case, network: Network, problems: Problems) -> Survey | None:
    """Return where the cells of a case go; None if it does not fit, which is in `problems`."""
    members = tuple(_members(case.flows, network))
    survey = _ways(case, network, members, problems)
    return survey if survey is not None and _fits(case, network, survey, problems) else None


def verify(suite: Suite, problems: Problems) -> None:
    """Tell what of a checked suite cannot be planned: no way, or a line asked for too much.

    Ways do not hang on rates, so those of cases that differ in nothing else are looked for once.
    """
    ways: dict[Hashable, Survey | None] = {}
    fitting: set[Hashable] = set()
    for case in (case for test in suite.tests for case in test.cases if not case.skip):
        for network in case.networks.values():
            members = tuple(_members(case.flows, network))
            key = (id(network), tuple(map(_way_of, members)))
            if key not in ways:
                ways[key] = _ways(case, network, members, problems)
            survey = ways[key]
            load = (key, () if case.run.overload else tuple(_asked_bps(case, members)))
            if (
                survey is not None
                and load not in fitting
                and _fits(case, network, survey._replace(members=members), problems)
            ):
                fitting.add(load)


def _ways(
    case: Case, network: Network, members: tuple[Member, ...], problems: Problems
) -> Survey | None:
    drafts = drafted(network)
    try:
        return Survey(members, drafts, *routed(network, drafts, members))
    except NoWayError as error:
        problems.add(misfits.no_way(case, network, error))
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


def _fits(case: Case, network: Network, survey: Survey, problems: Problems) -> bool:
    if case.run.overload:
        return True
    asked = _asked_bps(case, survey.members)
    overloads = [
        *misfits.overloads(case, network, survey.drafts, survey.passing, survey.members, asked)
    ]
    for overload in overloads:
        problems.add(overload)
    return not overloads


def cell_rate(flow: Flow) -> Fraction:
    """Return the cells/s of one member of a flow."""
    return Fraction(flow.arrivals.mean_cell_rate(flow.connections))


def _asked_bps(case: Case, members: tuple[Member, ...]) -> list[Fraction]:
    """Return what each member asks of each line that it passes."""
    rates = [cell_rate(flow) * CELL_BYTES * 8 for flow in case.flows]
    return [rates[member.flow] for member in members]


def _members(flows: tuple[Flow, ...], network: Network) -> Iterator[Member]:
    first = 0
    for number, flow in enumerate(flows):
        contract = flow.traffic.contract()
        for turn, (origin, target) in enumerate(zip(flow.origins, flow.targets, strict=True)):
            yield Member(
                number,
                flow.name if len(flow.origins) == 1 else f"{flow.name}[{turn}]",
                network.host(origin),
                network.host(target),
                first,
                flow.connections,
                contract,
                flow.clp,
                flow.virtual_path,
            )
            first += flow.connections
