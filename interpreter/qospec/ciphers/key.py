"""Keys: secrets that show themselves only when asked for by name."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class KeyLengthError(ValueError):
    """A key has a length that its cipher does not take. It names lengths, never the key."""


class Key:
    """A secret, with its salt behind it if its cipher has one.

    As text it is its length. A pickle holds the secret, as worker processes need it; no error of
    this package holds a key.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        self._secret = bytes(secret)

    @classmethod
    def drawn(cls, length: int, path: Sequence[str]) -> Key:
        """Return the key of that many bytes that belongs to a name, such as (seed, case, element).

        The same name gives the same key, and another length an unrelated one.
        """
        # The names are joined as those of random streams are, which the prefix keeps apart.
        name = "\x1f".join(("key", *path)).encode()
        return cls(hashlib.blake2b(name, digest_size=length).digest() if length else b"")

    @property
    def length(self) -> int:
        """Return its length in bytes."""
        return len(self._secret)

    def revealed(self) -> bytes:
        """Return the secret."""
        return self._secret

    def check(self, name: str, *lengths: int, salt_bytes: int = 0) -> None:
        """Check that a cipher of this name takes it.

        Raises:
            KeyLengthError: It has none of these lengths; the salt is counted in them.
        """
        if self.length in lengths:
            return
        taken = " or ".join(map(str, lengths))
        salt = f" (with a salt of {salt_bytes} at its end)" if salt_bytes else ""
        raise KeyLengthError(f"{name} takes a key of {taken} bytes{salt}, not of {self.length}")

    def __repr__(self) -> str:
        return f"Key of {self.length} bytes"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and hmac.compare_digest(self._secret, other._secret)

    def __hash__(self) -> int:
        return hash((Key, self._secret))

    def __reduce__(self) -> tuple[type[Key], tuple[bytes]]:
        return Key, (self._secret,)
