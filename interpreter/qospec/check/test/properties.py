"""`property name { forall … expect … }`: what holds for all values drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.check.evaluate import literals
from qospec.check.evaluate.clauses import refuse_clauses
from qospec.check.evaluate.context import CheckError, LimitReached, make_error
from qospec.check.evaluate.criteria import build_condition
from qospec.check.evaluate.dimensions import TYPES, describe_dimension
from qospec.check.evaluate.loops import explain_misplaced
from qospec.check.evaluate.scope import Binding, Scope, bind_known
from qospec.check.evaluate.streams import FUNCTIONS, Arrivals, Function
from qospec.check.evaluate.values import (
    POISON,
    Amount,
    Boolean,
    List,
    Poison,
    Symbol,
    Text,
    Value,
    write_plain_value,
)
from qospec.check.records.parameters import let_binding
from qospec.check.test.parts import is_continuous
from qospec.check.test.sweeps import escape_for_shell
from qospec.check.test.vacuity import conditions
from qospec.diagnostics import Diagnostic, suggest_name
from qospec.model.bounds import Bounds
from qospec.model.drawn import Asserted, Drawn, Examined
from qospec.model.expression import Evaluated
from qospec.model.suite import Case, Network, Property, Run, Statement
from qospec.syntax import ast
from qospec.units import PS_PER_S, TIME, WHOLE, Dimension
from qospec.units import format_value as amount_text

if TYPE_CHECKING:
    from qospec.check.evaluate.context import Context
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.model.drawn import Draw, DrawnValue, Functions
    from qospec.source import Span

HERE = "a property"
LONGEST_CHOICE = 24
"""Of what is drawn from a list, in the name of a case."""


def check_property(
    node: ast.Property, home: Scope, evaluator: Evaluator
) -> tuple[Property, Examiner] | None:
    """Return a property and what evaluates it; None after a mistake in it, which is reported."""
    context = evaluator.context
    before = context.mistakes
    scope = _declare_names(node, home, evaluator)
    drawn, counted = (
        _find_bounds(node, scope, evaluator) if context.mistakes == before else ({}, {})
    )
    foralls = [statement for statement in node.body.statements if isinstance(statement, ast.ForAll)]
    for statement in node.body.statements:
        if isinstance(statement, ast.ForAll) and statement.where is not None:
            where = statement.where
            conditions.verify_where(where, drawn, counted, scope, evaluator, foralls)
        elif isinstance(statement, ast.Criterion) and statement.kind == "expect":
            _check_expected(statement, drawn, scope, evaluator)
        elif not isinstance(statement, ast.ForAll | ast.Let):
            context.report(explain_misplaced(statement, HERE))
    for binding in scope.names.values():
        binding.evaluate(context)
    for kind, missing, help_text in (
        (ast.ForAll, "draws nothing", "add `forall rate: CellRate in 1 cell/s .. 100 cell/s`"),
        (ast.Criterion, "expects nothing", "add an `expect`"),
    ):
        lacks = not any(isinstance(statement, kind) for statement in node.body.statements)
        if lacks and not home.find_outermost().unparsed:  # else it may be in what was skipped
            message = f"the property `{node.name.text}` {missing}"
            context.report(make_error("E0516", message, node.name.span, help=help_text))
    if context.mistakes > before:
        return None
    examiner = Examiner(node, home, evaluator)
    cases = _build_cases(node, examiner, context)
    if context.mistakes > before:
        return None
    return Property(node.name.text, node.doc, node.span, cases), examiner


def _declare_names(node: ast.Property, home: Scope, evaluator: Evaluator) -> Scope:
    """Return the names of a property, those that are drawn with unknown values."""
    scope = _build_scope(node, home, {})
    for statement in node.body.statements:
        if isinstance(statement, ast.ForAll):
            value = build_placeholder(statement, scope, evaluator)
            drawn = bind_known(statement.name, "a drawn value", value)
            scope.declare(drawn, evaluator.context)
        elif isinstance(statement, ast.Let):
            scope.declare(
                let_binding(statement, scope, evaluator, criteria=False), evaluator.context
            )
    return scope


class _EndlessError(Exception):
    """A `forall` draws from no list."""


class _Chooser:
    """Chooses from lists, one combination after another: the last list turns fastest."""

    def __init__(self) -> None:
        self._chosen: list[int] = []
        self._sizes: list[int] = []

    def __call__(self, drawn: Drawn) -> int:
        """Return the number of a choice; raises _EndlessError."""
        if not drawn.choices:
            raise _EndlessError
        place = len(self._sizes)
        self._sizes.append(len(drawn.choices))
        self._chosen += [0] * (place == len(self._chosen))
        return self._chosen[place]

    def advance(self) -> bool:
        """Go on to the next combination; return whether there is one."""
        sizes, self._sizes = self._sizes, []
        del self._chosen[len(sizes) :]
        while self._chosen and self._chosen[-1] + 1 == sizes[len(self._chosen) - 1]:
            self._chosen.pop()
        if self._chosen:
            self._chosen[-1] += 1
        return bool(self._chosen)


def _build_cases(
    node: ast.Property, examine: Examiner, context: Context
) -> tuple[Case, ...] | None:
    """Return a case for each combination of values; None if there is no end to them.

    So it is after a mistake elsewhere that leaves one of them unknown.
    """
    chooser, made = _Chooser(), dict[str, Case]()
    refused: list[Span] = []
    try:
        while True:
            found = examine(chooser, {})
            if isinstance(found, Diagnostic):
                context.report(CheckError(found))
                return None
            if found.refused is not None:
                refused.append(found.refused)
            else:
                case = _build_case(node, found)
                made[case.name] = case
            if len(made) > context.limits.cases:
                return None
            if not chooser.advance():
                break
    except (_EndlessError, PoisonError):
        return None
    if refused and not made:
        context.report(conditions.explain_never_met(refused[0]))
    return tuple(made.values())


def _build_case(node: ast.Property, found: Examined) -> Case:
    """Return the case of a property for values of lists."""
    parameters = tuple(
        (drawn.name, _shorten(drawn, value))
        for drawn, value in found.drawn
        if len(drawn.choices) > 1
    )
    named = ",".join(f"{name}={text}" for name, text in parameters)
    chosen = tuple(int(value) for _, value in found.drawn)  # type: ignore[arg-type]
    statements = tuple(
        Statement(
            "expect",
            label_criterion(statement),
            write_condition(statement),
            Evaluated(write_condition(statement)),
            span,
        )
        for statement in node.body.statements
        if isinstance(statement, ast.Criterion)
        for span in [statement.condition.span]
    )
    name = f"{node.name.text}:{named}" if named else node.name.text
    run, networks = Run(0, 0, 1), {"": Network("", (), (), ())}
    return Case(name, parameters, networks, (), run, statements, chosen=chosen)


def _shorten(drawn: Drawn, value: DrawnValue) -> str:
    """Return a choice as names of cases have it: its number where its text is long or repeated."""
    assert isinstance(value, int)  # noqa: S101 -- of a choice
    text = escape_for_shell(drawn.choices[value])
    alike = [escape_for_shell(choice) for choice in drawn.choices].count(text) > 1
    plain = "(" not in drawn.choices[value] and len(text) <= LONGEST_CHOICE
    return text if plain and not alike else str(value + 1)


class Examiner:
    """Evaluates a property for values: the `model.checked.Examiner` of the property."""

    def __init__(self, node: ast.Property, home: Scope, evaluator: Evaluator) -> None:
        self._node = node
        self._home = home
        self._evaluator = evaluator
        self._context = evaluator.context

    def __call__(self, draw: Draw, functions: Functions, /) -> Examined | Diagnostic:
        """Return what the property is for values, or the first mistake in it.

        Raises:
            PoisonError: It needs something with a mistake that was reported before.
        """
        with self._context.check_apart() as problems:
            try:
                made = self._examine(draw, functions)
                if not problems.errors:
                    return made
            except CheckError as mistake:
                self._context.report(mistake)
            except PoisonError:
                if not problems.errors:
                    raise
            except LimitReached:
                pass
        return problems.errors[0]

    def _examine(self, draw: Draw, functions: Functions) -> Examined:
        evaluator, statements = self._evaluator, self._node.body.statements
        scope = _build_scope(self._node, self._home, functions)
        drawn: list[tuple[Drawn, DrawnValue]] = []
        for statement in statements:
            if isinstance(statement, ast.Let):
                scope.declare(
                    let_binding(statement, scope, evaluator, criteria=False), self._context
                )
            if not isinstance(statement, ast.ForAll):
                continue
            what, value_of = to_draw(statement, scope, evaluator)
            chosen = draw(what)
            drawn.append((what, chosen))
            made = bind_known(statement.name, "a drawn value", value_of(chosen, functions))
            scope.declare(made, self._context)
            where = statement.where
            if where is not None and evaluator.require_truth(where, scope) is False:
                return Examined(tuple(drawn), where.span, ())
        asserted = (
            _build_expected(statement, scope, evaluator)
            for statement in statements
            if isinstance(statement, ast.Criterion)
        )
        return Examined(
            tuple(drawn), None, tuple(expected for expected in asserted if expected is not None)
        )


def _build_expected(node: ast.Criterion, scope: Scope, evaluator: Evaluator) -> Asserted | None:
    """Return an `expect` for known values; None after a mistake, or if it needs functions."""
    found = build_condition(node.condition, scope, evaluator)
    if found is None:
        return None
    return Asserted(label_criterion(node), write_condition(node), found, node.condition.span)


def label_criterion(node: ast.Criterion) -> str:
    """Return what a criterion is called: the author's label, or its condition."""
    return node.label.text if node.label else write_condition(node)


