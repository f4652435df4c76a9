"""What is missing or too much: brackets, blocks, values, commas, types.

Each rule looks at an error site and returns a diagnosis, or None if it does not apply.
"""

from __future__ import annotations

from dataclasses import replace

from qospec.diagnostics import Edit, Label
from qospec.source import Span
from qospec.syntax.grammar import END, load_grammar
from qospec.syntax.lexical_errors import shorten
from qospec.syntax.recovery.brackets import DECLARATIONS, PAIRS, is_declaration_start
from qospec.syntax.recovery.site import NUMBERS, VALUES, Diagnosis, ErrorSite, Repair

_CLOSERS = frozenset(PAIRS.values())
_NAMED = frozenset({"DOT", "_LAYER", "ON", "VIA", "FROM", "TO", "AS", "ARROW", "CABLE"})
"""Tokens that a name must follow."""
_VALUED = frozenset(
    {"EQUAL", "PLUS", "MINUS", "TIMES", "OF", "OR", "AND", "NOT", "IF", "ELSE", "IN", "WHERE"}
    | {"RANGE", "STEP", "CMP", "WITHIN", "WITH", "UNLESS", "EVERY", "WHEN", "COLON"}
)
"""Tokens that a value must follow."""
_OPENING = frozenset(
    {"TOPOLOGY", "DEVICE", "TEST", "PROPERTY", "REFERENCE", "FOR", "RUN", "SEARCH", "GOAL"}
)
"""Keywords that need a block."""
_STATEMENTS = frozenset(
    {"FORALL", "SWEEP", "LET", "FOR", "FLOW", "RUN", "SEARCH", "POINT", "SKIP"}
    | {"EXPECT", "REQUIRE", "REPORT", "INVARIANT"}
)
"""Keywords that begin a statement."""
_TYPED = frozenset({"LET", "TRAFFIC", "DEVICE", "TOPOLOGY"})
"""Keywords whose declarations have types after colons."""


def explain_unclosed(site: ErrorSite) -> Diagnosis | None:
    """A bracket is still open where its content must have ended."""
    opener, tokens = site.open, site.tokens
    ends = site.kind in _CLOSERS | {END} or is_declaration_start(tokens, site.at)
    ends = ends or (site.kind == "LBRACE" and site.block < 0 and site.first in _OPENING)
    if opener >= 0:
        closer = PAIRS[tokens.kinds[opener]]
        lacking = opener not in site.brackets.closer
        if (ends or (site.opens_line and lacking)) and site.kind != closer and lacking:
            sign = load_grammar().spellings[closer]
            found = tokens.find_span(site.at)
            diagnostic = site.build_diagnostic(
                "E0003",
                f"this {site.quote(opener)} is never closed",
                f"write `{sign}` where it ends",
                span=tokens.find_span(opener),
            )
            if site.kind != END:
                diagnostic = replace(
                    diagnostic, secondary=(Label(found, "it must end before this"),)
                )
            return Diagnosis(diagnostic, Repair("before", closer, sign))
    if site.block >= 0 and (site.kind == END or is_declaration_start(tokens, site.at)):
        culprit = site.brackets.find_culprit(site.block)
        diagnostic = site.build_diagnostic(
            "E0003",
            "this `{` is never closed",
            "write `}` where its block ends",
            span=tokens.find_span(culprit),
        )
        return Diagnosis(diagnostic, breaks=True)
    return None


def explain_unmatched_closing(site: ErrorSite) -> Diagnosis | None:
    """A bracket closes nothing."""
    if site.kind not in _CLOSERS or site.at in site.brackets.opener:
        return None
    return Diagnosis(
        site.build_diagnostic(
            "E0003", f"this {site.quote(site.at)} closes nothing", "leave it out"
        ),
        breaks=site.kind == "RBRACE",
    )


