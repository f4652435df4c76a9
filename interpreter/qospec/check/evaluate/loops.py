"""What all bodies share: loops, counts, and misplaced statements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.scope import bind_known
from qospec.check.evaluate.values import POISON, Amount, Boolean, List, Poison, Text, Value
from qospec.diagnostics import Edit
from qospec.source import Span
from qospec.syntax import ast
from qospec.units import format_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.syntax import ast

_WHOLE = re.compile(r"[0-9_]{1,20}")
_BINDS = re.compile(r"\w+\s*=")
_JOINED = r"(->|--)\s*{0}\b|\b{0}(\.\w+)?\s*(->|--)"
"""A name used in wires or links: it is not meant as a value."""

HOMES: dict[type, tuple[str, str]] = {
    ast.Port: ("`port`", "a device"),
    ast.Wire: ("a wire", "a device"),
    ast.Link: ("`link`", "a topology"),
    ast.Flow: ("`flow`", "a test"),
    ast.Sweep: ("`sweep`", "a test"),
    ast.Control: ("`control`", "a test"),
    ast.Run: ("`run`", "a test"),
    ast.Criterion: ("a criterion", "a test"),
    ast.Report: ("`report`", "a test"),
    ast.Skip: ("`skip`", "a test"),
    ast.Search: ("`search`", "a test"),
    ast.Goal: ("`goal`", "a search"),
    ast.Point: ("`point`", "a test"),
    ast.At: ("`at`", "a point, or a test with `run`"),
    ast.Machine: ("a machine", "a device"),
    ast.ForAll: ("`forall`", "a property or a test"),
    ast.State: ("`state`", "a machine"),
    ast.Transition: ("`on`", "a state of a machine"),
    ast.Bind: ("a binding", "a device, a topology or a record"),
    ast.Loop: ("`for`", "a device, a topology or a test"),
    ast.Let: ("`let`", "a file or a body"),
}


def explain_misplaced(statement: ast.Statement, here: str) -> CheckError:
    """Return the mistake of a statement that does not belong here."""
    what, home = HOMES[type(statement)]
    if isinstance(statement, ast.Criterion) and statement.kind == "invariant":
        what, home = "an invariant", "a device"
    help_text, note = "move it there", ""
    if isinstance(statement, ast.Loop) and any(
        isinstance(inner, ast.At) for inner in statement.body.statements
    ):
        help_text = "write each `at` by itself"
        note = "rates over time may be those of a CSV file: `source = load_profile { file = … }`"
    return make_error(
        "E0112",
        f"{what} does not belong in {here}",
        statement.span,
        label=f"it belongs in {home}",
        note=note,
        help=help_text,
    )


def declare_poisoned(node: ast.Bind, scope: Scope) -> bool:
    """Declare the names of a refused binding as POISON, so that their uses are not reported.

    Returns whether there were any.
    """
    missing = [name for name in node.names if scope.find(name.text) is None]
    for name in missing:
        scope.names[name.text] = bind_known(name, "a name", POISON)
    return bool(missing)


def as_let(node: ast.Bind, value: Value) -> tuple[Edit, ...]:
    """Return the edit that makes a binding of one name a `let`, if its value is plain."""
    plain = isinstance(value, Amount | List | Boolean | Text)
    if not (plain and len(node.names) == 1 and _BINDS.match(node.span.text)):
        return ()
    if re.search(_JOINED.format(node.names[0].text), node.span.source.text):
        return ()
    return (Edit(Span(node.span.source, node.span.start, node.span.start), "let "),)


def count_written_values(node: ast.Expression) -> int:
    """Return how many values a literal list or range of whole numbers has; 0 for anything else."""
    if isinstance(node, ast.ListLiteral):
        return len(node.items)
    if not isinstance(node, ast.Range) or node.step is not None:
        return 0
    first, last = (
        int(end.text) if isinstance(end, ast.Number) and _WHOLE.fullmatch(end.text) else None
        for end in (node.first, node.last)
    )
    return 0 if first is None or last is None else max(last - first + 1, 0)


def _count_iterations_within(body: ast.Body) -> int:
    """Return a lower bound of how many iterations the loops of a body take."""
    loops = (statement for statement in body.statements if isinstance(statement, ast.Loop))
    return sum(
        count_written_values(loop.values) * (1 + _count_iterations_within(loop.body))
        for loop in loops
    )


def iterate_loop(
    node: ast.Loop, scope: Scope, evaluator: Evaluator
) -> Iterator[tuple[int, Value, bool]]:
    """Yield per iteration of a loop: its index, the value of its name, and whether that is known.

    The index is the value if all values are whole numbers, else the iteration's number from 0.
    """
    values = evaluator.require_plain(node.values, scope)
    if isinstance(values, Poison):
        yield 0, values, False
        return
    if not isinstance(values, List):
        raise make_error(
            "E0204", f"expected a list or a range after `in`, found {values.what}", node.values.span
        )
    natural = all(
        isinstance(item, Amount)
        and item.value is not None
        and item.value.denominator == 1
        and item.value >= 0
        for item in values.items
    )
    most = len(values.items) * (1 + _count_iterations_within(node.body)) if values.known else 1
    for number, item in enumerate(values.items):
        evaluator.context.count_loop_iteration(node.values.span, most if number == 0 else 1)
        iteration = (
            int(item.value)
            if natural and isinstance(item, Amount) and item.value is not None
            else number
        )
        yield iteration, item, values.known


def evaluate_count(node: ast.Expression, scope: Scope, evaluator: Evaluator) -> tuple[int, bool]:
    """Return the length of an array, and whether it is known.

    Where it depends on a parameter that is not known, one stands for all.
    """
    value = evaluator.require_plain(node, scope)
    if isinstance(value, Poison) or (isinstance(value, Amount) and value.value is None):
        return 1, False
    if not isinstance(value, Amount) or not value.dimension.is_ratio or value.value is None:
        raise make_error(
            "E0204", f"expected a whole number as count, found {value.what}", node.span
        )
    if value.value.denominator != 1 or value.value < 0:
        shown = format_number(value.value, exact=True)
        raise make_error(
            "E0205", f"expected a whole number from 0 as count, found {shown}", node.span
        )
    if value.value > evaluator.context.limits.items:
        raise make_error(
            "E0603",
            f"an array of more than {evaluator.context.limits.items:_}",
            node.span,
            help="make it smaller",
        )
    return int(value.value), True


def refuse_duplicates(arguments: Sequence[ast.Argument]) -> None:
    """Refuse an argument that is given twice by its name."""
    seen: dict[str, ast.Argument] = {}
    for argument in arguments:
        name = argument.name.text if argument.name is not None else ""
        if name and name in seen:
            first = (seen[name].span, "first here")
            raise make_error("E0114", f"`{name}` is given twice", argument.span, secondary=first)
        seen[name] = argument
