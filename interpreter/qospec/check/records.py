"""Records: `kind { field = value }` and copies of them, which recompute like a spreadsheet.

A field's value may name the other fields of its record. It is worked out in the record that is used
in the end, so overriding one field changes what depends on it.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from qospec.catalogue import REQUIRED, Domain, Parameter
from qospec.check import fields
from qospec.check.context import Refused, wrong
from qospec.check.scope import Binding, Scope
from qospec.check.values import Series, Value
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.catalogue import Kind
    from qospec.check.expressions import Evaluator
    from qospec.source import Span

NEAR = 0.66
"""How like a field's name must be: one letter in three may be wrong in an abbreviation."""

SOURCE = Parameter("source", Domain("arrivals"), None)
"""A field of every kind of traffic: what is emitted, apart from what is declared."""


class Field(NamedTuple):
    """A field as written, where it was written, and the names that it may use."""

    name: ast.Name
    value: ast.Expression
    scope: Scope


class Record(Value):
    """A kind with the fields that were given; they are worked out when they are asked for.

    `excused` are fields that were given, it seems, in a way that was told to be wrong.
    """

    what: ClassVar[str] = "a record"

    def __init__(
        self,
        kind: Kind,
        given: Mapping[str, Field],
        span: Span,
        evaluator: Evaluator,
        excused: frozenset[str] = frozenset(),
    ) -> None:
        self.kind = kind
        self.given = given
        self.span = span
        self._evaluator = evaluator
        self._excused = excused
        self._bindings = {name: self._bound(name, each) for name, each in given.items()}

    def copy(self, body: ast.Body, scope: Scope, evaluator: Evaluator) -> Value:
        """Return a copy with the fields of `body` in place of its own."""
        fresh: dict[str, Field] = {}
        written = _assignments(body, evaluator)
        for name, value in written:
            add_field(self.kind, fresh, Field(name, value, scope), evaluator)
        excused = self._excused | _excused(self.kind, [name for name, _ in written], scope)
        return Record(self.kind, {**self.given, **fresh}, body.span, evaluator, excused)

    def field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return the value of a field."""
        parameter = parameter_of(self.kind, name.text)
        if parameter is None:
            raise unknown_field(self.kind, name)
        return self.value_of(parameter, evaluator)

    def value_of(self, parameter: Parameter, evaluator: Evaluator) -> Value:
        """Return the value given, or the default."""
        if parameter.name in self._bindings:
            return self._bindings[parameter.name].value(evaluator.context)
        return fields.from_default(parameter)

    def arguments(self, evaluator: Evaluator) -> tuple[dict[str, Any], bool]:
        """Return the fields as the kind's own types, and whether all are known and right."""
        found: dict[str, Any] = {}
        complete = True
        for parameter in self.kind.parameters.values():
            each = self.given.get(parameter.name)
            if each is None:
                if parameter.default is REQUIRED:
                    complete = False
                    if parameter.name not in self._excused:
                        evaluator.context.tell(_missing(self.kind, parameter, self.span))
                continue
            value = self.value_of(parameter, evaluator)
            try:
                converted = fields.convert(value, parameter, self.kind, each.value.span)
            except Refused as refused:
                evaluator.context.tell(refused)
                converted = None
            if converted is None:
                complete = False
            else:
                found[parameter.name] = converted
        return found, complete

    def _bound(self, name: str, each: Field) -> Binding:
        return Binding(name, each.name.span, "a field", lambda: self._work_out(name, each))

    def _work_out(self, name: str, each: Field) -> Value:
        scope = _FieldScope(each.scope, self, name)
        parameter = parameter_of(self.kind, name)
        domain = parameter.domain.name if parameter else ""
        evaluator = self._evaluator
        if domain == "choice":
            return self._choice(each, scope, parameter.domain.choices if parameter else ())
        if domain == "names" and isinstance(each.value, ast.ListOf):
            return Series(tuple(evaluator.word(item, scope) for item in each.value.items))
        return evaluator.known(evaluator.strict(each.value, scope), each.value)

    def _choice(self, each: Field, scope: Scope, choices: tuple[str, ...]) -> Value:
        if isinstance(each.value, ast.Path) and each.value.name.text in choices:
            return self._evaluator.word(each.value, Scope())
        return self._evaluator.word(each.value, scope)

    def binding(self, name: str) -> Binding | None:
        """Return the field of that name or abbreviation, if it was given or has a default."""
        parameter = parameter_of(self.kind, name)
        if parameter is None:
            return None
        if parameter.name in self._bindings:
            return self._bindings[parameter.name]
        if parameter.default in (REQUIRED, None):
            return None
        return Binding(name, self.span, "a field", lambda: fields.from_default(parameter))


