"""What a place in YAML must contain, and the errors if it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic, suggest_name
from qospec.source import Span
from qospec.syntax.lexical_errors import explain_mismatch, shorten
from qospec.yaml_twin.nodes import Mapping, Scalar, Sequence, TranscriptionError

if TYPE_CHECKING:
    from collections.abc import Sequence as Ordered

    from qospec.source import Source
    from qospec.yaml_twin.nodes import Node
    from qospec.yaml_twin.shapes import Shape

_QUOTES = "put it in quotes: in YAML, a {} of the language is a text"


class Expectations:
    """Checks the kind of nodes; raises TranscriptionError if it is another."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def expect_mappings(
        self, node: Node, what: str, first: Node | None = None
    ) -> list[Mapping | Scalar]:
        """Return the mappings of a block: one, or a list of mappings and texts."""
        if isinstance(node, Mapping):
            return [node]
        if isinstance(node, Scalar):
            help_text = "" if node.value else "write `{}` for an empty block"
            raise self.build_error("E0016", f"{what} must be a mapping", first or node, help_text)
        found: list[Mapping | Scalar] = []
        for item in node.items:
            if isinstance(item, Sequence):
                raise self.build_error(
                    "E0016", f"{what} must be a mapping or a list of mappings", item
                )
            found.append(item)
        return found

    def expect_mapping(self, node: Node, key: Scalar, what: str) -> Mapping:
        """Return a node that must be a mapping."""
        if not isinstance(node, Mapping):
            raise self._build_error(key, what, "write each as `name: value`, on its own line")
        return node

    def expect_sequence(self, node: Node, key: Scalar, what: str) -> Sequence:
        """Return a node that must be a list."""
        if not isinstance(node, Sequence):
            raise self._build_error(key, what, "write each after `- `, on its own line")
        return node

    def expect_scalar(self, node: Node, what: str, key: Scalar | None = None) -> Scalar:
        """Return a node that must be a text."""
        if isinstance(node, Scalar):
            return node
        kind = "list" if isinstance(node, Sequence) else "map"
        help_text = _QUOTES.format(kind) if node.flow else ""
        raise self.build_error("E0016", f"{what} must be a text", key or node, help_text)

    def _build_error(self, key: Scalar, what: str, help_text: str) -> TranscriptionError:
        message = f"expected {what} below `{shorten(key.value)}`"
        return self.build_error("E0016", message, key, help_text)

    def expect_parts(self, node: Node, shape: Shape, first: Node) -> Mapping:
        """Return a node that must be a mapping from the keys of a shape."""
        if isinstance(node, Mapping):
            return node
        help_text = _QUOTES.format("list") if isinstance(node, Sequence) and node.flow else ""
        what = "a text or a mapping" if shape.short else "a mapping"
        raise self.build_error("E0016", f"expected {what}{list_keys(shape)}", first, help_text)

    def build_unknown_error(
        self, key: Scalar, known: Ordered[str], what: str
    ) -> TranscriptionError:
        """Return the error for an unknown key, such as a statement of the text form."""
        message = f"unknown {what} `{shorten(key.value)}`"
        word, _, rest = key.value.partition(" ")
        if rest and word in known:
            return self.build_error(
                "E0004", message, key, f"write `{word}:`, and the rest as keys below it"
            )
        near = suggest_name(key.value, known)
        if not key.value.isascii() and key.value.isidentifier():
            foreign = explain_mismatch("FOREIGN", key.value)
            return self.build_error(
                foreign.code, foreign.message, key, f"write `{near}`" if near else foreign.help
            )
        if near and near != key.value:
            return self.build_error("E0004", f"`{shorten(key.value)}`: did you mean `{near}`?", key)
        return self.build_error("E0004", message, key, f"write one of: {' '.join(known)}")

    def build_error(
        self, code: str, message: str, node: Node, help_text: str = ""
    ) -> TranscriptionError:
        """Return an error to raise."""
        return TranscriptionError(Diagnostic(code, message, self.find_span(node), help=help_text))

    def find_span(self, node: Node) -> Span:
        """Return the span of a node within its first line."""
        stop = self._source.text.find("\n", node.start)
        end = node.end if stop < 0 else min(node.end, stop)
        return Span(self._source, node.start, max(node.start, end))


def list_keys(shape: Shape) -> str:
    """Return the keys that a shape has, as a message lists them."""
    keys = " ".join(f"`{part.key}`" for part in shape.parts)
    where = f" below `{shape.key}`" if shape.key.isalpha() else ""
    return f"{where}: its keys are {keys}" if keys else ""