def write_condition(node: ast.Criterion) -> str:
    """Return the condition of a criterion as written, on one line."""
    return " ".join(node.condition.span.text.split())


ValueOf = Callable[[Any, "Functions"], Value]
"""Returns a drawn value as one of the language, given what carries out functions."""


def to_draw(node: ast.ForAll, scope: Scope, evaluator: Evaluator) -> tuple[Drawn, ValueOf]:
    """Return what a `forall` draws, and what makes a value of it; raises CheckError."""
    name, span = node.name.text, node.values.span
    if is_continuous(node.values):
        low, high, whole = _ends(node, node.values, scope, evaluator)
        assert low.value is not None and high.value is not None  # noqa: PT018, S101 -- drawn before
        between = Drawn(
            name,
            span,
            low=low.value,
            high=high.value,
            dimension=whole.dimension,
            layer=whole.layer,
            whole=_is_counted(node, whole.dimension),
        )
        return between, lambda value, _: Amount(Fraction(value), whole.dimension, whole.layer)
    values = evaluator.require_plain(node.values, scope)
    if isinstance(values, Poison):
        raise PoisonError
    if isinstance(values, Arrivals):
        cells = Drawn(name, span, most_cells=values.most)
        return cells, lambda value, functions: Arrivals(functions["cells"](value))
    assert isinstance(values, List)  # noqa: S101 -- checked before
    items = node.values.items if isinstance(node.values, ast.ListLiteral) else ()
    texts = tuple(" ".join(item.span.text.split()) for item in items) or tuple(
        map(write_plain_value, values.items)
    )
    return Drawn(name, span, choices=texts), lambda value, _: values.items[value]


