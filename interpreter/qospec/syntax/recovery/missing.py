"""Words for what is missing or too much: brackets, blocks, values, commas, types.

Each situation looks at a place and returns a mistake, or None if it is another one.
"""

from __future__ import annotations

from dataclasses import replace

from qospec.diagnostics import Edit, Label
from qospec.source import Span
from qospec.syntax.grammar import END, grammar
from qospec.syntax.lexical_errors import shortened
from qospec.syntax.recovery.brackets import DECLARATIONS, PAIRS, begins_declaration
from qospec.syntax.recovery.site import NUMBERS, VALUES, Mend, Mistake, Place

_CLOSERS = frozenset(PAIRS.values())
_NAMED = frozenset({"DOT", "AT", "ON", "VIA", "FROM", "TO", "AS", "ARROW", "CABLE"})
"""What a name must follow."""
_VALUED = frozenset(
    {"EQUAL", "PLUS", "MINUS", "TIMES", "OF", "OR", "AND", "NOT", "IF", "ELSE", "IN", "WHERE"}
    | {"RANGE", "STEP", "CMP", "WITHIN", "WITH", "UNLESS", "EVERY", "WHEN", "COLON"}
)
"""What a value must follow."""
_OPENING = frozenset(
    {"TOPOLOGY", "DEVICE", "TEST", "PROPERTY", "REFERENCE", "FOR", "RUN", "SEARCH", "GOAL"}
)
"""What a block must follow."""
_TYPED = frozenset({"LET", "TRAFFIC", "DEVICE", "TOPOLOGY"})
"""What has types behind colons."""


def unclosed(place: Place) -> Mistake | None:
    """A bracket is open where what it holds must have ended."""
    opener, tokens = place.open, place.tokens
    ends = place.kind in _CLOSERS | {END} or begins_declaration(tokens, place.at)
    ends = ends or (place.kind == "LBRACE" and place.block < 0 and place.first in _OPENING)
    if opener >= 0:
        closer = PAIRS[tokens.kinds[opener]]
        lacking = opener not in place.brackets.closer
        if (ends or (place.opens_line and lacking)) and place.kind != closer and lacking:
            sign = grammar().spellings[closer]
            found = tokens.span(place.at)
            told = place.tell(
                "E0003",
                f"this {place.quoted(opener)} is never closed",
                f"write `{sign}` where it ends",
                span=tokens.span(opener),
            )
            if place.kind != END:
                told = replace(told, others=(Label(found, "it must end before this"),))
            return Mistake(told, Mend("before", closer, sign))
    if place.block >= 0 and (place.kind == END or begins_declaration(tokens, place.at)):
        culprit = place.brackets.culprit(place.block)
        told = place.tell(
            "E0003",
            "this `{` is never closed",
            "write `}` where its block ends",
            span=tokens.span(culprit),
        )
        return Mistake(told, breaks=True)
    return None


def closing(place: Place) -> Mistake | None:
    """A bracket closes nothing."""
    if place.kind not in _CLOSERS or place.at in place.brackets.opener:
        return None
    return Mistake(
        place.tell("E0003", f"this {place.quoted(place.at)} closes nothing", "leave it out"),
        breaks=place.kind == "RBRACE",
    )


def block_missing(place: Place) -> Mistake | None:
    """A block must follow, and does not begin."""
    if "LBRACE" not in place.accepted or place.first not in _OPENING or place.open >= 0:
        return None
    if place.kind == "COLON" and place.tokens.kinds[place.at + 1] == "LBRACE":
        span = place.tokens.span(place.at)
        told = place.tell(
            "E0011", "unexpected `:` before a block", "leave it out", fix=(Edit(span, ""),)
        )
        return Mistake(told, Mend("out"))
    if place.kind == "COLON":
        told = place.tell(
            "E0011",
            "a block is written between `{` and `}`",
            "write `{` here, and `}` where it ends",
        )
        return Mistake(told)
    if not place.opens_line:
        return None
    if "LPAR" in place.accepted and place.tokens.kinds[place.at + 1 :][:1] == ["COLON"]:
        told = place.tell(
            "E0011",
            f"expected `(` after {place.quoted(place.at - 1)}",
            "write the parameters between `(` and `)`",
            span=place.behind(place.at - 1),
        )
        return Mistake(told, Mend("before", "LPAR", "("))
    told = place.tell(
        "E0011",
        f"expected `{{` after {place.quoted(place.at - 1)}",
        "write `{` at the end of this line",
        span=place.behind(place.at - 1),
    )
    return Mistake(told, Mend("before", "LBRACE", "{"))


