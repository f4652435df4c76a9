"""A record in a field of another: from what the field holds to the object that is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import NESTED
from qospec.check.context import wrong
from qospec.check.scope import Scope
from qospec.check.spellings import ARTICLES
from qospec.check.values import Poison
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.catalogue.kinds import Parameter
    from qospec.check.expressions import Evaluator
    from qospec.check.records import Field
    from qospec.check.values import Value
    from qospec.source import Span


def built(value: Value, parameter: Parameter, span: Span, evaluator: Evaluator) -> Any:
    """Return the object of the record that a field holds; None if it is wrong or not known yet.

    Raises:
        Refused: It is none of the kinds that the field holds, or the kind refuses its fields.
    """
    if isinstance(value, Poison):
        return None
    kind, role = getattr(value, "kind", None), NESTED[parameter.domain.name]
    if kind is None or kind.role != role:
        raise wrong(
            "E0204",
            f"`{parameter.name}` is {ARTICLES[role]}, "
            f"not {ARTICLES[kind.role] if kind else value.what}",
            span,
            note=f"there are: {' '.join(evaluator.context.catalogue.of(role))}",
        )
    record: Any = value
    if not hasattr(value, "arguments"):  # the kind by its name alone
        record = value.copy(ast.Body(statements=(), span=span), Scope(), evaluator)
    arguments, complete = record.arguments(evaluator)
    try:
        return kind.build(**arguments) if complete else None
    except ValueError as error:
        raise record.refused(error) from error


def place_of(name: str, given: Mapping[str, Field]) -> Span | None:
    """Return where a record that one of these fields holds gives a field of that name."""
    bodies = (each.value.body for each in given.values() if isinstance(each.value, ast.Record))
    binds = (each for body in bodies for each in body.statements if isinstance(each, ast.Bind))
    return next((b.value.span for b in binds if name in [n.text for n in b.names]), None)
