"""Searches for tests: goals, devices that lose by a formula, and a search carried out on one."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random  # noqa: TID251 -- a device of a test, with its seed
from typing import NamedTuple

from qospec.catalogue.kinds import discover
from qospec.model.suite import Goal, GoalResult, Search
from qospec.search.method import begin, choose_next_trial
from qospec.search.progress import Progress
from qospec.search.trial import Request, Trial
from qospec.units import CELL_RATE, PS_PER_S

HALF, NONE = Fraction(1, 2), Fraction(0)
Device = Callable[[Request], Trial]


def goal(  # noqa: PLR0913 -- as many as a goal has
    loss: Fraction | float | str = 0,
    *,
    name: str = "ndr",
    trial_s: int | Fraction = 1,
    total_s: int | Fraction = 1,
    exceed: Fraction = NONE,
    width: Fraction | str = "1/200",
    absolute: bool = False,
    varies: bool = False,
) -> Goal:
    """Return a goal; without more, one trial decides a load, as in RFC 2544."""
    times = (int(trial_s * PS_PER_S), int(total_s * PS_PER_S))
    return Goal(name, Fraction(loss), *times, exceed, Fraction(width), (), absolute, varies)


def ndr(**attributes: object) -> Goal:
    """Return the goal that FD.io CSIT calls the non-drop rate."""
    return goal(0, name="ndr", total_s=21, exceed=HALF, **attributes)  # type: ignore[arg-type]


def pdr(**attributes: object) -> Goal:
    """Return the goal that FD.io CSIT calls the partial drop rate."""
    return goal("1/200", name="pdr", total_s=21, exceed=HALF, **attributes)  # type: ignore[arg-type]


def search(
    *goals: Goal,
    low: Fraction | int = 1_000,
    high: Fraction | int = 148_800,
    method: str = "mlrsearch",
    step: Fraction | int | None = None,
    confirm: int = 2,
) -> Search:
    """Return a search; the default range is that of frames of 64 bytes on Fast Ethernet."""
    ends = (Fraction(low), Fraction(high))
    every = None if step is None else Fraction(step)
    fields = {"confirm": confirm} if method == "step" else {}
    chooser = discover().select_role("method")[method].build(**fields)
    return Search("load", *ends, CELL_RATE, method, chooser, goals, None, every)  # type: ignore[arg-type]


class Ended(NamedTuple):
    """A search that has ended, with its trials in order."""

    found: dict[str, GoalResult]
    trials: list[Trial]
    progress: Progress

    @property
    def loads(self) -> list[Fraction]:
        """Return the loads that were tried, each once, in the order of their first trials."""
        return list(dict.fromkeys(trial.load for trial in self.trials))


def carried_out(asked: Search, device: Device) -> Ended:
    """Carry a search out on a device."""
    progress, trials = begin(asked), []
    while isinstance(answer := choose_next_trial(progress), Request):
        trials.append(device(answer))
        progress = progress.add_trial(trials[-1])
    return Ended(answer, trials, progress)


def loses(share: Callable[[Fraction], Fraction | float], *, drawn: bool = False) -> Device:
    """Return a device that loses a share of each load, exactly."""

    def device(request: Request) -> Trial:
        lost = Fraction(share(request.load))
        length_ps = request.length_ps or PS_PER_S
        counts = (lost.denominator, lost.numerator)
        return Trial(request.load, request.number, length_ps, *counts, drawn)

    return device


def forwards(most: Fraction | int, *, drawn: bool = False) -> Device:
    """Return a device that forwards all up to a rate, and that rate of everything above it."""
    return loses(lambda load: max(Fraction(0), 1 - most / load), drawn=drawn)


def draws(share: Callable[[Fraction, Random], float], seed: int) -> Device:
    """Return a device whose loss is drawn in each trial."""

    def device(request: Request) -> Trial:
        random = Random(f"{seed} {request.load} {request.number}")  # noqa: S311
        lost = min(1_000_000, max(0, int(1_000_000 * share(request.load, random))))
        return Trial(request.load, request.number, request.length_ps or 1, 1_000_000, lost)

    return device


def classes(ended: Ended, number: int = 0) -> Sequence[tuple[Fraction, str]]:
    """Return each load in ascending order with what its trials say for a goal."""
    return [(trial.load, trial.classification.value) for trial in ended.progress.tried[number]]
