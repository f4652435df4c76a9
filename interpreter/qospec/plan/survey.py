"""The routes of a case's items through a network, and whether they fit; found without arrays.

`qos check` stops here, having reported what does not fit; a plan goes on.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.plan import feasibility, round_trips, tolerances, warnings
from qospec.plan.assembly import assemble
from qospec.plan.forms import FormError, Forms, Survey, form_sent
from qospec.plan.passages import Passages
from qospec.plan.paths import route_members
from qospec.plan.phases import trials_at_ends
from qospec.plan.tables import AmbiguousRouteError, Member, NoPathError, Routes
from qospec.plan.warnings import Classes
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.marks import marked

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from qospec.catalogue.form import Form
    from qospec.diagnostics import Problems
    from qospec.engine.items.connections import Contract
    from qospec.engine.line.clock import Clock
    from qospec.engine.source.traffic import Stream
    from qospec.model.expression import Value
    from qospec.model.suite import Case, Flow, Network, Suite
    from qospec.protocol.encapsulation import Encapsulation
    from qospec.protocol.parts import Part


def survey_network(case: Case, name: str, problems: Problems) -> Survey | None:
    """Return the routes of a case's items in one of its networks.

    None if they do not fit; `problems` then says why.
    """
    network = case.networks[name]
    members = tuple(_members(case.flows, network))
    routes = _routes(case, network, members, problems)
    survey = None if routes is None else _survey(case, network, members, routes, problems)
    return survey if survey is not None and _fits(case, name, survey, problems) else None


def verify(suite: Suite, problems: Problems) -> None:
    """Report what cannot be planned in a checked suite: missing paths, overloaded lines.

    Routes do not depend on rates and sizes, so cases that differ in nothing else share them.
    """
    known: dict[Hashable, Routes | None] = {}
    fitting: set[Hashable] = set()
    classes, passages = Classes(), Passages()
    for case in _plain_cases(suite, problems):
        for name, network in case.networks.items():
            members = tuple(_members(case.flows, network))
            key = (id(network), tuple(map(_route_of, members)))
            if key not in known:
                routes = known[key] = _routes(case, network, members, problems)
                if routes is not None:
                    classes.add(case, routes)
            routes = known[key]
            if routes is not None:
                passages.add(case, name, members, routes)
            streams = tuple(
                s and (s.sizes, s.encapsulation, s.loop) for s in (m.stream for m in members)
            )
            rates = () if case.run.overload else tuple(map(cell_rate, case.flows))
            contracts = tuple(member.contract for member in members)
            load = (key, streams, rates, contracts, feasibility.latencies_asked(case, name))
            if routes is None or load in fitting:
                continue
            survey = _survey(case, network, members, routes, problems)
            if survey is not None and _fits(case, name, survey, problems):
                fitting.add(load)
    for each in (*classes.unfed(), *passages.unused()):
        problems.add(each)


def _plain_cases(suite: Suite, problems: Problems) -> Iterator[Case]:
    """Yield the cases that are run; of one with phases, the trials at both ends of each phase."""
    for case in (case for test in suite.tests for case in test.cases if not case.skip):
        if not case.phases:
            yield case
        for phase in case.phases:
            yield from (made for made in trials_at_ends(case, phase, problems) if made is not None)


def _routes(
    case: Case, network: Network, members: tuple[Member, ...], problems: Problems
) -> Routes | None:
    drafts = assemble(network)
    try:
        return Routes(drafts, *route_members(network, drafts, members))
    except NoPathError as error:
        problems.add(feasibility.no_path(case, network, error))
        return None
    except AmbiguousRouteError as error:
        problems.add(feasibility.ambiguous_route(case, network, error))
        return None


def _survey(
    case: Case,
    network: Network,
    members: tuple[Member, ...],
    routes: Routes,
    problems: Problems,
) -> Survey | None:
    sent = [form_sent(member) for member in members]
    try:
        return Survey(members, Forms(sent, routes, members), *routes)
    except FormError as error:
        problems.add(feasibility.form_refused(case, network, error))
        return None


def _route_of(member: Member) -> Hashable:
    """Return what a member's route may depend on: of its contract, only which terms it has."""
    sustainable = member.contract.sustainable_cell_rate and Fraction(1)
    contract = replace(
        member.contract,
        peak_cell_rate=Fraction(1),
        cell_delay_variation_tolerance_ps=0,
        sustainable_cell_rate=sustainable,
        maximum_burst_size=1,
    )
    return replace(member, contract=contract, stream=None)


