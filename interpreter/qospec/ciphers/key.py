"""Keys of ciphers: drawn by a name, and of the right length."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from qospec.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Sequence


class KeyLengthError(ValueError):
    """A key has a length that its cipher does not take. It names lengths, never the key."""


class Key(Secret):
    """A secret that a cipher takes; no error of this package holds one."""

    __slots__ = ()

    @classmethod
    def draw(cls, length: int, path: Sequence[str]) -> Key:
        """Return the key of that many bytes that belongs to a name, such as (seed, case, element).

        The same name gives the same key, and another length an unrelated one.
        """
        # The names are joined as those of random streams are, which the prefix keeps apart.
        name = "\x1f".join(("key", *path)).encode()
        return cls(hashlib.blake2b(name, digest_size=length).digest() if length else b"")

    @classmethod
    def derive(cls, secret: Secret, length: int, path: Sequence[str]) -> Key:
        """Return the key of that many bytes that follows from a secret for a name."""
        name = "\x1f".join(("key", *path)).encode()
        made = hashlib.blake2b(name, digest_size=length, key=secret.reveal())
        return cls(made.digest())

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