class _FieldScope(Scope):
    """The names that a field's value may use: those around it, then its record's other fields."""

    def __init__(self, parent: Scope, record: Record, current: str) -> None:
        super().__init__(parent)
        self._record = record
        self._current = current

    def find(self, name: str) -> Binding | None:
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
        raise wrong(
            "E0113",
            f"`{name}` may mean this name or the record's own field",
            self._record.given[self._current].value.span,
            other=(around.span, f"{around.what} of that name"),
            remedy="give the other one a different name",
        )


def from_arguments(kind: Kind, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:
    """Return a record whose fields are given as arguments, by name or in order."""
    given: dict[str, Field] = {}
    order = list(kind.parameters)
    for place, argument in enumerate(call.arguments):
        name = argument.name
        if name is None:
            if place >= len(order):
                raise wrong(
                    "E0114", f"`{kind.name}` takes at most {len(order)} values", argument.span
                )
            name = ast.Name(text=order[place], span=argument.span)
        add_field(kind, given, Field(name, argument.value, scope), evaluator)
    names = [argument.name for argument in call.arguments if argument.name]
    return Record(kind, given, call.span, evaluator, _excused(kind, names, scope))


def parameter_of(kind: Kind, name: str) -> Parameter | None:
    """Return the field of that name or abbreviation."""
    if name == SOURCE.name and kind.role == "traffic":
        return SOURCE
    return kind.parameter(name)


def add_field(kind: Kind, given: dict[str, Field], each: Field, evaluator: Evaluator) -> None:
    """Add a field under its full name; report it if there is none or it came before."""
    parameter = parameter_of(kind, each.name.text)
    if parameter is None and not kind.open_fields:
        evaluator.context.tell(unknown_field(kind, each.name))
        return
    full = parameter.name if parameter else each.name.text
    if full in given:
        evaluator.context.tell(
            wrong(
                "E0114",
                f"`{full}` is given twice",
                each.name.span,
                other=(given[full].name.span, "first here"),
                remedy="keep one of them",
            )
        )
        return
    given[full] = each


def _excused(kind: Kind, names: Sequence[ast.Name], scope: Scope) -> frozenset[str]:
    """Return the fields meant by unknown names, and those in what could not be read."""
    known = _spellings(kind)
    strangers = [] if kind.open_fields else [name for name in names if name.text not in known]
    near = {known[meant].name for name in strangers if (meant := _nearest(name.text, known))}
    return frozenset(near | {each.name for name, each in known.items() if scope.was_unread(name)})


def _spellings(kind: Kind) -> dict[str, Parameter]:
    known = {
        spelling: each
        for each in kind.parameters.values()
        for spelling in (each.name, each.alias)
        if spelling
    }
    if kind.role == "traffic":
        known["source"] = SOURCE
    return known


def _nearest(name: str, known: Mapping[str, Parameter]) -> str:
    return next(iter(get_close_matches(name, known, n=1, cutoff=NEAR)), "")


def unknown_field(kind: Kind, name: ast.Name) -> Refused:
    """Return the mistake of a field that a kind does not have, with those that it has."""
    known = _spellings(kind)
    near = _nearest(name.text, known)
    meant = near
    if near and known[near].alias == near:
        meant = f"{near}` ({known[near].name.replace('_', ' ')})"
    label = f"did you mean `{meant}`?".replace(")`?", ")?") if near else ""
    listed = " ".join(dict.fromkeys(each.alias or each.name for each in known.values()))
    return wrong(
        "E0104",
        f"`{kind.name}` has no field `{name.text}`",
        name.span,
        label=label,
        note=f"fields of {kind.name}: {listed}" if listed else f"{kind.name} has no fields",
        remedy=f"write `{near}`" if near else "",
    )


def _assignments(body: ast.Body, evaluator: Evaluator) -> list[tuple[ast.Name, ast.Expression]]:
    found: list[tuple[ast.Name, ast.Expression]] = []
    for statement in body.statements:
        if isinstance(statement, ast.Bind):
            found += [(name, statement.value) for name in statement.names]
        else:
            evaluator.context.tell(
                wrong(
                    "E0112",
                    "a record holds fields only",
                    statement.span,
                    remedy="write `field = value`",
                )
            )
    return found


def _missing(kind: Kind, parameter: Parameter, span: Span) -> Refused:
    name = parameter.alias or parameter.name
    meaning = f" ({parameter.name.replace('_', ' ')})" if name != parameter.name else ""
    return wrong(
        "E0105",
        f"`{kind.name}` needs `{name}`{meaning}",
        span,
        remedy=f"add `{name} = …`",
    )
