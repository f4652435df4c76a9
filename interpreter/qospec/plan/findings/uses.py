"""What is found within a device of the library, told where a specification uses it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.diagnostics import Label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qospec.diagnostics import Diagnostic, Problems
    from qospec.model.device import DeviceUse
    from qospec.model.suite import Network


def tell_at_use(found: Problems, networks: Iterable[Network], problems: Problems) -> None:
    """Add what was found in networks to `problems`, each at a line that its author may change."""
    searched = list(networks)
    for diagnostic in found.all:
        problems.add(_move_to_use(diagnostic, searched))


def _move_to_use(found: Diagnostic, networks: Sequence[Network]) -> Diagnostic:
    """Return a diagnostic at the user's line that uses the device of the library it lies in.

    Its own place is shown below that. Of equal devices, the one whose element the message names.
    """
    if not found.span.source.is_of_library:
        return found
    uses = list(_list_uses(found, networks))
    named = [use for path, use in uses if re.search(rf"`{re.escape(path)}[.`]", found.message)]
    for use in named or [use for _, use in uses]:
        if use.span is not None and not use.span.source.is_of_library:
            here = found.label or f"here, in `{use.name}`"
            secondary = (Label(found.span, here), *found.secondary)
            return replace(found, span=use.span, label="", secondary=secondary, fix=())
    return found


def _list_uses(found: Diagnostic, networks: Sequence[Network]) -> Iterator[tuple[str, DeviceUse]]:
    """Yield the devices, by path, in which an element lies that was written there, or is named."""
    for network in networks:
        for element in network.elements:
            if element.span == found.span or f"`{element.path}`" in found.message:
                for path, use in network.devices.items():
                    if element.path.startswith(f"{path}."):
                        yield path, use
