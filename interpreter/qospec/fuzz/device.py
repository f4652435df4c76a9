"""A device as it is drawn: the values of its parameters, and which ports it has with them.

What a parameter may be follows from its type, its default and the fields of elements that it is
used in, in the device itself or in one within it.
"""

from __future__ import annotations

import re
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.check.declarations import DeviceValue
from qospec.check.device.nodes import DevicePlan
from qospec.check.evaluate.context import CheckError, LimitReached
from qospec.check.evaluate.dimensions import TYPES
from qospec.check.evaluate.values import Amount, Boolean, Map, Symbol
from qospec.check.modules import files
from qospec.check.records.parameters import split_layer
from qospec.dataclass import NamedTuple, dataclass
from qospec.diagnostics import Problems
from qospec.fuzz import strategies
from qospec.fuzz.coverage import list_reachable
from qospec.resources import STDLIB
from qospec.source import Source
from qospec.syntax import ast
from qospec.syntax.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.catalogue.kinds import Domain
    from qospec.check import Checked
    from qospec.check.device.ports import Template
    from qospec.check.evaluate.scope import Scope
    from qospec.check.evaluate.values import Value
    from qospec.check.modules.loader import Unit
    from qospec.source import Span

OURS = "found_by_fuzz.qos"
"""The name of a text that is checked and is no file."""
TAKEN = re.compile(
    "media|around|dut|peer|[a-h]|p|f[0-9]+|pace[0-9]+|faulty[0-9]*|between[0-9]*|speaker[0-9]+"
)
"""The names that such a text gives to other things."""
Arguments = tuple[tuple[str, str], ...]
"""Names of parameters, each with a value as it is written; those left out have their defaults."""


class Port(NamedTuple):
    """A port of a device.

    Attributes:
        name: As it is written.
        carries: "cell" or "packet".
        is_wire: Whether a wire leads from it to another port, so that nothing is done with what
            enters by it.
    """

    name: str
    carries: str
    is_wire: bool = False


