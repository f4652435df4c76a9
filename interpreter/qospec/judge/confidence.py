"""Judges a criterion over all repeats at once: `expect … with 95% confidence`.

What is measured has a confidence interval over the repeats: of a quantile by order statistics
(`quantiles`), of losses by their count (`losses`), of loads that were found that of the median
(`found_repeats`), of everything else that of the mean (`means`).
If the whole interval is on the good side the criterion passes, if all of it is on the bad side it
fails; otherwise the repeats do not decide. `within` has two sides, and takes two one-sided tests:
Schuirmann, J. Pharmacokin. Biopharm. 15 (1987), 657.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.statistics import is_from_histogram, parse_share
from qospec.dataclass import NamedTuple
from qospec.judge import quantiles
from qospec.judge.found import decide_value, is_found
from qospec.judge.found_repeats import FoundConstraint, bound_median, build_found_constraint
from qospec.judge.losses import as_ratios, find_compared_count, is_count, pool_losses
from qospec.judge.means import (
    MeanConstraint,
    estimate_skewness_of_expression,
    estimate_skewness_of_leaf,
    is_best_possible,
    list_unseen,
    round_values,
)
from qospec.judge.quantiles import (
    Quantile,
    compute_bonferroni_level,
    compute_interval,
    compute_value,
    find_needed_bounds,
    name_items,
)
from qospec.judge.repeats import ConfidenceLevels, MeanReadings, MoreRepeats, looks_back
from qospec.judge.verdict import (
    MIRRORED,
    Interval,
    Judgement,
    Side,
    find_dimension,
    judge,
    read_side,
)
from qospec.model.bounds import Limits
from qospec.model.expression import (
    Counted,
    Measured,
    Operation,
    bound_expression,
    evaluate,
    is_measured,
    list_measurements,
    list_observed,
)
from qospec.model.suite import MAX_REPEATS

if TYPE_CHECKING:
    from qospec.judge.losses import Losses
    from qospec.judge.quantiles import Estimate
    from qospec.judge.repeats import Constraint, RepeatReadings
    from qospec.judge.verdict import Verdict
    from qospec.model.expression import Expression, Value
    from qospec.model.suite import Statement

BY_DIFFERENCE = "judged by the difference of both sides in each repeat"
SEPARATE_INTERVALS = "each side has a confidence interval of its own"
IDENTICAL_REPEATS = "the repeats do not differ"
SO_FEW_ALIKE = f"{IDENTICAL_REPEATS}, but so few show nothing of rarer ones that would"
UNBOUNDED = f"{IDENTICAL_REPEATS}, so more would not decide: judge each one, without a confidence"
TOO_CLOSE = f"even {MAX_REPEATS:_} repeats would hardly decide: they are too close to the bound"
OPEN = "more repeats would not decide: search a wider range"
UNTOLD = "these repeats leave open which side it is on, so how many more would decide is not known"
BETTER_SINCE = "repeats that could not be better have come since, and weaken nothing"
EACH_FAILS = "each of the {} repeats fails by itself"
NOTHING_DRAWN = "nothing is drawn at random, so all repeats are identical"
DOES_NOT_HOLD = "it does not hold"

Values = Sequence[Fraction]
Observed = Measured | Counted
Estimates = Mapping[Observed, "Estimate"]


def judge_repeats(
    statement: Statement, repeats: Sequence[RepeatReadings], planned: int
) -> Judgement:
    """Return the judgement of a statement over the repeats that were run, out of `planned`.

    Two measured values are compared by their difference in each repeat; quantiles, losses, and what
    is within `abs`, `min` or `max`, by the interval of each; means of trials by Student's t alone.
    Where nothing is drawn at random there is no uncertainty, and the criterion is judged by what
    was measured.
    """
    expression, confidence = as_ratios(statement.expression), statement.confidence
    if not isinstance(expression, Operation) or confidence is None:
        raise TypeError("a criterion with a confidence compares")
    if len(repeats) < planned:
        return Judgement("inconclusive", None, note=write_incomplete_note(len(repeats), planned))
    found = is_found(expression)
    rows = [_list_numbers(expression, repeat) for repeat in repeats]
    if () in rows and not found:  # of what was found, a bound that is missing may not matter
        number = rows.index(()) + 1
        return Judgement("inconclusive", None, note=f"no data in repeat {number}")
    rows = [row for row in rows if row]
    if not any(repeat.drawn for repeat in repeats):
        return _judge_undrawn(statement, repeats[0])
    shown = _judge_drawn(replace(statement, expression=expression), rows, repeats)
    earlier = None if shown.more is None or found else _judge_before_last(statement, rows, repeats)
    return earlier or shown


def _judge_drawn(
    statement: Statement, rows: Sequence[Values], repeats: Sequence[RepeatReadings]
) -> Judgement:
    """Return the judgement of repeats that differ, or might; rows are the sides' values in each."""
    expression, confidence = statement.expression, statement.confidence
    assert isinstance(expression, Operation) and confidence is not None  # noqa: S101, PT018
    evidence = _gather(expression, repeats)
    if evidence is None:
        return Judgement("inconclusive", None, note="no data in all repeats together")
    constraints, estimates, counted = evidence
    found = is_found(expression)
    if estimates:
        shown = _show_estimates(expression, estimates, confidence, len(repeats))
    elif found:
        shown = _show_found(expression, rows, repeats, confidence)
    else:
        shown = _show_mean(expression, rows, confidence, counted, repeats)
    verdict, notes, more = _decide(constraints, statement, confidence)
    differ = len(set(map(tuple, rows))) > 1
    if (more is not None and not found) or (verdict == "fail" and differ):
        notes += _note_unanimity(expression, repeats)
    few = _note_too_few_items(expression, estimates, confidence, constraints)
    notes = [few if few and note == TOO_CLOSE else note for note in notes]
    if counted is not None and len(set(map(tuple, rows))) == 1:
        notes.append(counted.write_note(confidence))
    notes += _sample_sizes(expression, estimates, confidence)
    if all(map(is_measured, _split_sides(expression))):
        notes.append(SEPARATE_INTERVALS if estimates else BY_DIFFERENCE)
    return replace(shown, verdict=verdict, note="; ".join(notes), more=more)


