"""Warnings of a plan about policers and slots.

They are of a tolerance below what slots vary by, of policers that find no violation in cells of
packets, and of arbitration that has nothing to decide.

Behind a line with slots, cells come at whole slots. Let T be the interval of a rate, and T / slot =
p / q in lowest terms. Cells that keep that rate come late against it by remainders of a slot, all q
of them in turn, so two of them differ by (q - 1) / q of a slot, whatever else is on the line. GCRA
lets a cell be earlier than another by its tolerance and no more: below that, not all cells conform.

Arbitration decides about cells of several inputs that come in the same ps. They do if lines with
the same slots lead there. Of lines without slots, whose sources begin at random, they do by chance.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.diagnostics import Diagnostic
from qospec.engine.source.periodic import Periodic
from qospec.plan.assembly import list_feeders
from qospec.protocol.atm import CELL_BYTES, SERVICE_CATEGORIES
from qospec.protocol.streams import NO_FLOW
from qospec.units import CELL_RATE, PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.engine.line.clock import Clock
    from qospec.model.suite import Case, Flow, Instance
    from qospec.plan.forms import Survey
    from qospec.plan.tables import Member, Routes
    from qospec.source import Span

_ROUNDING_PS = 2
"""What a policer may forgive: it compares two times, each rounded down by less than a ps."""


def find_too_small(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each flow at its full peak rate some of whose cells cannot conform at a policer."""
    policed = [
        (index, number)
        for index, numbers in survey.reach.any.items()
        for number in sorted(numbers)
        if survey.drafts[index].element.polices(survey.members[number].contract)
    ]
    if policed:
        before = list_feeders(survey.drafts)
        for index, number in policed:
            policer, member = survey.drafts[index], survey.members[number]
            clock = _find_slots_before(index, number, survey, before)
            if clock is None:
                continue
            needed_ps = _compute_needed_ps(case, member, clock)
            if member.contract.cell_delay_variation_tolerance_ps + _ROUNDING_PS < needed_ps:
                flow, needed = case.flows[member.stream.flow], _format_time(needed_ps)
                why = (
                    f"they arrive in slots of {_format_time(clock.slot_ps)}, and their interval is"
                    f" no whole number of slots: this alone needs a tolerance of {needed}"
                )
                yield Diagnostic(
                    "W0613",
                    f"not all cells of `{flow.name}` can conform at `{policer.instance.path}`",
                    flow.span,
                    notes=(why,),
                    help=f"declare a `cdvt` of at least {needed}, or send less than the full `pcr`",
                )


