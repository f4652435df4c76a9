"""How anything is said: the only module that prints, so that no text can say what it does not.

What is printed may come from a file's name, a record of somebody else's or an error of the system:
a control character in it would move the cursor and forge a line.
"""

from __future__ import annotations

import io
import json
import re
import sys
from itertools import chain
from typing import Any

import click

from qospec.visible import visible, visible_lines

WIDEST = 110
"""Longer lines are hard to read, however wide the terminal is."""

LONGEST = 5_000
"""Of a line: longer than any path."""

_COLOUR = re.compile("\x1b\\[(?:[01]|1;3[1-7]|3[1-7])m")
"""What switches a colour of ours on, or all of them off."""


def width(*, err: bool = False, widest: int = WIDEST) -> int:
    """Return the most characters of a line of stdout, or of stderr."""
    if not (sys.stderr if err else sys.stdout).isatty():
        return widest
    import shutil

    return max(40, min(widest, shutil.get_terminal_size().columns))


def say(*lines: str, err: bool = False) -> None:
    """Print lines; each stays one line, and not an endless one, whatever is in it."""
    _print("".join(f"{visible(line, LONGEST)}\n" for line in lines), err=err)


def say_text(text: str, *, err: bool = False, end: str = "\n") -> None:
    """Print a text whose lines and colours its maker answers for."""
    plain = map(visible_lines, _COLOUR.split(text))
    colours = [*_COLOUR.findall(text), end]
    _print("".join(chain.from_iterable(zip(plain, colours, strict=True))), err=err)


def say_json(document: Any) -> None:
    """Print a document for programs; what is not ASCII is escaped in it."""
    _print(f"{json.dumps(document, indent=1)}\n", err=False)


def show_progress(line: str, columns: int) -> None:
    """Put a line over the last one on stderr, of which so many columns are to be cleared."""
    sys.stderr.write(f"\r{visible(line).ljust(columns)}{'' if line else chr(13)}")
    sys.stderr.flush()


def show_file(text: str) -> None:
    """Print a file that was made: in UTF-8, with no end of line but its own."""
    click.echo(visible_lines(text).encode("utf-8"), nl=False)


def show_misuse(error: click.ClickException) -> None:
    """Print what click says of how it was called."""
    said = io.StringIO()
    error.show(said)
    say_text(said.getvalue(), err=True, end="")


def _print(text: str, *, err: bool) -> None:
    click.echo(text, nl=False, err=err)