class _Evidence(NamedTuple):
    """The constraints of a criterion in the repeats, and the estimates or the count behind them."""

    constraints: Sequence[Constraint]
    estimates: Estimates
    counted: Losses | None


def _gather(expression: Operation, repeats: Sequence[RepeatReadings]) -> _Evidence | None:
    """Return what the repeats show of a criterion; None without data in all of them together."""
    averaged = isinstance(repeats[0], MeanReadings)
    leaf = None if averaged else find_compared_count(expression)
    counted = pool_losses(leaf, repeats) if leaf is not None else None
    if is_found(expression):
        return _Evidence([build_found_constraint(expression, repeats)], {}, counted)
    estimates = {} if averaged or leaf is not None else _build_estimates(expression, repeats)
    if not estimates:
        return _Evidence(_list_mean_constraints(expression, repeats, counted), {}, counted)
    if any(compute_value(side, estimates) is None for side in expression.operands):
        return None
    constraints = quantiles.build_constraints(expression, estimates, len(repeats))
    return _Evidence(constraints, estimates, counted)


def _list_numbers(expression: Operation, repeat: RepeatReadings) -> tuple[Fraction, ...]:
    """Return the values of both sides of a comparison; none if one of them has no data."""
    values = [evaluate(operand, repeat.read) for operand in expression.operands]
    numbers = tuple(value for value in values if isinstance(value, Fraction))
    return numbers if len(numbers) == len(values) else ()