def explain_missing_block(site: ErrorSite) -> Diagnosis | None:
    """A block is expected and does not begin."""
    if "LBRACE" not in site.accepted or site.first not in _OPENING or site.open >= 0:
        return None
    if site.kind == "COLON" and site.tokens.kinds[site.at + 1] == "LBRACE":
        span = site.tokens.find_span(site.at)
        diagnostic = site.build_diagnostic(
            "E0011", "unexpected `:` before a block", "leave it out", fix=(Edit(span, ""),)
        )
        return Diagnosis(diagnostic, Repair("out"))
    if site.kind == "COLON":
        diagnostic = site.build_diagnostic(
            "E0011",
            "a block is written between `{` and `}`",
            "write `{` here, and `}` where it ends",
        )
        return Diagnosis(diagnostic)
    if not site.opens_line:
        return None
    if "LPAR" in site.accepted and site.tokens.kinds[site.at + 1 :][:1] == ["COLON"]:
        diagnostic = site.build_diagnostic(
            "E0011",
            f"expected `(` after {site.quote(site.at - 1)}",
            "write the parameters between `(` and `)`",
            span=site.point_after(site.at - 1),
        )
        return Diagnosis(diagnostic, Repair("before", "LPAR", "("))
    diagnostic = site.build_diagnostic(
        "E0011",
        f"expected `{{` after {site.quote(site.at - 1)}",
        "write `{` at the end of this line",
        span=site.point_after(site.at - 1),
    )
    return Diagnosis(diagnostic, Repair("before", "LBRACE", "{"))


def explain_missing_type(site: ErrorSite) -> Diagnosis | None:
    """A parameter has no type."""
    names = site.tokens.read_text(site.at - 1), site.text
    swapped = site.kind == "NAME" == site.before and names[0][:1].isupper() > names[1][:1].isupper()
    if site.accepted == {"COLON"} and swapped:
        help_text = f"write `{shorten(names[1])}: {shorten(names[0])}`"
        diagnostic = site.build_diagnostic(
            "E0001", "a parameter's type is written after its name and `:`", help_text
        )
        return Diagnosis(diagnostic)
    if (
        site.accepted == {"COLON"}
        and site.kind in {"EQUAL", "COMMA", "RPAR"}
        and site.before == "NAME"
    ):
        name = site.tokens.read_text(site.at - 1)
        message = f"the type of {site.quote(site.at - 1)} is missing"
        diagnostic = site.build_diagnostic(
            "E0011",
            message,
            f"write its type, as in `{name}: Time`",
            span=site.point_after(site.at - 1),
        )
        return Diagnosis(diagnostic, Repair("before", "COLON NAME", ": _"))
    return None


def explain_missing_name(site: ErrorSite) -> Diagnosis | None:
    """The keyword of a declaration is not followed by a name."""
    kind, behind = site.kind, site.tokens.kinds[site.at + 1 :][:1]
    if site.first not in DECLARATIONS or site.at - 1 != site.start:
        return None
    begun = kind in {"LBRACE", "LPAR", "EQUAL"} and not site.opens_line
    if not begun and not (kind == "ON" and site.first == "TEST" and behind == ["NAME"]):
        return None
    word = {"TEST": "on", "TRAFFIC": "=", "REFERENCE": '"publication"'}.get(site.first, "{")
    diagnostic = site.build_diagnostic(
        "E0011",
        f"expected a name after {site.quote(site.start)}",
        f"write `{site.tokens.read_text(site.start)} name {word} …`",
        span=site.point_after(site.start),
    )
    return Diagnosis(diagnostic, Repair("before", "NAME", f"_{site.tokens.starts[site.start]}"))


def explain_missing_keyword(site: ErrorSite) -> Diagnosis | None:
    """A second name is drawn or swept behind a `,`, but each needs a statement of its own."""
    tokens, start = site.tokens, site.start
    typed = tokens.kinds[site.at : site.at + 3] == ["COLON", "NAME", "IN"]
    behind = site.before == "NAME" and site.at == start + 1 and tokens.kinds[start - 1] == "COMMA"
    if not behind or not (typed or site.kind == "IN"):
        return None
    every = range(start - 1, site.block, -1)
    begins = next((at for at in every if tokens.kinds[at] in _STATEMENTS), -1)
    if begins < 0 or tokens.kinds[begins] not in {"FORALL", "SWEEP"}:
        return None
    word, name = tokens.read_text(begins), shorten(tokens.read_text(start))
    here = tokens.find_span(start)
    diagnostic = site.build_diagnostic(
        "E0011",
        f"each name needs its own `{word}`: expected it before `{name}`",
        f"write `{word} {name} …`",
        span=here,
        fix=(Edit(Span(here.source, here.start, here.start), f"{word} "),),
    )
    return Diagnosis(diagnostic)


