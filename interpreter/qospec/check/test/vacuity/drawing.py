"""Tests that draw: a `where` that no values meet, and criteria that hold for all values.

Both ends of all ranges have been expanded into cases. What names nothing drawn is the same for all
values, as far as a case can tell; what does is examined with what is drawn unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.evaluate.context import make_error
from qospec.check.evaluate.scope import bind_known
from qospec.check.test.parts import CaseScope, collect_parts, is_continuous
from qospec.check.test.properties import build_placeholder, enumerate_values, find_ends
from qospec.check.test.vacuity import conditions, criteria
from qospec.dataclass import NamedTuple
from qospec.model.expression import is_constant
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from fractions import Fraction

    from qospec.check.evaluate.context import CheckError
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.check.test.parts import Parts
    from qospec.model.bounds import Bounds
    from qospec.model.expression import Expression
    from qospec.model.suite import Case, Statement
    from qospec.source import Span


class Draws(NamedTuple):
    """What a test draws: its names, with unknown values, and the bounds of ranges by name."""

    scope: Scope
    bounds: Mapping[str, Bounds]


def verify_draws(node: ast.Test, home: Scope, evaluator: Evaluator) -> Draws | None:
    """Report what is wrong with what a test draws, whatever else is; None after a mistake."""
    parts = collect_parts(node, home, evaluator)
    if parts is None:
        return None
    before = evaluator.context.mistakes
    for mistake in _find_drawn_from_sweeps(node, parts):
        evaluator.context.report(mistake)
    scope = CaseScope(parts, (), evaluator).scope
    drawn = _declare_drawn(node, scope, evaluator) if evaluator.context.mistakes == before else {}
    return None if evaluator.context.mistakes > before else Draws(scope, drawn)


def examine_criteria(
    node: ast.Test, cases: Sequence[Case], draws: Draws, evaluator: Evaluator
) -> Iterator[CheckError]:
    """Yield what a test that draws says in vain; its cases are those at the ends of its ranges."""
    scope, drawn = draws
    varying, own = _list_varying(node), _list_criteria(node)
    of = conditions.make_bounds(drawn)

    def explain_opened(statement: Statement, why: str, explain: Callable[[Expression], str]) -> str:
        """Return why a criterion cannot be otherwise, whatever is drawn; "" if it can."""
        asked = own.get(_identify_place(statement.span))
        if asked is None or varying.isdisjoint(asked.condition.list_names_used()):
            return why
        if not is_constant(statement.expression):
            return ""
        with evaluator.context.check_apart() as problems:
            condition = conditions.open_condition(asked.condition, scope, evaluator)
        return "" if problems.errors else explain(condition)

    for statement, why in criteria.find_unfailing(cases):
        if always := explain_opened(
            statement, why, lambda condition: criteria.explain_always_true(condition, of)
        ):
            yield criteria.warn_of_unfailing(statement, always, cases[0])
    for statement, why in criteria.find_unmeetable(cases):
        if never := explain_opened(statement, why, criteria.explain_settled_false):
            yield conditions.explain_unmet(statement, never, cases[0])


def _declare_drawn(node: ast.Test, scope: Scope, evaluator: Evaluator) -> dict[str, Bounds]:
    """Declare what is drawn, and return what is drawn from ranges, by name.

    A `where` that no values meet is reported.
    """
    drawn: dict[str, Bounds] = {}
    counted: dict[str, Sequence[Fraction | int]] = {}
    foralls = [forall for forall in node.statements if isinstance(forall, ast.ForAll)]
    for forall in foralls:
        value = build_placeholder(forall, scope, evaluator)
        name = forall.name.text
        scope.names[name] = bind_known(forall.name, "a drawn value", value)
        if points := enumerate_values(forall, scope, evaluator):
            counted[name] = points
        if is_continuous(forall.values):
            drawn[name] = find_ends(forall.values, scope, evaluator)
            if forall.where is not None:
                conditions.verify_where(forall.where, drawn, counted, scope, evaluator, foralls)
    return drawn


def _find_drawn_from_sweeps(node: ast.Test, parts: Parts) -> Iterator[CheckError]:
    """Yield a mistake for each `forall` that depends on a sweep.

    An example has one value of each `forall`, and all its cases have that value, whereas the
    variable of a sweep has another in each case.
    """
    statements = [statement for part in parts for statement in part.node.statements]
    drawn = {
        statement.name.text for statement in node.statements if isinstance(statement, ast.ForAll)
    }
    swept = {
        name.text: (name, statement)
        for statement in statements
        if isinstance(statement, ast.Sweep)
        for name in statement.names
        if name.text not in drawn
    }
    lets = {
        statement.name.text: statement for statement in statements if isinstance(statement, ast.Let)
    }
    for statement in node.statements:
        if isinstance(statement, ast.ForAll):
            asked = (
                (statement.values, statement.where)
                if statement.where is not None
                else (statement.values,)
            )
            named = (below for part in asked for below in part.with_all_below())
            paths = [below for below in named if isinstance(below, ast.Path)]
            causes = [(path, _find_sweep_behind(path.name.text, swept, lets)) for path in paths]
            yield from (_explain_drawn_from_sweep(at, *swept[name]) for at, name in causes if name)


def _find_sweep_behind(name: str, swept: Mapping[str, object], lets: Mapping[str, ast.Let]) -> str:
    """Return the variable of a sweep that a name is or depends on by `let`; "" if none."""
    waiting, seen = [name], set[str]()
    while waiting:
        variable = waiting.pop()
        if variable in swept:
            return variable
        if variable in lets and variable not in seen:
            waiting += sorted(lets[variable].value.list_names_used())
        seen.add(variable)
    return ""


def _explain_drawn_from_sweep(path: ast.Path, name: ast.Name, sweep: ast.Sweep) -> CheckError:
    used = path.name.text
    known = "" if used == name.text else f", since it depends on `{name.text}`"
    values = " ".join(sweep.values.span.text.split())
    how = (
        f"as in `forall {name.text} in {values}`"
        if len(sweep.names) == 1
        else "with its own `forall`"
    )
    return make_error(
        "E0516",
        "a `forall` cannot depend on a sweep",
        path.span,
        label=f"`{used}` differs from case to case{known}",
        secondary=(name.span, "because of this sweep"),
        note="what a `forall` draws is the same in all cases of an example",
        help=f"draw `{name.text}` too, {how}",
    )


def _list_criteria(node: ast.Test) -> dict[tuple[str, int], ast.Criterion]:
    """Return the criteria of a test by their places, without those that it is built on."""
    every = (part for statement in node.statements for part in statement.with_all_below())
    return {
        _identify_place(criterion.condition.span): criterion
        for criterion in every
        if isinstance(criterion, ast.Criterion)
    }


def _identify_place(span: Span) -> tuple[str, int]:
    return span.source.name, span.start


def _list_varying(node: ast.Test) -> set[str]:
    """Return the names of a test whose values may depend on what is drawn."""
    every = [part for statement in node.statements for part in statement.with_all_below()]
    varying, before = {forall.name.text for forall in every if isinstance(forall, ast.ForAll)}, 0
    uses: list[tuple[set[str], ast.Expression]] = []
    for part in every:
        if isinstance(part, ast.Let):
            uses.append(({part.name.text}, part.value))
        elif isinstance(part, ast.Loop):
            uses.append(({part.name.text}, part.values))
        elif isinstance(part, ast.Sweep):
            uses.append(({name.text for name in part.names}, part.values))
    while len(varying) > before:
        before = len(varying)
        for names, value in uses:
            if not varying.isdisjoint(value.list_names_used()):
                varying |= names
    return varying
