"""A parsed file: tokens, trivia, tree, and how each part of it looks on one line.

Trivia are what the parser skips: comments and blank lines, by the tokens between which they are.
"""

from __future__ import annotations

from dataclasses import field
from itertools import accumulate
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple, dataclass
from qospec.diagnostics import Problems
from qospec.syntax import ast
from qospec.syntax.grammar import END, load_grammar
from qospec.syntax.parser import parse
from qospec.syntax.recovery.brackets import PAIRS
from qospec.syntax.tokens import tokenize
from qospec.units import find_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.source import Source
    from qospec.syntax.tokens import Tokens

_ALWAYS_BROKEN = (
    ast.Device, ast.Topology, ast.Test, ast.Property, ast.Reference, ast.Loop, ast.Search,
    ast.Machine, ast.State,
)  # fmt: skip
_MOST_ON_A_LINE = 3
"""Statements of a block; more go on lines of their own even if they would fit, as `at` does."""
_CLOSERS = frozenset(PAIRS.values())


def read(source: Source, problems: Problems) -> ParsedSource | None:
    """Parse a file for formatting; None if there are errors in it."""
    found = Problems()
    tree = parse(source, found)
    for diagnostic in found.all:
        problems.add(diagnostic)
    return None if tree is None or found.errors else ParsedSource(source, tree)


def list_children(node: ast.Node) -> list[ast.Node]:
    """Return the nodes directly below a node, in source order."""
    return sorted(node.list_children(), key=lambda child: child.span.start)


class ParsedSource:
    """A file without errors. Its parts are stretches of tokens, `(first, last)`, both included.

    Attributes:
        tree: The file's tree.
        tokens: Its tokens.
        trivia: Its comments and blank lines.
    """

    def __init__(self, source: Source, tree: ast.File) -> None:
        """Take a text that was parsed without errors, and its tree."""
        self.tree = tree
        self.tokens = tokenize(source, Problems())
        self.trivia = read_trivia(self.tokens)
        self._starting = {start: at for at, start in enumerate(self.tokens.starts)}
        self._ending = {end: at for at, end in enumerate(self.tokens.ends[:-1])}
        self._begins_item: set[int] = set()
        self._broken: set[int] = set()
        self._walk()
        self._pieces = [self._write_piece(at) for at in range(len(self.tokens.kinds))]
        self._widths = [0, *accumulate(len(piece) for piece in self._pieces)]
        self._bars = list(
            accumulate(self._ends_line(at) for at in range(len(self.tokens.kinds) + 1))
        )

    # ---- the tokens of a node

    def find_token_range(self, node: ast.Node, within: ast.Node | None = None) -> tuple[int, int]:
        """Return the first and the last token of a node.

        Parentheses are not nodes: those around a node that are part of the node `within` count.
        """
        first, last = self._starting[node.span.start], self._ending[node.span.end]
        if within is None or isinstance(node, ast.Argument | ast.Parameter):
            return first, last
        least, most = self.find_token_range(within)
        kinds = self.tokens.kinds
        while (
            least < first
            and last < most
            and (kinds[first - 1], kinds[last + 1]) == ("LPAR", "RPAR")
        ):
            first, last = first - 1, last + 1
        return first, last

    # ---- one line

    def join_tokens(self, first: int, last: int) -> str:
        """Return a range of tokens on one line, without the comments in it."""
        return "".join([spell_token(self.tokens, first), *self._pieces[first + 1 : last + 1]])

    def measure_width(self, first: int, last: int) -> int:
        """Return how many columns a range of tokens takes on one line."""
        return (
            self._widths[last + 1] - self._widths[first + 1] + len(self._pieces[first].lstrip(", "))
        )

    def measure_to_bracket(self, first: int, last: int) -> int:
        """Return how many columns a range of tokens takes up to its first opening bracket."""
        kinds = self.tokens.kinds
        end = next((at for at in range(first, last) if kinds[at] in PAIRS), last)
        return self.measure_width(first, end)

    def find_gap(self, at: int) -> str:
        """Return what is between a token and the one before it, on one line."""
        piece = self._pieces[at]
        return piece[: len(piece) - len(piece.lstrip(" "))]

    def may_be_one_line(self, first: int, last: int) -> bool:
        """Return whether no comment and no body of statements breaks a range of tokens."""
        return self._bars[last] == self._bars[first]

    def find_comma_after(self, last: int) -> int | None:
        """Return the `,` behind a range of tokens, if there is one."""
        return last + 1 if self.tokens.kinds[last + 1] == "COMMA" else None

    def closes(self, at: int) -> bool:
        """Return whether a token is a closing bracket, or the end of the file."""
        return self.tokens.kinds[at] in _CLOSERS or self.tokens.kinds[at] == END

    def is_left_out(self, at: int) -> bool:
        """Return whether a token is a `,` before a closing bracket, without comments of its own."""
        trivia = self.trivia
        return not (self._pieces[at] or at in trivia.above or at in trivia.trailing)

    # ---- what each token is on one line

    def _walk(self) -> None:
        waiting: list[ast.Node] = [self.tree]
        while waiting:
            node = waiting.pop()
            waiting.extend(node.list_children())
            if isinstance(node, ast.Body):
                self._note_items(node.statements)
                timed = any(isinstance(statement, ast.At) for statement in node.statements)
                if timed or len(node.statements) > _MOST_ON_A_LINE:
                    self._broken.add(self._starting[node.span.start])
            elif isinstance(node, _ALWAYS_BROKEN) and node.body and node.body.statements:
                self._broken.add(self._starting[node.body.span.start])
            if isinstance(node, ast.Device | ast.Topology | ast.Test | ast.Traffic):
                self._note_items(node.parameters)

    def _note_items(self, nodes: Sequence[ast.Node]) -> None:
        self._begins_item.update(self._starting[node.span.start] for node in nodes[1:])

    def _write_piece(self, at: int) -> str:
        """Return a token with the space before it; a `,` where one is missing, none at an end."""
        if at == 0 or at == len(self.tokens.kinds) - 1:
            return spell_token(self.tokens, at)
        kinds = self.tokens.kinds
        if kinds[at] == "COMMA" and kinds[at + 1] in _CLOSERS:
            return ""
        if kinds[at] in _CLOSERS and kinds[at - 1] == "COMMA":
            return (" " if kinds[at] == "RBRACE" else "") + spell_token(self.tokens, at)
        blank = " " if needs_blank(self.tokens, at) else ""
        missing = at in self._begins_item and kinds[at - 1] != "COMMA"
        return ("," if missing else "") + blank + spell_token(self.tokens, at)

    def _ends_line(self, at: int) -> int:
        """Return whether the place before a token must be the end of a line."""
        return int(
            at in self.trivia.above or at - 1 in self.trivia.trailing or at - 1 in self._broken
        )