def _fits(case: Case, name: str, survey: Survey, problems: Problems) -> bool:
    unfit = [
        *feasibility.framing_mismatch(case, name, survey),
        *feasibility.uncarried_marks(case, survey.drafts, survey.reach),
        *feasibility.unknown_latency(case, name, survey),
    ]
    if not unfit and not case.run.overload:
        unfit = [*feasibility.overloads(case, case.networks[name], survey, _asked_bps)]
    doubtful = [
        *warnings.short_quanta(case.networks[name], survey),
        *warnings.small_queues(survey),
        *warnings.small_buckets(case, survey),
        *warnings.unreachable_rates(survey),
        *warnings.missing_headers(case, survey),
        *tolerances.too_small(case, survey),
        *round_trips.short_timeouts(case, survey),
    ]
    for each in (*unfit, *doubtful):
        problems.add(each)
    return not unfit


def cell_rate(flow: Flow) -> Fraction:
    """Return the cells/s of one member of a flow."""
    return Fraction(flow.arrivals.mean_rate(flow.connections))


def _asked_bps(flow: Flow, form: Form, clock: Clock) -> Fraction:
    """Return what a member of a flow asks of a line, as the line counts bits."""
    return cell_rate(flow) * 8 * _line_bytes(form, clock.encapsulation)


@functools.cache
def _line_bytes(form: Form, framed: Encapsulation | None) -> Fraction:
    """Return the mean number of bytes on a line for each item that the source sends."""
    # Cached: the cases of a sweep use the same few means, of mixes of up to hundreds of sizes.
    if framed is None:
        return form.mean_of(lambda _: CELL_BYTES)
    return form.mean_of(framed.line_bytes)


def _members(flows: tuple[Flow, ...], network: Network) -> Iterator[Member]:
    """Yield the members of all flows, each with the next connections; exchanges come last."""
    first = 0
    drafted = [each for flow in enumerate(flows) for each in _parts(*flow, network)]
    for member in sorted(drafted, key=lambda each: not each.is_routed):
        yield replace(member, first=first)
        first += member.connections


def _parts(number: int, flow: Flow, network: Network) -> Iterator[Member]:
    """Yield the members of a flow; of one between endpoints, all of one part after another."""
    stream = flow.stream
    parts: list[tuple[Part, Stream | None]] = [("user", stream)]
    if stream is not None and stream.answers is not None:
        parts += [("answers", stream.answers), ("exchanges", stream)]
    for part, sent in parts:
        contract, marks, asked = _sent(flow) if sent is None else _sent_in(sent)
        for turn, ends in enumerate(zip(flow.origins, flow.targets, strict=True)):
            origin, target = map(network.host, ends[::-1] if part == "answers" else ends)
            name = flow.name if len(flow.origins) == 1 else f"{flow.name}[{turn}]"
            if part != "user":
                name = f"{name}.{part}"
            many = flow.connections
            yield Member(number, name, origin, target, 0, many, contract, marks, asked, part, sent)


def _sent(flow: Flow) -> tuple[Contract, int, tuple[tuple[str, Value], ...]]:
    """Return the contract of a flow of cells, their marks, and what else a classifier asks."""
    contract = flow.traffic.contract()
    asked = (("category", contract.category), ("virtual_path", Fraction(flow.virtual_path)))
    return contract, marked(clp=flow.clp), asked


def _sent_in(stream: Stream) -> tuple[Contract, int, tuple[tuple[str, Value], ...]]:
    """Return the same of packets."""
    return stream.contract, stream.marks, tuple(sorted(stream.header_fields.items()))
