"""Keys: texts of hexadecimal digits, or the names of files that hold them.

No message shows a text that is meant as a key, nor what a file holds.
"""

from __future__ import annotations

import os
import re
import string
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import make_error
from qospec.check.evaluate.values import Text, Value
from qospec.check.modules import files
from qospec.secret import BETWEEN, WITHHELD, Secret, redact

if TYPE_CHECKING:
    from qospec.source import Span

IN_FILE = "file:"
"""Before the name of a file, relative to the one that names it."""
NAMED_FILE = re.compile(rf"""(["']){IN_FILE}([^"'\n]*)\1""")
"""Such a name in a text, between its quotation marks."""
LONGEST_FILE_BYTES = 4_096
"""No key is near as long."""


def read_key(value: Value, name: str, span: Span) -> Secret:
    """Return the key of a field; raises CheckError."""
    if not isinstance(value, Text):
        example = f'`{name} = "{IN_FILE}tunnel.key"`'
        raise make_error(
            "E0204",
            f"`{name}` is a key, not {value.what}",
            span,
            help=f"write a text of hexadecimal digits, or name its file: {example}",
        )
    if value.text.startswith(IN_FILE):
        return _read_from_file(value.text.removeprefix(IN_FILE), value.home, name, span)
    if value.written is not None:
        value.written.hide()
    return _read_digits(
        value.text, f"`{name}`", span, f'; of a file, write `{name} = "{IN_FILE}…"`'
    )


def move_keys(text: str, home: Path, folder: Path) -> str:
    """Return a text of the folder `home` as one of `folder`: it names the same files of keys."""

    def name_file(found: re.Match[str]) -> str:
        file = PurePath(os.path.relpath(home / found[2], folder)).as_posix()
        return f"{found[1]}{IN_FILE}{file}{found[1]}"

    return NAMED_FILE.sub(name_file, text)


def _read_from_file(file: str, home: str, name: str, span: Span) -> Secret:
    """Return the key in a file that is named in another one, `home`."""
    shown = redact(f'"{file}"')[1:-1]  # a key may stand where its file is meant
    what = f"the file `{shown}` of `{name}`"
    with files.explain_unread(what, span):
        text = _read_content(files.find_named(file, home, what, span))
    return _read_digits(text, what, span).with_file(shown)


def _read_content(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(LONGEST_FILE_BYTES).decode("ascii", "replace")


def _read_digits(text: str, what: str, span: Span, more: str = "") -> Secret:
    if text and not text.strip(WITHHELD):
        return Secret(None)
    digits = BETWEEN.sub("", text).removeprefix("0x").removeprefix("0X")
    if not set(digits) <= set(string.hexdigits):
        note = "there are other characters among them"
    elif len(digits) % 2:
        note = "their number is odd"
    else:
        return Secret(bytes.fromhex(digits))
    raise make_error(
        "E0214",
        f"{what} is not a key in hexadecimal digits",
        span,
        note=note,
        help=f"write two digits for each byte, with or without spaces, `:` or `-`{more}",
    )
