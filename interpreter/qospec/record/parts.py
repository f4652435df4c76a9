"""Parts of a run: which cases each has.

A case is in the part of its place in the plan, in turn, so that the cases of a sweep, which often
take longer and longer, spread over all parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.document import Document

    Thing = TypeVar("Thing")


class Part(NamedTuple):
    """One of several parts of a run, by its number from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def choose(self, things: Sequence[Thing]) -> list[Thing]:
        """Return which of the things of a plan are in this part."""
        return list(things[self.number - 1 :: self.of])

    def describe(self) -> Document:
        """Return the field `part` of a record."""
        return {"number": self.number, "of": self.of}


def read_part(frame: Document) -> Part | None:
    """Return the part that a record is of; None of a whole run's."""
    return Part(**frame["part"]) if "part" in frame else None
