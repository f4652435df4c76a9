"""A scheduler with others at its inputs, as one."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.calculus.guarantee import Share
    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.policy import Policy
    from qospec.engine.scheduler.scheduler import Competitor


@dataclass(frozen=True)
class Combined(Scheduler):
    """A scheduler with others at its inputs, as one: its inputs are the queues, level by level.

    Attributes:
        outer: The one that serves the line.
        inner: Per input of that, the scheduler which feeds it, if one does.
    """

    outer: Scheduler
    inner: tuple[Scheduler | None, ...]

    def __post_init__(self) -> None:
        if len(self.inner) != len(self.outer.inputs):
            raise ValueError("expected one entry per input of the outer scheduler")

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return those of the queues: `rest.af` for input `af` of the one at `rest`."""
        found: list[str] = []
        for name, inner in zip(self.outer.inputs, self.inner, strict=True):
            found += [name] if inner is None else [f"{name}.{queue}" for queue in inner.inputs]
        return tuple(found)

    @property
    def policy(self) -> Policy:  # type: ignore[override]
        """Return the policy of the one that serves the line."""
        return self.outer.policy

    @property
    def at_line(self) -> Scheduler:
        """Return the one that serves the line."""
        return self.outer

    @property
    def branches(self) -> tuple[Scheduler | None, ...]:
        """Return the scheduler at each input of the one that serves the line."""
        return self.inner

    def bound_share(self, number: int, inputs: Sequence[Competitor | None], clock: Clock) -> Share:
        """Return that of a first input which others only finish an item before; else none.

        None is known below one that pauses either.
        """
        first, *_ = self.inner
        in_turn = self.outer.policy.pauses or not self.outer.passes_over
        if number or first is None or len(first.inputs) > 1 or in_turn:
            return super().bound_share(number, inputs, clock)
        others = [competitor.longest_ps for competitor in inputs[1:] if competitor is not None]
        return first.bound_share_behind(max(others, default=Fraction(0)), clock)

    def bound_share_behind(self, longest_ps: Fraction, clock: Clock) -> Share:
        """Return that of the scheduler at its only input; none below one that pauses."""
        (below,) = self.inner
        if below is None or self.outer.policy.pauses:
            return super().bound_share(0, (), clock)
        return below.bound_share_behind(longest_ps, clock)

    def build_fields(self, clock: Clock) -> Mapping[int, int | tuple[int, ...]]:
        """Return the fields of the one that serves the line."""
        return self.outer.build_fields(clock)
