"""A warning of a plan: a tolerance below the variation that slots add to a constant rate.

Behind a line with slots, cells come at whole slots. Let T be the interval of a rate, and T / slot =
p / q in lowest terms. Cells that keep that rate come late against it by remainders of a slot, all q
of them in turn, so two of them differ by (q - 1) / q of a slot, whatever else is on the line. GCRA
lets a cell be earlier than another by its tolerance and no more: below that, not all cells conform.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic
from qospec.plan.assembly import feeders
from qospec.units import PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.line.clock import Clock
    from qospec.model.suite import Case
    from qospec.plan.forms import Survey
    from qospec.plan.tables import Member

_ROUNDING_PS = 2
"""What a policer may forgive: it compares two times, each rounded down by less than a ps."""


def too_small(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each flow at its full peak rate some of whose cells cannot conform at a policer."""
    policed = [
        (index, number)
        for index, numbers in survey.reach.any.items()
        for number in sorted(numbers)
        if survey.drafts[index].element.polices(survey.members[number].contract)
    ]
    if policed:
        before = feeders(survey.drafts)
        for index, number in policed:
            policer, member = survey.drafts[index], survey.members[number]
            clock = _slots_before(index, number, survey, before)
            if clock is None:
                continue
            needed_ps = _needed_ps(case, member, clock)
            if member.contract.cell_delay_variation_tolerance_ps + _ROUNDING_PS < needed_ps:
                flow, needed = case.flows[member.stream.flow], _text(needed_ps)
                why = (
                    f"they arrive in slots of {_text(clock.slot_ps)}, and their interval is no"
                    f" whole number of slots: this alone needs a tolerance of {needed}"
                )
                yield Diagnostic(
                    "W0613",
                    f"not all cells of `{flow.name}` can conform at `{policer.instance.path}`",
                    flow.span,
                    notes=(why,),
                    help=f"declare a `cdvt` of at least {needed}, or send less than the full `pcr`",
                )


def _text(time_ps: Fraction) -> str:
    """Return a time in three digits, rounded up."""
    whole = -(-time_ps // 10_000)
    return format_value(Fraction(whole * 10_000, PS_PER_S), TIME)


def _slots_before(
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


def _needed_ps(case: Case, member: Member, clock: Clock) -> Fraction:
    """Return the least tolerance with which all cells of a member may conform; 0 if any will do."""
    flow, rate = case.flows[member.stream.flow], member.contract.peak_cell_rate
    if flow.packets is not None or member.contract.category != "cbr":
        return Fraction(0)
    if flow.arrivals.mean_rate(flow.connections) != rate * flow.connections:
        return Fraction(0)
    turns = (PS_PER_S / rate / clock.slot_ps).denominator
    if case.run.measure_ps * rate < 2 * turns * PS_PER_S:
        return Fraction(0)  # not all remainders come up
    return clock.slot_ps * Fraction(turns - 1, turns)
