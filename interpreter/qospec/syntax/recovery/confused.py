"""Words for what was mistaken for something else: keywords, signs, units, numbers.

Each situation looks at a place and returns a mistake, or None if it is another one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from qospec.diagnostics import Edit, did_you_mean, respelling
from qospec.syntax.grammar import grammar, keywords
from qospec.syntax.lexical_errors import shortened
from qospec.syntax.recovery.site import NUMBERS, VALUES, Mend, Mistake, Place
from qospec.units import unit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qospec.source import Span

_FOREIGN = {
    "assert": "expect",
    "check": "expect",
    "const": "let",
    "var": "let",
    "include": "import",
}
"""What others call our keywords."""
_STEPPING = frozenset({"by", "every"})
_SURE = frozenset({("CMP", "EQUAL"), ("EQUAL", "CMP"), ("EQUAL", "COLON"), ("CABLE", "ARROW")})
"""What is wanted and what is there, if only spelt wrong. A `--` may lack its `link` instead."""
_GLUED = re.compile(r"[0-9][0-9_.]*[A-Za-z_]")


def side_by_side(place: Place) -> Mistake | None:
    """What was taken for a new statement stands behind another on its line."""
    tokens, start = place.tokens, place.start
    if not place.is_split:
        return None
    word = tokens.text(start)
    meant = "step" if word in _STEPPING else did_you_mean(word, keywords()["word"])
    if tokens.kinds[start] == "NAME" and meant not in {"", word}:
        message, span = f"`{shortened(word)}`: did you mean `{meant}`?", tokens.span(start)
        fix = _respelling(span, word, meant, keywords()["word"])
        return Mistake(place.tell("E0004", message, span=span, fix=fix), spoils=True)
    message = f"unexpected {place.quoted(start)} after {place.quoted(start - 1)}"
    way_out = "begin a new line, or write an operator between the two"
    return Mistake(place.tell("E0001", message, way_out, span=tokens.span(start)), spoils=True)


def read_as_unit(place: Place) -> Mistake | None:
    """A name behind a number was taken for the number's unit, and is now bound."""
    if place.kind not in {"EQUAL", "COLON"} or place.before != "QUANTITY":
        return None
    parts = re.fullmatch(r"([0-9_.]+)[ \t]+([A-Za-z]+)", place.tokens.text(place.at - 1))
    if parts is None or unit(parts[2]) is not None:
        return None
    message = f"`{shortened(parts[2])}` was read as the unit of `{shortened(parts[1])}`"
    way_out = "begin a new line between the two, or write a `,`"
    return Mistake(place.tell("E0006", message, way_out, span=place.tokens.span(place.at - 1)))


def wrong_sign(place: Place) -> Mistake | None:
    """One of `=`, `==`, `:`, `->`, `--` stands for another."""
    wanted = {
        "EQUAL": [("CMP", "==", "`=` binds a name; to compare write `==`")],
        "CMP": [("EQUAL", "=", "`==` compares; to bind a name write `=`")]
        if place.text == "=="
        else [],
        "COLON": [("EQUAL", "=", "`:` gives a type; to bind a name write `=`")],
        "ARROW": [("CABLE", "--", "`->` is a wire; a link is written `--`")],
        "CABLE": [("ARROW", "->", "`--` is a link; a wire is written `->`")],
    }
    if place.kind == "EQUAL" and place.open >= 0 and place.tokens.kinds[place.open] == "LBRACE":
        wanted["EQUAL"] = [("COLON", ":", "a map has `:` between a key and its value")]
    for kind, sign, message in wanted.get(place.kind, []):
        if kind in place.accepted:
            here, touches = place.tokens.span(place.at), place.tokens.touches
            apart = touches(place.at) and not touches(place.at + 1)
            sure = (kind, place.kind) in _SURE
            fix = (Edit(here, f" {sign}" if apart else sign),) if sure else ()
            told = place.tell("E0010", message, f"write `{sign}`", fix=fix)
            return Mistake(told, Mend("instead", kind, sign))
    return None


def reserved(place: Place) -> Mistake | None:
    """A keyword stands where a name is wanted, or is bound as if it were one."""
    reserved = grammar().keywords.values()
    if (
        place.at - 1 == place.start
        and place.first in reserved
        and place.kind in {"EQUAL", "COMMA", "ARROW", "DOT", "LSQB"}
    ):
        return _not_a_name(place, place.start, Mend("first", "NAME", ""))
    if place.kind == "ELSE" and "OTHERWISE" in place.accepted:
        message = "`else` belongs between two values; the class of the rest is `otherwise`"
        told = place.tell("E0004", message, "write `otherwise`")
        return Mistake(told, Mend("instead", "OTHERWISE", "otherwise"))
    begins = place.opens_line and place.text in keywords()["statement"] | keywords()["declaration"]
    if (
        place.kind in reserved
        and "NAME" in place.accepted
        and "LET" not in place.accepted  # a name would begin the next statement
        and place.start < place.at
        and not begins
    ):
        return _not_a_name(place, place.at, Mend("instead", "NAME", ""))
    return None


def _not_a_name(place: Place, at: int, mend: Mend) -> Mistake:
    word = place.tokens.text(at)
    meaning = next(table[word] for table in keywords().values() if word in table)
    told = place.tell(
        "E0005",
        f"expected a name, found the reserved word `{word}`",
        f"choose another name, such as `{word}_1`",
        span=place.tokens.span(at),
        note=f"`{word}` {meaning}",
    )
    return Mistake(told, mend._replace(word=word))


