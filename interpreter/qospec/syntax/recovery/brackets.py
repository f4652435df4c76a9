"""Matching brackets, in a text where some may be missing.

Only computed when there is an error. A declaration's keyword at the left edge closes whatever is
open, because declarations do not nest; where a `}` is missing is guessed from the indentation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qospec.syntax.tokens import Tokens

PAIRS = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
_OPENERS = {closer: opener for opener, closer in PAIRS.items()}
DECLARATIONS = frozenset({"TRAFFIC", "DEVICE", "TOPOLOGY", "TEST", "PROPERTY", "REFERENCE"})
"""Keywords that only begin declarations."""


_SECOND = frozenset({"NAME", "LBRACE", "ON"})


class Brackets:
    """Brackets by the indices of their tokens.

    Attributes:
        inside: For each token, the innermost bracket that is open there, or -1.
        block: For each token, the innermost `{` that is open there, or -1.
        opener: For each closing bracket that belongs to one, that one.
        closer: The other way round.
    """

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._open: list[int] = []
        self.inside: list[int] = []
        self.block: list[int] = []
        self.opener: dict[int, int] = {}
        self.closer: dict[int, int] = {}
        for at, kind in enumerate(tokens.kinds):
            if kind in _OPENERS:
                self._close(at, _OPENERS[kind])
            elif kind in DECLARATIONS and is_declaration_start(tokens, at):
                self._open.clear()
            inside = self._open[-1] if self._open else -1
            within_block = inside < 0 or tokens.kinds[inside] == "LBRACE"
            self.inside.append(inside)
            self.block.append(inside if within_block else self.block[inside])
            if kind in PAIRS:
                self._open.append(at)

    def _close(self, at: int, opener: str) -> None:
        """Close what a bracket closes; a `}` also closes what is still open in its block."""
        kinds, height = self._tokens.kinds, len(self._open)
        for place in reversed(range(height)):
            if kinds[self._open[place]] == opener:
                self.opener[at], self.closer[self._open[place]] = self._open[place], at
                del self._open[place:]
                return
            if opener != "LBRACE" and kinds[self._open[place]] == "LBRACE":
                return

    def find_culprit(self, block: int) -> int:
        """Return the `{` that most likely lacks its `}` when a block is not closed.

        That is one whose content is not indented deeper than itself; else the innermost that is
        closed by a `}` at another depth.
        """
        tokens, last, found = self._tokens, len(self._tokens.kinds) - 1, block
        for at in range(block, last):
            if at > block and is_declaration_start(tokens, at):
                break
            if tokens.kinds[at] != "LBRACE":
                continue
            edge, closer = tokens.indent(at), self.closer.get(at, last)
            filled = at + 1 != closer and tokens.opens_line(at + 1)
            if filled and tokens.indent(at + 1) <= edge:
                return at
            if closer < last and tokens.opens_line(closer) and tokens.indent(closer) != edge:
                found = at
        return found


def is_declaration_start(tokens: Tokens, at: int) -> bool:
    """Return whether a declaration certainly begins here: a keyword at the left edge, then a name.

    The name may be missing if what comes after it follows.
    """
    return (
        tokens.kinds[at] in DECLARATIONS
        and tokens.opens_line(at)
        and tokens.indent(at) == 0
        and tokens.kinds[at + 1] in _SECOND
    )
