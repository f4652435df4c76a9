"""Runs the trials of a case, repeat by repeat, and judges each repeat as it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.backend import ProgramError
from qospec.catalogue.kinds import discover
from qospec.engine.graph import emulation
from qospec.judge.hanging import is_meant
from qospec.judge.phases import TrialResult
from qospec.judge.readings import Readings
from qospec.judge.result import Repeat, Result
from qospec.judge.verdict import is_invalidated, judge
from qospec.model.suite import Search, list_tested, sum_offered_rate
from qospec.promises.promise import Trial, hold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction

    from qospec.backend import Backend
    from qospec.catalogue.kinds import Catalogue
    from qospec.engine.experiment import Experiment, Node
    from qospec.engine.graph.promises import Conduct
    from qospec.engine.measure.observation import Observation
    from qospec.model.suite import Phase
    from qospec.plan.plan import CasePlan
    from qospec.promises.promise import Promise


def run(
    case: CasePlan,
    catalogue: Catalogue,
    on_progress: Callable[[float], None],
    *,
    keep_going: bool = False,
    promises: tuple[Promise, ...] = (),
    backend: Backend | None = None,
) -> Result:
    """Run all trials of a case; `on_progress` is called with the share that is done.

    Trials are held to `promises`, or to all if the case asks for that. A `backend` carries them out
    in place of the emulation.

    A failed `require` ends the case, since the test is not valid and nothing measured after it
    would count; not so with `keep_going`, or if the repeats are judged together.
    """
    repeats: list[Repeat] = []
    if case.case.skip:
        return Result(())
    for number in range(case.case.run.repeat):
        try:
            readings = observe(case, catalogue, number, on_progress, promises, backend)
        except Exception as error:  # noqa: BLE001 - any failure of the tester is the verdict `error`
            return Result(tuple(repeats), (_explain(error, case),))
        judgements = tuple(judge(statement, readings.read) for statement in case.case.statements)
        repeats.append(Repeat(readings, judgements))
        if failures := tuple(_list_failures(case, readings)):
            return Result(tuple(repeats), failures)
        judged = zip(case.case.statements, judgements, strict=True)
        if not keep_going and is_invalidated(judged):
            break
    return Result(tuple(repeats))


def _explain(error: Exception, case: CasePlan) -> str:
    """Return what failed; of a program, with the place where it is declared."""
    if isinstance(error, ProgramError):
        return f"{_find_place(error.flow, case)}: {error}"
    return f"{type(error).__name__}: {error}"


def _list_failures(case: CasePlan, readings: Readings) -> Iterator[str]:
    """Yield which programs did not end as they should, each with its place."""
    for run in readings.list_programs():
        if run.failure:
            yield f"{_find_place(run.flow, case)}: {run.explain()}"


def _find_place(named: str, case: CasePlan) -> str:
    """Return where the program of a flow, or of a member of one, is declared."""
    flow = next(
        flow for flow in case.case.flows if named == flow.name or named.startswith(f"{flow.name}[")
    )
    return flow.places.get("command", flow.span).recorded_place


def observe(
    case: CasePlan,
    catalogue: Catalogue,
    number: int,
    on_progress: Callable[[float], None] = lambda _: None,
    promises: tuple[Promise, ...] = (),
    backend: Backend | None = None,
) -> Readings:
    """Return what the trials of a repeat observed, whose random draws depend on its number."""
    promises = _choose_promises(case, promises)
    seen = {}
    conducts: dict[str, list[tuple[Node, Conduct]]] = {}
    done = number * len(case.networks)
    for position, (name, planned) in enumerate(case.networks.items()):

        def report(now_ps: int, stop_ps: int, before: int = done + position) -> None:
            on_progress((before + min(1.0, now_ps / stop_ps)) / case.trials)

        noted = conducts.setdefault(name, []) if promises else None
        seeded = seed_repeat(planned.experiment, number)
        seen[name] = (planned, _carry_out(case, seeded, report, noted, backend))
    readings = Readings(catalogue, seen)
    if promises:
        for name, (planned, observation) in seen.items():
            seeded = seed_repeat(planned.experiment, number)
            hold(Trial(seeded, observation, conducts[name], readings), promises)
    return readings


def _choose_promises(case: CasePlan, promises: tuple[Promise, ...]) -> tuple[Promise, ...]:
    """Return the promises that trials of a case are held to: all if it asks for that."""
    if not case.case.run.promises:
        return promises
    from qospec.promises.builtin import ALL  # which few tests need

    return ALL


def name_draws(
    repeat: int, phase: Phase | None = None, number: int = 0, load: Fraction | None = None
) -> tuple[str, ...]:
    """Return what the random draws of a trial depend on, besides its case.

    Args:
        repeat: The number of the repeat of the case, from 0.
        phase: Of a case with phases, the phase of the trial.
        number: Of the trial, among those of a point, or of a load of a search.
        load: Of a search.
    """
    if phase is None:
        return (f"repeat {repeat}",)
    if isinstance(phase, Search):
        return (f"repeat {repeat}", "search", phase.goals[0].name, str(load), str(number))
    return (f"repeat {repeat}", "point", phase.name, str(number))


def seed_repeat(experiment: Experiment, number: int) -> Experiment:
    """Return the experiment of a repeat, counted from 0: its random draws depend on the number."""
    return _extend_seed(experiment, name_draws(number))


def _extend_seed(experiment: Experiment, names: tuple[str, ...]) -> Experiment:
    """Return an experiment whose random draws depend on `names`, too."""
    return experiment._replace(seed=(*experiment.seed, *names))


def _carry_out(
    case: CasePlan,
    seeded: Experiment,
    report: Callable[[int, int], None],
    conducts: list[tuple[Node, Conduct]] | None,
    backend: Backend | None,
) -> Observation:
    """Return what a trial observed.

    What each node did is written into `conducts`, if they are given.
    """
    if backend is not None:
        return backend.adapt(case.case).carry_out(seeded, report)
    if not case.case.run.payload:
        return emulation.run(seeded, on_progress=report, conducts=conducts)
    from qospec.engine.measure.payloads import Payloads
    from qospec.payload.comparison import Comparison  # loads ciphers, which few tests need

    comparison = Comparison(seeded, case.case.flows)
    seen = emulation.run(seeded, on_progress=report, observer=comparison, conducts=conducts)
    keys = comparison.keys.list_by_connection()
    return seen._replace(payloads=Payloads(comparison.errored, keys))


def run_one(
    case: CasePlan,
    names: tuple[str, ...],
    on_progress: Callable[[float], None],
    *,
    keeps: bool,
    promises: tuple[Promise, ...] = (),
    backend: Backend | None = None,
) -> TrialResult:
    """Run one trial of a phase.

    Args:
        case: The plan of the trial.
        names: What its random draws depend on, besides the case.
        on_progress: Called with the share that is done.
        keeps: Whether what was observed is part of the result.
        promises: Those that it is held to, or to all if the case asks for that.
        backend: What carries it out, if not the emulation.
    """
    planned, flows = case.networks[""], case.case.flows
    senders = tuple(flow.name for flow in flows)
    promises = _choose_promises(case, promises)
    conducts: list[tuple[Node, Conduct]] | None = [] if promises else None

    def report(now_ps: int, stop_ps: int) -> None:
        on_progress(min(1.0, now_ps / stop_ps))

    try:
        seeded = _extend_seed(planned.experiment, names)
        observation = _carry_out(case, seeded, report, conducts, backend)
        readings = Readings(discover(), {"": (planned, observation)})
        if conducts is not None:
            hold(Trial(seeded, observation, conducts, readings), promises)
    except Exception as error:  # noqa: BLE001 - any failure of the tester is the verdict `error`
        return TrialResult(error=_explain(error, case), senders=senders)
    if failures := tuple(_list_failures(case, readings)):
        return TrialResult(error=failures[0], senders=senders)
    return TrialResult(
        flows=tuple(readings.count_exchanged()),
        tested=frozenset(flow.name for flow in list_tested(flows)),
        drawn=readings.drawn,
        judgements={
            statement.label: judge(statement, readings.read)
            for statement in case.case.statements
            if statement.kind != "report"
        },
        losses=tuple(readings.list_losses()),
        seen=(planned, observation) if keeps else None,
        senders=senders,
        length_ps=case.case.run.measure_ps,
        offered=sum_offered_rate(flows),
        hangs=tuple(
            hang for hang in readings.list_hangs() if not is_meant(hang, case.case.statements)
        ),
    )
