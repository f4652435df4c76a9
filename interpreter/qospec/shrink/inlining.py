"""Traffic with parameters that one flow sends, written where the flow is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.shrink.draft import Draft, list_paths
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.shrink.context import Context
    from qospec.shrink.passes import Change


def inline_traffic(context: Context) -> Iterator[Sequence[Change]]:
    """Yield the traffic that is used once, with arguments, in place of its name.

    An argument may be a variable of a phase, which nothing outside of the test knows: so traffic
    with parameters that depend on one cannot do without them, but the flow can without its name.
    """
    draft = context.draft
    for node in draft.tree.declarations:
        if not isinstance(node, ast.Traffic) or not node.parameters:
            continue
        used = [path for path in list_paths(draft.tree) if path.name.text == node.name.text]
        calls = [
            call
            for call, above in draft.nodes
            if isinstance(call, ast.Call)
            and call.path in used
            and isinstance(above[-1], ast.Flow | ast.Record)
        ]
        if len(used) == len(calls) == 1:
            text = _apply(draft, node, calls[0])
            if text is not None:
                yield [(draft.replace(calls[0], text), draft.remove(node))]


def _apply(draft: Draft, node: ast.Traffic, call: ast.Call) -> str | None:
    """Return what traffic is with arguments; None if one is missing."""
    given = {
        argument.name.text: argument.value
        for argument in call.arguments
        if argument.name is not None
    }
    in_order = [argument.value for argument in call.arguments if argument.name is None]
    values: dict[str, ast.Node] = {}
    for place, parameter in enumerate(node.parameters):
        value = in_order[place] if place < len(in_order) else given.get(parameter.name.text)
        value = value or parameter.default
        if value is None:
            return None
        values[parameter.name.text] = value
    text, start = draft.quote(node.value), node.value.span.start
    used = [path for path in list_paths(node.value) if path.name.text in values]
    for path in sorted(used, key=lambda call: -call.span.start):
        name = path.name.span
        written = draft.quote_operand(values[path.name.text])
        text = text[: name.start - start] + written + text[name.end - start :]
    return text
