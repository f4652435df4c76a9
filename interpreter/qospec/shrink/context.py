"""What the steps of shrinking may change in a draft."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from qospec.shrink.devices import collect_device_parts
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.shrink.draft import Draft
    from qospec.shrink.trial import Tried
    from qospec.shrink.values import Values

_WHOLE = (ast.Run, ast.Let, ast.Flow, ast.Traffic, ast.Link, ast.Search, ast.Point)
"""What stays as it is, or goes, with care."""
_PARTS = (ast.Goal, ast.At)
"""Parts of a phase that may go as whole statements may."""


class Context:
    """What passes ask about a draft.

    Attributes:
        draft: The draft.
        values: What expressions are worth.
        devices: Whether what the devices that it declares do not need may go.
        guards: Whether what says when the test counts may be removed: `require` and `when`.
        careful: Whether only what is whole may go: flows and nodes, but none of their fields.
        tried: What became of the draft, if that is known.
    """

    def __init__(
        self,
        draft: Draft,
        values: Values,
        *,
        devices: bool,
        guards: bool = False,
        careful: bool = False,
        tried: Tried | None = None,
    ) -> None:
        self.draft = draft
        self.values = values
        self.devices = devices
        self.careful = careful
        self.guards = guards
        self.tried = tried

    @cached_property
    def _of_devices(self) -> frozenset[int]:
        return collect_device_parts(self.draft)

    def is_of_device(self, node: ast.Node, above: Sequence[ast.Node]) -> bool:
        """Return whether a device is made of a node, or of what it is in."""
        return any(id(part) in self._of_devices for part in (*above, node))

    def is_fixed(self, number: ast.Node, above: Sequence[ast.Node]) -> bool:
        """Return whether a number has to stay what it is, even if it may go."""
        return self.is_kept(number, above) or self.is_of_device(number, above)

    def is_kept(self, node: ast.Node, above: Sequence[ast.Node]) -> bool:
        """Return whether a node stays as it is: what is expected, and devices."""
        inside = (*above, node)
        if any(isinstance(part, ast.Device) for part in inside) and not self.devices:
            return True
        whole = any(isinstance(ancestor, _WHOLE) for ancestor in above)
        if self.careful and whole and not isinstance(node, _PARTS):
            return True
        if self.careful and isinstance(node, ast.Argument) and _is_made(above):
            return True
        return any(
            isinstance(statement, ast.Criterion)
            and (statement.kind != "require" or not self.guards)
            for statement in inside
        )


def _is_made(above: Sequence[ast.Node]) -> bool:
    """Return whether nodes of a topology are made here, or a whole topology for a test."""
    kinds = {type(node) for node in above}
    return {ast.Topology, ast.Bind} <= kinds or (ast.Test in kinds and ast.Body not in kinds)
