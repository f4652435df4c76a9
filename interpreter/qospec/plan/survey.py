"""The routes of a case's items through a network, and whether they fit; found without arrays.

`qos check` stops here, having reported what does not fit; a plan goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.diagnostics import Problems
from qospec.plan import channels, round_trips
from qospec.plan.assembly import assemble
from qospec.plan.changes import find_too_many_ways, list_stages, with_changes
from qospec.plan.findings import feasibility, marks, slots, too_large, warnings
from qospec.plan.findings.classes import UsedClasses
from qospec.plan.findings.slots import Arbitrations
from qospec.plan.findings.uses import tell_at_use
from qospec.plan.forms import (
    FormError,
    Forms,
    Survey,
    UnfitExchangeError,
    build_sent_form,
    copy_survey,
    frame_elements,
    limit_segments,
)
from qospec.plan.offered import (
    MOST_ITEMS,
    build_members,
    compute_asked_bps,
    compute_cell_rate,
    count_items,
    find_begun_together,
)
from qospec.plan.passages import Passages
from qospec.plan.paths import route_members
from qospec.plan.pauses import find_unheard_pauses
from qospec.plan.phases import (
    Examined,
    ExaminedPhase,
    check_ends,
    gather_at_use,
    make_trials_between,
)
from qospec.plan.tables import AmbiguousRouteError, Member, NoPathError, Routes
from qospec.plan.tags import insert_tags
from qospec.plan.waits import find_never_heard, find_waits

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterator, Sequence

    from qospec.diagnostics import Diagnostic
    from qospec.model.checked import CheckedSuite
    from qospec.model.suite import Case, Network, Suite, Test
    from qospec.source import Span


class Overall:
    """What is so in no case of a suite: told once all of its cases have been surveyed."""

    def __init__(self) -> None:
        self._classes, self._passages = UsedClasses(), Passages()
        self._arbitrations = Arbitrations()
        self._known: dict[Hashable, Network] = {}

    def add(self, case: Case, name: str, members: Sequence[Member], routes: Routes) -> None:
        """Note what is so in one of a case's networks."""
        network = case.networks[name]
        key = (id(network), tuple(map(_build_route_key, members)))
        if key not in self._known:
            self._known[key] = network  # kept, so that no other network gets its identity
            self._classes.add(case, routes)
        self._passages.add(case, name, members, routes)
        self._arbitrations.add(case, members, routes)

    def report(self, problems: Problems) -> None:
        """Report classes that no case uses, places that nothing passes, idle arbitrations."""
        found = Problems()
        for problem in (
            *self._classes.find_unfed(),
            *self._passages.find_unused(),
            *self._arbitrations.find_idle(),
        ):
            found.add(problem)
        tell_at_use(found, self._known.values(), problems)


class KnownSurveys:
    """What was found of cases that have a network, and differ from others in rates alone.

    Routes do not depend on rates and sizes, so cases that differ in nothing else share them. What
    arrives where does not depend on rates: cases of a test that differ only in these share it.
    """

    def __init__(self) -> None:
        self._networks: dict[int, Network] = {}
        self._routes: dict[Hashable, Routes | None] = {}
        self._formed: dict[Hashable, tuple[Survey, bool] | None] = {}
        self._fitting: set[Hashable] = set()

    @property
    def networks(self) -> Collection[Network]:
        """Return the networks, which are kept so that no other gets the identity of one."""
        return self._networks.values()

    def find_routes(
        self, case: Case, name: str, members: tuple[Member, ...], problems: Problems
    ) -> Routes | None:
        """Return the routes of a case's members; None if there are none, which is told once."""
        network = case.networks[name]
        self._networks[id(network)] = network
        key = (id(network), tuple(map(_build_route_key, members)))
        if key not in self._routes:
            self._routes[key] = _find_routes(case, network, members, problems)
        return self._routes[key]

    def find_form(
        self,
        case: Case,
        name: str,
        members: tuple[Member, ...],
        routes: Routes,
        problems: Problems,
    ) -> Survey | None:
        """Return what arrives where; None if that, or the rates, do not fit, which is told once."""
        limited = _limit_members(case, members, routes, problems)
        if limited is None:
            return None
        sent = tuple(map(_build_size_key, limited))
        latencies = feasibility.list_flows_with_latencies(case, name)
        form = (id(routes), sent, latencies, name, case.run.payload, *_list_flow_keys(case))
        load = (form, *_list_load_keys(case, members, routes))
        fits = load in self._fitting
        if form not in self._formed:
            survey = _survey(case, case.networks[name], limited, routes, problems)
            is_formed = survey is not None and _check_forms(case, name, survey, problems)
            self._formed[form] = survey and (survey, is_formed)
        found = self._formed[form]
        if found is None:
            return None
        _check_beginnings(case, problems)
        survey = found[0]._replace(members=limited)
        if not fits and not _load_fits(case, name, survey, problems, formed=found[1]):
            return None
        self._fitting.add(load)
        return survey


