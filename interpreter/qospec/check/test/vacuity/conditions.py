"""Conditions that cannot be otherwise: of properties, of tests that draw, and of devices.

A condition is opened: whatever is not known where it is declared becomes a leaf, such as what is
drawn, a parameter, and what a run counts. What `criteria` says of it then holds for all values.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import CheckError, LimitReached, make_error
from qospec.check.evaluate.scope import Binding, Scope
from qospec.check.evaluate.values import Amount, Boolean, Deferred
from qospec.check.test.vacuity import criteria
from qospec.dataclass import NamedTuple
from qospec.model.bounds import Bounds
from qospec.model.expression import (
    Constant,
    Counted,
    Evaluated,
    Operation,
    bound_expression,
    find_declared_bounds,
)
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from qospec.check.device.ports import Template
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.values import Value
    from qospec.model.expression import Expression, Leaf
    from qospec.model.suite import Case, Statement
    from qospec.source import Span


class Subject(NamedTuple):
    """What criteria are of, besides runs of a test: what they should depend on, and an example.

    The `example` can be written wherever there is such a subject; "" if none can.
    """

    depends_on: str
    remedy: str
    example: str


PROPERTY = Subject(
    "what is drawn",
    "expect something of a value that `forall` draws",
    "",  # one that can be written depends on what is drawn
)
WHERE = PROPERTY._replace(remedy="compare what is drawn, or leave the `where` out")
DEVICE = Subject(
    "what happens in the device",
    "state something that a run could break, such as `queue.occupancy.max <= 64 cell`",
    "queue.occupancy.max <= 64 cell",
)
RUN = Subject("what is measured", "expect something that a device can meet", "")
REQUIRED = "require something that can be met"


def open_condition(node: ast.Expression, scope: Scope, evaluator: Evaluator) -> Expression:
    """Return a condition in which what is not known is a leaf; equal leaves are written alike."""

    def join_nodes(sign: str, *nodes: ast.Expression) -> Operation:
        return Operation(sign, tuple(open_condition(node, scope, evaluator) for node in nodes))

    if isinstance(node, ast.Compare | ast.Binary):
        return join_nodes("*" if node.operator == "of" else node.operator, node.left, node.right)
    if isinstance(node, ast.Unary):
        return join_nodes("negate" if node.operator == "-" else "not", node.operand)
    if isinstance(node, ast.Within):
        return join_nodes("within", node.value, node.tolerance, node.target)
    if isinstance(node, ast.Member) and isinstance(node.collection, ast.ListLiteral):
        listed = join_nodes("list", *node.collection.items)
        return Operation("in", (open_condition(node.item, scope, evaluator), listed))
    return _make_leaf(node, evaluator.evaluate(node, scope))


def _make_leaf(node: ast.Expression, value: Value) -> Expression:
    text = " ".join(node.span.text.split())
    if isinstance(value, Amount | Boolean) and value.value is not None:
        dimension = value.dimension if isinstance(value, Amount) else None
        return Constant(value.value, dimension, text)
    if isinstance(value, Deferred) and isinstance(value.expression, Counted):
        return replace(value.expression, path=text)
    is_count = isinstance(node, ast.Call) and node.path.name.text == "count"
    if is_count and isinstance(value, Amount):
        return Counted("", text, None, value.dimension, text)
    return Evaluated(text)


def make_bounds(ranges: Mapping[str, Bounds]) -> Callable[[Leaf], Bounds]:
    """Return what gives the bounds of leaves, where some are drawn."""

    def find_bounds(leaf: Leaf) -> Bounds:
        known = ranges.get(leaf.text) if isinstance(leaf, Evaluated) else None
        return known or find_declared_bounds(leaf)

    return find_bounds


# ---- what depends on nothing


def explain_idle(place: Span, subject: Subject, *, same: bool = False) -> CheckError:
    """Return the mistake of a condition that does not depend on what it should."""
    message = f"this does not depend on {subject.depends_on}"
    message += f": {criteria.SAME}" if same else ""
    return make_error("E0516", message, place, help=subject.remedy)


def explain_false(place: Span, subject: Subject, why: str) -> CheckError:
    """Return the mistake of a criterion that nothing meets."""
    known = why in (criteria.UNMEASURED, criteria.WITHOUT)
    reason = f"it does not depend on {subject.depends_on}" if known else why
    return make_error("E0516", f"this is always false: {reason}", place, help=subject.remedy)


def is_compared_with_itself(node: ast.Expression) -> bool:
    """Return whether a condition compares something with itself, as it is written."""
    return isinstance(node, ast.Compare) and node.left == node.right


def depends_on_draws(node: ast.Expression, scope: Scope, evaluator: Evaluator) -> bool:
    """Return whether a `where` may be true or false; else report it."""
    before = evaluator.context.mistakes
    known = evaluator.require_truth(node, scope)
    if evaluator.context.mistakes > before:
        return False
    same = is_compared_with_itself(node)
    if not same and known is None:
        return True
    evaluator.context.report(explain_idle(node.span, WHERE, same=same))
    return False


def examine_criterion(
    node: ast.Criterion,
    conditions: Sequence[Expression],
    subject: Subject,
    of: Callable[[Leaf], Bounds] = find_declared_bounds,
) -> Iterator[CheckError]:
    """Yield what is said of a criterion that cannot be otherwise, as everywhere.

    One that never fails is warned of, as in a test. One that is false in any case is a mistake.
    `conditions` are those of all iterations of a loop.
    """
    reasons = [criteria.explain_always_true(condition, of) for condition in conditions]
    false = [criteria.explain_settled_false(condition) for condition in conditions]
    if all(reasons):
        yield criteria.warn_of_never_failing(node.kind, reasons[0], node.span, subject.example)
    elif all(false):
        yield explain_false(node.condition.span, subject, false[0])


def explain_unmeetable(cases: Sequence[Case]) -> Iterator[CheckError]:
    """Yield a mistake for each criterion of a test that is false in all cases, on any device."""
    for statement, why in criteria.find_unmeetable(cases):
        yield explain_unmet(statement, why, cases[0])


def explain_unmet(statement: Statement, why: str, case: Case) -> CheckError:
    """Return the mistake of a criterion that no device meets; its help names a flow of the case."""
    if statement.kind != "expect":
        return explain_false(statement.span, RUN._replace(remedy=REQUIRED), why)
    example = criteria.choose_example(statement, case)
    remedy = f"{RUN.remedy}, such as `{example}`" if example else RUN.remedy
    return explain_false(statement.span, RUN._replace(remedy=remedy), why)


# ---- `where`


CELLS_OF_RANGE = 1_000
"""Into how many parts a range is cut of which any number may be drawn."""
MOST_BOXES = 2_000
"""How many parts of what is drawn are examined: a thousand values, and what they are halves of."""
_APART = (Fraction(3, 7), Fraction(5, 7))
"""Where in a range fractions are tried: hardly any equation with a few solutions is met by both."""
LONGEST_COUNTED = 10**9
"""Of ranges of whole numbers that are cut down to single ones."""


class Values(NamedTuple):
    """What values a name may have: some of `points`, which ascend.

    If `continuous`, also those between one and the next.
    """

    points: Sequence[Fraction | int]
    continuous: bool = False

    @property
    def bounds(self) -> Bounds:
        """Return the least and the greatest."""
        return Bounds(Fraction(self.points[0]), Fraction(self.points[-1]))

    @property
    def parts(self) -> int:
        """Return into how many parts they can be cut."""
        return len(self.points) - self.continuous

    def find_middle(self) -> Values:
        """Return one of them."""
        return Values(self.points[len(self.points) // 2 :][:1])

    def split(self) -> tuple[Values, Values]:
        """Return them in two parts, which are `continuous` likewise."""
        half = len(self.points) // 2
        first, last = self.points[: half + self.continuous], self.points[half:]
        return Values(first, self.continuous), Values(last, self.continuous)


def enumerate_whole_numbers(between: Bounds) -> Sequence[int]:
    """Return the whole numbers of a range; none if it has too many, or an end is no such number."""
    least, most = between
    if least is None or most is None or most - least > LONGEST_COUNTED:
        return ()
    whole = least.denominator == most.denominator == 1
    return range(int(least), int(most) + 1) if whole else ()


def _sample_values(between: Bounds) -> Values | None:
    """Return the numbers of a range, cut into equal parts; None if an end is not known."""
    least, most = between
    if least is None or most is None:
        return None
    width = (most - least) / CELLS_OF_RANGE
    if not width:
        return Values((least,))
    return Values([least + width * part for part in range(CELLS_OF_RANGE + 1)], continuous=True)


def verify_where(
    node: ast.Expression,
    drawn: Mapping[str, Bounds],
    counted: Mapping[str, Sequence[Fraction | int]],
    scope: Scope,
    evaluator: Evaluator,
    foralls: Iterable[ast.ForAll] = (),
) -> None:
    """Report a `where` that depends on nothing drawn, or that no values meet.

    Args:
        node: The condition.
        drawn: The bounds of ranges, by name.
        counted: The values of each name that has no others.
        scope: The names that it may use.
        evaluator: For its values.
        foralls: All that is drawn: of which any number may be drawn, hardly one meets an equation.
    """
    if not depends_on_draws(node, scope, evaluator):
        return
    given = {name: Values(points) for name, points in counted.items()}
    cut = {name: _sample_values(between) for name, between in drawn.items() if name not in given}
    every = given | {name: values for name, values in cut.items() if values is not None}
    used = node.list_names_used()
    box = {name: values for name, values in every.items() if name in used}
    with evaluator.context.check_apart() as problems:
        examined = _Where(node, drawn, scope, evaluator)
        try:
            never = examined.is_impossible(box) and not problems.errors
        except (CheckError, LimitReached):  # of some values, so it is reported where they are drawn
            never = False
    if never:
        evaluator.context.report(explain_never_met(node.span))
        return
    for equation, forall in _list_equations(node, {forall.name.text: forall for forall in foralls}):
        part = _Where(equation, drawn, scope, evaluator)
        if not part.is_met_between(forall.name.text, box):
            evaluator.context.report(_warn_of_hardly_met(equation, forall))


def _list_equations(
    node: ast.Expression, foralls: Mapping[str, ast.ForAll]
) -> Iterator[tuple[ast.Compare, ast.ForAll]]:
    """Yield what a condition asks to be equal, with what is drawn as any number in it.

    That is a range between whole numbers without a type, which may have been meant as one of these.
    """
    if isinstance(node, ast.Binary) and node.operator == "and":
        yield from _list_equations(node.left, foralls)
        yield from _list_equations(node.right, foralls)
    if isinstance(node, ast.Compare) and node.operator == "==":
        names = sorted(node.list_names_used() & foralls.keys())
        loose = (foralls[name] for name in names if _is_loose(foralls[name]))
        yield from ((node, forall) for forall in islice(loose, 1))


def _is_loose(node: ast.ForAll) -> bool:
    ends = (node.values.first, node.values.last) if isinstance(node.values, ast.Range) else ()
    numbers = [end.operand if isinstance(end, ast.Unary) else end for end in ends]
    whole = [isinstance(n, ast.Number) and n.text.replace("_", "").isdigit() for n in numbers]
    return node.annotation is None and bool(whole) and all(whole)


def _warn_of_hardly_met(equation: ast.Compare, forall: ast.ForAll) -> CheckError:
    """Return the warning that a number that is drawn hardly ever meets an equation."""
    name, values = forall.name.text, " ".join(forall.values.span.text.split())
    return make_error(
        "W0631",
        f"`{name}` is any number between, and hardly one meets this",
        equation.span,
        secondary=(forall.values.span, "fractions are drawn, too"),
        help=f"write `forall {name}: Int in {values}` if whole numbers are meant",
    )


class _Where:
    """Examines a `where` for parts of what is drawn: boxes, which have some values of each name."""

    def __init__(
        self, node: ast.Expression, drawn: Mapping[str, Bounds], scope: Scope, evaluator: Evaluator
    ) -> None:
        self._node = node
        self._drawn = drawn
        self._scope = scope
        self._evaluator = evaluator
        self._condition = open_condition(node, scope, evaluator)

    def is_impossible(self, whole: Mapping[str, Values]) -> bool:
        """Return whether no values of a box meet it; False as well if that was not found out.

        Branch and bound: a box of which that is not evident is halved, unless one value of each
        name in it may meet the condition.
        """
        boxes = deque([whole])
        for _ in range(MOST_BOXES):
            if not boxes:
                return True
            box = boxes.popleft()
            if self._is_refuted(box):
                continue
            widest = max(box, key=lambda name: box[name].parts, default="")
            if not widest or box[widest].parts == 1:
                return False
            if not self._is_refuted({name: values.find_middle() for name, values in box.items()}):
                return False
            boxes += [{**box, widest: half} for half in box[widest].split()]
        return not boxes

    def is_met_between(self, name: str, whole: Mapping[str, Values]) -> bool:
        """Return whether fractions of one name meet it, with others in their middle.

        Then it is no equation with a few solutions: `max(n, 10) == 10` holds of all that are drawn.
        """
        first, last = whole[name].bounds
        if first is None or last is None:
            return False
        middles = {other: values.find_middle() for other, values in whole.items()}
        tried = (Values((first + (last - first) * share,)) for share in _APART)
        try:
            return all(self._evaluate_truth({**middles, name: value}) is True for value in tried)
        except (CheckError, LimitReached):  # of some values, so it is reported where they are drawn
            return False

    def _is_refuted(self, box: Mapping[str, Values]) -> bool:
        """Return whether it is evident that no values of a box meet the condition."""
        of = make_bounds({**self._drawn, **{name: values.bounds for name, values in box.items()}})
        if criteria.explain_never_true(self._condition, of) or _is_empty(self._condition, of):
            return True
        return (
            all(len(values.points) == 1 for values in box.values())
            and self._evaluate_truth(box) is False
        )

    def _evaluate_truth(self, box: Mapping[str, Values]) -> bool | None:
        """Return the value of the condition where each name has one value; None if unknown."""
        at = Scope(self._scope)
        for name, values in box.items():
            if (drawn := self._scope.find(name)) is None:
                continue
            unknown = drawn.evaluate(self._evaluator.context)
            if isinstance(unknown, Amount):
                known = Amount(Fraction(values.points[0]), unknown.dimension, unknown.layer)
                at.names[name] = _with_value(drawn, known)
        return self._evaluator.require_truth(self._node, at)


def _with_value(drawn: Binding, value: Amount) -> Binding:
    """Return what a `forall` declares, with one of its values."""
    return Binding(drawn.name, drawn.span, drawn.what, lambda: value)


def explain_never_met(place: Span) -> CheckError:
    """Return the mistake of a `where` that leaves out all values."""
    message = "no values that are drawn meet this, so nothing is examined"
    return make_error("E0516", message, place, help="loosen the `where`, or draw other values")


def _is_empty(condition: Expression, of: Callable[[Leaf], Bounds]) -> bool:
    """Return whether what is required at once leaves no value of a name: `n < 2 and n > 5`."""
    left: dict[Expression, Bounds] = {}
    for conjunct in _list_conjuncts(condition):
        if not isinstance(conjunct, Operation) or conjunct.operator not in criteria.TURNED:
            continue
        (one, other), operator = conjunct.operands, conjunct.operator
        for leaf, limit, sign in (
            (one, other, operator),
            (other, one, criteria.TURNED[operator]),
        ):
            if isinstance(leaf, Evaluated | Counted):
                known = left.get(leaf) or of(leaf)
                left[leaf] = _narrow(known, sign, bound_expression(limit, of))
    return any(
        bounds.least is not None and bounds.most is not None and bounds.least > bounds.most
        for bounds in left.values()
    )


def _list_conjuncts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, Operation) and condition.operator == "and":
        for operand in condition.operands:
            yield from _list_conjuncts(operand)
    else:
        yield condition


def _narrow(known: Bounds, sign: str, limit: Bounds) -> Bounds:
    """Return the bounds of a value that is compared with one between other bounds."""
    least, most = known
    if sign in (">", ">=", "==") and limit.least is not None:
        least = limit.least if least is None else max(least, limit.least)
    if sign in ("<", "<=", "==") and limit.most is not None:
        most = limit.most if most is None else min(most, limit.most)
    return Bounds(least, most)


# ---- invariants


def examine_invariants(template: Template, evaluator: Evaluator) -> Iterator[CheckError]:
    """Yield a mistake or a warning for each invariant of a device that cannot be false.

    The parameters of the device are not known; one in a loop must be so in all iterations.
    """
    written: dict[int, list[tuple[ast.Criterion, Scope]]] = {}
    for node, scope in template.written:
        written.setdefault(node.span.start, []).append((node, scope))
    for iterations in written.values():
        node, _ = iterations[0]
        with evaluator.context.check_apart() as problems:
            conditions = [
                open_condition(where.condition, scope, evaluator) for where, scope in iterations
            ]
        if not problems.errors:
            yield from examine_criterion(node, conditions, DEVICE)
