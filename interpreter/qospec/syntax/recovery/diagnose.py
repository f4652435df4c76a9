"""Explains a token that does not fit: the first rule that applies decides.

No message names a terminal of the grammar.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.syntax.grammar import END, load_grammar
from qospec.syntax.recovery import confused, foreign, missing
from qospec.syntax.recovery.brackets import PAIRS
from qospec.syntax.recovery.site import Diagnosis, ErrorSite, Repair

if TYPE_CHECKING:
    from collections.abc import Callable

_RULES: tuple[Callable[[ErrorSite], Diagnosis | None], ...] = (
    missing.explain_unclosed,
    missing.explain_unmatched_closing,
    missing.explain_missing_name,
    missing.explain_missing_keyword,
    confused.explain_invalid_name,
    foreign.explain_foreign_syntax,
    confused.explain_side_by_side,
    missing.explain_missing_operand,
    missing.explain_missing_block,
    missing.explain_missing_type,
    confused.name_read_as_unit,
    confused.explain_wrong_sign,
    missing.explain_missing_equals_sign,
    confused.explain_reserved_word,
    confused.explain_misplaced_statement,
    confused.explain_unknown_word,
    missing.explain_missing_entry,
    missing.explain_missing_step,
    confused.explain_malformed_number,
    missing.explain_missing_comma,
)

_CONTINUING = frozenset(
    {"DOT", "LSQB", "LPAR", "LBRACE", "PLUS", "MINUS", "TIMES", "OF", "OR", "AND", "IF"}
    | {"RANGE", "CMP", "IN", "WITHIN", "_LAYER", "COMMA"}
)
"""What can continue nearly anything, and so says little."""
_CRITERIA = frozenset({"EXPECT", "REQUIRE", "REPORT"})
_FEW = 2
_ONE_QUOTED = 2
"""Backquotes around one token."""


def diagnose(site: ErrorSite) -> Diagnosis:
    """Return what is wrong at a site, and how to go on."""
    for rule in (_explain_condition, *_RULES):
        diagnosis = rule(site)
        if diagnosis is not None:
            return diagnosis
    return _explain_unexpected(site)


def _explain_condition(site: ErrorSite) -> Diagnosis | None:
    """A criterion is followed by `if`, as if that restricted it to some cases."""
    tokens = site.tokens
    if site.first not in _CRITERIA or site.accepted - _CONTINUING != {"ELSE"}:
        return None
    at = next(i for i in range(site.at - 1, 0, -1) if tokens.kinds[i] == "IF")
    diagnostic = site.build_diagnostic(
        "E0011",
        "`if` needs an `else` with another value",
        "write `when` to ask this in some cases only, or add `else` and a value",
        span=tokens.find_span(at),
    )
    return Diagnosis(diagnostic)


def _explain_unexpected(site: ErrorSite) -> Diagnosis:
    expected = _describe_expected(site)
    if site.kind != END and site.tokens.opens_line(site.at) and site.accepted & {"RUN", "LET"}:
        what = "a declaration" if site.block < 0 else "a statement"
        message = f"expected {what}, found {site.quote(site.at)}"
        help_text = "imports stand above all declarations: move it there"
        help_text = help_text if site.kind == "IMPORT" else ""
        return Diagnosis(site.build_diagnostic("E0001", message, help_text))
    if site.opens_line and site.at > site.start:
        end = "the file ends" if site.kind == END else "the line ends"
        message = f"{f'expected {expected}' if expected else end} after {site.quote(site.at - 1)}"
        help_text = f"write {expected}" if expected.count("`") == _ONE_QUOTED else ""
        return Diagnosis(
            site.build_diagnostic("E0011", message, help_text, span=site.point_after(site.at - 1))
        )
    if site.kind == END:
        return Diagnosis(site.build_diagnostic("E0001", "unexpected end of the file"))
    diagnostic = site.build_diagnostic("E0001", f"unexpected {site.quote(site.at)}")
    diagnostic = replace(diagnostic, label=f"expected {expected}" if expected else "")
    left_out = _insert_missing_token(site)
    if left_out is None:
        return Diagnosis(diagnostic)
    help_ = f"write `{left_out.word}` before {site.quote(site.at)}"
    return Diagnosis(replace(diagnostic, help=help_), left_out)


def _insert_missing_token(site: ErrorSite) -> Repair | None:
    """Return the insertion of the only token that can come, if the next then fits."""
    few = site.accepted - _CONTINUING or site.accepted
    kind = next(iter(few)) if len(few) == 1 else ""
    sign, behind = load_grammar().spellings.get(kind, ""), site.tokens.kinds[site.at + 1 :][:1]
    if kind in PAIRS:  # what closes it is missing as well
        return None
    fits = sign and site.automaton.accepts(kind, site.kind, *behind)
    return Repair("before", kind, sign) if fits else None


def _describe_expected(site: ErrorSite) -> str:
    """Return what is expected here, if that is short to say."""
    accepted = site.accepted - _CONTINUING or site.accepted
    if "INT" in accepted:
        return "a value"
    if "NAME" in accepted and len(accepted) < len(_CONTINUING):
        return "a name"
    if "STRING" in accepted:
        return "a text"
    if len(accepted) <= _FEW and END not in accepted:
        return " or ".join(
            sorted(f"`{load_grammar().spellings.get(kind, '==')}`" for kind in accepted)
        )
    return ""