def survey_network(
    case: Case,
    name: str,
    problems: Problems,
    overall: Overall | None = None,
    known: KnownSurveys | None = None,
) -> Survey | None:
    """Return the routes of a case's items in one of its networks.

    None if they do not fit; `problems` then says why. What they are is added to `overall`, if it is
    given. What is `known` of other cases is taken from there, and copied, since a plan consumes it.
    """
    found, network = Problems(), case.networks[name]
    survey = _survey_network(case, name, found, overall, known)
    tell_at_use(found, [network], problems)
    return survey if survey is None or known is None else copy_survey(survey)


def _survey_network(
    case: Case, name: str, problems: Problems, overall: Overall | None, known: KnownSurveys | None
) -> Survey | None:
    network = case.networks[name]
    members = tuple(build_members(case.flows, network, case.run))
    if not _check_testers(case, network, members, problems):
        return None
    routes = (
        _find_routes(case, network, members, problems)
        if known is None
        else known.find_routes(case, name, members, problems)
    )
    if routes is None:
        return None
    if overall is not None:
        overall.add(case, name, members, routes)
    if known is not None:
        return known.find_form(case, name, members, routes, problems)
    limited = _limit_members(case, members, routes, problems)
    if limited is None:
        return None
    survey = _survey(case, network, limited, routes, problems)
    if survey is None:
        return None
    formed = _check_forms(case, name, survey, problems)
    _check_beginnings(case, problems)
    return survey if _load_fits(case, name, survey, problems, formed=formed) else None


def verify(
    checked: CheckedSuite, problems: Problems, most_items: int = MOST_ITEMS
) -> list[Examined]:
    """Report what cannot be planned in a checked suite: missing paths, overloaded lines.

    Nor trials that would send more than `most_items`.

    Returns the cases that are run.
    """
    found, known = Problems(), KnownSurveys()
    examined = _verify(checked, found, most_items, known)
    tell_at_use(found, known.networks, problems)
    return examined


def _verify(
    checked: CheckedSuite, problems: Problems, most_items: int, known: KnownSurveys
) -> list[Examined]:
    """Return the cases that are run, and add what is found of them; see `verify`."""
    overall = Overall()
    examined: list[Examined] = []
    plain = _list_plain_cases(checked, problems, examined, most_items)
    for case, name, network in ((one, *named) for one in plain for named in one.networks.items()):
        members = tuple(build_members(case.flows, network, case.run))
        routes = known.find_routes(case, name, members, problems)
        if routes is None or not _check_testers(case, network, members, problems):
            continue
        overall.add(case, name, members, routes)
        known.find_form(case, name, members, routes, problems)
    overall.report(problems)
    return examined


def list_in_batches(suite: Suite) -> list[Test]:
    """Return the tests that have elements without a transition, which no loop may have.

    Whether one does is known once it is planned. Elements of the package may be in any loop.
    """
    return [
        test
        for test in suite.tests
        if any(
            element.element.build_transition is None
            for case in test.cases
            for network in case.networks.values()
            for element in network.elements
        )
    ]


