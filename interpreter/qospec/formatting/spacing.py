"""How each token is spelt, and where blanks stand between two of them on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.syntax.grammar import grammar
from qospec.units import unit

if TYPE_CHECKING:
    from qospec.syntax.tokens import Tokens

_ENDS_A_VALUE = frozenset(
    {"NAME", "INT", "FLOAT", "QUANTITY", "STRING", "TRUE", "FALSE", "OTHERWISE"}
    | {"RPAR", "RSQB", "RBRACE"}
)
"""Behind these a `-` is the operator of a difference."""
_TOUCHES_NEXT = frozenset({"LPAR", "LSQB", "DOT", "AT"})
_TOUCHES_BEFORE = frozenset({"RPAR", "RSQB", "DOT", "COMMA", "COLON"})
_OPENS_BEHIND_A_NAME = frozenset({"LPAR", "LSQB"})
_UNIT = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ%/µμ"


def word(tokens: Tokens, at: int) -> str:
    """Return a token as it is spelt: a quantity with its preferred unit, all else as written."""
    text = tokens.text(at)
    return _quantity(text) if tokens.kinds[at] == "QUANTITY" else text


def _quantity(text: str) -> str:
    number = text.rstrip(_UNIT)
    spelt = spelling(text[len(number) :])
    return number.rstrip() + ("" if spelt == "%" else " ") + spelt


def spelling(text: str) -> str:
    """Return the preferred spelling of a unit; what is no unit stays as it is."""
    known = unit(text)
    return known.canonical if known else text


def blank_before(tokens: Tokens, at: int) -> bool:
    """Return whether a blank stands between a token and the one before it."""
    kinds = tokens.kinds
    kind, before = kinds[at], kinds[at - 1]
    if kind in _TOUCHES_BEFORE or before in _TOUCHES_NEXT:
        return False
    if before == "MINUS" and is_sign(tokens, at - 1):
        return kind == "MINUS"  # for two together would be a cable
    if kind in _OPENS_BEHIND_A_NAME:
        return not (before in {"NAME", "RPAR", "RSQB"} or _named(tokens, at - 1))
    return not (before == "LBRACE" and kind == "RBRACE")


def is_sign(tokens: Tokens, at: int) -> bool:
    """Return whether a `-` is the sign of what follows."""
    return tokens.kinds[at - 1] not in _ENDS_A_VALUE and not _named(tokens, at - 1)


def _named(tokens: Tokens, at: int) -> bool:
    """Return whether a keyword stands behind a dot, where it is a name."""
    return tokens.kinds[at - 1] == "DOT" and tokens.kinds[at] in grammar().keywords.values()
