"""Runs the trials of a case, repeat by repeat, and judges each repeat as it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.engine.graph import emulation
from qospec.judge.phases import TrialResult
from qospec.judge.readings import Readings
from qospec.judge.result import Repeat, Result
from qospec.judge.verdict import invalidates, judge

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.catalogue.kinds import Catalogue
    from qospec.engine.measure.observation import Observation
    from qospec.plan.plan import CasePlan, Planned


def run(
    case: CasePlan,
    catalogue: Catalogue,
    on_progress: Callable[[float], None],
    *,
    keep_going: bool = False,
) -> Result:
    """Run all trials of a case; `on_progress` is called with the share that is done.

    A failed `require` ends the case, since the test is not valid and nothing measured after it
    would count; not so with `keep_going`, or if the repeats are judged together.
    """
    repeats: list[Repeat] = []
    if case.case.skip:
        return Result(())
    if case.refusal is not None:
        return Result((), (case.refusal.message,))
    for number in range(case.case.run.repeat):
        try:
            readings = _observe(case, catalogue, number, on_progress)
        except Exception as error:  # noqa: BLE001 - any failure of the tester is the verdict `error`
            return Result(tuple(repeats), (f"{type(error).__name__}: {error}",))
        judgements = tuple(judge(statement, readings.read) for statement in case.case.statements)
        repeats.append(Repeat(readings, judgements))
        judged = zip(case.case.statements, judgements, strict=True)
        if not keep_going and invalidates(judged):
            break
    return Result(tuple(repeats))


def _observe(
    case: CasePlan, catalogue: Catalogue, number: int, on_progress: Callable[[float], None]
) -> Readings:
    seen = {}
    done = number * len(case.networks)
    for position, (name, planned) in enumerate(case.networks.items()):

        def report(now_ps: int, stop_ps: int, before: int = done + position) -> None:
            on_progress((before + min(1.0, now_ps / stop_ps)) / case.trials)

        seen[name] = (planned, _emulated(case, planned, (f"repeat {number}",), report))
    return Readings(catalogue, seen)


def _emulated(
    case: CasePlan,
    planned: Planned,
    names: tuple[str, ...],
    report: Callable[[int, int], None],
) -> Observation:
    """Return what a trial observed, whose random draws depend on `names` too."""
    experiment = planned.experiment
    seeded = experiment._replace(seed=(*experiment.seed, *names))
    if not case.case.run.payload:
        return emulation.run(seeded, on_progress=report)
    from qospec.payload.comparison import Comparison  # loads ciphers, which few tests need

    comparison = Comparison(seeded, case.case.flows)
    seen = emulation.run(seeded, on_progress=report, observer=comparison)
    return seen._replace(errored=comparison.errored)


def run_one(
    case: CasePlan, names: tuple[str, ...], on_progress: Callable[[float], None], *, keeps: bool
) -> TrialResult:
    """Run one trial of a phase.

    Args:
        case: The plan of the trial.
        names: What its random draws depend on, besides the case.
        on_progress: Called with the share that is done.
        keeps: Whether what was observed is part of the result.
    """
    planned = case.networks[""]

    def report(now_ps: int, stop_ps: int) -> None:
        on_progress(min(1.0, now_ps / stop_ps))

    try:
        observation = _emulated(case, planned, names, report)
        readings = Readings(discover(), {"": (planned, observation)})
    except Exception as error:  # noqa: BLE001 - any failure of the tester is the verdict `error`
        return TrialResult(error=f"{type(error).__name__}: {error}")
    flows = tuple(readings.exchanged())
    return TrialResult(
        sent=sum(each.sent for each in flows),
        lost=sum(each.lost for each in flows),
        flows=flows,
        drawn=readings.drawn,
        judgements={
            each.label: judge(each, readings.read)
            for each in case.case.statements
            if each.kind != "report"
        },
        losses=tuple(readings.losses()),
        seen=(planned, observation) if keeps else None,
    )