def _judge_before_last(
    statement: Statement, rows: Sequence[Values], repeats: Sequence[RepeatReadings]
) -> Judgement | None:
    """Return the judgement of the repeats before the last, if it cannot weaken that they pass.

    A repeat that could not be better may be farther from the others than these are from each other,
    and so raise their deviation. The same holds of those before it, as long as nothing is decided.
    """
    expression = as_ratios(statement.expression)
    assert isinstance(statement.expression, Operation)  # noqa: S101 -- a comparison
    assert isinstance(expression, Operation)  # noqa: S101 -- likewise
    below, *others = quantiles.build_constraints(statement.expression, {}, 1)
    if others or statement.confidence is None:
        return None
    levels = ConfidenceLevels(statement.confidence, statement.confidence)
    held: bool | None = None
    while held is None and looks_back(len(repeats)):
        if not is_best_possible(below.expression, repeats[-1]):
            return None
        rows, repeats = rows[:-1], repeats[:-1]
        evidence = _gather(expression, repeats)
        if evidence is None:
            return None
        (constraint,) = evidence.constraints
        held = constraint.holds(levels)
    if not held:
        return None
    found = _judge_drawn(replace(statement, expression=expression), rows, repeats)
    return replace(found, note="; ".join(filter(None, [BETTER_SINCE, found.note])))


def _note_unanimity(expression: Operation, repeats: Sequence[RepeatReadings]) -> list[str]:
    """Return a note if no repeat meets a criterion by itself."""
    alone = [decide_value(expression, repeat.read) for repeat in repeats]
    return [] if any(met is not False for met in alone) else [EACH_FAILS.format(len(repeats))]


def _judge_undrawn(statement: Statement, repeat: RepeatReadings) -> Judgement:
    """Return the judgement of what is the same in every repeat, with any seed."""
    shown = judge(statement, repeat.read)
    failed = statement.kind == "require" and shown.verdict == "inconclusive"
    return replace(
        shown, note="; ".join([DOES_NOT_HOLD, NOTHING_DRAWN] if failed else [NOTHING_DRAWN])
    )


def _sample_sizes(expression: Operation, estimates: Estimates, confidence: Fraction) -> list[str]:
    """Return the effective sample size of each quantile in words; once if all have the same."""
    levels = (
        compute_bonferroni_level(confidence, estimates, expression) if estimates else confidence
    )
    notes = {
        leaf.text: estimate.write_note(
            levels, find_needed_bounds(expression, leaf), name_items(leaf)
        )
        for leaf, estimate in estimates.items()
        if isinstance(estimate, Quantile)
    }
    if len(set(notes.values())) <= 1:
        return list(notes.values())[:1]
    return [f"`{text}`: {words}" for text, words in notes.items()]


def _note_too_few_items(
    expression: Operation,
    estimates: Estimates,
    confidence: Fraction,
    constraints: Sequence[Constraint],
) -> str:
    """Return a note if even very many repeats would have too few items to show what may hold."""
    if not estimates or any(constraint.mean > 0 for constraint in constraints):
        return ""
    levels = compute_bonferroni_level(confidence, estimates, expression)
    for leaf, estimate in estimates.items():
        ends = find_needed_bounds(expression, leaf)
        if isinstance(estimate, Quantile) and not estimate.suffices(levels, ends, MAX_REPEATS):
            few = f"too few independent {name_items(leaf)}"
            return f"even {MAX_REPEATS:_} repeats would have {few}"
    return ""


def _decide(
    constraints: Sequence[Constraint], statement: Statement, confidence: Fraction
) -> tuple[Verdict, list[str], MoreRepeats | None]:
    """Return the verdict, its notes, and how many more repeats would decide if these do not."""
    levels = ConfidenceLevels(confidence, 1 - (1 - confidence) / len(constraints))
    held = [constraint.holds(levels) for constraint in constraints]
    verdict: Verdict = "pass" if all(held) else "inconclusive"
    if False in held and statement.kind == "expect":
        verdict = "fail"
    identical = all(constraint.identical for constraint in constraints)
    notes = [DOES_NOT_HOLD] if False in held and statement.kind == "require" else []
    more = None
    if None in held and False not in held:
        more = _count_more_repeats(constraints, held, levels)
        if any(
            constraint.is_open
            for constraint in constraints
            if isinstance(constraint, FoundConstraint)
        ):
            notes.append(OPEN)
        elif identical and more.least > MAX_REPEATS:
            notes.append(UNBOUNDED)
        else:
            notes.append(describe_more_repeats(more))
    if identical and not {UNBOUNDED, OPEN} & set(notes):
        notes.append(SO_FEW_ALIKE if more else IDENTICAL_REPEATS)
    return verdict, notes, more