def strange_name(place: Place) -> Mistake | None:
    """A name is written with `-` in it, or between quotes."""
    tokens, at = place.tokens, place.at
    if place.kind == "STRING" and place.accepted == {"NAME"}:
        word = place.text.strip('"')
        if not word.isidentifier():
            return None
        told = place.tell("E0001", 'a name is written without `"`', f"write `{shortened(word)}`")
        return Mistake(told, Mend("instead", "NAME", word))
    dashed = place.kind == "MINUS" and place.before == "NAME" and tokens.touches(at)
    if not dashed or tokens.kinds[at + 1] != "NAME" or not tokens.touches(at + 1):
        return None
    plain, glued = (f"{tokens.text(at - 1)}{sign}{tokens.text(at + 1)}" for sign in ("_", ""))
    way_out = f"write `{shortened(plain)}`"
    if place.block >= 0 and tokens.kinds[at + 2] == "EQUAL":  # perhaps a field, which has a name
        way_out += f" or `{shortened(glued)}`, as the field is called"
    told = place.tell("E0001", "`-` is not allowed in a name", way_out)
    return Mistake(told)


def out_of_place(place: Place) -> Mistake | None:
    """A statement stands where only declarations do."""
    if place.block >= 0 or place.at != place.start:
        return None
    begins = place.text in keywords()["statement"]
    if not begins and (place.kind != "NAME" or place.tokens.indent(place.at) == 0):
        return None
    closed = place.before == "RBRACE"
    message = f"{place.quoted(place.at)} begins a statement outside of any block"
    way_out = "is the `}` above one too many?" if closed else "put it in the block of a declaration"
    return Mistake(place.tell("E0001", message, way_out), breaks=closed)


def unknown_word(place: Place) -> Mistake | None:
    """A name begins a line as a keyword does, or stands where only keywords fit."""
    if place.kind == "NAME" and place.at == place.start and place.block < 0:
        known = [*keywords()["declaration"], "import"]
        meant = _FOREIGN.get(place.text) or did_you_mean(place.text, known)
        message = f"expected a declaration, found `{shortened(place.text)}`"
        note = f"declarations begin with: {' '.join(known)}"
        return _misspelt(place, place.at, message, meant, known, note)
    second = place.at - 1 == place.start and place.first == "NAME" and not place.opens_line
    if second and place.kind in VALUES | {"LBRACE"} and place.block >= 0:
        word = place.tokens.text(place.start)
        known = [*keywords()["statement"], "let"]
        meant = _FOREIGN.get(word) or did_you_mean(word, known)
        message = f"expected a statement, found `{shortened(word)}`"
        note = "a statement that begins with a name is written `name = value`"
        return _misspelt(place, place.start, message, meant, known, note)
    if place.kind == "NAME" and not place.opens_line:
        spelt = {grammar().spellings.get(kind, "") for kind in place.accepted}
        words = sorted(word for word in spelt if word.isalpha())
        swapped = (word for word in words if sorted(word) == sorted(place.text))
        meant = did_you_mean(place.text, words) or next(swapped, "")
        if "step" in words and place.text in _STEPPING:
            meant = "step"
        if meant:
            message = f"unexpected `{shortened(place.text)}`"
            return _misspelt(place, place.at, message, meant, words)
    return None


def _misspelt(
    place: Place, at: int, message: str, meant: str, known: Iterable[str], note: str = ""
) -> Mistake:
    word = place.tokens.text(at)
    span = place.tokens.span(at)
    if not meant:
        return Mistake(place.tell("E0004", message, span=span, note=note))
    message = f"`{shortened(word)}`: did you mean `{meant}`?"
    if word in _FOREIGN and meant == "import":  # and whether there is such a file is another matter
        return Mistake(place.tell("E0004", message, f"write `{meant}`", span=span))
    fix = _respelling(span, word, meant, known)
    told = place.tell("E0004", message, span=span, fix=fix)
    how: Literal["first", "instead"] = "first" if at == place.start else "instead"
    return Mistake(told, Mend(how, grammar().keywords[meant], meant))


def _respelling(span: Span, word: str, meant: str, known: Iterable[str]) -> tuple[Edit, ...]:
    """Return the edit that writes the keyword that was meant, if it was meant for sure."""
    if (word in _STEPPING and meant == "step") or _FOREIGN.get(word) == meant:
        return (Edit(span, meant),)
    fix = respelling(span, word, known, short=1)
    return fix if fix and fix[0].text == meant else ()


def number(place: Place) -> Mistake | None:
    """A number is written as the language does not write it."""
    tokens, at = place.tokens, place.at
    if place.kind not in NUMBERS:
        return None
    if (
        place.before == "COMMA"
        and tokens.kinds[at - 2] == "INT"
        and tokens.touches(at)
        and tokens.touches(at - 1)
        and re.match(r"[0-9]{3}\b", place.text)
    ):
        plain = f"{tokens.text(at - 2)}_{place.text}"
        told = place.tell(
            "E0007", "digits are grouped with `_`, not with `,`", f"write `{shortened(plain)}`"
        )
        return Mistake(told)
    glued = _GLUED.match(place.text) or (tokens.kinds[at + 1] == "NAME" and tokens.touches(at + 1))
    if "NAME" in place.accepted and "INT" not in place.accepted and glued:
        told = place.tell("E0001", "a name begins with a letter or `_`", "choose another name")
        return Mistake(told, Mend("instead", "NAME", "_"))
    return None