def _is_counted(node: ast.ForAll, dimension: Dimension) -> bool:
    """Return whether only whole numbers are drawn of a range."""
    counts = node.annotation is not None and TYPES[node.annotation.text] in WHOLE
    counts &= node.annotation is None or node.annotation.text != "Ratio"
    return counts or (dimension in WHOLE and not dimension.is_ratio)


def _build_scope(node: ast.Property, home: Scope, functions: Functions) -> Scope:
    """Return the names of a property: functions, unless the file declares such a name.

    `functions` carry them out; without, their results are unknown.
    """
    scope = Scope(home)
    for name, function in FUNCTIONS.items():
        if home.find(name) is None:
            run = functions.get(name)
            scope.names[name] = _make_function(name, replace(function, run=run), node)
    return Scope(scope)


def _make_function(name: str, function: Function, node: ast.Property) -> Binding:
    return Binding(name, node.name.span, "a function of properties", lambda: function)


def build_placeholder(node: ast.ForAll, scope: Scope, evaluator: Evaluator) -> Value:
    """Return what stands for all values of a `forall`; POISON after a mistake, reported."""
    try:
        return _build_drawn(node, scope, evaluator)
    except PoisonError:
        pass
    except CheckError as mistake:
        evaluator.context.report(mistake)
    return POISON


