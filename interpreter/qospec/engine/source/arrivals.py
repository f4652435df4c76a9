"""What every arrival process is: when the connections of a flow have cells or packets ready."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from fractions import Fraction
    from typing import Self

    from qospec.engine.arrays import Indices, Times
    from qospec.engine.random import Draws


class Arrivals(ABC):
    """A process by which the like connections of one flow have items ready.

    A frozen dataclass of its parameters. `connection` of what it emits counts from 0 within the
    flow.
    """

    rate_field: ClassVar[str] = ""
    """The field that follows from a mean rate: the checker fills it where packets give one.

    "" of a process that cannot be made for a rate.
    """

    @classmethod
    def at_rate(cls, rate: Fraction, **others: Any) -> Self:
        """Return the process of a mean rate per connection, with these other fields.

        Its `rate_field` is the rate itself, unless a class says otherwise.
        """
        return cls(**{cls.rate_field: rate}, **others)

    @abstractmethod
    def start(self, connections: int, phases: str, draws: Draws) -> Any:
        """Return its state at the beginning of a trial."""

    @abstractmethod
    def emit(self, state: Any, until_ps: int) -> tuple[Times, Indices]:
        """Return all items ready before `until_ps` that were not yet given, in order of time."""

    @abstractmethod
    def mean_cell_rate(self, connections: int) -> Fraction:
        """Return items/s of all connections together, on average: for the planner's loads."""

    @abstractmethod
    def most_cells(self, connections: int, length_ps: int) -> int | None:
        """Return how many items they have ready within a time, at most; None if that is random.

        For the planner's limit on the size of a trial.
        """
