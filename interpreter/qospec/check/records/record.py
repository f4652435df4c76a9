"""Records: `kind { field = value }` and copies of them, which recompute like a spreadsheet.

A field's value may name the other fields of its record. It is evaluated in the record that is used
in the end, so overriding one field changes what depends on it. A record in a field of another
becomes the object that it describes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from qospec.catalogue.kinds import NESTED, REQUIRED
from qospec.check.evaluate.context import CheckError, add_use, join_mistakes, make_error
from qospec.check.evaluate.scope import FIELD, Binding, Scope, find_given
from qospec.check.evaluate.values import List, Map, Poison, Symbol, Value
from qospec.check.records import fields, layers
from qospec.check.records.spelling import (
    ARTICLES,
    SOURCE,
    explain_missing,
    explain_unknown_field,
    find_parameter,
    guess_meant,
    list_spellings,
)
from qospec.dataclass import NamedTuple
from qospec.diagnostics import suggest_name
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.catalogue.kinds import Kind, Parameter, Role
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.values import Value
    from qospec.source import Span


_LISTED = {"arrivals": "arrivals", "dropping": "policies", "congestion": "controls"}
"""By domain of a field that holds a record: the command that lists what it may be."""


class Field(NamedTuple):
    """A field as written, where it was written, and the names that it may use."""

    name: ast.Name
    value: ast.Expression
    scope: Scope


class Record(Value):
    """A kind with the fields that were given; they are evaluated on use.

    `excused` are fields whose mistakes have probably been reported under another name. `kept` is
    what was made of it without a mistake: many cases use the same traffic and media.
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
        self.excused = excused
        self._bindings = {name: self._bind_field(name, field) for name, field in given.items()}
        self.kept: dict[str, Any] = {}

    def copy(self, body: ast.Body, scope: Scope, evaluator: Evaluator) -> Record:
        """Return a copy with the fields of `body` in place of its own."""
        fresh: dict[str, Field] = {}
        written = _list_assignments(body, evaluator)
        names = [name for name, _ in written]
        for name, value in written:
            add_field(self.kind, fresh, Field(name, value, scope), names, evaluator)
        excused = self.excused | _list_excused(self.kind, names, scope)
        return Record(self.kind, {**self.given, **fresh}, body.span, evaluator, excused)

    def add_contract(self, contract: Record) -> Record:
        """Return this source of some traffic, with the fields that it takes from the contract."""
        scope = FieldScope(Scope(), contract, SOURCE.name)
        given = dict(self.given)
        for name, of in self.kind.from_contract.items():
            own, theirs = (ast.Name(text=text, span=self.span) for text in (name, of))
            path = ast.Path(name=theirs, trail=(), span=self.span)
            given.setdefault(name, Field(own, path, scope))
        return Record(self.kind, given, self.span, self._evaluator, self.excused)

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return the value of a field."""
        parameter = find_parameter(self.kind, name.text)
        if parameter is None:
            raise explain_unknown_field(self.kind, name)
        return self.evaluate_parameter(parameter, evaluator)

    def evaluate_parameter(self, parameter: Parameter, evaluator: Evaluator) -> Value:
        """Return the value given, or the default."""
        if parameter.name in self._bindings:
            return self._bindings[parameter.name].evaluate(evaluator.context)
        return fields.from_default(parameter)

    def evaluate_arguments(self, evaluator: Evaluator) -> tuple[dict[str, Any], bool]:
        """Return the fields as the kind's own types, and whether all are known and valid."""
        if "arguments" in self.kept:
            return dict(self.kept["arguments"]), True
        found: dict[str, Any] = {}
        guessed = (
            self.excused - self.given.keys()
        )  # what a kind finds then is no mistake of its own
        complete = not guessed or self.excused >= self.kind.parameters.keys()
        for parameter in self.kind.parameters.values():
            field = self.given.get(parameter.name)
            if field is None:
                if parameter.default is REQUIRED:
                    complete = False
                    if parameter.name not in self.excused:
                        evaluator.context.report(explain_missing(self.kind, parameter, self.span))
                continue
            value = self.evaluate_parameter(parameter, evaluator)
            place, given_for = find_given(field.value, field.scope)
            try:
                converted = (
                    build_nested(value, parameter, place, evaluator)
                    if parameter.domain.name in NESTED
                    else fields.convert(
                        value, self._with_layer(parameter, evaluator), self.kind, place
                    )
                )
            except CheckError as mistake:
                evaluator.context.report(add_use(field.value.span, mistake, given_for))
                converted = None
            if converted is None:
                complete = False
            else:
                found[parameter.name] = converted
        if complete:
            self.kept["arguments"] = dict(found)
        return found, complete

    def _with_layer(self, parameter: Parameter, evaluator: Evaluator) -> Parameter:
        """Return a field; the rate of a line with the layer that is usual for what it sends."""
        carries = self.kind.find_parameter("carries")
        if parameter.domain.name != "rate" or carries is None or carries.name not in self.given:
            return parameter
        carried = getattr(self.evaluate_parameter(carries, evaluator), "name", "")
        sent = layers.name_sent(carried, in_cells="aal" in self.given)
        return layers.with_usual_layer(parameter, sent)

    def _bind_field(self, name: str, field: Field) -> Binding:
        return Binding(
            field.name.text, field.name.span, FIELD, lambda: self._evaluate_field(name, field)
        )

    def _evaluate_field(self, name: str, field: Field) -> Value:
        parameter = find_parameter(self.kind, name)
        domain = parameter.domain.name if parameter else ""
        # A timer or a port may be called as a field is.
        scope = field.scope if domain == "names" else FieldScope(field.scope, self, name)
        evaluator = self._evaluator
        if domain == "choice":
            return self._choose_kind(field, scope, parameter.domain.choices if parameter else ())
        if domain in NESTED and (own := self._build_nested(NESTED[domain], field.value, scope)):
            return own
        if domain == "names" and isinstance(field.value, ast.ListLiteral):
            return List(tuple(evaluator.evaluate_word(item, scope) for item in field.value.items))
        if domain == "names" and _is_unknown_word(field.value, scope):
            return evaluator.evaluate_word(field.value, scope)
        listed = _LISTED.get(domain, "")
        value = evaluator.evaluate_one_of(
            listed, field.value, scope, may_be_kind=bool(listed) or domain in NESTED
        )
        return evaluator.require_known(value, field.value)

    def _choose_kind(self, field: Field, scope: Scope, choices: tuple[str, ...]) -> Value:
        own = isinstance(field.value, ast.Path) and field.value.name.text in choices
        return self._evaluator.evaluate_word(field.value, Scope() if own else scope)

    def _build_nested(self, role: Role, node: ast.Expression, scope: Scope) -> Value | None:
        """Return the record that begins with the name of a kind of this role, if one does.

        In such a field the kind is meant, even if its name is taken: a port may be called `red`.
        """
        base = node.base if isinstance(node, ast.Record) else node
        path = base.path if isinstance(base, ast.Call) else base
        find = self._evaluator.context.catalogue.find
        kind = find(role, path.name.text) if isinstance(path, ast.Path) and not path.trail else None
        if kind is None:
            return None
        made: Value = Record(kind, {}, node.span, self._evaluator)
        if isinstance(base, ast.Call):
            made = from_arguments(kind, base, scope, self._evaluator)
        if isinstance(node, ast.Record):
            made = made.copy(node.body, scope, self._evaluator)
        return made

    def find_mistakes(
        self, cause: Exception, secondary: tuple[Span, str] | None = None
    ) -> CheckError:
        """Return the mistakes that its kind finds in its fields, one per argument of the exception.

        What a copy leaves unchanged is reported once. `secondary` is a second place that
        matters, with its label.
        """
        help_text = getattr(cause, "help", "")
        found = []
        for said in [str(argument) for argument in cause.args or (cause,)]:
            place, used = self._find_place(said)
            mistake = make_error("E0301", said, place, secondary=secondary, help=help_text)
            found.append(add_use(used, mistake))
        return join_mistakes(found)

    def _find_place(self, said: str) -> tuple[Span, Span]:
        """Return where the field that is named first was given, and where the record has it.

        It may be a field of a nested record, or an entry: `low` or `low[64]`.
        """
        name, _, key = said.partition(":")[0].partition("[")
        parameter = find_parameter(self.kind, name)
        field = self.given.get(parameter.name) if parameter else None
        if parameter is None or field is None:
            place = find_place(name, self.given) or self.span
            return place, place
        value = self.evaluate_parameter(parameter, self._evaluator) if key else None
        whole = field.value.span
        pair = value.write_pair(key[:-1], whole) if isinstance(value, Map) else None
        return (pair.key.span if pair else find_given(field.value, field.scope)[0]), whole

    def find_binding(self, name: str) -> Binding | None:
        """Return the field of that name or abbreviation, if it was given or has a default."""
        parameter = find_parameter(self.kind, name)
        if parameter is None:
            return None
        if parameter.name in self._bindings:
            return self._bindings[parameter.name]
        if parameter.default in (REQUIRED, None):
            return None
        return Binding(name, self.span, FIELD, lambda: fields.from_default(parameter))


