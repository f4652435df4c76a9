"""The layout of statements and declarations, and of values that do not fit on a line.

The items in brackets go on lines of their own. An expression is broken before all operators of its
lowest precedence, and where that is not enough its operands are broken in turn.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.formatting.source import list_children
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from qospec.formatting.printer import Printer
    from qospec.formatting.source import ParsedSource

_STANDS_APART = (ast.Device, ast.Topology, ast.Test, ast.Property, ast.Reference)
_CLAUSES = {
    ast.Link: ("medium",),
    ast.Flow: ("origin", "via"),
    ast.Sweep: ("where",),
    ast.ForAll: ("where",),
    ast.Criterion: ("confidence", "claim", "when"),
    ast.Report: ("every", "when"),
    ast.Skip: ("reason",),
}
"""What goes on lines of their own, with the word before it, where a statement is too long."""


class Layout:
    """Writes the parts of a file."""

    def __init__(self, parsed: ParsedSource, printer: Printer) -> None:
        """Write a file with a printer."""
        self._parsed = parsed
        self._printer = printer
        self._values = Values(parsed, printer, self._build_item)

    # ---- the file

    def write_file(self) -> None:
        """Write the whole file."""
        printer, trivia = self._printer, self._parsed.trivia
        tokens = self._parsed.tokens
        printer.write_words(0, 1)
        first = 2
        for last in self._ends_of_imports():
            self._begin_part(first, apart=False)
            self._values.fill(first, last)
            first = last + 1
        before: ast.Node = self._parsed.tree
        for node in self._parsed.tree.declarations:
            apart = isinstance(before, (*_STANDS_APART, ast.File))
            first, last = self._parsed.find_token_range(node)
            self._begin_part(first, apart=apart or isinstance(node, _STANDS_APART))
            self._write_statement(node)
            before = node
        end = len(tokens.kinds) - 1
        if end in trivia.above:
            self._begin_part(end, apart=False)
            printer.write_comments(end)

    def _begin_part(self, first: int, *, apart: bool) -> None:
        """Begin a declaration; `apart` leaves a line blank before it, whatever was there."""
        if apart or self._parsed.trivia.has_blank_above(first):
            self._printer.leave_blank_line()
        else:
            self._printer.end_line()

    def _ends_of_imports(self) -> list[int]:
        """Return the last token of each line of imports."""
        kinds = self._parsed.tokens.kinds
        found = []
        for node in self._parsed.tree.imports:
            _, last = self._parsed.find_token_range(node)
            if kinds[last + 1] != "COMMA":
                found.append(last)
        return found

    # ---- a statement or declaration

    def _build_item(self, node: ast.Node) -> Item:
        first, last = self._parsed.find_token_range(node)
        return Item(first, last, lambda _: self._write_statement(node))

    def _write_statement(self, node: ast.Node) -> None:
        first, last = self._parsed.find_token_range(node)
        clauses = [
            self._find_sign(node, part)
            for field in _CLAUSES.get(type(node), ())
            if (part := getattr(node, field)) is not None
        ]
        if self._printer.fits(first, last):
            self._printer.write_text(first, last)
        elif isinstance(node, ast.Wire | ast.Port):
            self._values.fill(first, last, "ARROW")
        elif (
            isinstance(node, ast.Device | ast.Topology | ast.Test | ast.Traffic) and node.parameters
        ):
            behind = self._write_parameters(node, node.parameters)
            self._values.write_parts(node, behind, last)
        elif not clauses:
            self._values.write_parts(node, first, last)
        else:
            self._write_clauses(node, clauses)

    def _write_parameters(self, node: ast.Node, parameters: Sequence[ast.Parameter]) -> int:
        """Write a keyword, a name and the parameters behind it; return the token behind them."""
        first, last = self._parsed.find_token_range(node)
        opener = self._parsed.find_token_range(parameters[0])[0] - 1
        end = self._parsed.find_token_range(parameters[-1])[1]
        closer = (self._parsed.find_comma_after(end) or end) + 1
        after = self._parsed.measure_to_bracket(closer + 1, last) + 1
        if self._printer.fits(first, closer, after):
            self._printer.write_text(first, closer)
        else:
            self._printer.write_words(first, opener)
            items = [self._values.read_item(parameter) for parameter in parameters]
            self._values.write_items(items, closer, airy=True)
        return closer + 1

    def _find_sign(self, node: ast.Node, part: ast.Node) -> int:
        """Return the token with which a clause of a statement begins."""
        first, _ = self._parsed.find_token_range(part, node)
        return first if isinstance(part, ast.Text) else first - 1

    def _write_clauses(self, node: ast.Node, signs: Sequence[int]) -> None:
        """Write a statement whose clauses begin with these tokens, each on a line of its own.

        The first goes on behind a head that is broken itself, if there is room.
        """
        first, last = self._parsed.find_token_range(node)
        fits = self._printer.fits(first, signs[0] - 1)
        self._values.write_parts(node, first, signs[0] - 1)
        with self._printer.indent_more():
            for sign, end in zip(signs, [*(place - 1 for place in signs[1:]), last], strict=True):
                if fits or sign != signs[0] or not self._printer.fits(sign, end):
                    self._printer.end_line()
                self._values.write_parts(node, sign, end)


_CHAINS = (ast.Binary, ast.Compare, ast.Member, ast.Within, ast.Range, ast.Conditional)
_PLAIN = (ast.Number, ast.Quantity, ast.Boolean, ast.Path)
_WORDS = (ast.Name, ast.PortName, ast.Parameter)
"""Nodes that are written token by token; parameters are handled separately."""
_KINDS = ({"+", "-"}, {"*", "/", "of"}, {"and"}, {"or"})
"""Operators that are equally tight."""


class Item(NamedTuple):
    """What is between two commas, and how to write it if it does not fit on a line."""

    first: int
    last: int
    write: Callable[[int], None]


class _Operand(NamedTuple):
    """An operand with its parentheses; the first of all and a `glued` one begin no line."""

    node: ast.Node
    first: int
    last: int
    glued: bool = False


class Values:
    """Writes values. `after` is how many columns must follow on a value's last line."""

    def __init__(
        self, parsed: ParsedSource, printer: Printer, statement: Callable[[ast.Node], Item]
    ) -> None:
        """Write parts of a file with a printer; `statement` gives those of a block."""
        self._parsed = parsed
        self._printer = printer
        self._statement = statement

    def write_parts(self, node: ast.Node, first: int, last: int, after: int = 0) -> None:
        """Write some tokens of a node: the values and blocks in it, and the words between them."""
        for child in list_children(node):
            if isinstance(child, _WORDS):
                continue
            start, end = self._parsed.find_token_range(child, node)
            if first <= start and end <= last:
                self.fill(first, start - 1)
                follows = (
                    self._parsed.measure_to_bracket(end + 1, last) + 1 if end < last else after
                )
                self._begin_part(child, start, node, follows)
                first = end + 1
        self.fill(first, last)

    def _begin_part(self, node: ast.Node, first: int, within: ast.Node, after: int) -> None:
        if isinstance(node, ast.Body):
            self._write_block(node, after)
        elif self._parsed.tokens.kinds[first - 1] in {"EQUAL", "COLON"}:
            self._write_bound(node, within, after)
        else:
            self._write_value(node, *self._parsed.find_token_range(node, within), after)

    def read_item(self, node: ast.Node) -> Item:
        """Return an argument, a parameter or a pair."""
        first, last = self._parsed.find_token_range(node)
        return Item(first, last, lambda after: self.write_parts(node, first, last, after))

    def write_items(
        self, items: Sequence[Item], closer: int, *, sign: str = ",", airy: bool = False
    ) -> None:
        """Write the items in brackets, one on each line, and the closing bracket.

        Args:
            items: What to write.
            closer: The closing bracket.
            sign: What follows each item except the last.
            airy: Whether blank lines between them stay.
        """
        printer, parsed = self._printer, self._parsed
        with printer.indent_more():
            for place, (first, last, write) in enumerate(items):
                printer.end_line()
                if airy and place and parsed.trivia.has_blank_above(first):
                    printer.leave_blank_line()
                here = sign if place < len(items) - 1 else ""
                write(len(here))
                printer.write_comma(parsed.find_comma_after(last), here)
        if (
            airy
            and items
            and closer in parsed.trivia.above
            and parsed.trivia.has_blank_above(closer)
        ):
            printer.leave_blank_line()
        printer.write_closer(closer)

    def fill(self, first: int, last: int, sign: str = "", *, hanging: bool = True) -> None:
        """Write a range of tokens; a full line is broken after a `,` or before a sign."""
        kinds, pieces, begin = self._parsed.tokens.kinds, [], first
        for at in range(first, last + 1):
            if at == last or kinds[at] == "COMMA" or kinds[at + 1] == sign:
                pieces.append((begin, at))
                begin = at + 1
        for begin, end in pieces[:1]:
            self._printer.write_words(begin, end)
        with self._printer.indent_more() if hanging else nullcontext():
            for begin, end in pieces[1:]:
                if not self._printer.fits(begin, end):
                    self._printer.end_line()
                self._printer.write_words(begin, end)

    # ---- any value

    def _write_bound(self, node: ast.Node, within: ast.Node, after: int) -> None:
        """Write the value behind a `=` or `:`; an expression that does not fit goes below."""
        first, last = self._parsed.find_token_range(node, within)
        bare = first == self._parsed.find_token_range(node)[0]
        if bare and isinstance(node, _CHAINS) and not self._printer.fits(first, last, after):
            with self._printer.indent_more():
                self._printer.end_line()
                self._write_at_line_start(node, first, last, after)
        else:
            self._write_value(node, first, last, after)

    def _write_block(self, body: ast.Body, after: int) -> None:
        first, last = self._parsed.find_token_range(body)
        if self._printer.fits(first, last, after):
            self._printer.write_text(first, last)
            return
        self._printer.write_text(first, first)
        items = [self._statement(statement) for statement in body.statements]
        self.write_items(items, last, sign="", airy=True)

    def _write_value(self, node: ast.Node, first: int, last: int, after: int) -> None:
        if self._printer.fits(first, last, after):
            self._printer.write_text(first, last)
        elif first < self._parsed.find_token_range(node)[0]:
            self._printer.write_text(first, first)
            with self._printer.indent_more():
                self._printer.end_line()
                self._write_at_line_start(node, first + 1, last - 1, 0)
            self._printer.write_closer(last)
        elif isinstance(node, _CHAINS):
            self._write_chain(self._list_operands(node), after, self._printer.indent_more())
        else:
            self._write_bracketed(node, first, last, after)

    def _write_at_line_start(self, node: ast.Node, first: int, last: int, after: int) -> None:
        """Write a value at the start of a line: its operators align with its first operand."""
        bare = first == self._parsed.find_token_range(node)[0]
        if bare and isinstance(node, _CHAINS) and not self._printer.fits(first, last, after):
            self._write_chain(self._list_operands(node), after, nullcontext())
        else:
            self._write_value(node, first, last, after)

    def _write_bracketed(self, node: ast.Node, first: int, last: int, after: int) -> None:
        printer = self._printer
        if isinstance(node, ast.Call) and node.arguments:
            _, end = self._parsed.find_token_range(node.path)
            printer.write_words(first, end + 1)
            self.write_items([self.read_item(argument) for argument in node.arguments], last)
        elif isinstance(node, ast.ListLiteral) and node.items:
            printer.write_text(first, first)
            self._list(node, first, last)
        elif isinstance(node, ast.TupleLiteral):
            printer.write_text(first, first)
            self.write_items([self._build_member(item, node) for item in node.items], last)
        elif isinstance(node, ast.MapLiteral):
            printer.write_text(first, first)
            self.write_items([self.read_item(pair) for pair in node.pairs], last)
        elif isinstance(node, ast.Record | ast.Layered | ast.Unary | ast.MixLiteral):
            self.write_parts(node, first, last, after)
        else:
            printer.write_words(first, last)

    # ---- expressions

    def _write_chain(
        self, operands: Sequence[_Operand], after: int, margin: AbstractContextManager[None]
    ) -> None:
        """Write operands below one another, each but the first at a margin behind its operator."""
        (node, first, behind, _), *others = operands
        self._write_value(node, first, behind, 0)
        with margin:
            for node, first, last, glued in others:
                if not glued:
                    self._printer.end_line()
                self._printer.write_words(behind + 1, first - 1)
                self._write_value(node, first, last, after if last == operands[-1].last else 0)
                behind = last

    def _list_operands(self, node: ast.Node) -> list[_Operand]:
        """Return the operands of an expression, those of `a - b + c` as three."""
        below = list_children(node)
        found = [
            _Operand(operand, *self._parsed.find_token_range(operand, node)) for operand in below
        ]
        if isinstance(node, ast.Within):
            found[-1] = found[-1]._replace(glued=True)
        if isinstance(node, ast.Binary) and _has_same_precedence(node, node.left):
            left = found[0]
            if (left.first, left.last) == self._parsed.find_token_range(left.node):
                found[:1] = self._list_operands(left.node)
        return found

    # ---- items in brackets

    def _build_member(self, node: ast.Node, within: ast.Node) -> Item:
        first, last = self._parsed.find_token_range(node, within)
        return Item(first, last, lambda after: self._write_value(node, first, last, after))

    def _list(self, node: ast.ListLiteral, first: int, last: int) -> None:
        """Write a list; numbers and names fill the lines as words do."""
        items = [self._build_member(item, node) for item in node.items]
        plain = all(map(_is_plain, node.items))
        if plain and self._parsed.may_be_one_line(first, last):
            with self._printer.indent_more():
                self._printer.end_line()
                self.fill(items[0].first, items[-1].last, hanging=False)
            self._printer.write_closer(last)
        else:
            self.write_items(items, last)


def _is_plain(node: ast.Node) -> bool:
    """Return whether an item is a number or a name, with a sign or without."""
    return isinstance(node.operand if isinstance(node, ast.Unary) else node, _PLAIN)


def _has_same_precedence(node: ast.Binary, left: ast.Node) -> bool:
    """Return whether two operators have the same precedence, so that their operands align."""
    return isinstance(left, ast.Binary) and any(
        node.operator in kind and left.operator in kind for kind in _KINDS
    )
