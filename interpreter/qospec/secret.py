"""Secrets, which show themselves only when asked for by name, and texts without keys."""

from __future__ import annotations

import re
import string
from typing import Any

WITHHELD = "*"
"""Stands for each character of a key where a text is shown or recorded."""
IN_QUOTES = "a key is a text: write it in quotation marks"
"""The remedy for one that is written without."""
_SHORTEST = 16
"""Of so many digits on, a text looks like a key."""
_TYPED = 16
"""One of so many characters may be mistyped."""
BETWEEN = re.compile(r"[\s:-]")
"""What may stand between digits."""
_ADDRESS = re.compile(r"(?=.*::|(?:[^:]*:){7}[^:]*$)[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{0,4}){2,7}")
"""Of IPv6: eight groups, or fewer with `::` for the others."""
_FULL = re.compile(r"[0-9A-Fa-f]{4}(?::[0-9A-Fa-f]{4}){7}")
"""An address with all its digits, which may as well be a key of 16 bytes."""
_OF_ADDRESS = re.compile(
    r"""address["']?\s*(?:[=!]?=|:|\bin\b)\s*\[?\s*(?:["'][^"'\n]*["']\s*,\s*)*["']{1,2}$"""
)
"""What is before the value of an address."""
_KEYS = re.compile(
    # what follows the name of such a field, unless it is the name of a file: a text of the
    # language in one of YAML, a text, or bare digits, as of a text without an end
    r"(?<=key)\s*[=:]\s*(?:"
    r"""'"(?!file:)(?P<nested>[^"'\n]*)"'|"'(?!file:)(?P<inner>[^"'\n]*)'\""""
    r"""|"(?!'?file:)(?P<double>[^"\n]*)"|'(?!"|file:)(?P<single>[^'\n]*)'"""
    r"""|["']?(?P<bare>(?:0[xX])?[0-9A-Fa-f](?:[ \t:_-]{0,3}[0-9A-Fa-f]){15,}\b))"""
    # in quotes, wherever they are, what may be hexadecimal digits; the text may lack its end. A
    # part of them is never tried, or a long line without an end would be read anew for each.
    r"""|(?<=["'])(?P<digits>(?>[0-9A-Za-z](?:[ \t:_-]*[0-9A-Za-z])+))(?=["']|[^"'\n]*$)""",
    re.MULTILINE,
)
_WORD = re.compile("[0-9A-Za-z]+")
_LEAST_WORD = 4
"""So many characters of a key are withheld from a message that has them as a word."""
_LEAST_PART = 8
"""So many are, wherever they stand in a key."""
_BARE_KEY = re.compile(
    r"\b(?:(?:0[xX])?[0-9A-Fa-f]{32,}|[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){15,})\b"
)
"""As long as the shortest key of AES; numbers of so many digits are not written."""


class Secret:
    """A key as a specification gives it, with its salt behind it if its cipher has one.

    As text it is its length. A pickle holds the secret, as worker processes need it. One that is
    withheld has no bytes: a record has stars in place of it.
    """

    __slots__ = ("_secret", "file")

    def __init__(self, secret: bytes | None, file: str = "") -> None:
        """Keep a secret; None: it is withheld. `file` is the name of that which holds it."""
        self._secret = None if secret is None else bytes(secret)
        self.file = file

    def with_file(self, file: str) -> Secret:
        """Return the same secret of a file."""
        return Secret(self._secret, file)

    @property
    def is_withheld(self) -> bool:
        """Return whether another one is to be drawn in its place."""
        return self._secret is None

    @property
    def length(self) -> int:
        """Return its length in bytes; 0 if it is withheld."""
        return len(self._secret or b"")

    def reveal(self) -> bytes:
        """Return the secret."""
        return self._secret or b""

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {self.length} bytes"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret) or self.is_withheld != other.is_withheld:
            return False
        import hmac

        return hmac.compare_digest(self.reveal(), other.reveal())

    def __hash__(self) -> int:
        return hash((Secret, self._secret))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._secret, self.file)


def redact(text: str) -> str:
    """Return a text of the same length with stars in place of all that looks like a key."""
    return redact_comment(_KEYS.sub(_with_stars, text))


def redact_comment(text: str) -> str:
    """Return a text, as of a comment, with stars for what is long enough to be a key."""
    return _BARE_KEY.sub(lambda digits: WITHHELD * len(digits[0]), text)


def redact_words(text: str, withheld: str) -> str:
    """Return a message with stars in place of the words that it has of a text to withhold."""
    words = {word for word in _WORD.findall(withheld) if len(word) >= _LEAST_WORD}

    def mask(word: re.Match[str]) -> str:
        is_part = len(word[0]) >= _LEAST_PART and any(word[0] in secret for secret in words)
        is_more = any(secret in word[0] for secret in words)
        return WITHHELD * len(word[0]) if is_part or is_more else word[0]

    return _WORD.sub(mask, text) if words else text


def _with_stars(found: re.Match[str]) -> str:
    group = found.lastgroup or ""
    if group == "digits":
        line = found.string[found.string.rfind("\n", 0, found.start()) + 1 : found.start()]
        if not _looks_like_key(found[0], is_address=_OF_ADDRESS.search(line) is not None):
            return found[0]
    start, end = (found.start(group) - found.start(), found.end(group) - found.start())
    return found[0][:start] + WITHHELD * (end - start) + found[0][end:]


def _looks_like_key(text: str, *, is_address: bool) -> bool:
    """Return whether a text has the digits of a key, of which a few may be mistyped.

    An address with all its digits has them, too, so its place tells.
    """
    if _ADDRESS.fullmatch(text) and (is_address or not _FULL.fullmatch(text)):
        return False
    digits = BETWEEN.sub("", text.removeprefix("0x").removeprefix("0X")).replace("_", "")
    wrong = sum(digit not in string.hexdigits for digit in digits)
    is_long = len(digits) >= _SHORTEST
    return is_long and wrong * _TYPED <= len(digits)