def untyped(place: Place) -> Mistake | None:
    """A parameter has no type, or a test has parameters."""
    if place.first == "TEST" and place.kind == "LPAR" and place.accepted == {"ON"}:
        told = place.tell(
            "E0001", "a test cannot have parameters", "write `sweep name in …` in its block instead"
        )
        return Mistake(told)
    names = place.tokens.text(place.at - 1), place.text
    swapped = (
        place.kind == "NAME" == place.before and names[0][:1].isupper() > names[1][:1].isupper()
    )
    if place.accepted == {"COLON"} and swapped:
        way_out = f"write `{shortened(names[1])}: {shortened(names[0])}`"
        told = place.tell("E0001", "a parameter's type is written after its name and `:`", way_out)
        return Mistake(told)
    if (
        place.accepted == {"COLON"}
        and place.kind in {"EQUAL", "COMMA", "RPAR"}
        and place.before == "NAME"
    ):
        name = place.tokens.text(place.at - 1)
        message = f"the type of {place.quoted(place.at - 1)} is missing"
        told = place.tell(
            "E0011",
            message,
            f"write its type, as in `{name}: Time`",
            span=place.behind(place.at - 1),
        )
        return Mistake(told, Mend("before", "COLON NAME", ": _"))
    return None


def unnamed(place: Place) -> Mistake | None:
    """What a declaration begins with is not followed by its name."""
    kind, behind = place.kind, place.tokens.kinds[place.at + 1 :][:1]
    if place.first not in DECLARATIONS or place.at - 1 != place.start:
        return None
    begun = kind in {"LBRACE", "LPAR", "EQUAL"} and not place.opens_line
    if not begun and not (kind == "ON" and place.first == "TEST" and behind == ["NAME"]):
        return None
    word = {"TEST": "on", "TRAFFIC": "=", "REFERENCE": '"publication"'}.get(place.first, "{")
    told = place.tell(
        "E0011",
        f"expected a name after {place.quoted(place.start)}",
        f"write `{place.tokens.text(place.start)} name {word} …`",
        span=place.behind(place.start),
    )
    return Mistake(told, Mend("before", "NAME", f"_{place.tokens.starts[place.start]}"))


def nothing_follows(place: Place) -> Mistake | None:
    """What a sign or a word asks for is missing at the end of a line or before a bracket."""
    tokens, last = place.tokens, place.at - 1
    if (
        place.before == "NAME"
        and place.kind in {"EQUAL", "ARROW", "COMMA"}
        and tokens.opens_line(last)
    ):
        last -= 1  # the next statement's first name was taken for what is missing
    elif not (
        place.opens_line
        or place.kind in _CLOSERS | {"COMMA"}
        or (place.kind == "LBRACE" and place.accepted == {"NAME"})
    ):
        return None
    if last < place.start or tokens.kinds[last] not in _VALUED | _NAMED:
        return None
    what, mend = "a name" if tokens.kinds[last] in _NAMED else "a value", None
    if place.first in _TYPED and place.before == "COLON" and place.accepted == {"NAME"}:
        what, mend = "a type", Mend("before", "NAME", "_")
    message = f"expected {what} after {place.quoted(last)}"
    return Mistake(place.tell("E0011", message, span=place.behind(last)), mend)


def step_missing(place: Place) -> Mistake | None:
    """A third number follows a range."""
    if "STEP" not in place.accepted or place.kind not in NUMBERS | {"NAME"} or place.opens_line:
        return None
    start, sure = place.tokens.span(place.at), place.kind in NUMBERS
    told = place.tell(
        "E0011",
        "expected `step` before the distance of a range's values",
        f"write `step {shortened(place.text)}`",
        fix=(Edit(Span(start.source, start.start, start.start), "step "),) if sure else (),
    )
    return Mistake(told, Mend("before", "STEP", "step"))


def default_unbound(place: Place) -> Mistake | None:
    """A parameter's default stands behind its type without a sign."""
    plain = place.kind in {*NUMBERS, "TRUE", "FALSE"} and not place.opens_line
    if not plain or place.open < 0 or "EQUAL" not in place.accepted:
        return None
    told = place.tell(
        "E0011",
        f"expected `=` before {place.quoted(place.at)}",
        f"write `= {shortened(place.text)}`",
    )
    return Mistake(told, Mend("before", "EQUAL", "="))


def comma_missing(place: Place) -> Mistake | None:
    """Two values stand side by side between brackets."""
    if place.open < 0 or place.kind not in VALUES | {"MIX"} or "COMMA" not in place.accepted:
        return None
    apart = not (place.opens_line or place.tokens.touches(place.at))
    sure = apart and place.open in place.brackets.closer
    told = place.tell(
        "E0011", f"expected `,` before {place.quoted(place.at)}", "write `,` between the two",
        span=(gap := place.behind(place.at - 1)),
        fix=(Edit(gap, ","),) if sure else (),
    )  # fmt: skip
    return Mistake(told, Mend("before", "COMMA", ","))
