"""The links of a network over which something goes, by the names that a user may give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.capture.error import CaptureError
from qospec.dataclass import NamedTuple
from qospec.diagnostics import suggest_name
from qospec.engine.experiment import Tap

if TYPE_CHECKING:
    from qospec.engine.experiment import Node
    from qospec.model.suite import Network
    from qospec.plan.plan import Planned

ARROW = " -> "
"""Between the two ends, in the path of a link's line."""


class Link(NamedTuple):
    """One direction of a link.

    Attributes:
        name: `enc_a.black -> sw.p[0]`.
        tap: Where its items are seen: at its far end.
        node: What sends on it: the line, or the queue or scheduler that it serves.
    """

    name: str
    tap: Tap
    node: Node


def find_link(network: Network, planned: Planned, name: str) -> Link:
    """Return a link by its name or by that of a side at one of its ends; raises CaptureError.

    Without a name it is the only one over which anything may go.
    """
    nodes = {node.path: number for number, node in enumerate(planned.experiment.nodes)}
    known = {element.path for element in network.elements if ARROW in element.path}
    used = {
        path: nodes[node] for path, node in planned.lines.items() if path in known and node in nodes
    }
    if not name:
        if len(used) != 1:
            raise CaptureError("several links carry something in this case: name one", used)
        (name,) = used
    path = network.sides.get(name, name)
    if path in used:
        number = used[path]
        return Link(path, Tap(path, number, 0), planned.experiment.nodes[number])
    if path in known:
        raise CaptureError(f"nothing goes over `{name}` in this case, but over", used)
    near = suggest_name(name, [*known, *network.sides])
    hint = f"did you mean `{near}`?" if near else "these carry something"
    raise CaptureError(f"there is no link `{name}`: {hint}", used)
