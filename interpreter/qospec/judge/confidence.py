"""Judges a criterion over all repeats at once: `expect … with 95% confidence`.

What repeats come to together has a one-sided interval to either side: of a quantile by order
statistics (`quantiles`), of losses by their count, of all else that of the mean (`means`). Where
all of it is on the good side the criterion passes, where all of it is on the bad side it fails;
else the repeats do not decide. For `within`, which must hold to both sides, two one-sided tests:
Schuirmann, J. Pharmacokin. Biopharm. 15 (1987), 657.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.statistics import from_histogram, share_of
from qospec.judge import quantiles
from qospec.judge.losses import as_ratios, counts, judged, losses
from qospec.judge.means import MeanEdge, skewness
from qospec.judge.quantiles import (
    Quantile,
    between,
    items_of,
    needed_ends,
    shared,
    value_of,
)
from qospec.judge.repeats import Sureness
from qospec.judge.verdict import MIRRORED, Interval, Judgement, Side, dimension_of, judge
from qospec.model.bounds import bounds
from qospec.model.expression import Counted, Measured, Operation, evaluate, measurements, observed
from qospec.model.suite import MAX_REPEATS
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.judge.losses import Losses
    from qospec.judge.quantiles import Estimate
    from qospec.judge.repeats import Edge, Repeat
    from qospec.judge.verdict import Verdict
    from qospec.model.expression import Expression
    from qospec.model.suite import Statement

DIFFERENCE = "judged by the difference of both sides in each repeat"
APART = "each side has bounds of its own"
ALIKE = "the repeats do not differ"
RARE = (
    f"{ALIKE}, and nothing says how far a rare one may be from them, so more would not decide:"
    " ask it of each repeat, without a confidence,"
    " or let nothing be drawn, such as by `phases = even`"
)
HOPELESS = f"even {MAX_REPEATS:_} repeats would hardly decide: they come too near the bound"
UNDRAWN = "nothing is drawn at random, so each repeat is the same"
FAILED = "it does not hold"

Values = Sequence[Fraction]
Observed = Measured | Counted
Estimates = Mapping[Observed, "Estimate"]


def judge_together(statement: Statement, repeats: Sequence[Repeat], asked: int) -> Judgement:
    """Return the judgement of a statement over the repeats that were run, of as many asked for.

    A criterion between two measured values is judged by their difference in each repeat; between
    quantiles or losses, or within `abs`, `min` or `max`, by the bounds of each. Where nothing is
    drawn at random there is no chance, and it is judged by what was measured.
    """
    expression, confidence = as_ratios(statement.expression), statement.confidence
    if not isinstance(expression, Operation) or confidence is None:
        raise TypeError("a criterion with a confidence compares")
    if len(repeats) < asked:
        return Judgement("inconclusive", None, note=unfinished(len(repeats), asked))
    rows: list[list[Fraction]] = []
    for number, repeat in enumerate(repeats, 1):
        values = [evaluate(operand, repeat.read) for operand in expression.operands]
        if not all(isinstance(value, Fraction) for value in values):
            return Judgement("inconclusive", None, note=f"no data in repeat {number}")
        rows.append([value for value in values if isinstance(value, Fraction)])
    if not any(repeat.drawn for repeat in repeats):
        return _judged_as_measured(statement, repeats[0])
    leaf = judged(expression)
    counted = losses(leaf, repeats) if leaf is not None else None
    estimates = {} if leaf is not None else _estimates(expression, repeats)
    if estimates:
        if any(value_of(side, estimates) is None for side in expression.operands):
            return Judgement("inconclusive", None, note="no data in all repeats together")
        edges: Sequence[Edge] = quantiles.edges(expression, estimates, len(repeats))
        shown = _shown_estimates(expression, estimates, statement, len(repeats))
    else:
        leaves = dict.fromkeys(observed(expression))
        skewed = max((_skewness(each, repeats) for each in leaves), default=Fraction(0))
        edges = _edges(expression, repeats, counted, skewed)
        shown = _shown(expression, rows, statement, counted, skewed)
    verdict, notes = _decided(edges, statement, confidence)
    few = _too_few(expression, estimates, confidence, edges)
    notes = [few if few and each == HOPELESS else each for each in notes]
    if counted is not None and len(set(map(tuple, rows))) == 1:
        notes.append(counted.said(confidence))
    notes += _counted(expression, estimates, confidence)
    if all(measurements(side) for side in _sides(expression)):
        notes.append(APART if estimates else DIFFERENCE)
    return replace(shown, verdict=verdict, note="; ".join(notes))


def _judged_as_measured(statement: Statement, repeat: Repeat) -> Judgement:
    """Return the judgement of what is the same in each repeat, at any seed."""
    shown = judge(statement, repeat.read)
    failed = statement.kind == "require" and shown.verdict == "inconclusive"
    return replace(shown, note="; ".join([FAILED, UNDRAWN] if failed else [UNDRAWN]))


def _counted(expression: Operation, estimates: Estimates, confidence: Fraction) -> list[str]:
    """Return what the delays of each quantile come to; once if that is the same of all."""
    sure = shared(confidence, estimates, expression) if estimates else confidence
    said = {
        leaf.text: each.said(sure, needed_ends(expression, leaf), items_of(leaf))
        for leaf, each in estimates.items()
        if isinstance(each, Quantile)
    }
    if len(set(said.values())) <= 1:
        return list(said.values())[:1]
    return [f"`{text}`: {words}" for text, words in said.items()]


def _too_few(
    expression: Operation, estimates: Estimates, confidence: Fraction, edges: Sequence[Edge]
) -> str:
    """Return that even very many repeats have too few items to show what may hold; else nothing."""
    if not estimates or any(edge.mean > 0 for edge in edges):
        return ""
    sure = shared(confidence, estimates, expression)
    for leaf, each in estimates.items():
        ends = needed_ends(expression, leaf)
        if isinstance(each, Quantile) and not each.suffices(sure, ends, MAX_REPEATS):
            few = f"too few independent {items_of(leaf)}"
            return f"even {MAX_REPEATS:_} repeats would have {few}"
    return ""


def _decided(
    edges: Sequence[Edge], statement: Statement, confidence: Fraction
) -> tuple[Verdict, list[str]]:
    """Return the verdict, and what there is to say of it."""
    sure = Sureness(confidence, 1 - (1 - confidence) / len(edges))
    held = [edge.holds(sure) for edge in edges]
    verdict: Verdict = "pass" if all(held) else "inconclusive"
    if False in held and statement.kind == "expect":
        verdict = "fail"
    notes, alike = [], all(edge.alike for edge in edges)
    if False in held and statement.kind == "require":
        notes.append(FAILED)
    elif None in held and False not in held:
        more = _more(edges, held, sure)
        notes.append(RARE if alike and more > MAX_REPEATS else _outlook(more))
    if alike and RARE not in notes:
        notes.append(ALIKE)
    return verdict, notes


def _estimates(expression: Operation, repeats: Sequence[Repeat]) -> Estimates:
    """Return the estimate of each that a criterion observes.

    None are made where there is no quantile and no loss, and the mean of the repeats' values is the
    value of their means: so it is of sums, and not of `abs`, `min` and `max`.
    """
    leaves = list(dict.fromkeys(observed(expression)))
    apart = any(counts(leaf) or _share(leaf) is not None for leaf in leaves)
    if not apart and not any(map(_bends, expression.operands)):
        return {}
    return {leaf: _estimate(leaf, repeats) for leaf in leaves}


def _bends(expression: Expression) -> bool:
    """Return whether what is measured goes into `abs`, `min` or `max`."""
    if not isinstance(expression, Operation):
        return False
    bent = expression.operator in ("abs", "min", "max") and bool(observed(expression))
    return bent or any(map(_bends, expression.operands))


def _share(leaf: Observed) -> Fraction | None:
    return share_of(leaf.statistic) if isinstance(leaf, Measured) else None


def _estimate(leaf: Observed, repeats: Sequence[Repeat]) -> Estimate:
    share = _share(leaf)
    if isinstance(leaf, Measured) and share is not None:
        found = [repeat.delays(leaf) for repeat in repeats]
        return Quantile([delays for delays in found if delays is not None], share)
    counted = losses(leaf, repeats) if isinstance(leaf, Measured) and counts(leaf) else None
    if counted is not None:
        return counted
    values, skewed = _values(leaf, repeats), _skewness(leaf, repeats)
    return MeanEdge.of(values, strict=False, skewed=skewed, possible=bounds(leaf))


def _values(
    expression: Expression, repeats: Sequence[Repeat], counted: Losses | None = None
) -> Values:
    """Return what repeats come to; if something was counted, each to what all of them come to.

    A mean of ratios is no ratio of all: it takes one of few cells for one of many.
    """
    reads = [repeat.read if counted is None else lambda _: counted.value for repeat in repeats]
    values = [evaluate(expression, read) for read in reads]
    return [value for value in values if isinstance(value, Fraction)]


def _skewness(leaf: Observed, repeats: Sequence[Repeat]) -> Fraction:
    """Return how skewed the values of repeats are taken to be: delays above the shortest one."""
    values, least = _values(leaf, repeats), Fraction(0)
    if isinstance(leaf, Measured) and leaf.statistic == "mean":
        found = [repeat.delays(leaf) for repeat in repeats]
        shortest = [each.min_ps for each in found if each is not None and each.min_ps is not None]
        least = Fraction(min(shortest, default=0), PS_PER_S)
    return skewness(values, least if least <= min(values) else Fraction(0))


def _shown_estimates(
    expression: Operation, estimates: Estimates, statement: Statement, repeats: int
) -> Judgement:
    """Return what is shown: the estimate of one side, or of the difference, and its interval."""
    first, last, comparison = _turned(expression)
    bound = Side(value_of(last, estimates), dimension_of(last))
    if measurements(last):
        first = Operation("-", (first, last), dimension_of(first))
        bound = replace(bound, value=Fraction(0))
    dimension, confidence = dimension_of(first), statement.confidence or Fraction(0)
    found = between(first, estimates, confidence, repeats)
    lower, upper = (Side(end, dimension) for end in found)
    tolerance = None
    if comparison.startswith("within"):
        middle = expression.operands[1]
        share = comparison == "within share" and bool(measurements(last))
        width = Operation("*", (middle, Operation("abs", (last,)))) if share else middle
        tolerance = Side(value_of(width, estimates), dimension if share else dimension_of(middle))
        comparison = "within"
    measured = Side(value_of(first, estimates), dimension, approximate=True)
    shown = Interval(lower, upper, confidence, repeats)
    return Judgement(None, measured, comparison, bound, tolerance, shown)


def _turned(expression: Operation) -> tuple[Expression, Expression, str]:
    """Return both sides of a comparison, the one that is measured first, and its operator."""
    first, last = _sides(expression)
    if measurements(last) and not measurements(first) and expression.operator in MIRRORED:
        return last, first, MIRRORED[expression.operator]
    return first, last, expression.operator


def averaged(found: Sequence[Side], confidence: Fraction) -> Judgement | None:
    """Return the mean of what repeats showed, and between what it lies with that confidence.

    It is that of those that have data; the note says how many have none. None if there is no
    number, or if all repeats show the same one.
    """
    values = [side.value for side in found if isinstance(side.value, Fraction)]
    missing = sum(side.value is None for side in found)
    if not values or len(values) + missing < len(found):
        return None
    if len(set(values)) == 1:
        note = f"no data in {missing} of {len(found)} repeats"
        return Judgement(None, replace(found[0], value=values[0]), note=note) if missing else None
    edge = MeanEdge.of(values, strict=False)
    ends = edge.between((1 + confidence) / 2, len(values))
    low, middle, high = (
        replace(found[0], value=value) for value in (ends.least, edge.mean, ends.most)
    )
    shown = Interval(low, high, confidence, len(values))
    note = f"mean of {len(values)} repeats"
    if missing:
        note += f"; no data in {missing} of {len(found)}"
    return Judgement(None, middle, interval=shown, note=note)


def unfinished(run: int, repeats: int) -> str:
    """Return the note of what cannot be decided since repeats are missing."""
    return f"{run} of {repeats} repeats were run"


def _sides(expression: Operation) -> tuple[Expression, Expression]:
    return expression.operands[0], expression.operands[-1]


def _edges(
    expression: Operation, repeats: Sequence[Repeat], counted: Losses | None, skewed: Fraction
) -> list[MeanEdge]:
    """Return what must be below 0 for a comparison to hold, as it is in each repeat."""
    rises = [True, False]
    if expression.operator in MIRRORED:
        first = isinstance(expression.operands[0], Measured)
        rises = [first == expression.operator.startswith("<")]
    return [
        MeanEdge.of(
            _values(each.expression, repeats, counted),
            strict=each.strict,
            losses=counted,
            rising=rising,
            skewed=skewed,
            possible=bounds(each.expression),
        )
        for each, rising in zip(quantiles.edges(expression, {}, len(repeats)), rises, strict=True)
    ]


def _more(edges: Sequence[Edge], held: Sequence[bool | None], sure: Sureness) -> int:
    """Return how many more repeats would decide, beyond `MAX_REPEATS` if more than that."""
    undecided = [edge for edge, known in zip(edges, held, strict=True) if known is None]
    wanted = [(edge.mean > 0, edge.more(sure) or MAX_REPEATS + 1) for edge in undecided]
    against = [more for bad, more in wanted if bad]
    return min(against) if against else max(more for _, more in wanted)


def _outlook(more: int) -> str:
    if more > MAX_REPEATS:
        return HOPELESS
    return f"about {more:_} more {'repeat' if more == 1 else 'repeats'} would decide"


def _shown(
    expression: Operation,
    rows: Sequence[Values],
    statement: Statement,
    counted: Losses | None,
    skewed: Fraction,
) -> Judgement:
    """Return what is shown: the mean and its interval, beside the bound."""
    first, last = _sides(expression)
    comparison = expression.operator
    lefts, rights = [row[0] for row in rows], [row[-1] for row in rows]
    if measurements(last) and not measurements(first) and comparison in MIRRORED:
        first, last, lefts, rights = last, first, rights, lefts
        comparison = MIRRORED[comparison]
    dimension = dimension_of(first)
    approximate = any(from_histogram(m.statistic) for m in measurements(statement.expression))
    bound = rights[0]
    if measurements(last):
        lefts = [left - right for left, right in zip(lefts, rights, strict=True)]
        bound = Fraction(0)
        first = Operation("-", (first, last), dimension)
    if counted is not None:  # against what is known
        lefts = [counted.value] * len(rows)
    confidence = statement.confidence or Fraction(0)
    edge = MeanEdge.of(lefts, strict=False, losses=counted, skewed=skewed, possible=bounds(first))
    least, most = edge.between(confidence, len(rows))
    tolerance = None
    if comparison.startswith("within"):
        comparison = "within"
        tolerance = _tolerance(expression, rows, measured=bool(measurements(last)))
    return Judgement(
        None,
        Side(edge.mean, dimension, approximate and (counted is None or edge.mean != 0)),
        comparison,
        Side(bound, dimension),
        tolerance,
        Interval(Side(least, dimension), Side(most, dimension), confidence, len(rows)),
    )


def _tolerance(expression: Operation, rows: Sequence[Values], *, measured: bool) -> Side:
    """Return the tolerance as it was written; of a measured target the width that it comes to."""
    middle = expression.operands[1]
    if expression.operator == "within share" and measured:
        widths = [row[1] * abs(row[2]) for row in rows]
        return Side(sum(widths, Fraction(0)) / len(widths), dimension_of(expression.operands[2]))
    return Side(sum((row[1] for row in rows), Fraction(0)) / len(rows), dimension_of(middle))
