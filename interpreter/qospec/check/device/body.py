"""Evaluates the body of a device: its ports, its elements, and the wires between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.check.device import classifier, invariants, item_kinds, machine, nesting, wiring
from qospec.check.device.machine_values import MachineValue
from qospec.check.device.nesting import InnerValue
from qospec.check.device.nodes import Design, DevicePlan
from qospec.check.device.ports import LoopArray, Part, PartValue, Ports, PortValue, Template
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.loops import (
    as_let,
    declare_poisoned,
    evaluate_count,
    explain_misplaced,
    iterate_loop,
)
from qospec.check.evaluate.scope import Scope, bind_known
from qospec.check.evaluate.values import POISON, Poison, Value
from qospec.check.records.kinds import KindValue, explain_not_built
from qospec.check.records.parameters import let_binding, make_placeholder
from qospec.check.records.record import Record
from qospec.dataclass import NamedTuple
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.model.expression import Expression

HERE = "a device"
RESERVED = ("frame",)
PLACES = {
    "dropping": "write `fifo {{ limit = 64 pkt, drop = {} }}`: it chooses what a queue drops",
    "traffic": "write `flow name = {} from a to b` in a test: it is what a host sends",
    "arrivals": "write `ubr {{ pcr = …, source = {} }}` for a flow: it says when a host sends",
    "congestion": "write `tcp {{ algorithm = {}, … }}` for a flow: it says how a host sends",
}
"""By role of a kind that is no element: where it is written."""
ALLOWED = (ast.Bind, ast.Let, ast.Port, ast.Wire, ast.Loop, ast.Machine)


def build_template(device: ast.Device, scope: Scope, evaluator: Evaluator) -> Template:
    """Return a device with the parameters of `scope`; mistakes are reported."""
    before, evaluator.context.loop_iterations = evaluator.context.mistakes, 0
    builder = _Builder(device, evaluator)
    builder.declare(device.body.statements, scope, ())
    for wire, where, certain in sorted(builder.wires, key=lambda joined: not joined.certain):
        try:
            known = wiring.connect(wire, where, builder.template, evaluator, certain=certain)
            builder.complete = builder.complete and known
        except CheckError as mistake:
            evaluator.context.report(mistake)
            builder.complete = False
    builder.complete = builder.complete and not _is_incomplete(builder.template, scope)
    if builder.complete:
        nesting.join(builder.template, evaluator.context)
        wiring.verify(builder.template, evaluator.context)
        item_kinds.verify(builder.template, evaluator.context)
    for criterion, where, subscripts in builder.invariants:
        invariants.add(criterion, where, subscripts, builder.template, evaluator)
        builder.template.written.append((criterion, where))
    builder.template.complete = builder.complete and evaluator.context.mistakes == before
    found = {part.path.partition("[")[0] for part in builder.template.parts}
    declared = frozenset(_list_declared(device.body.statements))
    missing = declared - found - builder.template.ports.keys()
    builder.template.unfinished = missing | scope.list_unread()
    return builder.template


def _list_declared(statements: Sequence[ast.Statement]) -> Iterator[str]:
    """Yield the names of ports, elements and machines, as they are written."""
    for statement in statements:
        if isinstance(statement, ast.Bind):
            yield from (name.text for name in statement.names)
        elif isinstance(statement, ast.Port):
            yield from (port.name.text for port in statement.names)
        elif isinstance(statement, ast.Machine):
            yield statement.name.text
        elif isinstance(statement, ast.Loop):
            yield from _list_declared(statement.body.statements)


def _is_incomplete(whole: Template, scope: Scope) -> bool:
    """Return whether what could not be parsed names the device's parts: wires may be missing."""
    names = {*whole.ports, *(part.path.partition("[")[0] for part in whole.parts)}
    return not names.isdisjoint(scope.list_unread())


class _Wire(NamedTuple):
    """A wire of a body; in a loop over what is not known it may be none, which is not certain."""

    node: ast.Wire
    scope: Scope
    certain: bool