def explain_missing_operand(site: ErrorSite) -> Diagnosis | None:
    """An operator or a keyword lacks its operand at the end of a line or before a bracket."""
    tokens, last = site.tokens, site.at - 1
    if (
        site.before == "NAME"
        and site.kind in {"EQUAL", "ARROW", "COMMA"}
        and tokens.opens_line(last)
    ):
        last -= 1  # the next statement's first name was taken for what is missing
    elif not (
        site.opens_line
        or site.kind in _CLOSERS | {"COMMA"}
        or (site.kind == "LBRACE" and site.accepted == {"NAME"})
    ):
        return None
    if last < site.start or tokens.kinds[last] not in _VALUED | _NAMED:
        return None
    what, repair = "a name" if tokens.kinds[last] in _NAMED else "a value", None
    if site.first in _TYPED and site.before == "COLON" and site.accepted <= {"NAME", "LSQB"}:
        what, repair = "a type", Repair("before", "NAME", "_")
    message = f"expected {what} after {site.quote(last)}"
    return Diagnosis(site.build_diagnostic("E0011", message, span=site.point_after(last)), repair)


def explain_missing_entry(site: ErrorSite) -> Diagnosis | None:
    """A map ends where it begins."""
    if (site.before, site.kind) != ("LBRACE", "RBRACE") or not site.accepted & VALUES:
        return None
    message = f"expected an entry after {site.quote(site.at - 1)}"
    return Diagnosis(site.build_diagnostic("E0011", message, "write `{ …: … }`"))


def explain_missing_step(site: ErrorSite) -> Diagnosis | None:
    """A third number follows a range without `step`."""
    if "STEP" not in site.accepted or site.kind not in NUMBERS | {"NAME"} or site.opens_line:
        return None
    start, sure = site.tokens.find_span(site.at), site.kind in NUMBERS
    diagnostic = site.build_diagnostic(
        "E0011",
        "expected `step` before the distance of a range's values",
        f"write `step {shorten(site.text)}`",
        fix=(Edit(Span(start.source, start.start, start.start), "step "),) if sure else (),
    )
    return Diagnosis(diagnostic, Repair("before", "STEP", "step"))


def explain_missing_equals_sign(site: ErrorSite) -> Diagnosis | None:
    """A parameter's default follows its type without `=`."""
    plain = site.kind in {*NUMBERS, "TRUE", "FALSE"} and not site.opens_line
    if not plain or site.open < 0 or "EQUAL" not in site.accepted:
        return None
    diagnostic = site.build_diagnostic(
        "E0011",
        f"expected `=` before {site.quote(site.at)}",
        f"write `= {shorten(site.text)}`",
    )
    return Diagnosis(diagnostic, Repair("before", "EQUAL", "="))


def explain_missing_comma(site: ErrorSite) -> Diagnosis | None:
    """Two values in brackets are not separated."""
    if site.open < 0 or site.kind not in VALUES | {"MIX"} or "COMMA" not in site.accepted:
        return None
    apart = not (site.opens_line or site.tokens.touches(site.at))
    sure = apart and site.open in site.brackets.closer
    diagnostic = site.build_diagnostic(
        "E0011", f"expected `,` before {site.quote(site.at)}", "write `,` between the two",
        span=(gap := site.point_after(site.at - 1)),
        fix=(Edit(gap, ","),) if sure else (),
    )  # fmt: skip
    return Diagnosis(diagnostic, Repair("before", "COMMA", ","))
