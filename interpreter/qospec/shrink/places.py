"""Where the values of a device are, wherever its declaration has moved to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.shrink.devices import HOW_MANY, is_of_devices
from qospec.shrink.draft import list_paths
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NO_VALUES = (ast.Index, ast.PortName, ast.Compare, ast.Member)
"""What says how many there are of something, or which items are meant."""


class Place(NamedTuple):
    """A value of a device, wherever its declaration has moved to.

    Attributes:
        path: Of the file that it is in; None for the draft itself.
        declaration: The name of what declares it.
        trail: The names of what it is in, from the outermost.
        number: Its place among the values of the innermost.
    """

    path: Path | None
    declaration: str
    trail: tuple[str, ...]
    number: int

    @property
    def shown(self) -> str:
        """Return what people call it: `cpu.per_packet of vendor_a`."""
        return f"`{'.'.join(self.trail)}` of `{self.declaration}`"


class Mend(NamedTuple):
    """A value of a device, and another one with which what fails passes."""

    place: Place
    old: str
    new: str


def list_places(node: ast.Declaration, path: Path | None) -> Iterator[tuple[Place, ast.Node]]:
    """Yield the values of a declaration, with the nodes that they are written as.

    Of a topology, these are what it makes devices with, and the defaults of parameters that it
    hands on to them.
    """
    counts: dict[tuple[str, ...], int] = {}
    for value, trail in (
        _list_handed_on(node) if isinstance(node, ast.Topology) else _list_values(node, ())
    ):
        number = counts.get(trail, 0)
        counts[trail] = number + 1
        yield Place(path, node.name.text, trail, number), value


def _list_handed_on(topology: ast.Topology) -> Iterator[tuple[ast.Node, tuple[str, ...]]]:
    used: set[str] = set()
    for name, argument in _list_arguments(topology.body):
        used |= {path.name.text for path in list_paths(argument)}
        yield from _list_values(argument, (name,))
    for parameter in topology.parameters:
        if parameter.name.text in used:
            yield from _list_values(parameter, ())


def _list_arguments(body: ast.Body) -> Iterator[tuple[str, ast.Argument]]:
    """Yield what devices are made with, each with the name of the first that is."""
    for statement in body.statements:
        if isinstance(statement, ast.Loop):
            yield from _list_arguments(statement.body)
        elif isinstance(statement, ast.Bind) and isinstance(statement.value, ast.Call):
            for argument in statement.value.arguments if is_of_devices(statement.value) else ():
                if argument.name is None or argument.name.text != HOW_MANY:
                    yield statement.names[0].text, argument


def _list_values(
    node: ast.Node, trail: tuple[str, ...]
) -> Iterator[tuple[ast.Node, tuple[str, ...]]]:
    if isinstance(node, ast.Number | ast.Quantity | ast.Boolean) or is_order(node):
        yield node, trail
        return
    children: list[ast.Node] = []
    if isinstance(node, ast.Loop):
        children = [node.body]
    elif not isinstance(node, _NO_VALUES):
        children = list(node.list_children())
    if isinstance(node, ast.Bind):
        trail = (*trail, node.names[0].text)
    elif isinstance(node, ast.Let | ast.Parameter | ast.Argument) and node.name is not None:
        trail = (*trail, node.name.text)
    for child in children:
        yield from _list_values(child, trail)


def is_order(node: ast.Node) -> bool:
    """Return whether a node is a list of names, such as the queues of a scheduler."""
    return (
        isinstance(node, ast.ListLiteral)
        and len(node.items) > 1
        and all(isinstance(item, ast.Path) for item in node.items)
    )