class _Builder:
    """Collects what the statements of a device declare; wires are added once all is declared."""

    def __init__(self, device: ast.Device, evaluator: Evaluator) -> None:
        self.template = Template(device.name.text)
        self.wires: list[_Wire] = []
        self.invariants: list[tuple[ast.Criterion, Scope, str]] = []
        self.complete = True
        self._certain = True
        self._evaluator = evaluator
        self._context = evaluator.context

    def declare(
        self, statements: Sequence[ast.Statement], scope: Scope, subscripts: tuple[str, ...]
    ) -> None:
        """Declare the names of a body: values first, then elements, then those of its loops."""
        for statement in statements:
            self._run_guarded(self._declare, statement, scope, subscripts)
        for statement in statements:
            if isinstance(statement, ast.Bind):
                self._run_guarded(self._bind, statement, scope, subscripts)
                declare_poisoned(statement, scope)
            elif isinstance(statement, ast.Machine):
                self._run_guarded(self._add_machine, statement, scope, subscripts)
        for statement in statements:
            if isinstance(statement, ast.Loop):
                self._run_guarded(self._run_loop, statement, scope, subscripts)

    def _run_guarded(
        self, act: Any, statement: ast.Statement, scope: Scope, subscripts: tuple[str, ...]
    ) -> None:
        before = self._context.mistakes
        try:
            act(statement, scope, subscripts)
        except CheckError as mistake:
            self._context.report(mistake)
        if self._context.mistakes > before:
            self.complete = False

    def _declare(self, statement: ast.Statement, scope: Scope, subscripts: tuple[str, ...]) -> None:
        if isinstance(statement, ast.Let):
            made = let_binding(statement, scope, self._evaluator, criteria=False)
            scope.declare(made, self._context)
        elif isinstance(statement, ast.Port):
            self._add_port(statement, scope, subscripts)
        elif isinstance(statement, ast.Wire):
            self.wires.append(_Wire(statement, scope, self._certain))
        elif isinstance(statement, ast.Criterion) and statement.kind == "invariant":
            self.invariants.append((statement, scope, "".join(subscripts)))
        elif not isinstance(statement, ALLOWED):
            raise explain_misplaced(statement, HERE)

    def _add_port(self, node: ast.Port, scope: Scope, subscripts: tuple[str, ...]) -> None:
        if node.carries.text not in item_kinds.CARRIED:
            for name in node.names:
                self._name(scope, name.name, "a port", POISON)
        if node.carries.text in RESERVED:
            help_text = "write `: cell` or `: packet` for now"
            raise explain_not_built(node.carries.text, node.carries.span, help_text)
        if node.carries.text not in item_kinds.CARRIED:
            raise make_error(
                "E0418",
                f"`{node.carries.text}` is not something a port can carry",
                node.carries.span,
                help="write `: cell` or `: packet`",
            )
        if subscripts:
            raise make_error(
                "E0112",
                "a port must be declared outside of loops",
                node.span,
                help="declare an array: `port p[4]: cell`",
            )
        for name in node.names:
            count, known = None, True
            if name.count is not None:
                count, known = evaluate_count(name.count, scope, self._evaluator)
            ports = Ports(name.name.text, count, known, name.name.span, node.carries.text)
            self.template.ports[ports.name] = ports
            self._name(scope, name.name, "a port", PortValue(ports))

    def _add_machine(self, node: ast.Machine, scope: Scope, subscripts: tuple[str, ...]) -> None:
        if subscripts:
            raise make_error("E0112", "a machine must be declared outside of loops", node.name.span)
        made = machine.build_machine(node, scope, self._evaluator)
        if made is None:
            self._name(scope, node.name, "a machine", POISON)
            return
        kind = self._context.catalogue.find("machine", "machine")
        assert kind is not None  # noqa: S101 -- the package has it
        element = kind.build(made.program)
        program, path, span = made.program, node.name.text, node.name.span
        ends = program.inputs, program.outputs
        part = Part(path, kind, element, (), span, *ends, loose=not made.known, places=made.places)
        self.template.parts.append(part)
        number, carries = len(self.template.parts) - 1, self.template.carries
        value = MachineValue(number, part, carries=carries)
        self._name(scope, node.name, "a machine", value)

    def _bind(self, node: ast.Statement, scope: Scope, subscripts: tuple[str, ...]) -> None:
        assert isinstance(node, ast.Bind)  # noqa: S101
        value = self._evaluator.evaluate(node.value, scope, "elements")
        if isinstance(value, Design):
            value = nesting.with_defaults(value, node.value, self._evaluator)
        for name in node.names:
            if isinstance(value, Poison):
                self._name(scope, name, "an element", value)
                continue
            if isinstance(value, DevicePlan):
                self.complete = self.complete and value.template.complete
                path = ast.Name(text=name.text + "".join(subscripts), span=name.span)
                inside = nesting.embed(self.template, value, path, self._context)
                self._name(scope, name, "a device inside", inside)
                continue
            part = self._add_part(value, name.text + "".join(subscripts), node)
            self.template.parts.append(part)
            number, carries = len(self.template.parts) - 1, self.template.carries
            self._name(scope, name, "an element", PartValue(number, part, carries=carries))

    def _name(self, scope: Scope, name: ast.Name, what: str, value: Value) -> None:
        scope.declare(bind_known(name, what, value), self._context)

    def _add_part(self, value: Value, path: str, node: ast.Bind) -> Part:
        record = as_record(value, node, self._evaluator)
        if record.kind.role != "element":
            raise make_error(
                "E0419",
                f"`{record.kind.name}` is not an element",
                node.value.span,
                help=PLACES[record.kind.role].format(" ".join(node.value.span.text.split())),
            )
        arguments, complete = record.evaluate_arguments(self._evaluator)
        conditions: tuple[Expression, ...] = ()
        if record.kind.open_fields:
            names, conditions, fine = classifier.list_outputs(
                record, self._list_port_names(), self._evaluator
            )
            arguments["classes"] = names
            complete = complete and fine
        if record.kind.duty == "line":
            item_kinds.find_carried_by_line(record, arguments, self._evaluator)
        passing = {ports.carries for ports in self.template.ports.values()} or {*item_kinds.CARRIED}
        item_kinds.verify_amounts(record, passing & {*record.kind.carries}, self._evaluator)
        element = build_element(record, arguments, complete=complete, evaluator=self._evaluator)
        inputs = element.inputs if element is not None else ()
        outputs = element.outputs if element is not None else ()
        loose = element is None or not complete
        place = node.names[0].span
        named = {name: field.name.span for name, field in record.given.items() if name in outputs}
        return Part(path, record.kind, element, conditions, place, inputs, outputs, loose, named)

    def _list_port_names(self) -> list[str] | None:
        """Return the names of all ports; None while it is not known how many there are."""
        if not all(ports.known for ports in self.template.ports.values()):
            return None
        return [
            ports.name if ports.count is None else f"{ports.name}[{number}]"
            for ports in self.template.ports.values()
            for number in range(1 if ports.count is None else ports.count)
        ]

    def _run_loop(self, node: ast.Statement, scope: Scope, subscripts: tuple[str, ...]) -> None:
        assert isinstance(node, ast.Loop)  # noqa: S101
        arrays: dict[str, LoopArray] = {}
        for iteration, value, known in iterate_loop(node, scope, self._evaluator):
            inner = Scope(scope)
            self._name(inner, node.name, "the loop's value", value)
            outer, self._certain = self._certain, self._certain and known
            self.declare(node.body.statements, inner, (*subscripts, f"[{iteration}]"))
            self._certain = outer
            for name, binding in inner.names.items():
                made = binding.evaluate(self._context)
                if isinstance(made, PartValue | InnerValue | LoopArray):
                    arrays.setdefault(name, LoopArray(name, binding.span, {}, known)).iterations[
                        iteration
                    ] = made
            if len(self.template.parts) > self._context.limits.elements:
                raise make_error(
                    "E0602",
                    f"more than {self._context.limits.elements:_} elements",
                    node.span,
                    help="loop over fewer values",
                )
        for name, array in arrays.items():
            outside = ast.Name(text=name, span=array.span)
            self._name(scope, outside, "an element of a loop", array)


def as_record(value: Value, node: ast.Bind, evaluator: Evaluator) -> Record:
    """Return what a binding of a device makes: a record of an element."""
    if isinstance(value, KindValue):
        return Record(value.kind, {}, node.value.span, evaluator)
    if isinstance(value, Record):
        return value
    raise make_error(
        "E0419",
        "a binding in a device makes an element",
        node.value.span,
        label=f"this is {value.what}",
        help=f"write `let {node.names[0].text} = …` for a value",
        fix=as_let(node, value),
    )


def build_element(
    record: Record, arguments: dict[str, Any], *, complete: bool, evaluator: Evaluator
) -> Any:
    """Return the element that a record describes; None if its kind refuses the arguments."""
    if not complete:
        samples = {
            name: make_placeholder(parameter) for name, parameter in record.kind.parameters.items()
        }
        arguments = {
            **{name: sample for name, sample in samples.items() if sample is not None},
            **arguments,
        }
    try:
        return record.kind.build(**arguments)
    except (ValueError, TypeError, OverflowError) as cause:
        if complete:
            evaluator.context.report(record.find_mistakes(cause))
        return None
