"""From files to a suite: the names of each, declarations on their own, tests with their cases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from qospec.check import unused
from qospec.check.declarations import (
    DeviceValue,
    ModuleValue,
    ReferenceValue,
    TestValue,
    TopologyValue,
    TrafficValue,
)
from qospec.check.device.nodes import DevicePlan
from qospec.check.evaluate.context import CheckError, explain_too_deep, make_error
from qospec.check.evaluate.scope import IMPORT, Binding, Scope, bind_known
from qospec.check.evaluate.values import POISON, Value
from qospec.check.modules import files
from qospec.check.records.captures import list_data
from qospec.check.records.parameters import let_binding
from qospec.check.records.record import Record
from qospec.check.test import flows, properties
from qospec.check.test.expansion import check_drawn as drawn_of
from qospec.check.test.expansion import check_template, draws_from_range, expand_tests
from qospec.check.test.vacuity import conditions
from qospec.check.topology import body
from qospec.check.topology.flatten import Networks
from qospec.model.checked import CheckedSuite
from qospec.model.suite import Property, Reference, Suite, Template, Test
from qospec.source import Source
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.modules.loader import Unit
    from qospec.check.test.expansion import DrawnTestMaker
    from qospec.check.test.trials import CaseMaker
    from qospec.model.suite import DrawnTest

NOUNS: dict[type, str] = {
    ast.Let: "a value",
    ast.Traffic: "traffic",
    ast.Device: "a device",
    ast.Topology: "a topology",
    ast.Test: "a test",
    ast.Reference: "a reference",
    ast.Property: "a property",
}


def build_suite(
    units: Sequence[Unit], scopes: Mapping[Path, Scope], evaluator: Evaluator
) -> CheckedSuite:
    """Return the suite of the files; what has a mistake is reported and left out.

    `scopes` has the names of each, from `collect_scopes`.
    """
    networks = Networks(evaluator)
    references = [
        reference
        for unit in units
        for reference in _check_declarations(unit, scopes[unit.path], networks, evaluator)
    ]
    examined = _list_properties(units, scopes, evaluator)
    finite = [Test(p.name, p.doc, p.cases, p.span) for p, _ in examined if p.cases is not None]
    tests: list[Test] = []
    templates: list[Template] = []
    makers: dict[str, CaseMaker] = {}
    drawn: list[tuple[DrawnTest, DrawnTestMaker]] = []
    seen: dict[str, ast.Test | ast.Property] = {}
    for unit in units:
        made = [test for test in finite if test.span.source is unit.source]
        if unit.named:
            own, its_makers = expand_tests(unit, scopes[unit.path], networks, evaluator)
            made += own
            makers |= its_makers
        for node in unit.tree.declarations if unit.tree else ():
            if isinstance(node, ast.Test | ast.Property) and any(
                test.span is node.span for test in made
            ):
                _report_once(node, seen, evaluator)
            elif isinstance(node, ast.Test) and unit.named and not draws_from_range(node):
                templates.append(Template(node.name.text, node.doc, node.span))
        tests += made
        drawn += drawn_of(unit, scopes[unit.path], networks, evaluator) if unit.named else []
    if not evaluator.context.mistakes:  # else what is wrong may be what would use it
        for warning in unused.warn_of_unused(units):
            evaluator.context.report(warning)
    captures = _list_data(tests, units)
    found = Suite(
        tuple(tests),
        tuple(references),
        _list_sources(units, captures),
        tuple(stated for stated, _ in examined),
        tuple(templates),
        tuple(test for test, _ in drawn),
        _name_needed(units, captures),
    )
    return CheckedSuite(
        found,
        makers,
        {stated.name: examiner for stated, examiner in examined},
        {test.name: maker for test, maker in drawn},
    )


def _list_data(tests: Sequence[Test], units: Sequence[Unit]) -> dict[str, list[Source]]:
    """Return the files of data that the tests of each file send, by its name in records."""
    found: dict[str, list[Source]] = {}
    for test in tests:
        sent = {file.path: file.digest for case in test.cases for file in list_data(case)}
        for written, digest in sent.items():
            path = files.resolve_links(Path(written))
            root = files.find_common_root([unit.path for unit in units if unit.named])
            name = files.write_recorded_path(path, root)
            source = Source(files.shorten_path(path), "", name, digest)
            found.setdefault(test.span.source.recorded_name, []).append(source)
    return found


def _list_sources(
    units: Sequence[Unit], captures: Mapping[str, Sequence[Source]]
) -> tuple[Source, ...]:
    """Return all that was read, each once."""
    own = [unit.source for unit in units]
    return (*own, *dict.fromkeys(source for its in captures.values() for source in its))


def _name_needed(
    units: Sequence[Unit], captures: Mapping[str, Sequence[Source]]
) -> dict[str, frozenset[str]]:
    """Return what each file that was named imports and sends, all by their names in records."""
    return {
        name: unit.name_imports().union(its.recorded_name for its in captures.get(name, ()))
        for unit in units
        if unit.named and (name := unit.source.recorded_name)
    }


def _list_properties(
    units: Sequence[Unit], scopes: Mapping[Path, Scope], evaluator: Evaluator
) -> list[tuple[Property, properties.Examiner]]:
    """Return the properties of the files that were named, each with what evaluates it.

    Those of other files are checked, too.
    """
    found: list[tuple[Property, properties.Examiner]] = []
    for unit in units:
        for node in unit.tree.declarations if unit.tree else ():
            if isinstance(node, ast.Property):
                made = properties.check_property(node, scopes[unit.path], evaluator)
                found += [made] if made is not None and unit.named else []
    return found


def collect_scopes(
    units: Sequence[Unit], evaluator: Evaluator, known: Mapping[Path, Scope] | None = None
) -> dict[Path, Scope]:
    """Return the names that each file declares and imports, and those `known` of other files."""
    own = {
        unit.path: Scope(unparsed=unit.tree.unparsed if unit.tree else frozenset())
        for unit in units
    }
    scopes = {**(known or {}), **own}
    for unit in units:
        _declare(unit, scopes, evaluator)
    return scopes


def _report_once(
    node: ast.Test | ast.Property, seen: dict[str, ast.Test | ast.Property], evaluator: Evaluator
) -> None:
    known = seen.setdefault(node.name.text, node)
    if known is not node and known.span.source is not node.span.source:
        evaluator.context.report(
            make_error(
                "E0102",
                f"two tests are called `{node.name.text}`",
                node.name.span,
                secondary=(known.name.span, "the other one"),
                help="give one of them another name",
            )
        )


def _declare(unit: Unit, scopes: dict[Path, Scope], evaluator: Evaluator) -> None:
    """Fill the scope of a file with its imports and its declarations."""
    scope = scopes[unit.path]
    scope.missing_imports = frozenset(unit.missing_imports)
    for imported in unit.tree.imports if unit.tree else ():
        other = unit.imports.get(imported.name)
        value: Value = POISON
        if other is not None and other.tree is not None:
            own = frozenset(node.name.text for node in other.tree.declarations)
            value = ModuleValue(imported.name, scopes[other.path], own)
        name = imported.alias or imported.path[-1]
        scope.declare(bind_known(name, IMPORT, value), evaluator.context)
    for node in unit.tree.declarations if unit.tree else ():
        binding = _evaluate_binding(node, scope, evaluator)
        known = scope.names.get(binding.name)
        if known is not None:
            scope.report_clash(binding, known, evaluator.context)
        else:
            scope.names[binding.name] = binding


def _evaluate_binding(node: ast.Declaration, scope: Scope, evaluator: Evaluator) -> Binding:
    if isinstance(node, ast.Let):
        return let_binding(node, scope, evaluator)
    return Binding(
        node.name.text,
        node.name.span,
        NOUNS[type(node)],
        lambda: _evaluate_value(node, scope, evaluator),
    )


def _evaluate_value(node: ast.Declaration, scope: Scope, evaluator: Evaluator) -> Value:
    if isinstance(node, ast.Traffic):
        return TrafficValue(node, scope, evaluator)
    if isinstance(node, ast.Device):
        return DeviceValue(node, scope, evaluator)
    if isinstance(node, ast.Topology):
        return TopologyValue(node, scope, evaluator)
    if isinstance(node, ast.Reference):
        return ReferenceValue(node, scope, evaluator)
    return TestValue(node, scope, evaluator) if isinstance(node, ast.Test) else POISON


def _check_declarations(
    unit: Unit, scope: Scope, networks: Networks, evaluator: Evaluator
) -> Iterator[Reference]:
    """Check each declaration of a file on its own; yield its references.

    What the library declares was checked before it was released: what is used of it is checked as
    it is used.
    """
    released = not unit.named and files.is_of_library(unit.path)
    for declaration in unit.tree.declarations if unit.tree else ():
        if not released or isinstance(declaration, ast.Reference):
            reference = _check_alone(declaration, scope, networks, evaluator)
            if reference is not None:
                yield reference


def _check_alone(
    node: ast.Declaration, scope: Scope, networks: Networks, evaluator: Evaluator
) -> Reference | None:
    """Check a declaration on its own: with unknown parameters, and with their defaults."""
    if isinstance(node, ast.Property):
        return None
    try:
        known = scope.names[node.name.text]
        value = known.evaluate(evaluator.context)
        if known.span != node.name.span:
            return None
        if isinstance(value, ReferenceValue):
            return value.verify(evaluator)
        if isinstance(value, Record):
            value.evaluate_arguments(evaluator)
        if isinstance(value, DeviceValue):
            _check_device(value, evaluator)
        if isinstance(value, TrafficValue | TopologyValue):
            _with_unknowns(value, evaluator)
        if isinstance(value, TestValue):
            check_template(value, networks, evaluator)
    except CheckError as mistake:
        evaluator.context.report(mistake)
    except RecursionError:
        evaluator.context.report(explain_too_deep(node.name.span))
    return None


def _check_device(value: DeviceValue, evaluator: Evaluator) -> None:
    """Check a device on its own, with unknown parameters and with their defaults.

    What it states is examined where it knows least, since it must be able to break for some values.
    """
    signature, before = value.signature, evaluator.context.mistakes
    template = None
    if signature.parameters:
        template = value.build_template(signature.make_placeholders(defaults=False), evaluator)
    if signature.has_defaults() and evaluator.context.mistakes == before:
        plan = value.with_defaults(value.node, evaluator)  # as it is used, so that it is made once
        if not signature.parameters and isinstance(plan, DevicePlan):
            template = plan.template
    if template is not None and evaluator.context.mistakes == before:
        for idle in conditions.examine_invariants(template, evaluator):
            evaluator.context.report(idle)


def _with_unknowns(value: TrafficValue | TopologyValue, evaluator: Evaluator) -> None:
    signature = value.signature
    rounds = [False] if signature.parameters else []
    rounds += [True] if signature.has_defaults() else []
    for defaults in rounds:
        before = evaluator.context.mistakes
        inside = signature.make_placeholders(defaults=defaults)
        if isinstance(value, TopologyValue):
            body.lay_out(value.node, inside, evaluator)
        else:
            record = value.evaluate_record(inside, evaluator)
            if isinstance(record, Record):
                flows.evaluate_sent(record, evaluator)
        if evaluator.context.mistakes > before:
            return