class PoisonError(Exception):
    """A part of a value is unknown, after a mistake that was reported."""


def _build_drawn(node: ast.ForAll, scope: Scope, evaluator: Evaluator) -> Value:
    """Return the placeholder for all values that may be drawn; raises CheckError."""
    if is_continuous(node.values):
        return _find_range(node, node.values, scope, evaluator)
    values = evaluator.require_plain(node.values, scope)
    if isinstance(values, Arrivals | Poison):
        if node.annotation is not None and isinstance(values, Arrivals):
            raise make_error(
                "E0115",
                f"arrivals are not of type `{node.annotation.text}`",
                node.annotation.span,
                help=f"write `forall {node.name.text} in {node.values.span.text}`",
            )
        return values
    if isinstance(values, List) and values.items:
        first = values.items[0]
        for item in values.items:
            if isinstance(item, Poison):
                return item
            _require_type(node, item)
            if type(item) is not type(first):
                raise make_error(
                    "E0203",
                    f"a list of {first.what} and {item.what}",
                    node.values.span,
                    help="draw from values of one kind",
                )
        if isinstance(first, Amount):
            return Amount(None, first.dimension, first.layer)
        if isinstance(first, Text | Symbol):
            return POISON  # which of them, and so what is equal to it, is not known
        return Boolean(None) if isinstance(first, Boolean) else first
    raise make_error(
        "E0516",
        f"expected a range, a list or `cells(…)` to draw from, found {values.what}",
        node.values.span,
        help="write `in 1 cell/s .. 100 cell/s`, or `in cells(at_most = 100)`",
    )


def _find_range(node: ast.ForAll, values: ast.Range, scope: Scope, evaluator: Evaluator) -> Value:
    *_, whole = _ends(node, values, scope, evaluator)
    return Amount(None, whole.dimension, whole.layer)


def _ends(
    node: ast.ForAll, values: ast.Range, scope: Scope, evaluator: Evaluator
) -> tuple[Amount, Amount, Amount]:
    """Return the ends of a range, and that of them with the dimension; raises CheckError."""
    ends: list[Amount] = []
    for place in (values.first, values.last):
        end = evaluator.require_plain(place, scope)
        if isinstance(end, Poison):
            raise PoisonError
        if not isinstance(end, Amount):
            raise make_error("E0204", f"expected a number, found {end.what}", place.span)
        _require_type(node, end)
        ends.append(end)
    first, last = ends
    if first.dimension != last.dimension and 0 not in (first.value, last.value):
        raise make_error(
            "E0203",
            f"a range between {describe_dimension(first.dimension)} and "
            f"{describe_dimension(last.dimension)}",
            values.last.span,
            secondary=(values.first.span, f"this is {describe_dimension(first.dimension)}"),
        )
    if first.value is not None and last.value is not None and first.value > last.value:
        raise make_error(
            "E0217",
            "this range runs downwards",
            values.span,
            help=literals.suggest_ascending(values, first, last),
        )
    return first, last, last if first.value == 0 else first


