"""What the value of a record's field may name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.evaluate.context import error
from qospec.check.evaluate.scope import Scope
from qospec.check.records.spelling import parameter_of
from qospec.syntax import ast

if TYPE_CHECKING:
    from qospec.check.evaluate.scope import Binding
    from qospec.check.records.record import Record


class FieldScope(Scope):
    """The names that a field's value may use: those around it, then its record's other fields."""

    def __init__(self, parent: Scope, record: Record, current: str) -> None:
        super().__init__(parent)
        self._record = record
        self._current = current

    def find(self, name: str) -> Binding | None:
        """Return what a name stands for in the value."""
        around = super().find(name)
        parameter = parameter_of(self._record.kind, name)
        if parameter is None or (around is not None and parameter.name == self._current):
            return around
        mine = self._record.binding(name)
        if around is None or mine is None or parameter.name not in self._record.given:
            return around or mine
        field = self._record.given[parameter.name]
        if (
            isinstance(field.value, ast.Path)
            and field.value.name.text == name
            and not field.value.trail
        ):
            return mine
        raise error(
            "E0113",
            f"`{name}` is ambiguous: this name or the record's own field",
            self._record.given[self._current].value.span,
            secondary=(around.span, f"{around.what} of that name"),
            help="give the other one a different name",
        )