class Comment(NamedTuple):
    """A comment on a line of its own; `text` begins with `#`."""

    text: str
    blank_above: bool


@dataclass
class Trivia:
    """Comments and blank lines, by the index of a token.

    Attributes:
        above: The comments on lines of their own between the token before and this one.
        blank_above: The tokens with a blank line directly above, below the comments.
        trailing: The comment after a token on its line.
    """

    above: dict[int, tuple[Comment, ...]] = field(default_factory=dict)
    blank_above: set[int] = field(default_factory=set)
    trailing: dict[int, str] = field(default_factory=dict)

    def has_blank_above(self, at: int) -> bool:
        """Return whether a blank line is above a token and the comments that belong to it."""
        comments = self.above.get(at)
        return comments[0].blank_above if comments else at in self.blank_above

    def list_comments(self) -> list[str]:
        """Return all comments, in order."""
        found: list[str] = []
        for at in sorted({*self.above, *self.trailing}):
            found.extend(comment.text for comment in self.above.get(at, ()))
            found.extend(self.trailing[at] for _ in range(at in self.trailing))
        return found


def read_trivia(tokens: Tokens) -> Trivia:
    """Return the trivia of a text without errors."""
    trivia, text, end = Trivia(), tokens.source.text, 0
    for at, start in enumerate(tokens.starts):
        gap = text[end:start]
        if "\n" in gap or "#" in gap:
            _read(trivia, at, gap)
        end = tokens.ends[at]
    return trivia


def _read(trivia: Trivia, at: int, gap: str) -> None:
    """Read the text between a token and the one before it."""
    behind, *lines = gap.split("\n")
    if at == 0:
        behind, lines = "", [behind.removeprefix("\ufeff"), *lines]
    elif behind.strip():
        trivia.trailing[at - 1] = behind.strip()
    comments, blank_above = [], False
    for line in lines[:-1]:
        if line.strip():
            comments.append(Comment(line.strip(), blank_above))
        blank_above = not line.strip()
    if lines and lines[-1].strip():  # the last line of a file, without its end
        comments.append(Comment(lines[-1].strip(), blank_above))
        blank_above = False
    if comments:
        trivia.above[at] = tuple(comments)
    if blank_above:
        trivia.blank_above.add(at)


_ENDS_A_VALUE = frozenset(
    {"NAME", "INT", "FLOAT", "QUANTITY", "STRING", "TRUE", "FALSE", "OTHERWISE"}
    | {"RPAR", "RSQB", "RBRACE"}
)
"""Behind these a `-` is the operator of a difference."""
_TOUCHES_NEXT = frozenset({"LPAR", "LSQB", "DOT", "_LAYER"})
_TOUCHES_BEFORE = frozenset({"RPAR", "RSQB", "DOT", "COMMA", "COLON"})
_OPENS_BEHIND_A_NAME = frozenset({"LPAR", "LSQB"})
_UNIT = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ%/µμ"


def spell_token(tokens: Tokens, at: int) -> str:
    """Return the spelling of a token: a quantity with its preferred unit, all else as written."""
    text = tokens.read_text(at)
    return _spell_quantity(text) if tokens.kinds[at] == "QUANTITY" else text


def _spell_quantity(text: str) -> str:
    number = text.rstrip(_UNIT)
    spelt = spell_unit(text[len(number) :])
    return number.rstrip() + ("" if spelt == "%" else " ") + spelt


def spell_unit(text: str) -> str:
    """Return the preferred spelling of a unit; any other text is unchanged."""
    known = find_unit(text)
    return known.canonical if known else text


def needs_blank(tokens: Tokens, at: int) -> bool:
    """Return whether a space separates a token from the one before it."""
    kinds = tokens.kinds
    kind, before = kinds[at], kinds[at - 1]
    if kind in _TOUCHES_BEFORE or before in _TOUCHES_NEXT:
        return False
    if before == "MINUS" and is_sign(tokens, at - 1):
        return kind == "MINUS"  # for two together would be a cable
    if kind in _OPENS_BEHIND_A_NAME:
        return not (before in {"NAME", "RPAR", "RSQB"} or _is_name(tokens, at - 1))
    return not (before == "LBRACE" and kind == "RBRACE")


def is_sign(tokens: Tokens, at: int) -> bool:
    """Return whether a `-` is the sign of what follows."""
    return tokens.kinds[at - 1] not in _ENDS_A_VALUE and not _is_name(tokens, at - 1)


def _is_name(tokens: Tokens, at: int) -> bool:
    """Return whether a keyword follows a dot, where it is a name."""
    return tokens.kinds[at - 1] == "DOT" and tokens.kinds[at] in load_grammar().keywords.values()
