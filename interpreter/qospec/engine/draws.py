"""Random numbers, each from a stream of its own that is named, not numbered.

A stream's key is a hash of the root seed and of the names of what draws from it, so another flow or
element never moves the numbers of this one. Philox counts; its bits are the same everywhere.
"""

from __future__ import annotations

import hashlib
from dataclasses import field
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True)
class Draws:
    """The streams below one name, such as (seed, case, repeat).

    Attributes:
        path: The name.
        asked: The names of the streams that were asked for, of all that are below the same seed.
    """

    path: tuple[str, ...]
    asked: set[bytes] = field(default_factory=set, compare=False)

    def below(self, *names: str) -> Draws:
        """Return the streams of something within."""
        return Draws((*self.path, *names), self.asked)

    def stream(self) -> Generator:
        """Return the stream of this name, at its beginning."""
        name = "\x1f".join(self.path).encode()
        self.asked.add(name)
        key = int.from_bytes(hashlib.blake2b(name, digest_size=16).digest(), "little")
        return np.random.Generator(np.random.Philox(key=key))
