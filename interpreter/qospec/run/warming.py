"""Runs the beginning of each kind of trial, so that its kernels are compiled and cached."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.model.suite import GoalResult, Search
from qospec.plan.plan import Bounds, CasePlan
from qospec.run import trial
from qospec.run.job import JobResult, Stopwatch
from qospec.run.phase import Setting
from qospec.run.schedule import PlainRun, Schedule, run_here
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from qospec.engine.experiment import Experiment
    from qospec.plan.plan import Planned
    from qospec.run.job import LostJob

ITEMS = 2_000
"""About how many cells or packets each trial sends: enough to fill queues."""


def distinct_cases(plans: Iterable[CasePlan]) -> list[CasePlan]:
    """Return the first of all cases that differ only in numbers."""
    found: dict[object, CasePlan] = {}
    for plan in plans:
        if plan.networks:
            for each in _trials(plan) if plan.case.phases else (plan,):
                found.setdefault(_signature(each), each)
    return list(found.values())


def _trials(plan: CasePlan) -> Iterator[CasePlan]:
    """Yield a trial of each phase, at the highest loads."""
    setting = Setting(plan, Bounds())
    found: dict[str, GoalResult] = {}
    for phase in plan.case.phases:
        load = phase.high if isinstance(phase, Search) else None
        trial = setting.trial(phase, load, found)
        if isinstance(trial, CasePlan):
            yield trial
        if isinstance(phase, Search):
            found.update({goal.name: GoalResult(load, load) for goal in phase.goals})


def _signature(plan: CasePlan) -> object:
    """Return what kernels may depend on: all that the experiments consist of, except numbers."""
    parts = set[str]()
    for planned in plan.networks.values():
        experiment = planned.experiment
        for node in experiment.nodes:
            parts.add(re.sub(r"\d+", "", repr((node.element, node.queues, node.clock))))
        for source in experiment.sources:
            parts.add(re.sub(r"\d+", "", repr((source.arrivals, source.sizes, source.phases))))
        parts.update(need for need, _, _ in experiment.measurement.followed)
        parts.update("series" for _ in experiment.measurement.series)
    return frozenset(parts)


def warm_all(plans: Sequence[CasePlan], jobs: int) -> Generator[JobResult]:
    """Run the beginning of each case, in `jobs` processes; yield the results, for their times."""
    schedule = Schedule(PlainRun(each.case.name, partial(warm, each), _lost) for each in plans)
    if jobs == 1:
        results = run_here(schedule, _ignore)
    else:
        from qospec.run import workers

        results = workers.run(schedule, workers.Pool(jobs, ()), {}, _ignore)
    with closing(results):
        yield from (each.result for each in results)


def _lost(_: LostJob) -> JobResult:
    return JobResult({}, 0.0, 0.0)


def _ignore(*_: object) -> None:
    """Do nothing: progress is not reported here."""


def warm(plan: CasePlan, on_progress: Callable[[float], None]) -> JobResult:
    """Run the beginning of a case; only the times of the result are of use."""
    stopwatch = Stopwatch()
    short = replace(
        plan,
        case=replace(plan.case, run=replace(plan.case.run, repeat=1)),
        networks={name: _shortened(planned) for name, planned in plan.networks.items()},
    )
    for repeat in trial.run(short, discover(), on_progress).repeats:
        list(repeat.readings.all())
    return JobResult({"name": plan.case.name}, *stopwatch.read())


def _shortened(planned: Planned) -> Planned:
    return replace(planned, experiment=shortened(planned.experiment))


def shortened(experiment: Experiment) -> Experiment:
    """Return the beginning of an experiment, in which about `ITEMS` items are sent."""
    rates = [each.arrivals.highest_rate(each.connections) for each in experiment.sources]
    rate, measurement = sum(rates), experiment.measurement
    stop_ps = (
        min(measurement.stop_ps, int(ITEMS * PS_PER_S / rate)) if rate else measurement.stop_ps
    )
    start_ps = min(measurement.start_ps, stop_ps // 2)
    return experiment._replace(measurement=measurement._replace(start_ps=start_ps, stop_ps=stop_ps))