class FieldScope(Scope):
    """The names that a field's value may use: those around it, then its record's other fields."""

    def __init__(self, parent: Scope, record: Record, current: str) -> None:
        super().__init__(parent)
        self._record = record
        self._current = current

    def find(self, name: str) -> Binding | None:
        """Return what a name stands for in the value."""
        around = super().find(name)
        parameter = find_parameter(self._record.kind, name)
        if parameter is None or (around is not None and parameter.name == self._current):
            return around
        mine = self._record.find_binding(name)
        if around is None or mine is None or parameter.name not in self._record.given:
            return around or mine
        field = self._record.given[parameter.name]
        if (
            isinstance(field.value, ast.Path)
            and field.value.name.text == name
            and not field.value.trail
        ):
            return mine
        raise make_error(
            "E0113",
            f"`{name}` is ambiguous: this name or the record's own field",
            self._record.given[self._current].value.span,
            secondary=(around.span, f"{around.what} of that name"),
            help="give the other one a different name",
        )


def from_arguments(kind: Kind, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:
    """Return a record whose fields are given as arguments, by name or in order."""
    given: dict[str, Field] = {}
    order = list(kind.parameters)
    names = [argument.name for argument in call.arguments if argument.name]
    for place, argument in enumerate(call.arguments):
        name = argument.name
        if name is None:
            if place >= len(order):
                raise make_error(
                    "E0114", f"`{kind.name}` takes at most {len(order)} values", argument.span
                )
            name = ast.Name(text=order[place], span=argument.span)
        add_field(kind, given, Field(name, argument.value, scope), names, evaluator)
    return Record(kind, given, call.span, evaluator, _list_excused(kind, names, scope))


def add_field(
    kind: Kind,
    given: dict[str, Field],
    field: Field,
    beside: Sequence[ast.Name],
    evaluator: Evaluator,
) -> None:
    """Add a field under its full name; report it if it is unknown or given twice.

    `beside` are the names of all fields given with it.
    """
    parameter = find_parameter(kind, field.name.text)
    if parameter is None and not kind.open_fields:
        evaluator.context.report(explain_unknown_field(kind, field.name, beside))
        return
    full = parameter.name if parameter else field.name.text
    if full in given:
        evaluator.context.report(
            make_error(
                "E0114",
                f"`{field.name.text}` is given twice",
                field.name.span,
                secondary=(given[full].name.span, "first here"),
                help="keep one of them",
            )
        )
        return
    evaluator.context.add_meaning(field.name, None, f"{kind.name}.{full}")
    given[full] = field


def evaluate_fields(
    kind: Kind, binds: Sequence[ast.Bind], body: ast.Body, scope: Scope, evaluator: Evaluator
) -> dict[str, Any]:
    """Return what the bindings of a body give the fields of a kind; mistakes are reported."""
    own = ast.Body(statements=tuple(binds), span=body.span)
    record = Record(kind, {}, body.span, evaluator).copy(own, scope, evaluator)
    return record.evaluate_arguments(evaluator)[0]


def _list_excused(kind: Kind, names: Sequence[ast.Name], scope: Scope) -> frozenset[str]:
    """Return the fields that unknown names may mean, and those in what could not be parsed."""
    known = list_spellings(kind)
    strangers = [] if kind.open_fields else [name for name in names if name.text not in known]
    meant = [guess_meant(kind, name.text) for name in strangers]
    near = {known[name].name for name in meant if name}
    if not all(meant):  # any field may have been meant
        near |= set(kind.parameters)
    return frozenset(near | {known[name].name for name in scope.list_unread() & known.keys()})


def _list_assignments(
    body: ast.Body, evaluator: Evaluator
) -> list[tuple[ast.Name, ast.Expression]]:
    found: list[tuple[ast.Name, ast.Expression]] = []
    for statement in body.statements:
        if isinstance(statement, ast.Bind):
            found += [(name, statement.value) for name in statement.names]
        else:
            evaluator.context.report(
                make_error(
                    "E0112",
                    "a record has only fields",
                    statement.span,
                    help="write `field = value`, or put it behind the `}` of these fields",
                )
            )
    return found


def build_nested(value: Value, parameter: Parameter, span: Span, evaluator: Evaluator) -> Any:
    """Return the object of the record in a field; None after a mistake, or if not known yet.

    Raises:
        CheckError: It is not of a kind that the field takes, or the kind refuses its fields.
    """
    if isinstance(value, Poison):
        return None
    role, known = NESTED[parameter.domain.name], evaluator.context.catalogue
    if isinstance(value, Symbol):
        value = _find_kind(value, parameter, span, evaluator)
    kind = getattr(value, "kind", None)
    if kind is None or kind.role != role:
        raise make_error(
            "E0204",
            f"`{parameter.name}` is {ARTICLES[role]}, "
            f"not {ARTICLES[kind.role] if kind else value.what}",
            span,
            note=f"there are: {' '.join(known.select_role(role))}",
            help=f"write it in the device: `NAME = {kind.name} {{ … }}`"
            if kind and kind.role == "element"
            else "",
        )
    record: Any = value
    if not hasattr(value, "evaluate_arguments"):  # the kind by its name alone
        record = value.copy(ast.Body(statements=(), span=span), Scope(), evaluator)
    arguments, complete = record.evaluate_arguments(evaluator)
    try:
        return kind.build(**arguments) if complete else None
    except ValueError as cause:
        raise record.find_mistakes(cause) from cause


def _find_kind(word: Symbol, parameter: Parameter, span: Span, evaluator: Evaluator) -> Record:
    """Return the record of a kind by a word: a sweep over kinds by their names is one over words.

    Raises:
        CheckError: There is no kind of that name here, or it needs fields.
    """
    role, known = NESTED[parameter.domain.name], evaluator.context.catalogue
    kind = known.find(role, word.name)
    if kind is None:
        kinds = list(known.select_role(role))
        raise make_error(
            "E0204",
            f"`{parameter.name}` is {ARTICLES[role]}, and none is named `{word.name}`",
            span,
            note=f"there are: {' '.join(kinds)}",
            near=suggest_name(word.name, kinds),
        )
    for needed in kind.parameters.values():
        if needed.default is REQUIRED:
            raise make_error(
                "E0105",
                f"`{kind.name}` needs `{needed.alias or needed.name}`, and a word gives no fields",
                span,
                help=f"write it with its fields: `{parameter.name} = {kind.name} {{ … }}`",
            )
    return Record(kind, {}, span, evaluator)


def find_place(name: str, given: Mapping[str, Field]) -> Span | None:
    """Return the place where a nested record in one of these fields gives a field of that name."""
    bodies = (field.value.body for field in given.values() if isinstance(field.value, ast.Record))
    binds = (
        statement
        for body in bodies
        for statement in body.statements
        if isinstance(statement, ast.Bind)
    )
    return next((b.value.span for b in binds if name in [n.text for n in b.names]), None)


def _is_unknown_word(node: ast.Expression, scope: Scope) -> bool:
    return isinstance(node, ast.Path) and not node.trail and scope.find(node.name.text) is None
