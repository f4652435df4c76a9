"""Which comments of a statement have a place in YAML.

They have one above a statement and behind it, before the end of a block and behind the key that it
begins below, and within a value, which is then written on lines as it stands in the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.syntax import ast

if TYPE_CHECKING:
    from qospec.formatting import Written

_VALUES = {
    ast.Let: ("value",),
    ast.Bind: ("value",),
    ast.Traffic: ("value",),
    ast.Test: ("topology",),
    ast.Parameter: ("default",),
    ast.Link: ("medium",),
    ast.Flow: ("traffic",),
    ast.Sweep: ("values", "where"),
    ast.Control: ("topology",),
    ast.Search: ("values",),
    ast.ForAll: ("values",),
    ast.Criterion: ("condition",),
    ast.Report: ("value",),
    ast.Skip: ("condition",),
}
"""The fields of a statement that are a text of their own in YAML and may have several lines."""


def have_places(node: ast.Node, written: Written) -> bool:
    """Return whether YAML has a place for all comments of a statement, but for those in blocks."""
    first, last = written.stretch(node)
    known = _Places(written)
    known.statement(node)
    inner = known.inner
    return not any(
        (at > first and at in written.trivia.above and at not in known.above)
        or (at < last and at in written.trivia.behind and at not in known.behind)
        for at in range(first, last + 1)
        if not any(begin <= at <= end for begin, end in inner)
    )


class _Places:
    """The tokens of a statement above which and behind which YAML has a place.

    Attributes:
        above: Those above which there is one.
        behind: Those behind which there is one.
        inner: The stretches of what is in its blocks, which has places of its own.
    """

    def __init__(self, written: Written) -> None:
        self._written = written
        self.above: set[int] = set()
        self.behind: set[int] = set()
        self.inner: list[tuple[int, int]] = []

    def statement(self, node: ast.Node) -> None:
        for name in _VALUES.get(type(node), ()):
            value = getattr(node, name)
            if isinstance(value, ast.Record) and self._is_bare(value, node):
                self._value(value.base, value)
                self._body(value.body)
            elif value is not None:
                self._value(value, node)
        body = getattr(node, "body", None)
        parameters = getattr(node, "parameters", ())
        for each in parameters:
            self._parameter(each)
        if parameters:
            self.behind.add(self._written.stretch(parameters[0])[0] - 1)
            closer = self._written.stretch(parameters[-1])[1] + 1
            self.above.add(closer + (self._written.tokens.kinds[closer] == "COMMA"))
        if body is not None:
            self._body(body, opened=not parameters)

    def _is_bare(self, value: ast.Node, node: ast.Node) -> bool:
        return self._written.stretch(value, node) == self._written.stretch(value)

    def _value(self, value: ast.Node, node: ast.Node) -> None:
        first, last = self._written.stretch(value, node)
        self.above.update(range(first + 1, last + 1))
        self.behind.update(range(first, last))

    def _body(self, body: ast.Body, *, opened: bool = True) -> None:
        first, last = self._written.stretch(body)
        if body.statements:
            self.above.add(last)
            self.behind.update({first} if opened else ())
        for each in body.statements:
            begin, end = self._written.stretch(each)
            self.above.add(begin)
            self.inner.append((begin, end))

    def _parameter(self, node: ast.Parameter) -> None:
        first, last = self._written.stretch(node)
        comma = last + (self._written.tokens.kinds[last + 1] == "COMMA")
        self.above.add(first)
        self.behind.update((last, comma) if self._one_of(last, comma) else ())
        start = self._written.stretch(node.annotation)[0]
        if node.default is not None:
            self.above.update(range(start + 1, last + 1))
            self.behind.update(range(start, last))

    def _one_of(self, last: int, comma: int) -> bool:
        return not (comma > last and {last, comma} <= self._written.trivia.behind.keys())
