"""Promises about running the same again: equal results, however time is cut and by each driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.promises.promise import Promise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.measure.observation import Observation
    from qospec.promises.promise import Trial

FEW = 60
"""About so many items are in a window of a trial whose time is cut finely."""
COUNTS = ("planned", "sent", "carried", "consumed", "delays")
"""Of an observation: arrays by connection."""
OTHERS = ("ledger", "occupancies", "busy_ps")


def _run_another_time(trial: Trial) -> Iterator[str]:
    yield from _list_differences(trial.observation, trial.run_again(), "run a second time")


def _run_finely_cut(trial: Trial) -> Iterator[str]:
    again = trial.run_again(chunk=FEW)
    yield from _list_differences(trial.observation, again, f"with {FEW} items at a time")


def _run_event_by_event(trial: Trial) -> Iterator[str]:
    if any(node.element.build_transition is None for node in trial.experiment.nodes):
        return
    yield from _list_differences(
        trial.observation, trial.run_again(by_events=True), "event by event"
    )


def _list_differences(one: Observation, other: Observation, how: str) -> Iterator[str]:
    """Yield in words what of a trial depends on how it is run."""
    for name in COUNTS:
        if not np.array_equal(getattr(one, name), getattr(other, name)):
            yield f"{name} differ, {how}"
    for name in OTHERS:
        if getattr(one, name) != getattr(other, name):
            yield f"{name} differs, {how}"
    same = one.losses.keys() == other.losses.keys() and all(
        np.array_equal(counts, other.losses[name]) for name, counts in one.losses.items()
    )
    if not same:
        yield f"losses differ, {how}"


PROMISES = (
    Promise(
        "purity",
        "the same trial gives the same again",
        "the contract of elements, `engine.element`",
        _run_another_time,
        runs_again=True,
    ),
    Promise(
        "cuts",
        "results do not depend on how many items are computed at a time",
        "the contract of elements, `engine.element`",
        _run_finely_cut,
        runs_again=True,
    ),
    Promise(
        "drivers",
        "batches and single events give the same",
        "the contract of elements, `engine.element`",
        _run_event_by_event,
        runs_again=True,
    ),
)
