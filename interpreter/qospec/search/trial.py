"""What a search asks for, and what it is told of a trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple, dataclass

if TYPE_CHECKING:
    from fractions import Fraction


class Request(NamedTuple):
    """A trial that a search needs next.

    Attributes:
        load: In base units of the searched variable.
        number: Which trial of this length at this load, from 1. With the load it determines what is
            drawn.
        length_ps: How long it measures; None if that depends on the load.
    """

    load: Fraction
    number: int
    length_ps: int | None


@dataclass(frozen=True)
class Trial:
    """The result of a trial. It may not send nothing, nor lose more than it sends: ValueError.

    Attributes:
        load: In base units of the searched variable.
        number: Which trial of this length at this load, from 1.
        length_ps: How long it measured.
        sent: The number of items that were sent.
        lost: How many of these were lost; what was not sent is not lost.
        drawn: Whether anything in it was drawn at random. If not, all trials at this load are
            equal, and one is enough.
        missed: Names of the goals whose condition it does not meet.
    """

    load: Fraction
    number: int
    length_ps: int
    sent: int
    lost: int
    drawn: bool = True
    missed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not 0 <= self.lost <= self.sent or not self.sent:
            raise ValueError(f"{self.lost} of {self.sent} items are lost")