def find_idle_policers(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each flow of packets whose cells pass policers, of which none can find a violation."""
    before = list_feeders(survey.drafts)
    passed: dict[int, list[tuple[Instance, str]]] = {}
    for index, numbers in sorted(survey.reach.any.items()):
        draft = survey.drafts[index]
        for number in sorted(numbers):
            member = survey.members[number]
            forms = survey.forms.list_at(index, number) if member.packets else ()
            kinds = (replace(member.contract, category=name) for name in SERVICE_CATEGORIES)
            if any(form.carries == "cell" for form in forms) and any(
                map(draft.element.polices, kinds)
            ):
                why = _explain_idle(index, number, survey, before)
                passed.setdefault(member.stream.flow, []).append((draft.instance, why))
    for flow, policers in ((case.flows[number], found) for number, found in passed.items()):
        policer, why = policers[0]
        if all(why for _, why in policers):
            yield Diagnostic(
                "W0635",
                f"`{policer.path}` polices no cells of `{flow.name}`: {why}",
                flow.places.get("cells", flow.span),
                help="give the packets a contract that cells can violate, such as"
                " `cells = cbr { pcr = 5_000 cell/s, cdvt = 1 ms }`",
            )


def _explain_idle(index: int, number: int, survey: Survey, before: dict[int, list[int]]) -> str:
    """Return why a policer finds no violation in cells of a member; "" if it may, or in others."""
    contract, polices = survey.members[number].contract, survey.drafts[index].element.polices
    if not polices(contract):
        if any(polices(survey.members[other].contract) for other in survey.reach.any[index]):
            return ""  # it is there for others
        is_none = contract.category == "packets"
        return "they have no contract" if is_none else f"it lets all of `{contract.category}` pass"
    waiting, seen, most_bps = [index], {index}, Fraction(0)
    while waiting:
        for feeder in before[waiting.pop()]:
            draft = survey.drafts[feeder]
            if feeder in seen or number not in survey.reach.any.get(feeder, ()):
                continue
            seen.add(feeder)
            if draft.clock is not None:
                most_bps += draft.clock.bit_rate
            elif draft.element.keeps_spacing:
                waiting.append(feeder)
            else:
                return ""
    least = min(contract.peak_cell_rate, contract.sustainable_cell_rate or contract.peak_cell_rate)
    most = most_bps / (8 * CELL_BYTES)
    if not most or least <= most:
        return ""
    return (
        f"the lines before it carry {format_value(most, CELL_RATE)}, and their contract allows more"
    )


def _format_time(time_ps: Fraction) -> str:
    """Return a time in three digits, rounded up."""
    whole = -(-time_ps // 10_000)
    return format_value(Fraction(whole * 10_000, PS_PER_S), TIME)


def _find_slots_before(
    index: int, number: int, survey: Survey, before: dict[int, list[int]]
) -> Clock | None:
    """Return the slots in which a member's cells arrive; None if they may arrive at any time.

    None too if they arrive by several lines.
    """
    found, waiting, seen = set[int](), [index], {index}
    while waiting:
        for feeder in before[waiting.pop()]:
            draft = survey.drafts[feeder]
            if number not in survey.reach.any.get(feeder, ()) or feeder in seen:
                continue
            seen.add(feeder)
            if draft.clock is not None:
                found.add(feeder)
            elif draft.element.keeps_spacing:
                waiting.append(feeder)
            else:
                return None
    clock = survey.drafts[found.pop()].clock if len(found) == 1 else None
    return clock if clock is not None and clock.slotted else None


def _compute_needed_ps(case: Case, member: Member, clock: Clock) -> Fraction:
    """Return the least tolerance with which all cells of a member may conform; 0 if any will do."""
    flow, rate = case.flows[member.stream.flow], member.contract.peak_cell_rate
    if flow.packets is not None or member.contract.category != "cbr":
        return Fraction(0)
    if flow.arrivals.compute_mean_rate(flow.connections) != rate * flow.connections:
        return Fraction(0)
    turns = (PS_PER_S / rate / clock.slot_ps).denominator
    if case.run.measure_ps * rate < 2 * turns * PS_PER_S:
        return Fraction(0)  # not all remainders come up
    return clock.slot_ps * Fraction(turns - 1, turns)


class Slots(NamedTuple):
    """When items may come: a multiple of a slot and a time, or at any time if no slot is known.

    If it is any time because sources begin at random, `begun_at` is their line, by its index.
    """

    slot_ps: Fraction | None = None
    since_ps: Fraction | int = 0
    begun_at: int | None = None

    def meets(self, other: Slots) -> bool:
        """Return whether items of both may come in the same ps other than by chance."""
        if self.begun_at != other.begun_at:
            return False
        if self.slot_ps is None or self.slot_ps != other.slot_ps:
            return True
        apart_ps = (self.since_ps - other.since_ps) % self.slot_ps
        return min(apart_ps, self.slot_ps - apart_ps) < 1  # each is rounded down


class Arbitrations:
    """What arbitrates, over all cases, and whether it has anything to decide in any."""

    def __init__(self) -> None:
        self._idle: dict[Span, Diagnostic | None] = {}

    def add(self, case: Case, members: Sequence[Member], routes: Routes) -> None:
        """Note of each arbitration in a case why it has nothing to decide; None where it has."""
        for index in sorted(routes.reach.any):
            instance = routes.drafts[index].instance
            span, rule = instance.span, vars(instance.element).get("arbitration", "fixed_order")
            if span is None or rule == "fixed_order" or self._idle.get(span, True) is None:
                continue
            met = _list_meetings(index, routes)
            streams = [members[number].stream for number in routes.reach.any[index]]
            may_decide = any(
                stream.flow == NO_FLOW or not _is_at_random(case.flows[stream.flow])
                for stream in streams
            ) or any(
                one.meets(other)
                for inputs in met.values()
                for pair in combinations([_find_slots(index, n, routes) for n in inputs], 2)
                for one, other in product(*pair)
            )
            is_met = any(len(inputs) > 1 for inputs in met.values())
            self._idle[span] = None if may_decide else _warn(instance, span, is_met=is_met)

    def find_idle(self) -> Iterator[Diagnostic]:
        """Yield what has nothing to decide in any case."""
        yield from filter(None, self._idle.values())


def _is_at_random(flow: Flow) -> bool:
    """Return whether a flow sends cells at times that are drawn; of packets, nothing is known."""
    drawn = flow.phases == "random" and isinstance(flow.arrivals, Periodic)
    return flow.packets is None and (drawn or flow.arrivals.count_most_items(1, 1) is None)


def _list_meetings(index: int, routes: Routes) -> dict[int, list[int]]:
    """Return the inputs of which items leave an element by each output."""
    table, met = routes.tables.get(index), dict[int, set[int]]()
    for (to, number), arriving in routes.reach.inputs.items():
        for member, item_class in arriving if to == index else ():
            output = 0 if table is None else table.find_output(member, item_class)
            met.setdefault(output, set()).add(number)
    return {output: sorted(inputs) for output, inputs in met.items()}


def _find_slots(index: int, number: int, routes: Routes) -> set[Slots]:
    """Return when items may come to an input of an element, by the lines that lead there."""
    before, found = list_feeders(routes.drafts), set[Slots]()
    waiting: list[tuple[int, int | None]] = [
        (feeder, 0)
        for feeder in before[index]
        if any((edge.to, edge.input) == (index, number) for edge in routes.drafts[feeder].edges)
    ]
    seen = set[int]()
    while waiting:
        feeder, delay_ps = waiting.pop()
        draft = routes.drafts[feeder]
        if feeder not in routes.reach.any:
            continue
        if feeder in seen:
            found.add(Slots())
        elif draft.clock is not None and draft.clock.slotted:
            since_ps = draft.clock.phase_ps + draft.clock.propagation_ps + (delay_ps or 0)
            known = Slots(draft.clock.slot_ps, since_ps % draft.clock.slot_ps)
            found.add(Slots() if delay_ps is None else known)
        elif draft.clock is not None and draft.clock.stamps:
            found.add(Slots(begun_at=feeder))
        elif draft.clock is not None:
            # What waits there goes on with what came first, at as random a time.
            waiting += [(further, None) for further in before[feeder]]
        elif not draft.element.keeps_spacing:
            found.add(Slots())
        else:
            if delay_ps is not None:
                delay_ps += draft.element.find_lookahead_ps(None)
            waiting += [(further, delay_ps) for further in before[feeder]]
        seen.add(feeder)
    return found


def _warn(instance: Instance, span: Span, *, is_met: bool) -> Diagnostic:
    why = (
        "it decides about cells of several inputs that come in the same ps, and the slots of these"
        " inputs are not aligned"
        if is_met
        else "cells of several inputs leave by no output of it"
    )
    return Diagnostic(
        "W0633",
        f"`{instance.path}` has nothing to arbitrate",
        span,
        notes=(why, "in any case of these tests"),
        help="put a slotted `line` of the same rate ahead of each input, or leave `arbitration` out"
        if is_met
        else "send from several inputs to one output, or leave `arbitration` out",
    )
