"""From the text of a `.qos` file to its tree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.diagnostics import MOST, Diagnostic, Edit, Problems
from qospec.source import Span
from qospec.syntax import ast
from qospec.syntax.automaton import Automaton
from qospec.syntax.builder import TreeBuilder
from qospec.syntax.grammar import END, GOES_ON, load_keywords
from qospec.syntax.lexical_errors import explain_mismatch, shorten
from qospec.syntax.limits import explain_too_deep, explain_too_long
from qospec.syntax.tokens import tokenize

if TYPE_CHECKING:
    from qospec.source import Source
    from qospec.syntax.tokens import Tokens

EDITION = "1"


def parse(source: Source, problems: Problems) -> ast.File | None:
    """Return the tree of a file, and report what is wrong with its text.

    What cannot be parsed is left out of the tree; its names are in `unparsed`. Returns None if
    there are so many errors, or braces match so badly, that checking the rest would only mislead.
    """
    beyond = explain_too_long(source) or _explain_line_ends(source)
    if beyond is None:
        tokens = tokenize(source, problems)
        if len(tokens.errors) > MOST:
            return None
        beyond = explain_too_deep(tokens)
    if beyond is not None:
        problems.add(beyond)
        return None
    automaton = Automaton(tokens, TreeBuilder(tokens, problems).builders)
    at = automaton.run(_read_edition(automaton, tokens, problems))
    file = automaton.file if at < 0 else _recover(automaton, tokens, problems, at)
    meant = tokens.look_alikes()
    return replace(file, unparsed=file.unparsed | meant) if file is not None and meant else file


def parse_beginning(source: Source) -> tuple[Automaton, Tokens]:
    """Return the automaton at the end of a text that goes on, and the tokens of the text.

    What is wrong in it is recovered from.
    """
    from qospec.syntax.recovery.recover import Recovery

    found = Problems()
    tokens = tokenize(source, found)
    tokens.kinds[-1] = GOES_ON
    automaton = Automaton(tokens, TreeBuilder(tokens, found).builders)
    recovery = Recovery(automaton, tokens, found)
    at = automaton.run(_read_edition(automaton, tokens, found))
    while at >= 0 and tokens.kinds[at] != GOES_ON:
        at = recovery.resume(at)
        at = automaton.run(at) if at >= 0 else at
    return automaton, tokens


def _explain_line_ends(source: Source) -> Diagnostic | None:
    """Return the error for a text whose lines all end with a carriage return alone."""
    first = source.text.find("\r")
    if first < 0 or "\n" in source.text:
        return None
    error = explain_mismatch("STRAY", "\r")
    return Diagnostic(error.code, error.message, Span(source, first, first + 1), help=error.help)


def _recover(automaton: Automaton, tokens: Tokens, problems: Problems, at: int) -> ast.File | None:
    """Recover from a token that does not fit; return what can be parsed."""
    from qospec.syntax.recovery.recover import Recovery

    recovery = Recovery(automaton, tokens, problems)
    while at >= 0:
        at = recovery.resume(at)
        if at >= 0:
            at = automaton.run(at)
    if automaton.file is None or recovery.broken:
        return None
    declarations = tuple(
        replace(declaration, is_incomplete=True)
        if isinstance(declaration, ast.Test) and declaration.span.start in recovery.replaced_headers
        else declaration
        for declaration in automaton.file.declarations
    )
    return replace(automaton.file, declarations=declarations, unparsed=frozenset(recovery.unparsed))


def _read_edition(automaton: Automaton, tokens: Tokens, problems: Problems) -> int:
    """Parse the first line, whatever it says; return the token after it."""
    behind = 2 if tokens.kinds[0] == "QOS" and tokens.kinds[1] in {"INT", "FLOAT"} else 0
    if not behind:
        behind = _report_missing_edition(tokens, problems)
    elif tokens.read_text(1) != EDITION:
        message = f"edition {shorten(tokens.read_text(1))} of the language is not known"
        problems.add(
            Diagnostic("E0002", message, tokens.find_span(1), help=f"write `qos {EDITION}`")
        )
    automaton.insert("QOS", "qos", 0)
    automaton.insert("INT", EDITION, min(1, behind))
    automaton.reduce_for("LET", behind)
    return behind


def _report_missing_edition(tokens: Tokens, problems: Problems) -> int:
    """Report that the first line is missing or misspelled; return the token after it."""
    kinds, end = tokens.kinds, 0
    if kinds[0] == "QOS" or (kinds[0] == "NAME" and kinds[1] in {"INT", "FLOAT", "QUANTITY"}):
        end = 1
        while not tokens.opens_line(end) and kinds[end] not in {END, GOES_ON}:
            end += 1
    start = tokens.starts[0]
    span = Span(tokens.source, start, tokens.ends[end - 1] if end else start)
    message = "the first line must name the edition of the language"
    top = int(tokens.source.text.startswith("\ufeff"))
    begins = tokens.read_text(0) in {"import", *load_keywords()["declaration"]}
    fix = (Edit(Span(tokens.source, top, top), f"qos {EDITION}\n\n"),) if begins else ()
    problems.add(
        Diagnostic("E0002", message, span, help=f"write `qos {EDITION}` as the first line", fix=fix)
    )
    return end
