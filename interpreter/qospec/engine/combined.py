"""A scheduler with others at its inputs, as one element.

An inner scheduler is asked when the line is free, and never runs ahead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.scheduling import Scheduler

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.engine.clock import Clock
    from qospec.engine.policy import Policy


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
            raise ValueError("as many as the outer scheduler has inputs are needed")

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return those of the queues: `rest.af` for input `af` of the one at `rest`."""
        found: list[str] = []
        for name, inner in zip(self.outer.inputs, self.inner, strict=True):
            found += [name] if inner is None else [f"{name}.{each}" for each in inner.inputs]
        return tuple(found)

    @property
    def policy(self) -> Policy:  # type: ignore[override]
        """Return the policy of the one that serves the line."""
        return self.outer.policy

    @property
    def branches(self) -> tuple[Scheduler | None, ...]:
        """Return the scheduler at each input of the one that serves the line."""
        return self.inner

    def fields(self, clock: Clock) -> Mapping[str, int | tuple[int, ...]]:
        """Return the fields of the one that serves the line."""
        return self.outer.fields(clock)
