"""What numbers of a draft devices are made of, wherever these are written.

A test that fails with other devices says nothing about those that there are: what a device does not
need may go, but its numbers stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.shrink.draft import list_paths
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.shrink.draft import Draft

_TESTERS = "host"
"""What makes nodes that are no devices."""
HOW_MANY = "count"
"""The argument that says how many nodes are made, not what they are."""
_MADE = (ast.Topology, ast.Test)
"""What may hand its parameters on to a device."""

Scope = ast.Node | None
"""The declaration that something is in; None if it is a declaration itself."""


def collect_device_parts(draft: Draft) -> frozenset[int]:
    """Return the identities of the nodes that devices are made of, with all that is in them.

    These are the devices, what a topology makes them with, and the values that both depend on.
    """
    found: set[int] = set()
    waiting = list(_list_devices(draft))
    known: set[tuple[str, int]] = set()
    while waiting:
        node, scope = waiting.pop()
        found.add(id(node))
        for path in list_paths(node):
            key = (path.name.text, id(scope))
            if key not in known:
                known.add(key)
                waiting += _list_values(draft, path.name.text, scope)
    return frozenset(found)


def _list_devices(draft: Draft) -> Iterator[tuple[ast.Node, Scope]]:
    """Yield the devices and what topologies make them with, each with where it is."""
    for node, above in draft.nodes:
        if isinstance(node, ast.Device):
            yield node, node
        topology = above[1] if len(above) > 1 else None
        made = isinstance(topology, ast.Topology) and isinstance(above[-1], ast.Body)
        if not made or not isinstance(node, ast.Bind):
            continue
        if isinstance(node.value, ast.Call):
            if is_of_devices(node.value):
                yield node.value.path, topology
                yield from ((e, topology) for e in node.value.arguments if _name(e) != HOW_MANY)
        else:
            yield node.value, topology


def is_of_devices(call: ast.Call) -> bool:
    """Return whether what makes nodes in a topology makes devices."""
    return call.path.name.text != _TESTERS


def _list_values(draft: Draft, name: str, scope: Scope) -> Iterator[tuple[ast.Node, Scope]]:
    """Yield the values that a name may have in a declaration, each with where it is."""
    for node, above in draft.nodes:
        if len(above) == 1 and isinstance(node, ast.Let) and node.name.text == name:
            yield node.value, None
        elif scope is None or not any(ancestor is scope for ancestor in above):
            continue
        elif isinstance(node, ast.Let) and node.name.text == name:
            yield node.value, scope
        elif isinstance(node, ast.Sweep | ast.Loop):
            names = node.names if isinstance(node, ast.Sweep) else (node.name,)
            if name in {name_node.text for name_node in names}:
                yield node.values, scope
    if isinstance(scope, _MADE):
        for place, parameter in enumerate(scope.parameters):
            if parameter.name.text == name:
                yield from _list_given(draft, scope, place, parameter)


def _list_given(
    draft: Draft, made: ast.Topology | ast.Test, place: int, parameter: ast.Parameter
) -> Iterator[tuple[ast.Node, Scope]]:
    """Yield the default of a parameter, and what it is given wherever its declaration is used."""
    if parameter.default is not None:
        yield parameter.default, None
    for node, above in draft.nodes:
        if isinstance(node, ast.Call) and node.path.name.text == made.name.text:
            around = above[1] if len(above) > 1 else None
            for at, argument in enumerate(node.arguments):
                if _name(argument) == parameter.name.text or (
                    argument.name is None and at == place
                ):
                    yield argument.value, around


def _name(argument: ast.Argument) -> str:
    return "" if argument.name is None else argument.name.text


def is_listed_number(node: ast.Node, above: Sequence[ast.Node]) -> bool:
    """Return whether a value is one of several in a row that mean something together.

    Without one of them, or without its name, a function has another result, and those behind it are
    of something else.
    """
    around = above[-1]
    if isinstance(around, ast.Call):
        return not isinstance(node, ast.Argument) or node.name is None
    return isinstance(around, ast.ListLiteral) and not isinstance(node, ast.Path)
