"""How statements and declarations are laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.formatting.values import Item, Values
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.formatting.pen import Pen
    from qospec.formatting.written import Written

_STANDS_APART = (ast.Device, ast.Topology, ast.Test, ast.Property, ast.Reference)
_CLAUSES = {
    ast.Link: ("medium",),
    ast.Flow: ("origin",),
    ast.Sweep: ("where",),
    ast.Criterion: ("confidence", "claim", "when"),
    ast.Report: ("every", "when"),
    ast.Skip: ("reason",),
}
"""What goes on lines of their own, with the word before it, where a statement is too long."""


class Layout:
    """Writes the parts of a file."""

    def __init__(self, written: Written, pen: Pen) -> None:
        """Write a file with a pen."""
        self._written = written
        self._pen = pen
        self._values = Values(written, pen, self._item)

    # ---- the file

    def file(self) -> None:
        """Write the whole file."""
        pen, trivia = self._pen, self._written.trivia
        tokens = self._written.tokens
        pen.words(0, 1)
        first = 2
        for last in self._ends_of_imports():
            self._part(first, apart=False)
            self._values.filled(first, last)
            first = last + 1
        before: ast.Node = self._written.tree
        for node in self._written.tree.declarations:
            apart = isinstance(before, (*_STANDS_APART, ast.File))
            first, last = self._written.stretch(node)
            self._part(first, apart=apart or isinstance(node, _STANDS_APART))
            self._statement(node)
            before = node
        end = len(tokens.kinds) - 1
        if end in trivia.above:
            self._part(end, apart=False)
            pen.comments(end)

    def _part(self, first: int, *, apart: bool) -> None:
        """Begin a declaration; `apart` leaves a line blank before it, whatever was there."""
        if apart or self._written.trivia.parted_above(first):
            self._pen.blank_line()
        else:
            self._pen.end_line()

    def _ends_of_imports(self) -> list[int]:
        """Return the last token of each line of imports."""
        kinds = self._written.tokens.kinds
        found = []
        for node in self._written.tree.imports:
            _, last = self._written.stretch(node)
            if kinds[last + 1] != "COMMA":
                found.append(last)
        return found

    # ---- a statement or declaration

    def _item(self, node: ast.Node) -> Item:
        first, last = self._written.stretch(node)
        return Item(first, last, lambda _: self._statement(node))

    def _statement(self, node: ast.Node) -> None:
        first, last = self._written.stretch(node)
        clauses = [
            self._sign(node, part)
            for field in _CLAUSES.get(type(node), ())
            if (part := getattr(node, field)) is not None
        ]
        if self._pen.fits(first, last):
            self._pen.text(first, last)
        elif isinstance(node, ast.Wire | ast.Port):
            self._values.filled(first, last, "ARROW")
        elif isinstance(node, ast.Device | ast.Topology | ast.Traffic) and node.parameters:
            behind = self._parameters(node, node.parameters)
            self._values.parts(node, behind, last)
        elif not clauses:
            self._values.parts(node, first, last)
        else:
            self._in_clauses(node, clauses)

    def _parameters(self, node: ast.Node, parameters: Sequence[ast.Parameter]) -> int:
        """Write a keyword, a name and the parameters behind it; return the token behind them."""
        first, last = self._written.stretch(node)
        opener = self._written.stretch(parameters[0])[0] - 1
        end = self._written.stretch(parameters[-1])[1]
        closer = (self._written.comma_behind(end) or end) + 1
        after = self._written.width_to_bracket(closer + 1, last) + 1
        if self._pen.fits(first, closer, after):
            self._pen.text(first, closer)
        else:
            self._pen.words(first, opener)
            items = [self._values.item(each) for each in parameters]
            self._values.items(items, closer, airy=True)
        return closer + 1

    def _sign(self, node: ast.Node, part: ast.Node) -> int:
        """Return the token with which a clause of a statement begins."""
        first, _ = self._written.stretch(part, node)
        return first if isinstance(part, ast.Text) else first - 1

    def _in_clauses(self, node: ast.Node, signs: Sequence[int]) -> None:
        """Write a statement whose clauses begin with these tokens, each on a line of its own.

        The first goes on behind a head that is broken itself, if there is room.
        """
        first, last = self._written.stretch(node)
        fits = self._pen.fits(first, signs[0] - 1)
        self._values.parts(node, first, signs[0] - 1)
        with self._pen.deeper():
            for sign, end in zip(signs, [*(each - 1 for each in signs[1:]), last], strict=True):
                if fits or sign != signs[0] or not self._pen.fits(sign, end):
                    self._pen.end_line()
                self._values.parts(node, sign, end)
