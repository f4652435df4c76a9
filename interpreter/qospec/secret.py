"""Secrets, which show themselves only when asked for by name, and texts without keys."""

from __future__ import annotations

import hmac
import re
from typing import Any

WITHHELD = "*"
"""Stands for each character of a key where a text is shown or recorded."""
_DIGITS = r"(?:0[xX])?[0-9A-Fa-f](?:[ \t:_-]?[0-9A-Fa-f]){15,}"
"""What may be a key, however its digits are grouped."""
_KEYS = re.compile(
    # what follows the name of such a field, in quotes or not, unless it is the name of a file
    r"""(?<=key)\s*[=:]\s*"""
    r"""(?:'?(?P<quote>["'])(?!file:)(?P<field>(?:(?!(?P=quote))[^\n])+)(?=(?P=quote))"""
    r"""|(?P<bare>[0-9A-Fa-f]{16,}\b))"""
    # so many hexadecimal digits in quotes, wherever they are, and in comments
    rf"""|(?<=["'])\s*(?P<digits>{_DIGITS})(?=\s*["'])"""
    rf"""|#[^\n]*?\b(?P<comment>{_DIGITS})\b"""
)


class Secret:
    """A key as a specification gives it, with its salt behind it if its cipher has one.

    As text it is its length. A pickle holds the secret, as worker processes need it. One that is
    withheld has no bytes: a record has stars in place of it.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes | None) -> None:
        """Keep a secret; None: it is withheld."""
        self._secret = None if secret is None else bytes(secret)

    @property
    def is_withheld(self) -> bool:
        """Return whether another one is to be drawn in its place."""
        return self._secret is None

    @property
    def length(self) -> int:
        """Return its length in bytes; 0 if it is withheld."""
        return len(self._secret or b"")

    def revealed(self) -> bytes:
        """Return the secret."""
        return self._secret or b""

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {self.length} bytes"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret) or self.is_withheld != other.is_withheld:
            return False
        return hmac.compare_digest(self.revealed(), other.revealed())

    def __hash__(self) -> int:
        return hash((Secret, self._secret))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._secret,)


def redacted(text: str) -> str:
    """Return a text of the same length with stars in place of all that looks like a key."""
    if "key" not in text and not _KEYS.search(text):
        return text
    return _KEYS.sub(_with_stars, text)


def _with_stars(found: re.Match[str]) -> str:
    groups = ("field", "bare", "digits", "comment")
    (group,) = (name for name in groups if found[name] is not None)
    start, end = (found.start(group) - found.start(), found.end(group) - found.start())
    return found[0][:start] + WITHHELD * (end - start) + found[0][end:]
