"""Runs the beginning of each kind of trial, so that its kernels are compiled and cached."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.model.suite import GoalResult, Search
from qospec.plan.plan import CasePlan
from qospec.run import trial
from qospec.run.job import JobName, JobResult, Stopwatch
from qospec.run.schedule import PlainRun, Schedule, run_here
from qospec.run.workshop import Workshop
from qospec.search.trial import Request
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from qospec.engine.experiment import Experiment
    from qospec.plan.plan import Planned
    from qospec.run.job import LostJob

ITEMS = 2_000
"""About how many cells or packets each trial sends: enough to fill queues."""


class WarmingWorkshop(Workshop):
    """Runs the beginning of each case or trial: a `run.job.Workshop`."""

    def do(self, name: JobName, on_progress: Callable[[float], None], /) -> JobResult:
        """Run the beginning of a case or a trial; only the times of the result are of use."""
        stopwatch = Stopwatch()
        planned = self.plan(name)
        assert isinstance(planned, CasePlan)  # noqa: S101 -- `select_distinct_jobs` names no other
        warm(planned, on_progress)
        return JobResult({"name": name.case}, *stopwatch.read())


def select_distinct_jobs(plans: Iterable[CasePlan], workshop: Workshop) -> list[JobName]:
    """Return the first of all cases and trials that differ only in numbers."""
    found: dict[object, JobName] = {}
    for plan in plans:
        if plan.networks:
            for name in _list_trials(plan) if plan.case.phases else (JobName(plan.case.name),):
                planned = workshop.plan(name)
                if isinstance(planned, CasePlan):
                    found.setdefault(_build_signature(planned), name)
    return list(found.values())


def _list_trials(plan: CasePlan) -> Iterator[JobName]:
    """Yield a trial of each phase, at the highest loads."""
    found: dict[str, GoalResult] = {}
    for number, phase in enumerate(plan.case.phases):
        part = Request(phase.high, 1, None) if isinstance(phase, Search) else 0
        yield JobName(plan.case.name, 0, number, part, tuple(found.items()))
        if isinstance(phase, Search):
            found |= {goal.name: GoalResult(phase.high, phase.high) for goal in phase.goals}


def _build_signature(plan: CasePlan) -> object:
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


def warm_all(names: Sequence[JobName], workshop: Workshop, jobs: int) -> Generator[JobResult]:
    """Run the beginning of each case, in `jobs` processes; yield the results, for their times.

    Neighbours have kernels in common, which each process would compile if it began them at once:
    so each goes through a part of the cases of its own.
    """
    part = max(1, -(-len(names) // jobs))
    order = sorted(range(len(names)), key=lambda place: place % part)
    schedule = Schedule(PlainRun(names[place].case, names[place], _build_lost) for place in order)
    if jobs == 1:
        results = run_here(schedule, workshop, _ignore)
    else:
        from qospec.run import workers
        from qospec.run.crews.processes import ProcessCrew

        results = workers.run(schedule, workers.Pool(ProcessCrew(jobs, workshop)), {}, _ignore)
    with closing(results):
        yield from (result.result for result in results)


def _build_lost(_: LostJob) -> JobResult:
    return JobResult({}, 0.0, 0.0)


def _ignore(*_: object) -> None:
    """Do nothing: progress is not reported here."""


def warm(plan: CasePlan, on_progress: Callable[[float], None]) -> None:
    """Run the beginning of a case."""
    short = replace(
        plan,
        case=replace(plan.case, run=replace(plan.case.run, repeat=1)),
        networks={name: _shorten(planned) for name, planned in plan.networks.items()},
    )
    for repeat in trial.run(short, discover(), on_progress).repeats:
        list(repeat.readings.list_all())


def _shorten(planned: Planned) -> Planned:
    return replace(planned, experiment=shorten(planned.experiment))


def shorten(experiment: Experiment) -> Experiment:
    """Return the beginning of an experiment, in which about `ITEMS` items are sent."""
    rates = [
        source.arrivals.compute_highest_rate(source.connections) for source in experiment.sources
    ]
    rate, measurement = sum(rates), experiment.measurement
    stop_ps = (
        min(measurement.stop_ps, int(ITEMS * PS_PER_S / rate)) if rate else measurement.stop_ps
    )
    start_ps = min(measurement.start_ps, stop_ps // 2)
    return experiment._replace(measurement=measurement._replace(start_ps=start_ps, stop_ps=stop_ps))