def _build_estimates(expression: Operation, repeats: Sequence[RepeatReadings]) -> Estimates:
    """Return the estimate of everything that a criterion observes.

    There is none if the criterion is linear in what it observes, and that is no quantile and no
    loss: then the mean of the repeats' values suffices.
    """
    leaves = list(dict.fromkeys(list_observed(expression)))
    apart = any(is_count(leaf) or _find_share(leaf) is not None for leaf in leaves)
    if not apart and not any(map(_is_nonlinear, expression.operands)):
        return {}
    return {leaf: _estimate(leaf, repeats) for leaf in leaves}


def _is_nonlinear(expression: Expression) -> bool:
    """Return whether something measured is within `abs`, `min` or `max`."""
    if not isinstance(expression, Operation):
        return False
    bent = expression.operator in ("abs", "min", "max") and bool(list_observed(expression))
    return bent or any(map(_is_nonlinear, expression.operands))


def _find_share(leaf: Observed) -> Fraction | None:
    return parse_share(leaf.statistic) if isinstance(leaf, Measured) else None


def _estimate(leaf: Observed, repeats: Sequence[RepeatReadings]) -> Estimate:
    share = _find_share(leaf)
    if isinstance(leaf, Measured) and share is not None:
        found = [repeat.read_delays(leaf) for repeat in repeats]
        return Quantile([delays for delays in found if delays is not None], share)
    counted = pool_losses(leaf, repeats) if isinstance(leaf, Measured) and is_count(leaf) else None
    if counted is not None:
        return counted
    return MeanConstraint(
        round_values(_list_values(leaf, repeats)),
        skewness=estimate_skewness_of_leaf(leaf, repeats),
        possible=bound_expression(leaf),
        unseen=list_unseen(leaf, repeats),
    )


def _list_values(
    expression: Expression, repeats: Sequence[RepeatReadings], counted: Losses | None = None
) -> Values:
    """Return an expression's value in each repeat; of a count, the value over all repeats.

    The mean of ratios is not the ratio of all: it weighs a ratio of few cells like one of many.
    """
    reads = [repeat.read if counted is None else lambda _: counted.value for repeat in repeats]
    values = [evaluate(expression, read) for read in reads]
    return [value for value in values if isinstance(value, Fraction)]


def _show_estimates(
    expression: Operation, estimates: Estimates, confidence: Fraction, repeats: int
) -> Judgement:
    """Return what to show: the estimate of one side, or of the difference, and its interval."""
    first, last, comparison = _order_sides(expression)
    bound = Side(compute_value(last, estimates), find_dimension(last))
    if list_measurements(last):
        first = Operation("-", (first, last), find_dimension(first))
        bound = replace(bound, value=Fraction(0))
    dimension = find_dimension(first)
    found = compute_interval(first, estimates, confidence, repeats)
    lower, upper = (Side(end, dimension) for end in found)
    tolerance = None
    if comparison.startswith("within"):
        middle = expression.operands[1]
        share = comparison == "within share" and bool(list_measurements(last))
        width = Operation("*", (middle, Operation("abs", (last,)))) if share else middle
        tolerance = Side(
            compute_value(width, estimates), dimension if share else find_dimension(middle)
        )
        comparison = "within"
    measured = Side(compute_value(first, estimates), dimension, approximate=True)
    shown = Interval(lower, upper, confidence, repeats)
    return Judgement(None, measured, comparison, bound, tolerance, shown)


def _order_sides(expression: Operation) -> tuple[Expression, Expression, str]:
    """Return both sides of a comparison, the measured one first, and the operator to match."""
    first, last = _split_sides(expression)
    if is_measured(last) and not is_measured(first) and expression.operator in MIRRORED:
        return last, first, MIRRORED[expression.operator]
    return first, last, expression.operator


