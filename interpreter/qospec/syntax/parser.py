"""From the text of a `.qos` file to its tree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.diagnostics import MOST, Diagnostic, Edit
from qospec.source import Span
from qospec.syntax.automaton import Machine
from qospec.syntax.builder import Tree
from qospec.syntax.grammar import END, keywords
from qospec.syntax.lexical_errors import shortened, slip_of
from qospec.syntax.limits import too_deep, too_long
from qospec.syntax.tokens import tokens_of

if TYPE_CHECKING:
    from qospec.diagnostics import Problems
    from qospec.source import Source
    from qospec.syntax import ast
    from qospec.syntax.tokens import Tokens

EDITION = "1"


def parse(source: Source, problems: Problems) -> ast.File | None:
    """Return the tree of a file, and tell what is wrong with its text.

    What cannot be read is left out of the tree; its names are in `unread`. Returns None where so
    much is wrong, or blocks fit together so badly, that checking what is left would only mislead.
    """
    beyond = too_long(source) or _without_lines(source)
    if beyond is None:
        tokens = tokens_of(source, problems)
        if len(tokens.mistaken) > MOST:
            return None
        beyond = too_deep(tokens)
    if beyond is not None:
        problems.add(beyond)
        return None
    machine = Machine(tokens, Tree(tokens, problems).builders)
    at = machine.run(_edition(machine, tokens, problems))
    file = machine.file if at < 0 else _mended(machine, tokens, problems, at)
    meant = tokens.look_alikes()
    return replace(file, unread=file.unread | meant) if file is not None and meant else file


def _without_lines(source: Source) -> Diagnostic | None:
    """Return the mistake of a text whose lines all end in a way that none does."""
    first = source.text.find("\r")
    if first < 0 or "\n" in source.text:
        return None
    slip = slip_of("STRAY", "\r")
    return Diagnostic(slip.code, slip.message, Span(source, first, first + 1), help=slip.help)


def _mended(machine: Machine, tokens: Tokens, problems: Problems, at: int) -> ast.File | None:
    """Read on from a token that does not fit; return what can be read."""
    from qospec.syntax.recovery.recover import Recovery

    recovery = Recovery(machine, tokens, problems)
    while at >= 0:
        at = recovery.go_on(at)
        if at >= 0:
            at = machine.run(at)
    if machine.file is None or recovery.broken:
        return None
    return replace(machine.file, unread=frozenset(recovery.unread))


def _edition(machine: Machine, tokens: Tokens, problems: Problems) -> int:
    """Read the first line, whatever it says; return the token behind it."""
    behind = 2 if tokens.kinds[0] == "QOS" and tokens.kinds[1] in {"INT", "FLOAT"} else 0
    if not behind:
        behind = _without_edition(tokens, problems)
    elif tokens.text(1) != EDITION:
        message = f"edition {shortened(tokens.text(1))} of the language is not known"
        problems.add(Diagnostic("E0002", message, tokens.span(1), help=f"write `qos {EDITION}`"))
    machine.feed("QOS", "qos", 0)
    machine.feed("INT", EDITION, min(1, behind))
    machine.settle("LET", behind)
    return behind


def _without_edition(tokens: Tokens, problems: Problems) -> int:
    """Tell that the first line is missing or misspelt; return the token behind it."""
    kinds, end = tokens.kinds, 0
    if kinds[0] == "QOS" or (kinds[0] == "NAME" and kinds[1] in {"INT", "FLOAT", "QUANTITY"}):
        end = 1
        while not tokens.opens_line(end) and kinds[end] != END:
            end += 1
    start = tokens.starts[0]
    span = Span(tokens.source, start, tokens.ends[end - 1] if end else start)
    message = "the first line must name the edition of the language"
    top = int(tokens.source.text.startswith("\ufeff"))
    begins = tokens.text(0) in {"import", *keywords()["declaration"]}
    fix = (Edit(Span(tokens.source, top, top), f"qos {EDITION}\n\n"),) if begins else ()
    problems.add(
        Diagnostic("E0002", message, span, help=f"write `qos {EDITION}` as the first line", fix=fix)
    )
    return end
