"""Topologies and tests as documents: hosts, devices, links; cases, networks, phases, flows.

The fields of flows and of `run` are those of the first case, each with its origin; where there are
phases, at the highest load of the first one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.declarations import TestValue, TopologyValue
from qospec.check.device.nodes import NodeArray, NodeValue
from qospec.check.records.record import Record
from qospec.check.test.expansion import expand_tests
from qospec.check.test.flows import evaluate_record
from qospec.check.test.parts import (
    CaseScope,
    Part,
    collect_parts,
    collect_sweeps,
    list_requirements,
)
from qospec.check.test.phases import Phases, Trial
from qospec.check.test.run_settings import PHASED, RUN, has_phases
from qospec.check.test.sweeps import enumerate_combinations
from qospec.check.topology import body
from qospec.check.topology.flatten import Networks
from qospec.reference.library import write_place
from qospec.reference.origins import follow_copies, trace_fields
from qospec.reference.phases import choose_names, describe_phases, describe_written_phases
from qospec.reference.values import read_written_text, value_text
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.check.evaluate.scope import Scope
    from qospec.check.test.sweeps import Combination
    from qospec.check.topology.body import Cable, Layout
    from qospec.document import Document
    from qospec.model.suite import Flow, Network
    from qospec.reference.declarations import Declarations, Declared


def describe_topology(declared: Declared, declarations: Declarations) -> Document:
    """Return the nodes and links of a topology, with its defaults or with unknown parameters."""
    value = declarations.evaluate(declared)
    if not isinstance(value, TopologyValue):
        return {}
    inside = value.signature.make_placeholders(defaults=value.signature.has_defaults())
    made = body.lay_out(value.node, inside, declarations.evaluator)
    return {
        "hosts": list(_describe_nodes(made, value.node, declarations, devices=False)),
        "devices": list(_describe_nodes(made, value.node, declarations, devices=True)),
        "links": truncate_entries(
            [_describe_link(cable, declarations) for cable in made.cables], "links"
        ),
    }


def _describe_nodes(
    layout: Layout, node: ast.Topology, declarations: Declarations, *, devices: bool
) -> Iterator[Document]:
    binds = (statement for statement in node.body.statements if isinstance(statement, ast.Bind))
    for bind in binds:
        for name in bind.names:
            known = layout.names.get(name.text)
            made = known.evaluate(declarations.evaluator.context) if known else None
            nodes = made.nodes if isinstance(made, NodeArray) else ()
            last = f"[0 .. {len(nodes) - 1}]" if nodes else ""
            if isinstance(made, NodeValue):
                nodes = (made.node,)
            if nodes and (nodes[0].template is not None) is devices:
                yield {"name": f"{name.text}{last}", "type": read_written_text(bind.value)}


def _describe_link(cable: Cable, declarations: Declarations) -> Document:
    medium = cable.medium
    rate = medium.kind.find_parameter("rate")
    carries = value_text(medium.evaluate_parameter(rate, declarations.evaluator)) if rate else ""
    written = " ".join(cable.span.text.split()).partition(" via ")[2]
    return {"name": f"{cable.left[2]} -- {cable.right[2]}", "type": f"via {written}, {carries}"}


MOST_SHOWN = 20
"""The most cases, links and so on that are listed."""
FEW = 3
"""Members of a flow."""


def test_document(declared: Declared, declarations: Declarations) -> Document:
    """Return what a test is built on, its cases, networks, flows and fields; errors are reported.

    A template has no cases, but says what it requires of its arguments.
    """
    node = declared.node
    assert isinstance(node, ast.Test)  # noqa: S101 -- the caller's choice
    home, evaluator = declarations.find_scope(declared.unit), declarations.evaluator
    networks = Networks(evaluator)
    tests, _ = expand_tests(declared.unit, home, networks, evaluator)
    made = next((test for test in tests if test.span is node.span), None)
    cases = made.cases if made is not None else ()
    bases = list(follow_copies(declared, declarations))[1:]
    parts = (*reversed(bases), declared)
    follows, deviations = (
        (made.follows, made.deviations) if made is not None else _list_stated(parts)
    )
    document: Document = {
        "bases": [{"name": base.name, "place": write_place(base.node)} for base in bases],
        "follows": list(follows),
        "deviations": [{"what": what, "why": why} for what, why in deviations],
        "requires": [] if cases else _list_required(declared, declarations),
    }
    if not cases:
        statements = [
            statement
            for part in parts
            if isinstance(part.node, ast.Test)
            for statement in part.node.statements
        ]
        return {**document, "phases": describe_written_phases(statements)}
    names, phases = _list_names(node, declared, declarations, networks)
    return {
        **document,
        "cases": truncate_entries(
            [{"name": case.name, "type": case.skip} for case in cases], "cases"
        ),
        "networks": [
            _describe_network(name, network, names) for name, network in cases[0].networks.items()
        ],
        "phases": describe_phases(cases[0].phases, phases) if phases is not None else [],
        "flows": [_describe_flow(flow) for flow in cases[0].flows],
        "at": choose_names(names, phases, evaluator) if phases is not None else [],
        "origins": list(_trace_origins(names, declared, declarations)),
    }


def _list_required(declared: Declared, declarations: Declarations) -> list[str]:
    """Return what a template requires of its arguments."""
    value, evaluator = declarations.evaluate(declared), declarations.evaluator
    if not isinstance(value, TestValue):
        return []
    parts = collect_parts(value.node, value.signature.make_placeholders(defaults=False), evaluator)
    return [] if parts is None else list_requirements(parts)


def _list_stated(parts: Sequence[Declared]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return what a template follows and its deviations, those under a condition too."""
    follows, texts = (
        [text for part in parts for text in _list_texts(part, name)]
        for name in ("follows", "deviations")
    )
    pairs = [text.partition(":") for text in texts]
    return follows, [(what.strip(), why.strip()) for what, _, why in pairs]