def _choose_shown(expression: Operation) -> Expression:
    """Return the measured side of a comparison; of two measured ones, their difference."""
    first, last, _ = _order_sides(expression)
    return Operation("-", (first, last), find_dimension(first)) if is_measured(last) else first


def with_limits(shown: Judgement, repeats: Sequence[Side | None]) -> Judgement:
    """Return what is shown of all repeats with limits that hold in each of them."""
    if shown.measured is None:
        return shown
    limits = _combine_limits([repeat for repeat in repeats if repeat is not None])
    return replace(shown, measured=replace(shown.measured, limits=limits))


def _combine_limits(sides: Sequence[Side]) -> Limits | None:
    """Return the limits that hold in all repeats; None if the value is known in each of them."""
    if all(side.limits is None for side in sides):
        return None
    known = [side.limits or _build_exact_limits(side.value) for side in sides]
    least = [limits.least for limits in known if limits.least is not None]
    most = [limits.most for limits in known if limits.most is not None]
    ends = (
        min(least) if len(least) == len(known) else None,
        max(most) if len(most) == len(known) else None,
    )
    reaching = [limits for limits in known if not limits.exclusive]
    exclusive = None in ends and not any({*limits[:2]} & {*ends} - {None} for limits in reaching)
    return Limits(*ends, exclusive)


def _build_exact_limits(value: Value) -> Limits:
    return Limits(value, value) if isinstance(value, Fraction) else Limits(None, None)


def compute_mean_over_repeats(found: Sequence[Side], confidence: Fraction) -> Judgement | None:
    """Return the mean over the repeats and its two-sided confidence interval.

    Repeats without data do not count; the note says how many there are. None if there is no number,
    or if all repeats show the same one.
    """
    values = [side.value for side in found if isinstance(side.value, Fraction)]
    missing = sum(side.value is None for side in found)
    if not values or len(values) + missing < len(found):
        return None
    shown = replace(found[0], approximate=any(side.approximate for side in found))
    if len(set(values)) == 1:
        note = f"no data in {missing} of {len(found)} repeats"
        return Judgement(None, replace(shown, value=values[0]), note=note) if missing else None
    constraint = MeanConstraint(round_values(values))
    ends = constraint.compute_interval((1 + confidence) / 2, len(values))
    low, middle, high = (
        replace(shown, value=value) for value in (ends.least, constraint.mean, ends.most)
    )
    interval = Interval(low, high, confidence, len(values))
    note = f"mean of {len(values)} repeats"
    if missing:
        note += f"; no data in {missing} of {len(found)}"
    return Judgement(None, middle, interval=interval, note=note)


def write_incomplete_note(run: int, repeats: int) -> str:
    """Return the note of a criterion that is undecided because repeats are missing."""
    return f"{run} of {repeats} repeats were run"


def _split_sides(expression: Operation) -> tuple[Expression, Expression]:
    return expression.operands[0], expression.operands[-1]


def _list_mean_constraints(
    expression: Operation,
    repeats: Sequence[RepeatReadings],
    counted: Losses | None,
) -> list[MeanConstraint]:
    """Return the constraints of a comparison, by the values of each repeat."""
    directions = [True, False]
    if expression.operator in MIRRORED:
        first = isinstance(expression.operands[0], Measured)
        directions = [first == expression.operator.startswith("<")]
    found = quantiles.build_constraints(expression, {}, len(repeats))
    return [
        MeanConstraint(
            round_values(_list_values(constraint.expression, repeats, counted)),
            strict=constraint.strict,
            losses=counted,
            increasing=increasing,
            skewness=estimate_skewness_of_expression(constraint.expression, repeats),
            possible=bound_expression(constraint.expression),
            unseen=() if counted else list_unseen(constraint.expression, repeats),
        )
        for constraint, increasing in zip(found, directions, strict=True)
    ]


