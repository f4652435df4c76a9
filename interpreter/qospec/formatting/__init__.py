"""From a `.qos` file to the same file in the one layout; `spec/1-text.md` says what it is.

`formatted` gives the text of a whole file. Whoever writes a file in another form reads it with
`read`, and asks the `Written` how a node or a stretch of tokens looks on one line (`stretch`,
`text`, `may_be_one_line`), and its `trivia` for the comments and blank lines at a token.

Layout follows from structure and width alone. Of the old lines only those left blank stay.
"""

from __future__ import annotations

from dataclasses import replace

from qospec.diagnostics import Problems
from qospec.formatting.equivalence import same
from qospec.formatting.layout import Layout
from qospec.formatting.printer import Pen
from qospec.formatting.source import Written, read, trivia_of
from qospec.source import Source
from qospec.syntax.limits import too_long
from qospec.syntax.parser import parse
from qospec.syntax.tokens import tokenize

__all__ = ["Damaged", "Written", "formatted", "read"]


class Damaged(Exception):  # noqa: N818 -- a statement, no error of ours
    """Formatting would have changed what a file says, which is a mistake of ours."""


def formatted(source: Source, problems: Problems) -> str | None:
    """Return the text of a file in the one layout; None where a mistake is told.

    Raises:
        Damaged: If the result would say something else than the file.
    """
    written = read(source, problems)
    if written is None:
        return None
    pen = Pen(written)
    Layout(written, pen).file()
    result = Source(source.name, pen.finished())
    beyond = too_long(result)
    if beyond is not None:
        problems.add(replace(beyond, message=f"laid out, {beyond.message}"))
        return None
    _check(written, result)
    return result.text


def _check(written: Written, result: Source) -> None:
    """Raise Damaged if a result says something else than what it was made from."""
    tree = parse(result, Problems())
    comments = trivia_of(tokenize(result, Problems())).comments()
    if not same(written.tree, tree) or written.trivia.comments() != comments:
        raise Damaged(f"{result.name}: formatting would change what this file says")