def _list_plain_cases(
    checked: CheckedSuite, problems: Problems, examined: list[Examined], most_items: int
) -> Iterator[Case]:
    """Yield the cases that are run; of one with phases, the trials at both ends of each phase.

    Those that are run are added to `examined`.
    """
    for test in checked.suite.tests:
        for case in (case for case in test.cases if not case.skip):
            if not case.phases:
                for problem in _find_too_large(case, test.span, most_items):
                    problems.add(problem)
                yield case
                examined.append(Examined(case, test.span))
                continue
            unfit, phases, maker = Problems(), [], checked.makers[case.name]
            for phase in case.phases:
                ends = check_ends(maker, phase, unfit)
                yield from ends or ()
                if ends:
                    for problem in _find_too_large(ends.high, phase.span, most_items):
                        unfit.add(problem)
                    yield from make_trials_between(maker, phase, unfit)
                phases.append(
                    ExaminedPhase(phase, tuple(f for end in ends or () for f in end.flows))
                )
            for problem in gather_at_use(unfit.all, maker):
                problems.add(problem)
            examined.append(Examined(case, test.span, tuple(phases), maker))


def _find_too_large(trial: Case, span: Span, most_items: int) -> Iterator[Diagnostic]:
    items, _ = count_items(with_changes(trial))
    if items > most_items:
        yield feasibility.report_too_many_items(span, trial, items, most_items)


def _check_testers(
    case: Case, network: Network, members: Sequence[Member], problems: Problems
) -> bool:
    """Return whether hosts can send what flows ask of them; `problems` says what they cannot."""
    unfit = [
        *feasibility.find_too_slow_to_send(case, network, members),
        *feasibility.find_too_many_of_aal5(case, network, members),
        *find_too_many_ways(case, members),
    ]
    for problem in unfit:
        problems.add(problem)
    return not unfit


def _find_routes(
    case: Case, network: Network, members: tuple[Member, ...], problems: Problems
) -> Routes | None:
    drafts = assemble(network)
    streams = (member.stream for member in members if member.is_tagged)
    tagged = tuple((stream.first, stream.stop) for stream in streams)
    insert_tags(drafts, {host.line for host in network.hosts}, tagged)
    try:
        routes = Routes(drafts, *route_members(network, drafts, members))
        frame_elements(routes, members)
    except FormError as error:
        problems.add(feasibility.report_refused_form(case, network, error, drafts))
        return None
    except NoPathError as error:
        problems.add(feasibility.report_missing_path(case, network, error))
        return None
    except AmbiguousRouteError as error:
        problems.add(feasibility.report_ambiguous_route(case, network, error))
        return None
    return routes


def _limit_members(
    case: Case, members: tuple[Member, ...], routes: Routes, problems: Problems
) -> tuple[Member, ...] | None:
    """Return members whose packets are as large as their ways let them be; None if that is told."""
    try:
        return limit_segments(members, case.flows, routes.drafts, routes.reach)
    except UnfitExchangeError as error:
        problems.add(feasibility.report_unfit_exchange(case, error))
        return None


def _survey(
    case: Case,
    network: Network,
    members: tuple[Member, ...],
    routes: Routes,
    problems: Problems,
) -> Survey | None:
    sent = [build_sent_form(member) for member in members]
    try:
        return Survey(members, Forms(sent, routes, members), *routes)
    except FormError as error:
        problems.add(feasibility.report_refused_form(case, network, error, routes.drafts))
        return None


def _build_route_key(member: Member) -> Hashable:
    """Return what a member's route may depend on: of its contract, only which terms it has."""
    contract = {
        **vars(member.contract),
        "peak_cell_rate": None,
        "cell_delay_variation_tolerance_ps": None,
        "sustainable_cell_rate": member.contract.sustainable_cell_rate is not None,
        "maximum_burst_size": None,
    }
    sent = {"contract": tuple(contract.values()), "packets": member.is_tagged}
    facts = {**vars(member), **sent}
    return tuple(facts.values())


def _build_size_key(member: Member) -> Hashable:
    """Return what the form of a member's items, and the times of its endpoints, depend on."""
    sent = member.packets
    return sent and (
        sent.sizes,
        sent.header_fields["family"],
        sent.encapsulation,
        sent.loop,
        sent.dont_fragment,
    )


