"""Judging by what searches have found: a load between two bounds, not a number.

`ndr.load >= y` holds if the lower bound is at least y, does not if the upper bound is at most y,
since that load was bad, and is undecided in between. If a bound is missing, the load is somewhere
beyond that end of the range that was tried: how far is unknown. On a grid, bounds that are one step
apart give it exactly.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.judge.precision import is_imprecise, read_within
from qospec.model.bounds import ANYTHING, Bounds, Limits, make_bounds
from qospec.model.expression import Found, Measured, evaluate
from qospec.model.expression import list_found as found_in
from qospec.units import format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qospec.model.expression import Expression, Leaf, Reader, Value
    from qospec.model.suite import GoalResult
    from qospec.units import Dimension

OFFERED = ("offered", "offered.lower", "offered.upper")
"""What flows are to send at a load, and at either bound of it."""
INTERVALS = ("load", "offered")
"""Parts of a result that are between two bounds."""


def read_found(leaf: Found, results: Mapping[str, GoalResult]) -> Value:
    """Return what was found for a goal; of the load itself, the lower bound."""
    result = results.get(leaf.goal)
    if result is None:
        return None
    if leaf.part in ("regular", "complete"):
        return result.regular if leaf.part == "regular" else result.complete
    if leaf.part == "good":
        return None if result.inversion is None else result.inversion[1]
    if leaf.part in OFFERED:
        return result.offered[leaf.part == "offered.upper"]
    return result.upper if leaf.part == "upper" else result.lower


def is_found(expression: Expression) -> bool:
    """Return whether an expression is of loads that were found, or of one of their bounds."""
    return any(leaf.dimension is not None for leaf in found_in(expression))


def list_loads(expression: Expression) -> list[Found]:
    """Return the loads that were found in an expression, each once."""
    return list(dict.fromkeys(leaf for leaf in found_in(expression) if leaf.part in INTERVALS))


def decide_value(expression: Expression, read: Reader) -> Value:
    """Return the value of an expression, loads being anywhere between their bounds."""
    return evaluate(expression, _read_bounds(read))


def bound_value(expression: Expression, read: Reader, *, ended: bool = True) -> Bounds | None:
    """Return the bounds of a value that depends on loads; None if something in it has no data.

    Unless `ended`, as if no load had an upper bound.
    """
    value = evaluate(expression, _read_bounds(read, ended=ended))
    return None if value is None else make_bounds(value)


def _read_bounds(read: Reader, *, ended: bool = True) -> Reader:
    def read_bounds(leaf: Leaf) -> Value:
        if isinstance(leaf, Measured):
            return read_within(leaf, read) or read(leaf)
        if not isinstance(leaf, Found) or leaf.part not in INTERVALS:
            return read(leaf)
        found = bound_load(leaf, read)
        return found if ended else found._replace(most=None)

    return read_bounds


def find_uncertainty(expression: Expression, read: Reader) -> Limits | None:
    """Return between what a value is that depends on loads, or on times that are not exact.

    None if it is known, or has no data.

    Without a lower bound of the load, a value of at least 0 has only an upper one.
    """
    uncertain = bool(list_loads(expression)) or is_imprecise(expression, read)
    between_ends = bound_value(expression, read) if uncertain else None
    if between_ends is None or between_ends == ANYTHING:
        return None
    least, most = between_ends
    if least == 0 and evaluate(expression, read) is None:
        least = None
    if least == most:
        return None
    if None not in (least, most):
        return Limits(least, most)
    beyond = bound_value(expression, read, ended=False)
    return Limits(least, most, beyond is not None and beyond != between_ends)


def bound_load(leaf: Found, read: Reader) -> Bounds:
    """Return the bounds of a load: without a lower one, from 0; without an upper one, no end."""
    lower, upper = _ends(leaf, read)
    if _is_exact(leaf, lower, upper):
        return Bounds(lower, lower)
    return Bounds(Fraction(0) if lower is None else lower, upper)


def _ends(leaf: Found, read: Reader) -> tuple[Fraction | None, Fraction | None]:
    parts = OFFERED[1:] if leaf.part in OFFERED else ("lower", "upper")
    values = (read(replace(leaf, part=part)) for part in parts)
    lower, upper = (value if isinstance(value, Fraction) else None for value in values)
    return lower, upper


def _is_exact(leaf: Found, lower: Fraction | None, upper: Fraction | None) -> bool:
    """Return whether no load is between the bounds: a rate may be, even if it was not in a step."""
    return leaf.whole and lower is not None and upper is not None and upper - lower <= 1


def write_notes(expression: Expression, read: Reader) -> Iterator[str]:
    """Yield a sentence for each load and each `regular`: between which bounds it is, or why not."""
    for leaf in dict.fromkeys(found_in(expression)):
        if leaf.part == "regular":
            if read(leaf) is not True:
                yield f"`{leaf.goal}` is irregular: {_note_irregular(leaf, read)}"
        elif leaf.part in INTERVALS and leaf.dimension is not None:
            yield _describe_bounds(leaf, read, leaf.dimension)


NONE_BAD = "no load was bad"
NONE_BAD_AT_ALL = f"{NONE_BAD}, up to the highest of the range"
NONE_GOOD_AT_ALL = "no load was good, down to the lowest of the range"
ENDED_EARLY = "the search ended before its bounds were close enough"
LOWEST_BAD = "the lowest load of the range was bad"
"""Of a loss inversion without a lower bound: higher loads were good."""


def explain_inversion(bad: Fraction, good: Fraction, dimension: Dimension) -> str:
    """Return that a load was bad, but a higher one good."""
    low, high = format_value(bad, dimension), format_value(good, dimension)
    return f"loss inversion: {low} was bad, but {high} was good"


def _note_irregular(leaf: Found, read: Reader) -> str:
    lower, upper = _ends(leaf, read)
    if lower is None and upper is None:
        return "no bound was found"
    complete = read(replace(leaf, part="complete")) is True
    if upper is None:
        return NONE_BAD_AT_ALL if complete else ENDED_EARLY
    good = _find_good_above(leaf, read)
    if (complete or lower is None) and good is not None and leaf.load_dimension is not None:
        return explain_inversion(upper, good, leaf.load_dimension)
    return NONE_GOOD_AT_ALL if complete else ENDED_EARLY


def _find_good_above(leaf: Found, read: Reader) -> Fraction | None:
    """Return the highest good load above the upper bound, which is bad; None: there is none."""
    good = read(replace(leaf, part="good"))
    return good if isinstance(good, Fraction) else None


def _describe_bounds(leaf: Found, read: Reader, dimension: Dimension) -> str:
    lower, upper = _ends(leaf, read)
    name = f"`{leaf.text}`"
    if lower is not None and upper is not None and _is_exact(leaf, lower, upper):
        low, high = format_value(lower, dimension), format_value(upper, dimension)
        return f"{name} is {low}: {high} was bad"
    interval = describe_bounds(lower, upper, dimension)
    if not interval:
        return f"{name} is unknown"
    if lower is not None and upper is not None:
        return f"{name} is {interval}"
    return f"{_explain_missing(leaf, read)}: {name} is {interval}"


def _explain_missing(leaf: Found, read: Reader) -> str:
    """Return why one bound is missing, where the other exists."""
    if read(replace(leaf, part="complete")) is not True:
        return ENDED_EARLY
    if _ends(leaf, read)[1] is None:
        return NONE_BAD_AT_ALL
    return NONE_GOOD_AT_ALL if _find_good_above(leaf, read) is None else LOWEST_BAD


def describe_bounds(lower: Fraction | None, upper: Fraction | None, dimension: Dimension) -> str:
    """Return `from 1 Mbit/s to 2 Mbit/s`, `at least` or `below` one of them, "" without bounds.

    Bounds that read alike are `about` that.
    """
    low, high = ("" if end is None else format_value(end, dimension) for end in (lower, upper))
    if low and high:
        return f"about {low}" if low == high else f"from {low} to {high}"
    return f"at least {low}" if low else f"below {high}" if high else ""