def _count_more_repeats(
    constraints: Sequence[Constraint], held: Sequence[bool | None], levels: ConfidenceLevels
) -> MoreRepeats:
    """Return how many more repeats would decide: one constraint fails, or all hold."""
    undecided = [
        constraint for constraint, known in zip(constraints, held, strict=True) if known is None
    ]
    against = [constraint for constraint in undecided if constraint.mean > 0]
    needed = [constraint.count_more_repeats(levels) for constraint in against or undecided]
    choose = min if against else max
    known = [more_repeats.most for more_repeats in needed if more_repeats.most is not None]
    enough = bool(known) and (bool(against) or len(known) == len(needed))
    return MoreRepeats(
        choose(more_repeats.least for more_repeats in needed), choose(known) if enough else None
    )


def describe_more_repeats(more: MoreRepeats) -> str:
    """Return in words how many more repeats would decide."""
    if more.least > MAX_REPEATS:
        return TOO_CLOSE
    if more.most is None:
        return UNTOLD
    noun = "repeat" if more.most == 1 else "repeats"
    if more.least == more.most:
        return f"{more.most:_} more {noun} would probably decide"
    return f"{more.least:_} to {more.most:_} more {noun} would probably decide"


def _show_mean(
    expression: Operation,
    rows: Sequence[Values],
    confidence: Fraction,
    counted: Losses | None,
    repeats: Sequence[RepeatReadings],
) -> Judgement:
    """Return what to show: the mean and its interval, beside the bound."""
    first, last, comparison = _order_sides(expression)
    lefts, rights = [row[0] for row in rows], [row[-1] for row in rows]
    if first is not expression.operands[0]:
        lefts, rights = rights, lefts
    dimension = find_dimension(first)
    approximate = any(is_from_histogram(m.statistic) for m in list_measurements(expression))
    bound = rights[0]
    if is_measured(last):
        lefts = [left - right for left, right in zip(lefts, rights, strict=True)]
        bound = Fraction(0)
        first = _choose_shown(expression)
    if counted is not None:  # against what is known
        lefts = [counted.value] * len(rows)
    constraint = MeanConstraint(
        round_values(lefts),
        losses=counted,
        skewness=estimate_skewness_of_expression(first, repeats),
        possible=bound_expression(first),
        unseen=() if counted else list_unseen(first, repeats),
    )
    least, most = constraint.compute_interval(confidence, len(rows))
    tolerance = None
    if comparison.startswith("within"):
        comparison = "within"
        tolerance = _find_tolerance(expression, rows, measured=is_measured(last))
    return Judgement(
        None,
        Side(constraint.mean, dimension, approximate and (counted is None or constraint.mean != 0)),
        comparison,
        Side(bound, dimension),
        tolerance,
        Interval(Side(least, dimension), Side(most, dimension), confidence, len(rows)),
    )


def _show_found(
    expression: Operation,
    rows: Sequence[Values],
    repeats: Sequence[RepeatReadings],
    confidence: Fraction,
) -> Judgement:
    """Return what to show of loads that were found: their median, with limits and an interval."""
    if not rows:
        return Judgement(None, None)
    first = _choose_shown(expression)
    values = sorted(_list_values(first, repeats))
    missing = len(repeats) - len(values)  # below all others
    places = [(len(repeats) - 1) // 2 - missing, len(repeats) // 2 - missing]
    middle = (values[places[0]] + values[places[1]]) / 2 if places[0] >= 0 else None
    ends = bound_median(first, repeats, confidence)
    lower, upper = (Side(end, find_dimension(first)) for end in ends)
    shown = replace(
        _show_mean(expression, rows, confidence, None, repeats),
        measured=Side(middle, find_dimension(first)),
        interval=Interval(lower, upper, confidence, len(repeats)),
    )
    return with_limits(shown, [read_side(first, repeat.read) for repeat in repeats])


def _find_tolerance(expression: Operation, rows: Sequence[Values], *, measured: bool) -> Side:
    """Return the tolerance as written; of a measured target, its width."""
    middle = expression.operands[1]
    if expression.operator == "within share" and measured:
        widths = [row[1] * abs(row[2]) for row in rows]
        return Side(sum(widths, Fraction(0)) / len(widths), find_dimension(expression.operands[2]))
    return Side(sum((row[1] for row in rows), Fraction(0)) / len(rows), find_dimension(middle))
