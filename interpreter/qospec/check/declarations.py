"""What declarations stand for: files, traffic, devices, topologies, tests and references."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from qospec.check.device import body as devices
from qospec.check.device.nodes import Design, DevicePlan
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.loops import evaluate_count, refuse_duplicates
from qospec.check.evaluate.scope import Binding, Scope, explain_unknown
from qospec.check.evaluate.values import (
    POISON,
    Amount,
    Boolean,
    List,
    Map,
    Poison,
    Text,
    Value,
    find_published,
    write_plain_value,
)
from qospec.check.records.kinds import KindValue
from qospec.check.records.parameters import Signature
from qospec.check.records.record import Record
from qospec.diagnostics import suggest_name
from qospec.model.device import DeviceSetting, DeviceUse
from qospec.model.suite import Reference
from qospec.secret import redact
from qospec.syntax import ast

if TYPE_CHECKING:
    from qospec.check.device.ports import Template
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.source import Span


class ModuleValue(Value):
    """An imported file; its own declarations are its fields."""

    what: ClassVar[str] = "a file"

    def __init__(self, name: str, scope: Scope, own: frozenset[str]) -> None:
        self.name = name
        self._scope = scope
        self._own = own

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return what the file declares under that name."""
        if name.text not in self._own:
            raise explain_unknown(name.text, name.span, sorted(self._own), self.name)
        known = self._scope.names[name.text]
        evaluator.context.add_meaning(name, known.span)
        return known.evaluate(evaluator.context)


