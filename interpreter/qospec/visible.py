"""Invisible and blank characters of a text, and what is shown instead of them.

Such a character can make a text look like another: it can move the cursor back, reverse the
direction of what follows, choose another look for what precedes, or make two names look alike. UTS
#39 (section 3.1) and UAX #31 (section 2.3) leave these characters out of identifiers for that.
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

_IGNORED = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""What Unicode asks to show as nothing. Source: Default_Ignorable_Code_Point in Unicode 16.0,
DerivedCoreProperties.txt. What is merely not assigned elsewhere may be seen one day, and is taken
on any Python alike."""
_NO_CHARACTERS = "\ufdd0-\ufdef"
"""Characters that Unicode says are none, besides the last two of each 65,536."""
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""Blanks besides the space: the others of Unicode's category Zs."""
_BLANK = "\u2800\U00013441\U00013442\U00016fe4\U0001d159"
"""Signs and letters without ink: an empty pattern of Braille, blanks of hieroglyphs, a filler of
Khitan, a note without a head. Source: their charts in the Unicode Standard, 16.0."""
_UNSEEN = re.compile(f"[{_IGNORED}{_NO_CHARACTERS}{_SPACES}{_BLANK}]")

NO_BREAK = "\u00a0\u202f"
"""Blanks that do not end a line, which reports write between digits: they are shown as they are."""

_NONE = 0xFFFE
"""The last two of each 65,536 characters are none; this is the first of a pair."""


def is_hidden(character: str) -> bool:
    """Return whether a character is invisible or blank, other than a space, a tab or a line end."""
    if character.isprintable() and not _UNSEEN.match(character):
        return False
    import unicodedata

    return character not in _PLAIN and (
        unicodedata.category(character) in _HIDDEN
        or ord(character) & _NONE == _NONE
        or _UNSEEN.match(character) is not None
    )


def find_hidden(text: str, shown: str = "") -> Iterator[int]:
    """Yield where the hidden characters of a file are, but for those that are `shown`.

    A carriage return is hidden unless it belongs to the end of a line, a byte order mark unless the
    text begins with it.
    """
    found = "".join(character for character in set(text) - set(shown) if is_hidden(character))
    if found:
        pattern = f"(?!\r\n|(?<![\\s\\S])\ufeff)[{re.escape(found)}]"
        yield from (match.start() for match in re.finditer(pattern, text))


def make_visible(text: str, most: int | None = None) -> str:
    """Return a text on one line, all of it visible, without its middle if it is too long."""
    if most is not None and len(text) > most:
        text = f"{text[: most // 2]} … {text[-most // 2 :]}"
    if text.isprintable() and not _UNSEEN.search(text):
        return text
    return "".join(
        " "
        if character in "\n\r\t"
        else INSTEAD
        if is_hidden(character) and character not in NO_BREAK
        else character
        for character in text
    )


def make_lines_visible(text: str) -> str:
    """Return a text with its lines, all of it visible."""
    found = [*find_hidden(text, NO_BREAK)]
    if not found:
        return text
    parts = [text[start + 1 : end] for start, end in pairwise([-1, *found, len(text)])]
    return INSTEAD.join(parts)