@dataclass(frozen=True, eq=False)
class Device:
    """A device of a file.

    Attributes:
        name: As declared.
        module: What a file imports to name it: `std.devices.sitline`.
        path: Where a file may stand that imports this.
        choices: By parameter, values as text, the simplest first; "" is its default.
        undrawn: Parameters without a default for which no value is known.
        named: By attribute of packets that its classes test, such as `priority`, the numbers with
            which it is compared.
        span: Where it is declared.
    """

    name: str
    module: str
    path: Path
    choices: dict[str, list[str]]
    undrawn: tuple[str, ...]
    named: dict[str, tuple[int, ...]]
    span: Span
    _value: DeviceValue
    _scope: Scope
    _checked: Checked
    _made: dict[Arguments, Template | None] = field(default_factory=dict)
    _others: list[Device] = field(default_factory=list)

    @property
    def written(self) -> str:
        """Return what names it in a file that imports its module."""
        return f"{self._imported}.{self.name}"

    @property
    def imports(self) -> str:
        """Return what a file imports that names it so."""
        usual = self.module.rpartition(".")[2] == self._imported
        return self.module if usual else f"{self.module} as {self._imported}"

    @property
    def _imported(self) -> str:
        """Return the name of its module there: its own, unless something else may have it."""
        last = self.module.rpartition(".")[2]
        return "tested" if TAKEN.fullmatch(last) else last

    @cached_property
    def unimportable(self) -> str:
        """Return why no file can import it; "" if one can."""
        problems = Problems()
        self._checked.check(f"qos 1\nimport {self.imports}\n", self.path, problems)
        if not problems.errors:
            return ""
        error = problems.errors[0]
        words = [error.message, error.help]
        return f"no file can import `{self.module}`: {': '.join(word for word in words if word)}"

    @cached_property
    def reachable(self) -> frozenset[str]:
        """Return what may happen in it, with the simplest values of its parameters."""
        simplest = ((name, some[0]) for name, some in self.choices.items())
        template = self.get_template(tuple((name, value) for name, value in simplest if value))
        return frozenset() if template is None else list_reachable(template)

    @cached_property
    def _words(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the messages that it sends, and those that it waits for."""
        template = self.get_template(())
        programs = [
            part.element.program
            for part in (template.parts if template else ())
            if part.kind.duty == "machine" and part.element is not None
        ]
        sent = {name for program in programs for way in program.transitions for _, name in way.send}
        heard = {
            message.name
            for program in programs
            for message in program.messages
            if any(program.waits_for(port, message.name) for port in program.ports)
        }
        return frozenset(sent), frozenset(heard)

    @property
    def ports(self) -> tuple[Port, ...]:
        """Return its ports with the defaults of its parameters; none if these do not fit."""
        template = self.get_template(())
        return () if template is None else list_ports(template)

    @property
    def has_one_port(self) -> bool:
        """Return whether it has one port, whatever its parameters are."""
        below = self._value.node.with_all_below()
        names = [node for node in below if isinstance(node, ast.PortName)]
        return len(names) == 1 and names[0].count is None

    @property
    def exchanges(self) -> bool:
        """Return whether it sends or hears messages."""
        return any(self._words)

    @cached_property
    def speakers(self) -> tuple[Device, ...]:
        """Return the devices of its file with one port and defaults that speak with it."""
        sent, heard = self._words
        return tuple(
            device
            for device in self._others
            if len(device.ports) == 1 and (sent & device._words[1] or heard & device._words[0])  # noqa: SLF001
        )

    @property
    def unheard(self) -> tuple[str, ...]:
        """Return the messages that it waits for and nothing that is linked to it sends."""
        sent, heard = self._words
        alone = not self.speakers and not (len(self.ports) > 1 and sent & heard)
        return tuple(sorted(heard)) if alone else ()

    def get_template(self, arguments: Arguments) -> Template | None:
        """Return the device with these values; None if they do not fit it or each other."""
        if arguments not in self._made:
            self._made[arguments] = self._build_template(arguments)
        return self._made[arguments]

    def _build_template(self, arguments: Arguments) -> Template | None:
        given = ", ".join(f"{name} = {value}" for name, value in arguments)
        tree = parse(Source(OURS, f"qos 1\nlet it = {self.name}({given})\n"), Problems())
        assert tree is not None  # noqa: S101 -- values are written as they are read
        (node,) = tree.declarations
        assert isinstance(node, ast.Let)  # noqa: S101
        assert isinstance(node.value, ast.Call)  # noqa: S101
        evaluator = self._checked.evaluator
        with evaluator.context.check_apart() as problems:
            try:
                plan = self._value.call(node.value, self._scope, evaluator)
            except (CheckError, LimitReached):
                return None
            fits = isinstance(plan, DevicePlan) and plan.template.complete and not problems.errors
            return plan.template if fits and isinstance(plan, DevicePlan) else None


def list_ports(template: Template) -> tuple[Port, ...]:
    """Return the ports of a device with its parameters, in their order."""
    wires = {
        origin.port
        for origin, end in template.wires.items()
        if origin.part < 0 and end.kind == "port"
    }
    return tuple(
        Port(
            ports.name if ports.count is None else f"{ports.name}[{index}]",
            ports.carries,
            (ports.name, index) in wires,
        )
        for ports in template.ports.values()
        for index in range(1 if ports.count is None else ports.count)
    )


def list_devices(checked: Checked) -> Iterator[Device]:
    """Yield the devices of the files that were named."""
    for unit in checked.units:
        others: list[Device] = []
        scope = checked.scopes[unit.path]
        for node in unit.tree.declarations if unit.named and unit.tree else ():
            if isinstance(node, ast.Device):
                value = scope.names[node.name.text].evaluate(checked.evaluator.context)
                if isinstance(value, DeviceValue):
                    others.append(
                        replace(_build_device(unit, value, scope, checked), _others=others)
                    )
        yield from others


def _build_device(unit: Unit, value: DeviceValue, scope: Scope, checked: Checked) -> Device:
    module, path = locate_module(unit.path)
    uses = _Uses(checked)
    uses.read(value.node, value.node, scope)
    choices: dict[str, list[str]] = {}
    known = value.signature.make_placeholders(defaults=True)
    for name, parameter in value.signature.parameters.items():
        default = (
            known.names[name].evaluate(checked.evaluator.context) if parameter.default else None
        )
        choices[name] = _list_choices(parameter, default, uses)
    undrawn = tuple(name for name, some in choices.items() if not some)
    return Device(
        value.name,
        module,
        path,
        choices,
        undrawn,
        {mark: tuple(sorted(numbers)) for mark, numbers in uses.named.items()},
        value.node.name.span,
        value,
        scope,
        checked,
    )


def locate_module(file: Path) -> tuple[str, Path]:
    """Return what imports a file, and where a file may stand that does so."""
    library = files.resolve_links(STDLIB)
    if file.is_relative_to(library):
        inner = file.relative_to(library).with_suffix("").parts
        return ".".join(["std", *inner]), Path.cwd() / OURS
    root = files.find_root(file)
    return ".".join(file.relative_to(root).with_suffix("").parts), root / OURS


def _list_choices(parameter: ast.Parameter, default: Value | None, uses: _Uses) -> list[str]:
    """Return values of a parameter as text; without a default, none if nothing is known of it."""
    name, (kind, layer) = parameter.name.text, split_layer(parameter.annotation.text)
    first = [] if default is None else [""]
    if kind in TYPES and isinstance(default, Amount | None):
        amount = None if default is None else default.value
        layer = layer or (default.layer if default is not None else "")
        found = strategies.list_numbers(kind, amount, uses.domains.get(name, ()), layer)
        return [*first, *found[len(first) :]]
    if kind == "Bool":
        was = isinstance(default, Boolean) and bool(default.value)
        return [*first, "false"] if was else [*first, "true"] if first else ["false", "true"]
    if kind == "Name":
        of_fields = [word for domain in uses.domains.get(name, ()) for word in domain.choices]
        words = dict.fromkeys([*of_fields, *uses.keys.get(name, ())])
        known = default.name if isinstance(default, Symbol) else ""
        return [*first, *(word for word in words if word != known)]
    return first


class _Uses:
    """What the parameters of a device are used for.

    Attributes:
        domains: By parameter, those of the fields that are just it.
        keys: By parameter, those of the maps that it chooses from.
        named: The attributes of packets that classes test, and the numbers that they are compared
            with.
    """

    def __init__(self, checked: Checked) -> None:
        self.domains: dict[str, list[Domain]] = {}
        self.keys: dict[str, list[str]] = {}
        self.named: dict[str, set[int]] = {}
        self._checked = checked

    def read(self, node: ast.Node, device: ast.Device, scope: Scope) -> None:
        """Read what is below a node of a device; `scope` has the names of its file."""
        names = {parameter.name.text for parameter in device.parameters}
        if isinstance(node, ast.Record):
            self._read_record(node, names, scope)
        elif isinstance(node, ast.Call):
            self._read_call(node, names, scope)
        elif isinstance(node, ast.Path) and node.trail and isinstance(node.trail[0], ast.Index):
            self._read_choice(node, node.trail[0].value, names, scope)
        elif isinstance(node, ast.Path) and node.name.text == "pkt":
            for mark in _list_marks(node):
                self.named.setdefault(mark, set())
        elif isinstance(node, ast.Compare | ast.Member):
            self._read_test(node, device)
        for child in node.list_children():
            self.read(child, device, scope)

    def _read_record(self, node: ast.Record, names: set[str], scope: Scope) -> None:
        base = node.base.path if isinstance(node.base, ast.Call) else node.base
        catalogue = self._checked.evaluator.context.catalogue
        kind = catalogue.find("element", base.name.text) or catalogue.find(
            "dropping", base.name.text
        )
        if kind is None or scope.find(base.name.text) is not None:
            return
        for statement in node.body.statements:
            if isinstance(statement, ast.Bind):
                used = _find_parameter(statement.value, names)
                parameter = kind.find_parameter(statement.names[0].text)
                if used and parameter is not None:
                    self.domains.setdefault(used, []).append(parameter.domain)

    def _read_call(self, node: ast.Call, names: set[str], scope: Scope) -> None:
        inner = self._evaluate(node.path, scope)
        if not isinstance(inner, DeviceValue):
            return
        within = _Uses(self._checked)
        within.read(inner.node, inner.node, inner.home)
        for mark, numbers in within.named.items():
            self.named.setdefault(mark, set()).update(numbers)
        order: Sequence[str] = list(inner.signature.parameters)
        for place, argument in enumerate(node.arguments):
            used = _find_parameter(argument.value, names)
            theirs = argument.name.text if argument.name else order[place]
            if used:
                self.domains.setdefault(used, []).extend(within.domains.get(theirs, ()))
                self.keys.setdefault(used, []).extend(within.keys.get(theirs, ()))

    def _read_test(self, node: ast.Compare | ast.Member, device: ast.Device) -> None:
        """Read the numbers that a mark of packets is compared with, by themselves or in a `let`."""
        sides = list(node.list_children())
        marks = {mark for side in sides if isinstance(side, ast.Path) for mark in _list_marks(side)}
        lets = {
            statement.name.text: statement
            for statement in device.body.statements
            if isinstance(statement, ast.Let)
        }
        for mark in marks:
            for side in sides:
                used = lets.get(side.name.text, side) if isinstance(side, ast.Path) else side
                self.named.setdefault(mark, set()).update(_list_whole_numbers(used))

    def _read_choice(
        self, node: ast.Path, key: ast.Expression, names: set[str], scope: Scope
    ) -> None:
        used = _find_parameter(key, names)
        chosen = self._evaluate(ast.Path(name=node.name, trail=(), span=node.span), scope)
        if used and isinstance(chosen, Map):
            self.keys.setdefault(used, []).extend(k for k in chosen.entries if isinstance(k, str))

    def _evaluate(self, path: ast.Path, scope: Scope) -> Value | None:
        if scope.find(path.name.text) is None:
            return None
        with self._checked.evaluator.context.check_apart():
            try:
                return self._checked.evaluator.evaluate(path, scope)
            except CheckError:
                return None


def _find_parameter(node: ast.Node, names: set[str]) -> str:
    """Return the parameter that an expression is, and nothing else; "" if it is none."""
    plain = isinstance(node, ast.Path) and not node.trail and node.name.text in names
    return node.name.text if plain and isinstance(node, ast.Path) else ""


def _list_marks(node: ast.Path) -> Iterator[str]:
    """Yield the attribute of packets that a path is."""
    if node.name.text == "pkt":
        yield from (step.text for step in node.trail if isinstance(step, ast.Name))


def _list_whole_numbers(node: ast.Node) -> Iterator[int]:
    """Yield the whole numbers in an expression."""
    if isinstance(node, ast.Number) and node.text.isdecimal():
        yield int(node.text)
    for child in node.list_children():
        yield from _list_whole_numbers(child)
