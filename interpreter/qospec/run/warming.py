"""Runs the beginning of each kind of trial, so that its kernels are compiled and kept."""

from __future__ import annotations

import re
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.engine import kernel
from qospec.run import trial
from qospec.run.workers import Job, Result
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from qospec.engine.experiment import Experiment
    from qospec.plan.plan import CasePlan, Planned

ITEMS = 2_000
"""About so many cells or packets are sent in each trial: enough to fill what has room."""


def kinds(plans: Iterable[CasePlan]) -> list[CasePlan]:
    """Return one case of each kind: of cases that differ in numbers only, the first."""
    found: dict[object, CasePlan] = {}
    for plan in plans:
        if plan.networks and plan.refusal is None:
            found.setdefault(_kind(plan), plan)
    return list(found.values())


def _kind(plan: CasePlan) -> object:
    """Return what kernels may depend on: all that experiments are made of, but no numbers."""
    parts = set[str]()
    for planned in plan.networks.values():
        experiment = planned.experiment
        for node in experiment.nodes:
            parts.add(re.sub(r"\d+", "", repr((node.element, node.queues, node.clock))))
        for source in experiment.sources:
            parts.add(re.sub(r"\d+", "", repr((source.arrivals, source.sizes, source.phases))))
        parts.update(need for need, _, _ in experiment.watch.followed)
        parts.update("series" for _ in experiment.watch.series)
    return frozenset(parts)


def warmed(plans: Sequence[CasePlan], jobs: int) -> Generator[Result]:
    """Run the beginning of each case; yield what it took, in as many processes."""
    if jobs == 1:
        yield from (warm(plan, "", _say_nothing) for plan in plans)
        return
    from qospec.run import workers

    work = [Job(plan, "") for plan in plans]
    with closing(workers.run(work, jobs, warm, {}, _say_nothing, _say_nothing)) as results:
        yield from (each for each in results if isinstance(each, Result))


def _say_nothing(*_: object) -> None:
    """Hear what nobody asks for here."""


def warm(plan: CasePlan, _again: str, hear: Callable[[float], None]) -> Result:
    """Run the beginning of a case; what it gives is of no use but for its times."""
    started_s, compiled_s = time.monotonic(), kernel.compiling_s()
    short = replace(
        plan,
        case=replace(plan.case, run=replace(plan.case.run, repeat=1)),
        networks={name: _shortened(planned) for name, planned in plan.networks.items()},
    )
    for repeat in trial.run(short, discover(), hear).repeats:
        list(repeat.readings.all())
    compiling_s = kernel.compiling_s() - compiled_s
    seconds = time.monotonic() - started_s - compiling_s
    return Result({"name": plan.case.name}, seconds, compiling_s)


def _shortened(planned: Planned) -> Planned:
    return replace(planned, experiment=shortened(planned.experiment))


def shortened(experiment: Experiment) -> Experiment:
    """Return the beginning of an experiment, in which about `ITEMS` are sent."""
    rates = [each.arrivals.mean_cell_rate(each.connections) for each in experiment.sources]
    rate, watch = sum(rates), experiment.watch
    stop_ps = min(watch.stop_ps, int(ITEMS * PS_PER_S / rate)) if rate else watch.stop_ps
    start_ps = min(watch.start_ps, stop_ps // 2)
    return experiment._replace(watch=watch._replace(start_ps=start_ps, stop_ps=stop_ps))