def _list_load_keys(case: Case, members: tuple[Member, ...], routes: Routes) -> Iterator[Hashable]:
    """Yield what the load of lines, or what policers find, may depend on beside forms.

    And the use of associations that end.
    """
    may_be_policed = any(member.contract.category != "packets" for member in members)
    unloaded = case.run.overload and not may_be_policed
    yield () if unloaded else tuple(map(compute_cell_rate, case.flows))
    yield may_be_policed and case.run.measure_ps
    yield tuple(member.contract for member in members)
    yield any(draft.element.rekeying for draft in routes.drafts.values()) and tuple(
        list_stages(case)
    )


def _list_flow_keys(case: Case) -> Iterator[Hashable]:
    """Yield what messages say of flows, and where: the same in all cases of a test, as a rule.

    And how long an endpoint waits, and how much it says.
    """
    for flow in case.flows:
        yield flow.name, flow.span, flow.packets and flow.packets.size_field, *flow.places.items()
        yield flow.arrivals.timeout_ps if flow.traffic.is_answered else None
        yield tuple(getattr(flow.traffic, name, 0) for name in ("transfer", "request", "response"))


def _check_beginnings(case: Case, problems: Problems) -> None:
    """Warn of flows that begin together, or too late: of each case, as the times are its own."""
    for problem in (*find_begun_together(case), *round_trips.find_begun_too_late(case)):
        problems.add(problem)


def _check_forms(case: Case, name: str, survey: Survey, problems: Problems) -> bool:
    """Report what does not fit of what arrives where, at any rates; return whether all does."""
    unfit = [
        *feasibility.find_framing_mismatches(case, name, survey),
        *(
            [*marks.find_uncarried_marks(case, survey.drafts, survey.reach)]
            or marks.find_lost_identifiers(case, survey)
        ),
        *marks.find_misplaced_tags(case, survey),
        *feasibility.find_unknown_latencies(case, name, survey),
        *feasibility.find_left_in_parts(case, survey),
        *feasibility.find_untold(case, survey),
        *feasibility.find_repeated_keys(case, survey),
        *warnings.find_unfit_schedulers(case.networks[name], survey),
        *channels.find_disagreements(case.networks[name], survey),
        *channels.find_shared_addresses(case.networks[name], survey),
    ]
    doubtful = [
        *warnings.find_short_quanta(case.networks[name], survey),
        *warnings.find_small_queues(survey),
        *warnings.find_small_buckets(case, survey),
        *warnings.find_unreachable_rates(survey),
        *warnings.find_missing_headers(case, survey),
        *warnings.find_refused_by_receivers(case, survey),
        *warnings.find_left_encrypted(case, survey),
        *warnings.find_unauthenticated(survey),
        *warnings.find_unverified(survey),
        *warnings.find_idle_faults(case, survey),
        *warnings.find_idle_contracts(case, survey),
        *warnings.find_taken_for_one(case, survey),
        *too_large.find_all_too_large(case, survey),
        *too_large.find_full_segments(case, survey),
        *find_never_heard(case.networks[name], find_waits(survey.members, case.networks[name])),
        *channels.find_missing_places(case, case.networks[name], survey),
        *find_unheard_pauses(survey.members, case.networks[name]),
        *round_trips.find_short_timeouts(case, survey),
    ]
    for problem in (*unfit, *doubtful):
        problems.add(problem)
    return not unfit


def _load_fits(case: Case, name: str, survey: Survey, problems: Problems, *, formed: bool) -> bool:
    """Report what does not fit of the rates of flows; return whether all of the case does.

    Lines are compared with what is asked of them if it is `formed` as they take it.
    """
    unfit = []
    if formed and not case.run.overload:
        unfit = [*feasibility.find_overloads(case, case.networks[name], survey, compute_asked_bps)]
    doubtful = [
        *warnings.find_late_keys(case, survey),
        *slots.find_too_small(case, survey),
        *slots.find_idle_policers(case, survey),
    ]
    for problem in (*unfit, *doubtful):
        problems.add(problem)
    return formed and not unfit
