"""Finds words for a token that does not fit: the first situation that it is in speaks.

No message names a terminal of the grammar.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.syntax.grammar import END, grammar
from qospec.syntax.recovery import confused, foreign, missing
from qospec.syntax.recovery.brackets import PAIRS
from qospec.syntax.recovery.site import Mend, Mistake, Place

if TYPE_CHECKING:
    from collections.abc import Callable

_SITUATIONS: tuple[Callable[[Place], Mistake | None], ...] = (
    missing.unclosed,
    missing.closing,
    missing.unnamed,
    confused.strange_name,
    foreign.phrase,
    confused.side_by_side,
    missing.nothing_follows,
    missing.block_missing,
    missing.untyped,
    confused.read_as_unit,
    confused.wrong_sign,
    missing.default_unbound,
    confused.reserved,
    confused.out_of_place,
    confused.unknown_word,
    missing.step_missing,
    confused.number,
    missing.comma_missing,
)

_CONTINUING = frozenset(
    {"DOT", "LSQB", "LPAR", "LBRACE", "PLUS", "MINUS", "TIMES", "OF", "OR", "AND", "IF"}
    | {"RANGE", "CMP", "IN", "WITHIN", "AT", "COMMA"}
)
"""What can go on with nearly anything, and so says little."""
_CRITERIA = frozenset({"EXPECT", "REQUIRE", "REPORT"})
_FEW = 2
_ONE_QUOTED = 2
"""Signs around what is quoted."""


def mistake_at(place: Place) -> Mistake:
    """Return what to tell of a place, and how to go on."""
    for situation in (_condition, *_SITUATIONS):
        mistake = situation(place)
        if mistake is not None:
            return mistake
    return _anything(place)


def _condition(place: Place) -> Mistake | None:
    """A criterion goes on with `if`, as if it were asked in some cases only."""
    tokens = place.tokens
    if place.first not in _CRITERIA or place.accepted - _CONTINUING != {"ELSE"}:
        return None
    at = next(each for each in range(place.at - 1, 0, -1) if tokens.kinds[each] == "IF")
    told = place.tell(
        "E0011",
        "`if` needs an `else` with another value",
        "write `when` to ask this in some cases only, or add `else` and a value",
        span=tokens.span(at),
    )
    return Mistake(told)


def _anything(place: Place) -> Mistake:
    wanted = _wanted(place)
    if place.kind != END and place.tokens.opens_line(place.at) and place.accepted & {"RUN", "LET"}:
        what = "a declaration" if place.block < 0 else "a statement"
        return Mistake(place.tell("E0001", f"expected {what}, found {place.quoted(place.at)}"))
    if place.opens_line and place.at > place.start:
        end = "the file ends" if place.kind == END else "the line ends"
        message = f"{f'expected {wanted}' if wanted else end} after {place.quoted(place.at - 1)}"
        way_out = f"write {wanted}" if wanted.count("`") == _ONE_QUOTED else ""
        return Mistake(place.tell("E0011", message, way_out, span=place.behind(place.at - 1)))
    if place.kind == END:
        return Mistake(place.tell("E0001", "unexpected end of the file"))
    told = place.tell("E0001", f"unexpected {place.quoted(place.at)}")
    told = replace(told, label=f"expected {wanted}" if wanted else "")
    left_out = _left_out(place)
    if left_out is None:
        return Mistake(told)
    help_ = f"write `{left_out.word}` before {place.quoted(place.at)}"
    return Mistake(replace(told, help=help_), left_out)


def _left_out(place: Place) -> Mend | None:
    """Return the only sign or word that may come, if what is there then fits."""
    few = place.accepted - _CONTINUING or place.accepted
    kind = next(iter(few)) if len(few) == 1 else ""
    sign, behind = grammar().spellings.get(kind, ""), place.tokens.kinds[place.at + 1 :][:1]
    if kind in PAIRS:  # what closes it is missing as well
        return None
    fits = sign and place.machine.accepts(kind, place.kind, *behind)
    return Mend("before", kind, sign) if fits else None


def _wanted(place: Place) -> str:
    """Return what must come here, if that is little."""
    accepted = place.accepted - _CONTINUING or place.accepted
    if "INT" in accepted:
        return "a value"
    if "NAME" in accepted and len(accepted) < len(_CONTINUING):
        return "a name"
    if "STRING" in accepted:
        return "a text"
    if len(accepted) <= _FEW and END not in accepted:
        return " or ".join(sorted(f"`{grammar().spellings.get(kind, '==')}`" for kind in accepted))
    return ""