def _list_texts(declared: Declared, name: str) -> list[str]:
    """Return the texts of `follows = …` or its like, as they are written in a test."""
    node = declared.node
    binds = [
        statement.value
        for statement in (node.statements if isinstance(node, ast.Test) else ())
        if isinstance(statement, ast.Bind) and statement.names[0].text == name
    ]
    chosen = [bind.value if isinstance(bind, ast.Conditional) else bind for bind in binds]
    lists = (value.items if isinstance(value, ast.ListLiteral) else (value,) for value in chosen)
    items = [item for entries in lists for item in entries]
    return [item.text for item in items if isinstance(item, ast.Text)]


def truncate_entries(entries: list[Document], what: str) -> list[Document]:
    """Return the first entries, and one with the number of the others."""
    more = len(entries) - MOST_SHOWN
    if more <= 1:
        return entries
    return [*entries[:MOST_SHOWN], {"name": "…", "type": f"and {more:_} more {what}"}]


def _describe_network(name: str, network: Network, names: CaseScope) -> Document:
    written = {
        control.name.text: control.topology for control, _ in names.select_statements(ast.Control)
    }
    if names.topology is not None:
        written[""] = names.topology[0]
    size = f"{len(network.hosts):_} hosts, {len(network.elements):_} elements"
    return {"name": name or "on", "type": f"{read_written_text(written[name])}: {size}"}


def _describe_flow(flow: Flow) -> Document:
    pairs = [
        f"{origin} to {target}" for origin, target in zip(flow.origins, flow.targets, strict=True)
    ]
    more = f", … ({len(pairs):_} members)" if len(pairs) > FEW else ""
    way = f" via {', '.join(flow.via)}" if flow.via else ""
    return {"name": flow.name, "type": f"{flow.kind.name} from {', '.join(pairs[:FEW])}{more}{way}"}


def _trace_origins(
    names: CaseScope, declared: Declared, declarations: Declarations
) -> Iterator[Document]:
    """Yield the fields of each flow directly in the test, then those of `run`."""
    evaluator = declarations.evaluator
    for statement, scope in names.statements:
        record, copies = None, []
        if isinstance(statement, ast.Flow):
            record = evaluate_record(statement, scope, evaluator)
            copies = list(
                follow_copies(
                    declarations.find_named(declared.unit, statement.traffic), declarations
                )
            )
        elif isinstance(statement, ast.Run):
            kind = PHASED if has_phases(names) else RUN
            record = Record(kind, {}, statement.span, evaluator).copy(
                statement.body, scope, evaluator
            )
        if record is not None:
            name = statement.name.text if isinstance(statement, ast.Flow) else "run"
            yield from trace_fields(record, copies, declarations, f"{name}.")


def _list_names(
    node: ast.Test, declared: Declared, declarations: Declarations, networks: Networks
) -> tuple[CaseScope, Phases | None]:
    """Return the names of the first case, and its phases, with those of the first at its top."""
    home, evaluator = declarations.find_scope(declared.unit), declarations.evaluator
    parts = collect_parts(node, home, evaluator) or (Part(node, home),)

    def build_scopes(points: Combination) -> Sequence[Scope]:
        return CaseScope(parts, points, evaluator).scopes

    points = next(enumerate_combinations(collect_sweeps(parts), build_scopes, evaluator))
    case = CaseScope(parts, points, evaluator)
    instance = networks.find_network(*case.topology) if case.topology is not None else None
    case.add_topology(instance and instance.names)
    if not has_phases(case):
        return case, None
    phases = Phases(case, evaluator)
    phases.declare(case, Trial(0))
    return case, phases
