"""Where a token does not fit: what stands around it, and what the parser would accept."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from qospec.dataclass import dataclass
from qospec.diagnostics import Diagnostic
from qospec.source import Span
from qospec.syntax.grammar import END, grammar
from qospec.syntax.lexical_errors import shortened
from qospec.syntax.recovery.brackets import PAIRS

if TYPE_CHECKING:
    from qospec.diagnostics import Edit
    from qospec.syntax.automaton import Machine
    from qospec.syntax.recovery.brackets import Brackets
    from qospec.syntax.tokens import Tokens

NUMBERS = frozenset({"INT", "FLOAT", "QUANTITY"})
VALUES = NUMBERS | {"STRING", "NAME", "TRUE", "FALSE", "OTHERWISE", "LPAR", "LSQB"}
"""What a value begins with."""


class Mend(NamedTuple):
    """How to go on: tokens before the one at fault, one instead of it or first in its statement.

    Or the one at fault is left out. Several kinds and words have blanks between them.
    """

    how: Literal["before", "instead", "first", "out"]
    kind: str = ""
    word: str = ""


class Mistake(NamedTuple):
    """What is told, and how to go on.

    Attributes:
        diagnostic: What is told.
        mend: What makes it fit, if something does.
        breaks: Whether blocks no longer fit together.
        spoils: Whether the statement before is not what was meant either.
    """

    diagnostic: Diagnostic
    mend: Mend | None = None
    breaks: bool = False
    spoils: bool = False


@dataclass
class Place:
    """Where a token does not fit.

    Attributes:
        tokens: Of the file.
        machine: The parser as it stands.
        brackets: Which belong together.
        at: The token.
        start: The first token of its statement.
        block: The `{` of the block that it stands in, or -1.
    """

    tokens: Tokens
    machine: Machine
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
        """Return whether its statement stands behind another, which hence was taken for whole."""
        if self.block < 0 or self.tokens.opens_line(self.start):
            return False
        return self.tokens.kinds[self.start - 1] not in {"COMMA", "LBRACE"}

    @property
    def text(self) -> str:
        """Return the token's text."""
        return self.tokens.text(self.at)

    @property
    def opens_line(self) -> bool:
        """Return whether it is on a new line, or there is nothing more."""
        return self.kind == END or self.tokens.opens_line(self.at)

    @cached_property
    def accepted(self) -> frozenset[str]:
        """Return the terminals that would fit."""
        known = {*grammar().spellings, *NUMBERS, "STRING", "NAME", "CMP", "TIMES", END}
        return frozenset(kind for kind in known if self.machine.accepts(kind))

    @cached_property
    def open(self) -> int:
        """Return the innermost bracket that is open within the statement, or -1."""
        machine, kinds = self.machine, self.tokens.kinds
        for value, first in zip(reversed(machine.values), reversed(machine.firsts), strict=True):
            if first < self.start or first == self.block:
                break
            if isinstance(value, str) and kinds[first] in PAIRS:
                return first
        return -1

    def quoted(self, at: int) -> str:
        """Return a token, as a message quotes it."""
        if self.tokens.kinds[at] == END:
            return "the end of the file"
        return f"`{shortened(self.tokens.text(at))}`"

    def behind(self, at: int) -> Span:
        """Return the empty place behind a token."""
        end = self.tokens.ends[at]
        return Span(self.tokens.source, end, end)

    def tell(
        self,
        code: str,
        message: str,
        way_out: str = "",
        *,
        span: Span | None = None,
        note: str = "",
        fix: tuple[Edit, ...] = (),
    ) -> Diagnostic:
        """Return a diagnostic; it points at the token unless a span is given."""
        notes = (note,) if note else ()
        where = span or self.tokens.span(self.at)
        return Diagnostic(code, message, where, notes=notes, help=way_out, fix=fix)
