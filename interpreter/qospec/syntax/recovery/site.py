"""The site of a syntax error: the tokens around it, and what the parser would accept."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from qospec.dataclass import NamedTuple, dataclass
from qospec.diagnostics import Diagnostic
from qospec.source import Span
from qospec.syntax.grammar import END, load_grammar
from qospec.syntax.lexical_errors import shorten
from qospec.syntax.recovery.brackets import PAIRS

if TYPE_CHECKING:
    from qospec.diagnostics import Edit
    from qospec.syntax.automaton import Automaton
    from qospec.syntax.recovery.brackets import Brackets
    from qospec.syntax.tokens import Tokens

NUMBERS = frozenset({"INT", "FLOAT", "QUANTITY"})
VALUES = NUMBERS | {"STRING", "NAME", "TRUE", "FALSE", "OTHERWISE", "LPAR", "LSQB"}
"""The tokens that can begin a value."""


class Repair(NamedTuple):
    """How to repair the input: insert tokens `before` the one at fault, or replace it (`instead`).

    Or replace the `first` of its statement, or delete it (`out`). Several kinds and words are
    separated by spaces.
    """

    how: Literal["before", "instead", "first", "out"]
    kind: str = ""
    word: str = ""


class Diagnosis(NamedTuple):
    """What is wrong, and how to go on.

    Attributes:
        diagnostic: The error to report.
        repair: What makes the input fit, if anything does.
        breaks: Whether braces no longer match.
        spoils: Whether the statement before was not meant as it was parsed either.
    """

    diagnostic: Diagnostic
    repair: Repair | None = None
    breaks: bool = False
    spoils: bool = False


@dataclass
class ErrorSite:
    """Where a token does not fit.

    Attributes:
        tokens: Of the file.
        automaton: The parser in its current state.
        brackets: Which belong together.
        at: The token.
        start: The first token of its statement.
        block: The `{` of the block around it, or -1.
    """

    tokens: Tokens
    automaton: Automaton
    brackets: Brackets
    at: int
    start: int
    block: int

    @property
    def kind(self) -> str:
        """Return the terminal at fault."""
        return self.tokens.kinds[self.at]

    @property
    def before(self) -> str:
        """Return the terminal before it."""
        return self.tokens.kinds[self.at - 1]

    @property
    def first(self) -> str:
        """Return the terminal that its statement begins with."""
        return self.tokens.kinds[self.start]

    @property
    def is_split(self) -> bool:
        """Return whether its statement follows another on a line, which was taken as complete."""
        if self.block < 0 or self.tokens.opens_line(self.start):
            return False
        return self.tokens.kinds[self.start - 1] not in {"COMMA", "LBRACE"}

    @property
    def text(self) -> str:
        """Return the token's text."""
        return self.tokens.read_text(self.at)

    @property
    def opens_line(self) -> bool:
        """Return whether it is first on its line, or the end of the file."""
        return self.kind == END or self.tokens.opens_line(self.at)

    @cached_property
    def accepted(self) -> frozenset[str]:
        """Return the terminals that would fit."""
        known = {*load_grammar().spellings, *NUMBERS, "STRING", "NAME", "CMP", "TIMES", END}
        return frozenset(kind for kind in known if self.automaton.accepts(kind))

    @cached_property
    def open(self) -> int:
        """Return the innermost bracket that is open within the statement, or -1."""
        automaton, kinds = self.automaton, self.tokens.kinds
        for value, first in zip(
            reversed(automaton.values), reversed(automaton.firsts), strict=True
        ):
            if first < self.start or first == self.block:
                break
            if isinstance(value, str) and kinds[first] in PAIRS:
                return first
        return -1

    def quote(self, at: int) -> str:
        """Return a token, as a message quotes it."""
        if self.tokens.kinds[at] == END:
            return "the end of the file"
        return f"`{shorten(self.tokens.read_text(at))}`"

    def point_after(self, at: int) -> Span:
        """Return the empty span after a token."""
        end = self.tokens.ends[at]
        return Span(self.tokens.source, end, end)

    def build_diagnostic(
        self,
        code: str,
        message: str,
        help_text: str = "",
        *,
        span: Span | None = None,
        note: str = "",
        fix: tuple[Edit, ...] = (),
    ) -> Diagnostic:
        """Return a diagnostic; it points at the token unless a span is given."""
        notes = (note,) if note else ()
        where = span or self.tokens.find_span(self.at)
        return Diagnostic(code, message, where, notes=notes, help=help_text, fix=fix)