class TrafficValue(Value):
    """`traffic name(parameters) = value`."""

    what: ClassVar[str] = "traffic"

    def __init__(self, node: ast.Traffic, home: Scope, evaluator: Evaluator) -> None:
        self.node = node
        self.signature = Signature(node.name.text, node.parameters, home, evaluator)
        self._made: dict[tuple[Value, ...], Value] = {}

    def call(self, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:
        """Return the record with its parameters given."""
        return self._evaluate_with(call.arguments, scope, call, evaluator)

    def copy(self, body: ast.Body, scope: Scope, evaluator: Evaluator) -> Value:
        """Return a copy with changes, of the record with the parameters' defaults."""
        return self.with_defaults(body, evaluator).copy(body, scope, evaluator)

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return a field of the record with the parameters' defaults."""
        return self.with_defaults(name, evaluator).get_field(name, evaluator)

    def with_defaults(self, use: ast.Node, evaluator: Evaluator) -> Value:
        """Return the record with the parameters' defaults."""
        return self._evaluate_with((), Scope(), use, evaluator)

    def _evaluate_with(
        self,
        arguments: tuple[ast.Argument, ...],
        scope: Scope,
        use: ast.Node,
        evaluator: Evaluator,
    ) -> Value:
        """Return the record, made once for these arguments: copies of copies take linear time."""
        bound = self.signature.bind(arguments, scope, use)
        if bound is None:
            return POISON
        inside, values = bound
        if values not in self._made:
            self._made[values] = self.evaluate_record(inside, evaluator)
        return self._made[values]

    def evaluate_record(self, scope: Scope, evaluator: Evaluator) -> Value:
        """Return the record in a scope with the parameters."""
        help_text = "base one of them on a kind such as `cbr`"
        if not _enter(self, evaluator, "this traffic is defined in terms of itself", help_text):
            return POISON
        try:
            value = evaluator.evaluate(self.node.value, scope, "traffic")
            return find_traffic(value, self.node.value, evaluator)
        finally:
            evaluator.context.calling.pop()


def _enter(
    value: TrafficValue | DeviceValue, evaluator: Evaluator, message: str, help_text: str
) -> bool:
    """Begin to evaluate a declaration; raises CheckError where it depends on itself.

    Returns whether to go on: False if that was reported before.
    """
    calling, circular = evaluator.context.calling, evaluator.context.circular
    if value in circular:
        return False
    if value in calling:
        chain = [*calling[calling.index(value) :], value]
        circular.update(chain)
        names = [
            declared.node.name
            for declared in chain
            if isinstance(declared, TrafficValue | DeviceValue)
        ]
        shown = " -> ".join(f"`{name.text}`" for name in names)
        raise make_error("E0103", f"{message}: {shown}", value.node.name.span, help=help_text)
    calling.append(value)
    return True


def find_traffic(value: Value, node: ast.Node, evaluator: Evaluator) -> Value:
    """Return the record of traffic that a value stands for; raises CheckError."""
    if isinstance(value, TrafficValue):
        value = value.with_defaults(node, evaluator)
    if isinstance(value, KindValue):
        value = Record(value.kind, {}, node.span, evaluator)
    if isinstance(value, Poison) or (isinstance(value, Record) and value.kind.role == "traffic"):
        return value
    what = f"`{value.kind.name}`" if isinstance(value, Record) else value.what
    raise make_error(
        "E0302",
        f"expected traffic, found {what}",
        node.span,
        help="write a kind of traffic such as `cbr { pcr = 1_000 cell/s, cdvt = 10 us }`",
    )


class DeviceValue(Design):
    """`device name(parameters) { … }`; `home` has the names of its file."""

    def __init__(self, node: ast.Device, home: Scope, evaluator: Evaluator) -> None:
        self.node = node
        self.home = home
        self.signature = Signature(node.name.text, node.parameters, home, evaluator)
        self._made: dict[tuple[Value, ...], Template] = {}

    @property
    def name(self) -> str:
        """Return its name."""
        return self.node.name.text

    def call(self, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:
        """Return the device with its parameters and its count."""
        own = call.arguments
        count: tuple[int | None, bool] = (None, True)
        if "count" not in self.signature.parameters:
            counts = [
                argument
                for argument in own
                if argument.name is not None and argument.name.text == "count"
            ]
            own = tuple(argument for argument in own if argument not in counts)
            refuse_duplicates(counts)
            if counts:
                count = evaluate_count(counts[0].value, scope, evaluator)
        return self._plan(call, own, scope, count, evaluator)

    def with_defaults(self, node: ast.Node, evaluator: Evaluator) -> Value:
        """Return a single device with the parameters' defaults."""
        return self._plan(node, (), Scope(), (None, True), evaluator)

    def _plan(
        self,
        use: ast.Node,
        arguments: tuple[ast.Argument, ...],
        scope: Scope,
        count: tuple[int | None, bool],
        evaluator: Evaluator,
    ) -> Value:
        bound = self.signature.bind(arguments, scope, use)
        if bound is None:
            return POISON
        inside, values = bound
        if any(isinstance(value, Poison) for value in values):
            return POISON
        if values not in self._made:
            made = self.build_template(inside, evaluator)
            if made is None:
                return POISON
            self._made[values] = made
        return DevicePlan(self._made[values], *count, self._describe_use(inside, values, use.span))

    def _describe_use(self, scope: Scope, values: tuple[Value, ...], place: Span) -> DeviceUse:
        """Return the device with its parameters in words, without keys."""
        settings = []
        for (name, parameter), value in zip(self.signature.parameters.items(), values, strict=True):
            argument = scope.names[name].argument
            node = parameter.default if argument is None else argument[0]
            text = write_plain_value(value)
            if node is not None and text == value.what:  # it has no literal
                text = " ".join(node.span.text.split())
            shown = redact(f'{name} = "{text}"').removeprefix(f'{name} = "')[:-1]
            settings.append(DeviceSetting(name, shown, argument is None))
        return DeviceUse(self.name, tuple(settings), place)

    def build_template(self, scope: Scope, evaluator: Evaluator) -> Template | None:
        """Return the device in a scope with the parameters; None if it contains itself."""
        if not _enter(self, evaluator, "this device contains itself", "remove it from one of them"):
            return None
        try:
            return devices.build_template(self.node, scope, evaluator)
        finally:
            evaluator.context.calling.pop()


class TopologyValue(Value):
    """`topology name(parameters) { … }`."""

    what: ClassVar[str] = "a topology"

    def __init__(self, node: ast.Topology, home: Scope, evaluator: Evaluator) -> None:
        self.node = node
        self.signature = Signature(node.name.text, node.parameters, home, evaluator)


class TestValue(Value):
    """`test name(parameters) = base(arguments) on topology { … }`; other tests are built on it."""

    __test__ = False
    what: ClassVar[str] = "a test"

    def __init__(self, node: ast.Test, home: Scope, evaluator: Evaluator) -> None:
        self.node = node
        self.signature = Signature(node.name.text, node.parameters, home, evaluator)

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Refuse: what a test declares is known by its own name in those that are built on it."""
        goals = {
            goal.name.text: search.name.text
            for search in self.node.statements
            if isinstance(search, ast.Search)
            for goal in search.body.statements
            if isinstance(goal, ast.Goal)
        }
        declared = help_text = ""
        if goals:
            declared = f"its goals have names of their own: {' '.join(goals)}"
            first, variable = next(iter(goals.items()))
            help_text = f"in a test that is built on it, write `{first}.{variable}`"
        message = f"{self.what} has no field `{name.text}`"
        raise make_error("E0104", message, name.span, note=declared, help=help_text)


STATEMENTS = "statements"
"""The field of a reference that says how many statements its publication has."""


class ReferenceValue(Value):
    """`reference name "title" { field = value }`: published numbers, as data."""

    what: ClassVar[str] = "a reference"

    def __init__(self, node: ast.Reference, home: Scope, evaluator: Evaluator) -> None:
        self.node = node
        self._scope = Scope(home)
        self._entries: list[tuple[str, str]] = []
        for statement in node.body.statements:
            if not isinstance(statement, ast.Bind):
                evaluator.context.report(
                    make_error(
                        "E0112",
                        "a reference has only fields",
                        statement.span,
                        help="write `field = value`",
                    )
                )
                continue
            for name in statement.names:
                self._declare(name, statement.value, evaluator)

    def _declare(self, name: ast.Name, value: ast.Expression, evaluator: Evaluator) -> None:
        if name.text in self._scope.names:
            evaluator.context.report(
                make_error(
                    "E0102",
                    f"`{name.text}` is already declared",
                    name.span,
                    secondary=(self._scope.names[name.text].span, "first declared here"),
                    help="choose another name",
                )
            )
            return
        self._scope.names[name.text] = Binding(
            name.text,
            name.span,
            "a published value",
            lambda: mark_published(evaluator.require_value(value, self._scope), name.span),
        )
        self._entries.append((name.text, " ".join(value.span.text.split())))

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return a published value."""
        known = self._scope.names.get(name.text)
        if known is None:
            near = suggest_name(name.text, self._scope.names)
            raise make_error(
                "E0104",
                f"`{self.node.name.text}` has no field `{name.text}`",
                name.span,
                note=f"its fields: {' '.join(self._scope.names)}",
                near=near,
            )
        evaluator.context.add_meaning(name, known.span)
        return known.evaluate(evaluator.context)

    def verify(self, evaluator: Evaluator) -> Reference:
        """Evaluate every field, and return the reference as a report shows it."""
        for binding in self._scope.names.values():
            try:
                binding.evaluate(evaluator.context)
            except CheckError as mistake:
                evaluator.context.report(mistake)
        node, entries = self.node, tuple(self._entries)
        return Reference(
            node.name.text, node.title.text, entries, node.name.span, self._count(evaluator)
        )

    def _count(self, evaluator: Evaluator) -> int:
        """Return how many statements the publication has, by the field of that name; else 0."""
        known = self._scope.names.get(STATEMENTS)
        value = known.evaluate(evaluator.context) if known is not None else POISON
        if known is None or value is POISON:
            return 0
        number = value.value if isinstance(value, Amount) and value.dimension.is_ratio else None
        if number is not None and number.denominator == 1 and number >= 1:
            return int(number)
        evaluator.context.report(
            make_error(
                "E0205",
                f"`{STATEMENTS}` says how many statements the publication has",
                known.span,
                help="write a whole number from 1 on, or give the field another name",
            )
        )
        return 0


def mark_published(value: Value, place: Span) -> Value:
    """Return a value marked as published at a place."""
    if isinstance(value, Amount | Text | Boolean):
        return replace(value, published=place)
    if isinstance(value, List):
        return List(tuple(_mark_value(item, place) for item in value.items), value.known)
    if isinstance(value, Map):
        marked = {key: _mark_value(item, place) for key, item in value.entries.items()}
        return replace(value, entries=marked)
    return value


def _mark_value(value: Value, place: Span) -> Value:
    return value if find_published(value) else mark_published(value, place)
