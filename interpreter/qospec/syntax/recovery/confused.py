"""Confusions: one token written for another; keywords, operators, units, numbers.

Each rule looks at an error site and returns a diagnosis, or None if it does not apply.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from qospec.diagnostics import Edit, correct_spelling, suggest_name
from qospec.secret import IN_QUOTES, WITHHELD
from qospec.syntax.grammar import load_grammar, load_keywords
from qospec.syntax.lexical_errors import shorten
from qospec.syntax.recovery.site import NUMBERS, VALUES, Diagnosis, ErrorSite, Repair
from qospec.units import find_unit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qospec.source import Span

_FOREIGN_KEYWORDS = {
    "assert": "expect",
    "check": "expect",
    "const": "let",
    "var": "let",
    "include": "import",
}
"""Keywords of other languages, each with ours."""
_STEPPING = frozenset({"by", "every"})
_SURE = frozenset({("CMP", "EQUAL"), ("EQUAL", "CMP"), ("EQUAL", "COLON"), ("CABLE", "ARROW")})
"""What is expected and what is there, if only spelt wrong. A `--` may lack its `link` instead."""
_GLUED = re.compile(r"[0-9][0-9_.]*[A-Za-z_]")


def explain_side_by_side(site: ErrorSite) -> Diagnosis | None:
    """What was taken as a new statement follows another on the same line."""
    tokens, start = site.tokens, site.start
    if not site.is_split:
        return None
    word = tokens.read_text(start)
    meant = "step" if word in _STEPPING else suggest_name(word, load_keywords()["word"])
    if tokens.kinds[start] == "NAME" and meant not in {"", word}:
        message, span = f"`{shorten(word)}`: did you mean `{meant}`?", tokens.find_span(start)
        fix = _correct_keyword(span, word, meant, load_keywords()["word"])
        return Diagnosis(site.build_diagnostic("E0004", message, span=span, fix=fix), spoils=True)
    message = f"unexpected {site.quote(start)} after {site.quote(start - 1)}"
    span, help_text = (
        tokens.find_span(start),
        "begin a new line, or write an operator between the two",
    )
    if not span.text.strip(WITHHELD):
        help_text = IN_QUOTES
    return Diagnosis(site.build_diagnostic("E0001", message, help_text, span=span), spoils=True)


def name_read_as_unit(site: ErrorSite) -> Diagnosis | None:
    """A name after a number was taken as its unit, but a `=` or `:` follows."""
    if site.kind not in {"EQUAL", "COLON"} or site.before != "QUANTITY":
        return None
    parts = re.fullmatch(r"([0-9_.]+)[ \t]+([A-Za-z]+)", site.tokens.read_text(site.at - 1))
    if parts is None or find_unit(parts[2]) is not None:
        return None
    message = f"`{shorten(parts[2])}` was read as the unit of `{shorten(parts[1])}`"
    help_text = "begin a new line between the two, or write a `,`"
    return Diagnosis(
        site.build_diagnostic("E0006", message, help_text, span=site.tokens.find_span(site.at - 1))
    )


def explain_wrong_sign(site: ErrorSite) -> Diagnosis | None:
    """One of `=`, `==`, `:`, `->`, `--` is written for another."""
    expected = {
        "EQUAL": [("CMP", "==", "`=` binds a name; to compare write `==`")],
        "CMP": [("EQUAL", "=", "`==` compares; to bind a name write `=`")]
        if site.text == "=="
        else [],
        "COLON": [("EQUAL", "=", "`:` gives a type; to bind a name write `=`")],
        "ARROW": [("CABLE", "--", "`->` is a wire; a link is written `--`")],
        "CABLE": [("ARROW", "->", "`--` is a link; a wire is written `->`")],
        "MINUS": [("CABLE", "--", "`-` subtracts; a link is written `--`")],
    }
    if site.kind == "EQUAL" and site.open >= 0 and site.tokens.kinds[site.open] == "LBRACE":
        expected["EQUAL"] = [("COLON", ":", "a map has `:` between a key and its value")]
    for kind, sign, message in expected.get(site.kind, []):
        if kind in site.accepted:
            here, touches = site.tokens.find_span(site.at), site.tokens.touches
            apart = touches(site.at) and not touches(site.at + 1)
            sure = (kind, site.kind) in _SURE
            fix = (Edit(here, f" {sign}" if apart else sign),) if sure else ()
            diagnostic = site.build_diagnostic("E0010", message, f"write `{sign}`", fix=fix)
            return Diagnosis(diagnostic, Repair("instead", kind, sign))
    return None


def explain_reserved_word(site: ErrorSite) -> Diagnosis | None:
    """A keyword is where a name is expected, or is bound like a name."""
    reserved = load_grammar().keywords.values()
    if (
        site.at - 1 == site.start
        and site.first in reserved
        and site.kind in {"EQUAL", "COMMA", "ARROW", "DOT", "LSQB"}
    ):
        return _explain_no_name(site, site.start, Repair("first", "NAME", ""))
    if site.kind == "ELSE" and "OTHERWISE" in site.accepted:
        message = "`else` belongs between two values; the class of the rest is `otherwise`"
        diagnostic = site.build_diagnostic("E0004", message, "write `otherwise`")
        return Diagnosis(diagnostic, Repair("instead", "OTHERWISE", "otherwise"))
    begins = (
        site.opens_line
        and site.open < 0  # within a bracket no statement begins
        and site.text in load_keywords()["statement"] | load_keywords()["declaration"]
    )
    if (
        site.kind in reserved
        and "NAME" in site.accepted
        and "LET" not in site.accepted  # a name would begin the next statement
        and site.start < site.at
        and not begins
    ):
        return _explain_no_name(site, site.at, Repair("instead", "NAME", ""))
    return None


def _explain_no_name(site: ErrorSite, at: int, repair: Repair) -> Diagnosis:
    word = site.tokens.read_text(at)
    meaning = next(table[word] for table in load_keywords().values() if word in table)
    diagnostic = site.build_diagnostic(
        "E0005",
        f"expected a name, found the reserved word `{word}`",
        f"choose another name, such as `{word}_1`",
        span=site.tokens.find_span(at),
        note=f"`{word}` {meaning}",
    )
    return Diagnosis(diagnostic, repair._replace(word=word))


def explain_invalid_name(site: ErrorSite) -> Diagnosis | None:
    """A name is written with `-` in it, or between quotes."""
    tokens, at = site.tokens, site.at
    if site.kind == "STRING" and site.accepted == {"NAME"}:
        word = site.text.strip('"')
        if not word.isidentifier():
            return None
        diagnostic = site.build_diagnostic(
            "E0001", 'a name is written without `"`', f"write `{shorten(word)}`"
        )
        return Diagnosis(diagnostic, Repair("instead", "NAME", word))
    dashed = site.kind == "MINUS" and site.before == "NAME" and tokens.touches(at)
    if not dashed or tokens.kinds[at + 1] != "NAME" or not tokens.touches(at + 1):
        return None
    plain, glued = (
        f"{tokens.read_text(at - 1)}{sign}{tokens.read_text(at + 1)}" for sign in ("_", "")
    )
    help_text = f"write `{shorten(plain)}`"
    if site.block >= 0 and tokens.kinds[at + 2] == "EQUAL":  # perhaps a field, which has a name
        help_text += f" or `{shorten(glued)}`, as the field is called"
    diagnostic = site.build_diagnostic("E0001", "`-` is not allowed in a name", help_text)
    return Diagnosis(diagnostic)


def explain_misplaced_statement(site: ErrorSite) -> Diagnosis | None:
    """A statement is outside of any block."""
    if site.block >= 0 or site.at != site.start:
        return None
    begins = site.text in load_keywords()["statement"]
    if not begins and (site.kind != "NAME" or site.tokens.indent(site.at) == 0):
        return None
    closed = site.before == "RBRACE"
    message = f"{site.quote(site.at)} begins a statement outside of any block"
    help_text = (
        "is the `}` above one too many?" if closed else "put it in the block of a declaration"
    )
    return Diagnosis(site.build_diagnostic("E0001", message, help_text), breaks=closed)


def explain_unknown_word(site: ErrorSite) -> Diagnosis | None:
    """A name is where only keywords fit."""
    if site.kind == "NAME" and site.at == site.start and site.block < 0:
        known = [*load_keywords()["declaration"], "import"]
        meant = _FOREIGN_KEYWORDS.get(site.text) or suggest_name(site.text, known)
        message = f"expected a declaration, found `{shorten(site.text)}`"
        note = f"declarations begin with: {' '.join(known)}"
        return _explain_misspelt(site, site.at, message, meant, known, note)
    second = site.at - 1 == site.start and site.first == "NAME" and not site.opens_line
    if second and site.kind in VALUES | {"LBRACE"} and site.block >= 0:
        word = site.tokens.read_text(site.start)
        known = [*load_keywords()["statement"], "let"]
        if word in known:  # which is a name where its statement does not go on as it must
            message = f"expected `{{` after `{shorten(site.text)}`"
            help_text = f"write `{word} {shorten(site.text)} {{ … }}`"
            return Diagnosis(site.build_diagnostic("E0011", message, help_text))
        meant = _FOREIGN_KEYWORDS.get(word) or suggest_name(word, known)
        message = f"expected a statement, found `{shorten(word)}`"
        note = "a statement that begins with a name is written `name = value`"
        return _explain_misspelt(site, site.start, message, meant, known, note)
    if site.kind == "NAME" and not site.opens_line:
        spelt = {load_grammar().spellings.get(kind, "") for kind in site.accepted}
        words = sorted(word for word in spelt if word.isalpha())
        swapped = (word for word in words if sorted(word) == sorted(site.text))
        meant = suggest_name(site.text, words) or next(swapped, "")
        if "step" in words and site.text in _STEPPING:
            meant = "step"
        if meant:
            message = f"unexpected `{shorten(site.text)}`"
            return _explain_misspelt(site, site.at, message, meant, words)
    return None


def _explain_misspelt(
    site: ErrorSite, at: int, message: str, meant: str, known: Iterable[str], note: str = ""
) -> Diagnosis:
    word = site.tokens.read_text(at)
    span = site.tokens.find_span(at)
    if not meant:
        return Diagnosis(site.build_diagnostic("E0004", message, span=span, note=note))
    message = f"`{shorten(word)}`: did you mean `{meant}`?"
    if (
        word in _FOREIGN_KEYWORDS and meant == "import"
    ):  # and whether there is such a file is another matter
        return Diagnosis(site.build_diagnostic("E0004", message, f"write `{meant}`", span=span))
    fix = _correct_keyword(span, word, meant, known)
    diagnostic = site.build_diagnostic("E0004", message, span=span, fix=fix)
    how: Literal["first", "instead"] = "first" if at == site.start else "instead"
    return Diagnosis(diagnostic, Repair(how, load_grammar().keywords[meant], meant))


def _correct_keyword(span: Span, word: str, meant: str, known: Iterable[str]) -> tuple[Edit, ...]:
    """Return the edit that writes the keyword that was meant, if it was meant for sure."""
    if (word in _STEPPING and meant == "step") or _FOREIGN_KEYWORDS.get(word) == meant:
        return (Edit(span, meant),)
    fix = correct_spelling(span, word, known, short=1)
    return fix if fix and fix[0].text == meant else ()


def explain_malformed_number(site: ErrorSite) -> Diagnosis | None:
    """A number is written in a way that the language does not have."""
    tokens, at = site.tokens, site.at
    if site.kind not in NUMBERS:
        return None
    if (
        site.before == "COMMA"
        and tokens.kinds[at - 2] == "INT"
        and tokens.touches(at)
        and tokens.touches(at - 1)
        and re.match(r"[0-9]{3}\b", site.text)
    ):
        plain = f"{tokens.read_text(at - 2)}_{site.text}"
        diagnostic = site.build_diagnostic(
            "E0007", "digits are grouped with `_`, not with `,`", f"write `{shorten(plain)}`"
        )
        return Diagnosis(diagnostic)
    glued = _GLUED.match(site.text) or (tokens.kinds[at + 1] == "NAME" and tokens.touches(at + 1))
    if "NAME" in site.accepted and "INT" not in site.accepted and glued:
        diagnostic = site.build_diagnostic(
            "E0001", "a name begins with a letter or `_`", "choose another name"
        )
        return Diagnosis(diagnostic, Repair("instead", "NAME", "_"))
    return None
