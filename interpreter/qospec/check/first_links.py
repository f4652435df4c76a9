"""What a flow sends on the link at its origin: cells or packets, and packets how framed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from qospec.check.context import wrong
from qospec.check.device import built

if TYPE_CHECKING:
    from qospec.catalogue import Kind
    from qospec.check.expressions import Evaluator
    from qospec.check.nodes import Node
    from qospec.syntax import ast

HOST_PORT = ("", 0)


class Sending(NamedTuple):
    """Traffic, built: its kind, what it declares, what it emits, and its arguments.

    Of packets, `stream` is what is sent on the first link, and nothing is emitted before it is
    known.
    """

    kind: Kind
    traffic: Any
    arrivals: Any
    arguments: dict[str, Any]
    stream: Any = None


def on(
    sending: Sending, node: ast.Flow, name: str, origins: tuple[Node, ...], evaluator: Evaluator
) -> Sending | None:
    """Return what is sent on the links of the origins; None if one is wrong; raises Refused."""
    packets = hasattr(sending.traffic, "stream")
    lines = [_line(origin, evaluator) for origin in origins if HOST_PORT in origin.media]
    for line, origin in zip(lines, origins, strict=False):
        if line is not None and (line.carries == "packet") != packets:
            sent = "packets" if packets else "cells"
            raise wrong(
                "E0309",
                f"`{name}` sends {sent}, and the link of `{origin.path}` carries {line.carries}s",
                node.span,
                other=(origin.links[HOST_PORT], "linked here"),
                remedy=f"take a medium for {sent}, or traffic of another kind",
            )
    if not packets:
        return sending
    if not lines or None in lines:
        return None if lines else _unlinked(node, name, origins)
    framed = {line.encapsulation for line in lines if line is not None}
    if len(framed) > 1:
        raise wrong(
            "E0309",
            f"the links at the origins of `{name}` frame packets in different ways",
            node.span,
            remedy="give them one medium, or make flows of their own",
        )
    try:
        stream = sending.traffic.stream(framed.pop())
    except ValueError as error:
        raise wrong("E0301", str(error), node.span) from error
    process, given = stream.source
    kind = evaluator.context.catalogue.find("arrivals", process)
    assert kind is not None  # noqa: S101 -- traffic names what is in the catalogue
    return sending._replace(arrivals=kind.build(**given), stream=stream)


def _unlinked(node: ast.Flow, name: str, origins: tuple[Node, ...]) -> Sending | None:
    raise wrong(
        "E0308",
        f"no way leads packets of `{name}` from `{origins[0].path}`",
        node.span,
        note="no link is there",
        remedy=f"add a `link`, or name other hosts for `{name}`",
    )


def _line(origin: Node, evaluator: Evaluator) -> Any:
    """Return the line of a host's link; None if it is wrong."""
    medium = origin.media[HOST_PORT]
    arguments, complete = medium.arguments(evaluator)
    return built(medium, arguments, complete=True, evaluator=evaluator) if complete else None
