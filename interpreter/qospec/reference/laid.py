"""A topology: its hosts, its devices, and its links with their media."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.declarations import TopologyValue
from qospec.check.device.nodes import NodeArray, NodeValue
from qospec.check.topology import body
from qospec.reference.amounts import value_text, written_text
from qospec.reference.tested import listed
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.check.topology.body import Cable, Layout
    from qospec.document import Document
    from qospec.reference.declarations import Declarations, Declared


def laid_document(declared: Declared, declarations: Declarations) -> Document:
    """Return what is in a topology, with its defaults or else with its parameters unknown."""
    value = declarations.value(declared)
    if not isinstance(value, TopologyValue):
        return {}
    inside = value.signature.alone(defaults=value.signature.has_defaults())
    laid = body.layout(value.node, inside, declarations.evaluator)
    return {
        "hosts": list(_nodes(laid, value.node, declarations, devices=False)),
        "devices": list(_nodes(laid, value.node, declarations, devices=True)),
        "links": listed([_link(each, declarations) for each in laid.cables], "links"),
    }


def _nodes(
    layout: Layout, node: ast.Topology, declarations: Declarations, *, devices: bool
) -> Iterator[Document]:
    binds = (each for each in node.body.statements if isinstance(each, ast.Bind))
    for bind in binds:
        for name in bind.names:
            known = layout.names.get(name.text)
            made = known.value(declarations.evaluator.context) if known else None
            nodes = made.nodes if isinstance(made, NodeArray) else ()
            last = f"[0 .. {len(nodes) - 1}]" if nodes else ""
            if isinstance(made, NodeValue):
                nodes = (made.node,)
            if nodes and (nodes[0].template is not None) is devices:
                yield {"name": f"{name.text}{last}", "type": written_text(bind.value)}


def _link(cable: Cable, declarations: Declarations) -> Document:
    medium = cable.medium
    rate = medium.kind.parameter("rate")
    carries = value_text(medium.value_of(rate, declarations.evaluator)) if rate else ""
    written = " ".join(cable.span.text.split()).partition(" via ")[2]
    return {"name": f"{cable.left[2]} -- {cable.right[2]}", "type": f"via {written}, {carries}"}
