"""Output: the only module that prints, so that no text can forge any.

What is printed may contain a file's name, text from a record or an error of the system: a control
character in it could move the cursor and forge a line.
"""

from __future__ import annotations

import io
import re
import sys
from itertools import chain
from typing import TYPE_CHECKING, Any

from qospec.version import VERSION
from qospec.visible import make_lines_visible, make_visible

if TYPE_CHECKING:
    import click

VERSION_LINE = f"qos, version {VERSION}"
"""What `qos --version` prints."""

WIDEST = 110
"""Longer lines are hard to read, however wide the terminal is."""

LONGEST = 5_000
"""Of a line: longer than any path."""

_COLOUR = re.compile("\x1b\\[(?:[01]|1;3[1-7]|3[1-7])m")
"""The escape sequences of our own colours, and of the reset."""


def find_width(*, err: bool = False, widest: int = WIDEST) -> int:
    """Return the most characters of a line of stdout, or of stderr."""
    if not (sys.stderr if err else sys.stdout).isatty():
        return widest
    import shutil

    return max(40, min(widest, shutil.get_terminal_size().columns))


def say(*lines: str, err: bool = False) -> None:
    """Print lines; each stays one line of limited length, whatever is in it."""
    _print("".join(f"{make_visible(line, LONGEST)}\n" for line in lines), err=err)


def say_version() -> int:
    """Print the version without click, whose import takes as long as all else of this; return 0."""
    sys.stdout.write(f"{VERSION_LINE}\n")  # which any stream can take
    sys.stdout.flush()
    return 0


def say_text(text: str, *, err: bool = False, end: str = "\n") -> None:
    """Print a text with its own lines and colours."""
    plain = map(make_lines_visible, _COLOUR.split(text))
    colours = [*_COLOUR.findall(text), end]
    _print("".join(chain.from_iterable(zip(plain, colours, strict=True))), err=err)


def say_json(document: Any) -> None:
    """Print a document for programs; what is not ASCII is escaped in it."""
    from qospec.document import write_json

    _print(write_json(document, in_ascii=True), err=False)


def show_progress(line: str, columns: int) -> None:
    """Overwrite the last line on stderr, which takes this many columns."""
    sys.stderr.write(f"\r{make_visible(line).ljust(columns)}{'' if line else chr(13)}")
    sys.stderr.flush()


def show_file(text: str) -> None:
    """Print the text of a file: in UTF-8, with its own line ends only."""
    import click

    click.echo(make_lines_visible(text).encode("utf-8"), nl=False)


def show_usage_error(error: click.ClickException) -> None:
    """Print click's message about wrong usage; `-o` is `--record` of what makes a record."""
    import click

    if isinstance(error, click.NoSuchOption) and error.option_name == "-o":
        known = error.ctx.command.params if error.ctx else ()
        if any("--record" in option.opts for option in known):
            instead = "there is no `-o`: `--record` names the folder in which a record is made"
            error = click.UsageError(instead, error.ctx)
    message = io.StringIO()
    error.show(message)
    say_text(message.getvalue(), err=True, end="")


def _print(text: str, *, err: bool) -> None:
    import click

    click.echo(text, nl=False, err=err)
