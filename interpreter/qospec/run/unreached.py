"""A warning of a plan: a meter or shaper whose rate no line that leads to it reaches."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic
from qospec.run.draft import feeders
from qospec.units import RATE, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.run.survey import Survey

_RATES = {"committed_information_rate": "cir", "rate": "rate"}
"""Fields that hold tokens back, and what they are called."""


def rates(survey: Survey) -> Iterator[Diagnostic]:
    """Yield each meter and shaper that all its lines together bring less than its rate."""
    before = feeders(survey.drafts)
    for index in sorted(survey.passing.any):
        instance = survey.drafts[index].instance
        field = next((name for name in _RATES if hasattr(instance.element, name)), "")
        if not hasattr(instance.element, "bucket_bytes") or not field or instance.span is None:
            continue
        allowed_bps = Fraction(getattr(instance.element, field))
        lines = _lines_before(index, survey, before)
        most_bps = sum(lines.values(), Fraction(0))
        if lines and allowed_bps > most_bps:
            brought = f"{text_of(most_bps, RATE)} in all"
            yield Diagnostic(
                "W0612",
                f"`{_RATES[field]}` of `{instance.path}` is more than its lines bring",
                instance.span,
                notes=(f"they bring at most {brought}: {', '.join(sorted(lines))}",),
                help="give it a rate that may be exceeded, or leave it out",
            )


def _lines_before(index: int, survey: Survey, before: dict[int, list[int]]) -> dict[str, Fraction]:
    """Return the bits/s of the last lines on all ways to an element."""
    found, waiting, seen = dict[str, Fraction](), [index], {index}
    while waiting:
        for each in before[waiting.pop()]:
            if each in seen or each not in survey.passing.any:
                continue
            seen.add(each)
            draft = survey.drafts[each]
            if draft.clock is None:
                waiting.append(each)
            else:
                found[draft.line or draft.instance.path] = Fraction(draft.clock.bit_rate)
    return found
