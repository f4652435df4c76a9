"""The base of arrival processes: when the connections of a flow have cells or packets ready."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from qospec.calculus.curve import UNBOUNDED
from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction
    from typing import Self

    from qospec.calculus.curve import Curve
    from qospec.engine.arrays import Indices, Times, Whole
    from qospec.engine.random import Draws


class Told(NamedTuple):
    """What a source tells of itself: a quantity of `engine.measure.samples` at times, in order."""

    quantity: str
    at_ps: Times
    values: Whole


class Arrivals(ABC):
    """A process that generates the items of the identical connections of one flow.

    A frozen dataclass of its parameters. The connections that it emits are numbered from 0 within
    the flow.
    """

    rate_field: ClassVar[str] = ""
    """The field that a mean rate determines: the checker fills it where packets give a rate.

    "" if the process cannot be made for a rate.
    """
    tells: ClassVar[str] = ""
    """What it tells of, beside the items that it has ready: "calls"; "" for nothing. For the
    checker, which offers the metrics that are `told_by` this."""

    @classmethod
    def from_rate(cls, rate: Fraction, **others: object) -> Self:
        """Return the process of a mean rate per connection, with these other fields.

        By default its `rate_field` is the rate itself.
        """
        return cls(**{cls.rate_field: rate}, **others)

    @abstractmethod
    def start(self, connections: int, phases: str, draws: Draws) -> Any:
        """Return its state at the beginning of a trial."""

    @abstractmethod
    def emit(self, state: Any, until_ps: int) -> tuple[Times, Indices]:
        """Return all items ready before `until_ps` that were not yet emitted, in order of time."""

    def tell(self, state: Any) -> Iterator[Told]:  # noqa: ARG002
        """Yield what it tells of what it did in the last `emit`."""
        return iter(())

    @abstractmethod
    def compute_mean_rate(self, connections: int) -> Fraction:
        """Return items/s of all connections together, on average: for the planner's loads."""

    def compute_first_rate(self, connections: int) -> Fraction:
        """Return items/s that its first line must carry: nothing there tells it to slow down."""
        return self.compute_mean_rate(connections)

    def list_rates(self, connections: int) -> tuple[tuple[int, Fraction], ...]:
        """Return the mean items/s of all connections, each from when on, in ps since it began."""
        return ((0, self.compute_mean_rate(connections)),)

    def compute_highest_rate(self, connections: int) -> Fraction:
        """Return items/s of all connections that windows of time are made for."""
        return self.compute_mean_rate(connections)

    def bound_items(self, connections: int, phases: str) -> Curve:  # noqa: ARG002
        """Return a bound of the items that all connections have ready in any closed interval.

        By default there is none.
        """
        return UNBOUNDED

    @abstractmethod
    def count_most_items(self, connections: int, length_ps: int) -> int | None:
        """Return the most items that they have ready within a time; None if that is random.

        For the planner's limit on the size of a trial.
        """

    def count_offered(self, length_ps: int) -> int:  # noqa: ARG002
        """Return how many calls are offered within a time, by their mean: each costs, too."""
        return 0
