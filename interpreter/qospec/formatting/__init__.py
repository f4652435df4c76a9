"""The formatter: from a `.qos` file to the same file in the one layout (`spec/1-text.md`).

`format_text` returns the text of a whole file. A writer of another form reads a file with `read`,
and asks the `ParsedSource` how a node or a range of tokens looks on one line (`find_token_range`,
`join_tokens`, `may_be_one_line`), and its `trivia` for the comments and blank lines at a token.

Layout depends on structure and width alone. Of the old lines only blank ones are kept.
"""

from __future__ import annotations

from dataclasses import replace

from qospec.diagnostics import Problems
from qospec.formatting.equivalence import is_equivalent
from qospec.formatting.layout import Layout
from qospec.formatting.printer import Printer
from qospec.formatting.source import ParsedSource, read, read_trivia
from qospec.source import Source
from qospec.syntax.limits import explain_too_long
from qospec.syntax.parser import parse
from qospec.syntax.tokens import tokenize

__all__ = ["MeaningChangedError", "ParsedSource", "format_text", "read"]


class MeaningChangedError(Exception):
    """Formatting would have changed what a file says: an internal error."""


def format_text(source: Source, problems: Problems) -> str | None:
    """Return the text of a file in the one layout; None if there are errors in it.

    Raises:
        MeaningChangedError: If the result would say something else than the file.
    """
    parsed = read(source, problems)
    if parsed is None:
        return None
    printer = Printer(parsed)
    Layout(parsed, printer).write_file()
    result = Source(source.name, printer.join_text())
    beyond = explain_too_long(result)
    if beyond is not None:
        problems.add(replace(beyond, message=f"formatted, {beyond.message}"))
        return None
    _check(parsed, result)
    return result.text


def _check(parsed: ParsedSource, result: Source) -> None:
    """Raise MeaningChangedError if a result says something else than what it was made from."""
    tree = parse(result, Problems())
    comments = read_trivia(tokenize(result, Problems())).list_comments()
    if not is_equivalent(parsed.tree, tree) or parsed.trivia.list_comments() != comments:
        raise MeaningChangedError(f"{result.name}: formatting would change what this file says")