def _require_type(node: ast.ForAll, value: Value) -> None:
    """Require that a drawn value is of its type."""
    if node.annotation is None:
        return
    name = node.annotation.text
    if name not in TYPES:
        near = suggest_name(name, TYPES)
        raise make_error(
            "E0115",
            f"`{name}` is not a type that can be drawn",
            node.annotation.span,
            note="types: " + " ".join(TYPES),
            near=near,
            help="write one of them",
        )
    fits = isinstance(value, Amount) and (value.dimension == TYPES[name] or value.value == 0)
    if not fits:
        what = describe_dimension(value.dimension) if isinstance(value, Amount) else value.what
        raise make_error(
            "E0202",
            f"`{node.name.text}` is {describe_dimension(TYPES[name])}, not {what}",
            node.values.span,
            secondary=(node.annotation.span, "by its type"),
        )


def _find_bounds(
    node: ast.Property, scope: Scope, evaluator: Evaluator
) -> tuple[dict[str, Bounds], dict[str, Sequence[Fraction | int]]]:
    """Return by name between what values are drawn from ranges, and what values can be counted.

    An end is unknown where it depends on others. An expectation of a list may hold for all of it,
    as that of an example which was kept, so only a `where` is held against lists.
    """
    drawn, counted = dict[str, Bounds](), dict[str, Sequence[Fraction | int]]()
    for statement in node.body.statements:
        if isinstance(statement, ast.ForAll):
            if is_continuous(statement.values):
                drawn[statement.name.text] = find_ends(statement.values, scope, evaluator)
            if points := enumerate_values(statement, scope, evaluator):
                counted[statement.name.text] = points
    return drawn, counted


def enumerate_values(
    node: ast.ForAll, scope: Scope, evaluator: Evaluator
) -> Sequence[Fraction | int]:
    """Return the numbers that may be drawn, ascending; none unless each of them is known."""
    if is_continuous(node.values):
        value = build_placeholder(node, scope, evaluator)
        whole = isinstance(value, Amount) and _is_counted(node, value.dimension)
        return (
            conditions.enumerate_whole_numbers(find_ends(node.values, scope, evaluator))
            if whole
            else ()
        )
    values = evaluator.require_plain(node.values, scope)
    items = values.items if isinstance(values, List) else ()
    numbers = [item.value for item in items if isinstance(item, Amount)]
    known = [number for number in numbers if number is not None]
    return sorted(known) if len(known) == len(items) else ()


def find_ends(values: ast.Range, scope: Scope, evaluator: Evaluator) -> Bounds:
    """Return between what a range draws; an end is unknown where it depends on what is drawn."""
    ends = (evaluator.require_plain(end, scope) for end in (values.first, values.last))
    return Bounds(*(end.value if isinstance(end, Amount) else None for end in ends))


def _check_expected(
    node: ast.Criterion, drawn: Mapping[str, Bounds], scope: Scope, evaluator: Evaluator
) -> None:
    """Report an `expect` that cannot fail, `drawn` being the bounds of what is drawn."""
    try:
        refuse_clauses(node, "a property", "holds for all values")
    except CheckError as mistake:
        evaluator.context.report(mistake)
    before = evaluator.context.mistakes
    evaluator.require_truth(node.condition, scope)
    if evaluator.context.mistakes == before:
        condition, of = (
            conditions.open_condition(node.condition, scope, evaluator),
            conditions.make_bounds(drawn),
        )
        for idle in conditions.examine_criterion(node, [condition], conditions.PROPERTY, of):
            evaluator.context.report(idle)


def write_value(what: Drawn, value: DrawnValue) -> str:
    """Return a value as an author would write it."""
    if isinstance(value, tuple):
        times = ", ".join(
            amount_text(Fraction(time_ps, PS_PER_S), TIME, exact=True) for time_ps in value
        )
        return f"cells(at = [{times}])"
    if what.choices:
        return what.choices[int(value)]
    assert what.dimension is not None  # noqa: S101 -- of numbers
    text = amount_text(value, what.dimension, exact=True)
    return f"{text} @{what.layer}" if what.layer else text
