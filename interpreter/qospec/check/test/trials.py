"""Builds a case, of phases too, and makes the cases of their trials while it runs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

from qospec.check.evaluate.context import CheckError, LimitReached, make_error
from qospec.check.evaluate.goals import PointValue
from qospec.check.test.arguments import Follower
from qospec.check.test.case import CaseBuilder, CaseId
from qospec.check.test.changes import Later, change_flows, verify_use
from qospec.check.test.parts import CaseScope
from qospec.check.test.phases import Phases, Trial, place_phases
from qospec.check.test.point import explain_found, size_point
from qospec.check.test.run_settings import build_run, find_length_ps, has_phases
from qospec.dataclass import NamedTuple
from qospec.model.expression import list_observed
from qospec.model.suite import Case, Point, Run, Search, Statement
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from fractions import Fraction

    from qospec.check.evaluate.context import Case as EvaluatedCase
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.test.parts import Parts
    from qospec.check.test.sweeps import Combination
    from qospec.check.topology.flatten import Networks
    from qospec.diagnostics import Diagnostic
    from qospec.model.checked import Argument
    from qospec.model.expression import Counted, Measured
    from qospec.model.suite import Flow, Goal, GoalResult, Phase
    from qospec.source import Span


Made = TypeVar("Made")


class PhaseSeen(NamedTuple):
    """A phase at its highest load, for the rest of the case.

    Attributes:
        name: Of the point, or of what is searched.
        flows: Those that take part.
        uses: By flow, the variables that it depends on.
        value: What a point offers to criteria; of a search, nothing.
    """

    name: str
    flows: tuple[Flow, ...]
    uses: dict[str, frozenset[str]]
    value: PointValue

    @property
    def carries(self) -> frozenset[str]:
        """Return what its flows send: cells, packets, or both."""
        return frozenset("cell" if flow.packets is None else "packet" for flow in self.flows)


class CaseMaker:
    """Builds one case; if that has phases, it is the `model.checked.CaseMaker` of it then.

    For each trial it builds the case again, with the variables of the phase at fixed values. The
    networks are those of the case: they are evaluated once for all equal arguments.
    """

    def __init__(
        self, parts: Parts, points: Combination, networks: Networks, evaluator: Evaluator
    ) -> None:
        self._parts = parts
        self._points = points
        self._networks = networks
        self._evaluator = evaluator
        self._context = evaluator.context
        self._phases: Phases | None = None
        self._use: EvaluatedCase | None = None
        self._measured: dict[str, tuple[Statement, ...]] = {}
        self._choosing: set[str] = set()
        self._case = CaseId("", ())
        self._whole: Case | None = None
        self._run = Run(0, 0, 1, overload=True)

    @property
    def case(self) -> Case:
        """Return the case with its phases, once it is built."""
        assert self._whole is not None  # noqa: S101 -- see above
        return self._whole

    def build(self, name: str) -> Case | None:
        """Return the case, or None after a mistake in it."""
        self._case = CaseId(name, tuple((point.binding.name, point.text) for point in self._points))
        names, builder = self._make_builder()
        if not has_phases(names):
            return builder.build(self._case)
        before, self._context.loop_iterations = self._context.mistakes, 0
        self._use = self._context.case
        phases = self._phases = Phases(names, self._evaluator)
        varied = _explain_varied(names, phases)
        if varied is not None:
            self._context.report(varied)
            return None
        builder.declare_topology()
        for variable, template in phases.unused.items():
            self._context.report(self._needs_flow(phases.variables[variable], template))
        run = build_run(names, self._evaluator)
        case = self._context.case
        found = [self._read(phases, number, run) for number in range(len(phases.nodes))]
        self._context.case = case
        points = {seen.name: seen.value for seen in found if seen is not None}
        carried = [seen.carries if seen is not None else frozenset[str]() for seen in found]
        phases.declare_judged(names, points, carried)
        builder.declare_flows(built=False)
        self._verify(found, builder, names)
        if self._context.mistakes > before or run is None:
            builder.add_judged(self._case, run, ())
            return None
        self._run = run
        read = tuple(phase for phase in phases.read if phase is not None)
        whole = builder.add_judged(self._case, run, read)
        if whole is None or self._context.mistakes > before:
            return None
        self._measured = {
            phase.name: _report_measured(phase.name, whole)
            for phase in read
            if isinstance(phase, Point)
        }
        flows = {flow.name: flow for seen in reversed(found) if seen for flow in seen.flows}
        places = {name: place for place, name in enumerate(builder.listed)}
        ordered = sorted(flows, key=lambda name: places.get(name, len(places)))
        self._whole = replace(whole, flows=tuple(flows[name] for name in ordered))
        return self._whole

    def __call__(
        self,
        phase: Phase,
        load: Fraction | None,
        found: Mapping[str, GoalResult],
        trial_ps: int | None = None,
        /,
    ) -> Case | Diagnostic:
        """Return the case of one trial, or a mistake in it; see `model.checked.CaseMaker`."""
        with self._context.check_apart() as problems:
            try:
                case = self._make_trial(phase, load, found, trial_ps)
                if self._context.choices:
                    self._choosing.add(phase.name)
                if not problems.errors:
                    return case
            except CheckError as mistake:
                self._context.report(mistake)
            except LimitReached:
                pass
        return problems.errors[0]

    def depends_on_conditions(self, phase: Phase) -> bool:
        """Return whether a trial of a phase that was made depends on conditions."""
        return phase.name in self._choosing

    def move_to_use(self, found: Diagnostic) -> Diagnostic:
        """Return a mistake in a template as one of the argument that it follows from."""
        return found if self._use is None else self._use.move_to_use(found)

    def find_parameter_at(self, span: Span) -> str:
        """Return the parameter for which a test gives what is written in a template; "" if none."""
        return "" if self._use is None else self._use.find_parameter_at(span)

    def list_arguments(self, span: Span) -> tuple[Argument, ...]:
        """Return the numbers that a test gives for parameters in an expression of a template."""
        if self._use is None:
            return ()
        follower = Follower(self._parts, self._points, self._use, self._evaluator)
        return tuple(follower.list_arguments(span))

    def _make_trial(
        self,
        phase: Phase,
        load: Fraction | None,
        found: Mapping[str, GoalResult],
        trial_ps: int | None,
    ) -> Case:
        phases = self._phases
        assert phases is not None  # noqa: S101 -- a case without phases has no trials
        trial = Trial(phases.read.index(phase), load, found)
        names, builder = self._make_builder()
        builder.declare_topology()
        phases.declare(names, trial)
        run = self._run
        if isinstance(phase, Point):
            run = phase.run
        made = phases.build_phase(names, trial, run) if _has_variable(phase) else None
        builder.declare_flows(phases.list_unbound(trial.number))
        if isinstance(phase, Search):
            if isinstance(made, Search):
                trial_ps = size_trials(made, builder.built).goals[0].trial_ps
            length_ps = trial_ps or phase.goals[0].trial_ps
            warmup_ps = phase.find_warmup_ps(run)
            # A burst may be ready before the first link has sent all of it.
            drains = any(goal.varies for goal in phase.goals)
            run = replace(run, warmup_ps=warmup_ps, measure_ps=length_ps, repeat=1, drains=drains)
        self._change(builder, phases, trial, run)
        case = builder.add_required(self._case, run)
        asked = (
            self._measured.get(phase.name, ())
            if isinstance(phase, Point)
            else self._list_conditions(builder, names, trial.number)
        )
        return replace(case, statements=(*case.statements, *asked))

    def _change(self, builder: CaseBuilder, phases: Phases, trial: Trial, run: Run) -> None:
        """Add to the flows of a builder what changes about them during the trial."""
        if not run.changes_ps:
            return
        nodes, later = phases.list_changes(trial.number), []
        before = self._context.mistakes
        for number, (node, at_ps) in enumerate(zip(nodes, run.changes_ps, strict=True), 1):
            names, then = self._make_builder()
            then.declare_topology()
            phases.declare(names, trial._replace(changes=number))
            then.declare_flows(phases.list_unbound(trial.number))
            later.append(Later(node, at_ps, then.built))
        if self._context.mistakes > before:
            return
        if names.topology is not None:  # the flows of a template are not known
            verify_use(nodes, frozenset[str]().union(*builder.uses.values()), self._evaluator)
        builder.built = change_flows(builder.built, later, self._evaluator)

    def _list_conditions(
        self, builder: CaseBuilder, names: CaseScope, number: int
    ) -> tuple[Statement, ...]:
        node, scope = place_phases(names)[number]
        return builder.list_conditions(node, scope) if isinstance(node, ast.Search) else ()

    def _make_builder(self) -> tuple[CaseScope, CaseBuilder]:
        names = CaseScope(self._parts, self._points, self._evaluator)
        return names, CaseBuilder(names, self._networks, self._evaluator)

    # ---- what is checked before the run

    def _read(self, phases: Phases, number: int, run: Run | None) -> PhaseSeen | None:
        """Read a phase, and check its trials at both ends; None after a mistake."""
        seen: PhaseSeen | None = None
        before = self._context.mistakes
        node = phases.nodes[number]
        case = self._context.case
        if case is not None:
            self._context.case = case._replace(phase=phases.list_values(number))
        for lowest in (False, True):
            names, builder = self._make_builder()
            trial = Trial(number, lowest=lowest)
            builder.declare_topology()
            self._context.judging = False
            phases.declare(names, trial)
            phase = self._run_guarded(partial(phases.build_phase, names, trial, run))
            if not lowest:
                phases.keep(phase, names)
            builder.declare_flows(phases.list_unbound(number))
            sound = self._context.mistakes == before
            if isinstance(phase, Search) and names.topology is not None and sound:
                phase = self._run_guarded(partial(size_trials, phase, builder.built))
                phases.keep_sized(number, phases.read[number] if lowest else phase)
            if self._context.mistakes > before:
                return None
            if names.topology is not None:
                self._run_guarded(partial(self._list_conditions, builder, names, number))
            if isinstance(phase, Point):
                phase = self._size(phase, number, builder, phases, lowest=lowest)
                self._change(builder, phases, trial, phase.run)
            if not lowest:
                if names.topology is not None:  # the flows of a template are not known
                    self._verify_use(node, phase, builder)
                seen = self._show_phase(node.name.text, builder)
        return seen if self._context.mistakes == before else None

    def _size(
        self, point: Point, number: int, builder: CaseBuilder, phases: Phases, *, lowest: bool
    ) -> Point:
        """Return a point whose length is known, if it is a number of items."""
        sized = self._run_guarded(partial(size_point, point, builder.built)) or point
        if lowest and sized.run.measure_ps != cast("Point", phases.read[number]).run.measure_ps:
            self._context.report(explain_found(point))
        if not lowest:
            phases.keep_sized(number, sized)
        return sized

    def _show_phase(self, here: str, builder: CaseBuilder) -> PhaseSeen:
        """Return a phase of that name, and what it offers to criteria."""
        lists = {"flows": builder.list_flows_on(here)}
        lists["test_flows"] = builder.list_flows_on(here, varied=True)
        placed = builder.placed.items()
        nodes = {name: value.evaluate(self._context) for name, value in placed}
        point = PointValue(here, builder.on_network(here), lists, nodes)
        return PhaseSeen(here, tuple(builder.built), builder.uses, point)

    def _needs_flow(self, variable: ast.Name, template: ast.Test) -> CheckError:
        name, flow = variable.text, "flow user = packets { rate = load, … } from a to b"
        written = self._parts[-1].node.base_path.span
        built_on = written.text.rpartition(".")[2]
        return make_error(
            "E0514",
            f"`{built_on}` needs a flow that uses `{name}`",
            written,
            secondary=(variable.span, f"`{name}` is given values in `{template.name.text}`"),
            help=f"write it in a flow, such as `{flow}`, or of cells with `pcr = load`"
            if name == "load"
            else f"write `{name}` in a flow's traffic",
        )

    def _run_guarded(self, read: Callable[[], Made]) -> Made | None:
        try:
            return read()
        except CheckError as mistake:
            self._context.report(mistake)
            return None

    def _verify_use(
        self, node: ast.Search | ast.Point, phase: Phase | None, builder: CaseBuilder
    ) -> None:
        """Report a search whose variable neither a flow nor its trial uses, and a lack of flows."""
        name, used = node.name, frozenset[str]().union(*builder.uses.values())
        goals = phase.goals if isinstance(phase, Search) else ()
        by_length = any(goal.varies for goal in goals)
        if isinstance(node, ast.Search) and name.text not in used and not by_length:
            self._context.report(
                make_error(
                    "E0514",
                    f"no flow depends on `{name.text}`",
                    name.span,
                    help=f"use it in a flow's traffic, as in `…(rate = {name.text})`",
                )
            )
        elif not builder.listed:
            self._context.report(
                make_error(
                    "E0514",
                    f"no flow takes part in `{name.text}`",
                    name.span,
                    note="a flow takes part if the phase binds every variable that it uses",
                    help="bind them, such as `load = ndr.load`",
                )
            )

    def _verify(
        self, seen: Sequence[PhaseSeen | None], builder: CaseBuilder, names: CaseScope
    ) -> None:
        """Report a flow that takes part in no phase, and controls."""
        for control, _ in names.select_statements(ast.Control):
            self._context.report(
                make_error(
                    "E0514",
                    "a test with phases has no controls",
                    control.span,
                    note="a control runs the flows of a test again, and each phase has its own",
                    help="write a test of its own for each topology",
                )
            )
        read = [phase for phase in seen if phase is not None]
        if len(read) < len(seen):
            return
        taking_part = {name for phase in read for name in phase.uses}
        for name, node in builder.nodes.items():
            if name not in taking_part:
                needs = " and ".join(f"`{phase}`" for phase in sorted(builder.uses[name]))
                self._context.report(
                    make_error(
                        "E0514",
                        f"`{name}` takes part in no phase",
                        node.span,
                        note=f"no phase binds {needs}, which it uses",
                        help="bind it in a phase: `name = value`",
                    )
                )


def _has_variable(phase: Phase) -> bool:
    return isinstance(phase, Search) and phase.goals[0].varies


def _explain_varied(names: CaseScope, phases: Phases) -> CheckError | None:
    """Return the mistake of a topology that uses a variable of a phase; None if it uses none."""
    if names.topology is None:
        return None
    node, scope = names.topology
    for path in node.with_all_below():
        if not isinstance(path, ast.Path) or scope.find(path.name.text) is not None:
            continue
        variable = phases.variables.get(path.name.text)
        if variable is not None:
            return make_error(
                "E0101",
                f"`{variable.text}` has no value here: all trials are on one topology",
                path.name.span,
                secondary=(variable.span, "which takes another value in each trial"),
                help=f"let a flow depend on `{variable.text}`, or `sweep` over topologies",
            )
    return None


def _report_measured(point: str, whole: Case) -> tuple[Statement, ...]:
    """Return a report of each value that the statements of a case measure at a point."""
    found: dict[tuple[Measured | Counted, int | None], Statement] = {}
    for statement in whole.statements:
        for leaf in list_observed(statement.expression):
            if leaf.network == point:
                there = replace(leaf, network="")
                found[there, statement.every_ps] = Statement(
                    "report",
                    leaf.text,
                    leaf.text,
                    there,
                    statement.span,
                    every_ps=statement.every_ps,
                )
    return tuple(found.values())


def size_trials(search: Search, flows: Sequence[Flow]) -> Search:
    """Return a search whose trials are as long as the items that goals ask for take to be offered.

    Raises CheckError if the flows have no rate.
    """
    goals = [
        goal if goal.trial_items is None else _size_goal(goal, search, flows)
        for goal in search.goals
    ]
    return replace(search, goals=tuple(goals))


def _size_goal(goal: Goal, search: Search, flows: Sequence[Flow]) -> Goal:
    assert goal.trial_items is not None  # noqa: S101 -- seen before
    span = goal.trial_span or search.span
    length_ps = find_length_ps(goal.trial_items, flows, "trial", span)
    return replace(goal, trial_ps=length_ps, total_ps=length_ps)
