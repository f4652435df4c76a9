"""A promise, and the trial that is held to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.graph import emulation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qospec.engine.experiment import Experiment, Node
    from qospec.engine.graph.promises import Conduct
    from qospec.engine.measure.observation import Observation
    from qospec.judge.readings import Readings


class Trial(NamedTuple):
    """A trial that has been run.

    Attributes:
        experiment: What was run, with its seed.
        observation: What was observed.
        nodes: The nodes that ran, and what each took and did; what only splits may be part of what
            follows it.
        readings: The metrics.
    """

    experiment: Experiment
    observation: Observation
    nodes: Sequence[tuple[Node, Conduct]]
    readings: Readings

    def run_again(self, *, chunk: int | None = None, by_events: bool = False) -> Observation:
        """Return what is observed if the same is run once more."""
        return emulation.run(self.experiment, chunk=chunk, by_events=by_events)


class Promise(NamedTuple):
    """What every device promises.

    Attributes:
        name: Its name.
        summary: What it says, in words.
        source: The standard that says so, or where it follows from.
        breaches: Yields in words how a trial breaks it.
        runs_again: Whether the trial, or a part of it, is run again for it, which takes as long.
    """

    name: str
    summary: str
    source: str
    breaches: Callable[[Trial], Iterator[str]]
    runs_again: bool = False


class BrokenPromise(Exception):  # noqa: N818 -- its name is part of what users read
    """A device broke a promise that every device makes."""

    def __init__(self, name: str, breach: str) -> None:
        super().__init__(f"{name}: {breach}")


def hold(trial: Trial, promises: tuple[Promise, ...]) -> None:
    """Raise BrokenPromise for the first promise that a trial breaks."""
    for promise in promises:
        for breach in promise.breaches(trial):
            raise BrokenPromise(promise.name, breach)
