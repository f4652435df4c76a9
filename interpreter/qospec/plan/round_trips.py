"""Times of endpoints that come too early or too late: timeouts, beginnings, and readings."""

from __future__ import annotations

import heapq
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic
from qospec.plan.tables import list_members
from qospec.units import PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.model.suite import Case
    from qospec.plan.forms import Survey
    from qospec.plan.tables import Hop, State


def find_short_timeouts(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each flow whose timeout expires before any answer can have come."""
    for number, flow in enumerate(case.flows):
        if not flow.traffic.is_answered:
            continue
        requests = list_members(survey.members, number, "user")
        answers = list_members(survey.members, number, "answers")
        shortest_ps = min(
            _find_shortest_ps(survey, there) + _find_shortest_ps(survey, back)
            for there, back in zip(requests, answers, strict=True)
        )
        if flow.arrivals.timeout_ps <= shortest_ps:
            least = format_value(-(-shortest_ps // 10**3) / Fraction(10**9), TIME)
            timeout = format_value(Fraction(flow.arrivals.timeout_ps, PS_PER_S), TIME)
            yield Diagnostic(
                "W0614",
                f"the timeout of `{flow.name}` expires before any answer can arrive",
                flow.span,
                label=f"a timeout of {timeout}",
                notes=(f"the shortest round trip takes {least}",),
                help=f"write a `timeout` above {least}, with a margin for what waits on the way",
            )


def find_begun_too_late(case: Case) -> Iterator[Diagnostic]:
    """Yield each flow of which something begins, or is read, only when a trial is over."""
    length_ps = case.run.warmup_ps + case.run.measure_ps
    for flow in case.flows:
        spread_ps = getattr(flow.traffic, "spread", 0)
        read_every_ps = getattr(flow.traffic, "read_every", None) or 0
        last_ps = spread_ps * (flow.connections - 1) // flow.connections
        late = []
        if last_ps >= length_ps:
            late.append(("spread", spread_ps, f"not all connections of `{flow.name}` begin"))
        if read_every_ps >= length_ps:
            late.append(("read_every", read_every_ps, f"the server of `{flow.name}` reads nothing"))
        for name, time_ps, what in late:
            yield Diagnostic(
                "W0637",
                f"{what} before the trial is over",
                flow.places.get(name, flow.span),
                label=f"a `{name}` of {_format(time_ps)}",
                notes=(f"a trial takes {_format(length_ps)}",),
                help=f"write a shorter `{name}`, or let trials be longer",
            )


def _format(time_ps: int) -> str:
    return format_value(Fraction(time_ps, PS_PER_S), TIME)


def _find_shortest_ps(survey: Survey, member: int) -> int:
    """Return the shortest time from a member's host to its target, by Dijkstra's algorithm."""
    onward: dict[State, list[Hop]] = {}
    for hop in survey.reach.hops.get(member, []):
        onward.setdefault(hop.before, []).append(hop)
    ends = survey.reach.ends[member]
    start = next((hop.before for hop in survey.reach.hops.get(member, [])), next(iter(ends)))
    waiting, seen, tie = [(0, 0, start)], set[object](), 0
    while waiting:
        at_ps, _, state = heapq.heappop(waiting)
        if state in seen:
            continue
        seen.add(state)
        behind_ps = at_ps + _find_least_ps(survey, state.element, member)
        if state in ends:
            return behind_ps
        for hop in onward.get(state, ()):
            tie += 1
            heapq.heappush(waiting, (behind_ps, tie, hop.after))
    return 0


def _find_least_ps(survey: Survey, element: int, member: int) -> int:
    """Return the shortest time through an element, or on the line that serves it."""
    draft = survey.drafts[element]
    clock = draft.clock
    if clock is None or clock.encapsulation is None:
        return draft.element.find_lookahead_ps(clock)
    least_bytes = min(form.smallest_bytes for form in survey.forms.list_at(element, member))
    on_the_line = clock.encapsulation.count_line_bytes(least_bytes)
    return int(on_the_line * clock.byte_time_ps) + clock.arrival_ps
