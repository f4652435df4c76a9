"""Invisible characters of a text, and what is shown instead of them.

An invisible character can make a text look like another: it can move the cursor back, reverse the
direction of what follows, or make two names look alike.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

INSTEAD = "\ufffd"
"""Shown instead of an invisible character."""

_PLAIN = "\t\n"
_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""Unicode's categories of controls, marks of format, private use, half pairs and ends of lines."""

_IGNORED = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\uffa0\ufff0-\ufff8\ufdd0-\ufdef"
    "\U000e0000-\U000e0fff]"
)
"""Letters and marks that Unicode asks to show as nothing (Default_Ignorable_Code_Point), but for
those that choose between two looks of an emoji; and characters that Unicode says are none. What is
merely not assigned yet may be seen one day, and is taken on any Python alike."""

_NONE = 0xFFFE
"""The last two of each 65,536 characters are none; this is the first of a pair."""


def is_hidden(character: str) -> bool:
    """Return whether a character is invisible, other than a tab or a line end."""
    if character.isprintable() and not _IGNORED.match(character):
        return False
    import unicodedata

    return character not in _PLAIN and (
        unicodedata.category(character) in _HIDDEN
        or ord(character) & _NONE == _NONE
        or _IGNORED.match(character) is not None
    )


def hidden_in(text: str) -> Iterator[int]:
    """Yield where the hidden characters of a file are.

    A carriage return is hidden unless it belongs to the end of a line, a byte order mark unless the
    text begins with it.
    """
    found = "".join(each for each in set(text) if is_hidden(each))
    if found:
        pattern = f"(?!\r\n|(?<![\\s\\S])\ufeff)[{re.escape(found)}]"
        yield from (each.start() for each in re.finditer(pattern, text))


def visible(text: str, most: int | None = None) -> str:
    """Return a text on one line, all of it visible, without its middle if it is too long."""
    if most is not None and len(text) > most:
        text = f"{text[: most // 2]} … {text[-most // 2 :]}"
    if text.isprintable() and not _IGNORED.search(text):
        return text
    return "".join(
        " " if each in "\n\r\t" else INSTEAD if is_hidden(each) else each for each in text
    )


def visible_lines(text: str) -> str:
    """Return a text with its lines, all of it visible."""
    found = [*hidden_in(text)]
    if not found:
        return text
    parts = [text[start + 1 : end] for start, end in pairwise([-1, *found, len(text)])]
    return INSTEAD.join(parts)
