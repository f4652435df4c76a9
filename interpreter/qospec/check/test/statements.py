"""What a test judges and reports: its `require`, `expect` and `report`, repeated in loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.evaluate.clauses import DECIDED, evaluate_when, read_claim, read_claimed
from qospec.check.evaluate.confidence import read_confidence, verify_repeats
from qospec.check.evaluate.context import CheckError, flatten_text, make_error
from qospec.check.evaluate.criteria import build_condition, build_reported, explain_duplicate_label
from qospec.check.evaluate.loops import explain_misplaced
from qospec.check.evaluate.scope import RESULTS, Scope, bind_known
from qospec.check.test.intervals import read_interval
from qospec.check.test.search import list_goals, list_meets
from qospec.dataclass import NamedTuple
from qospec.model.claims import CONSISTENT
from qospec.model.expression import (
    Measured,
    evaluate_without_readings,
    is_published,
    list_found,
    list_measurements,
    list_observed,
)
from qospec.model.suite import JUDGED, Point, Run, Statement
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from fractions import Fraction

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.measurements import FlowValue
    from qospec.check.test.loops import Loops
    from qospec.check.test.parts import CaseScope
    from qospec.model.expression import Expression
    from qospec.model.suite import Phase

HERE = "a test"
KINDS = (*JUDGED, "report")
"""Of the statements that are collected."""
FIELDS = ("covers", "not_reproduced", "follows", "deviations")
"""Fields that a test can bind."""
ELSEWHERE = (
    *(ast.Flow, ast.Control, ast.Run, ast.Sweep, ast.ForAll, ast.Let, ast.Skip),
    *(ast.Search, ast.Point, ast.At),
)
"""Statements of a test that are evaluated elsewhere."""
IN_LOOPS = (ast.Flow, ast.Let)
"""Those of them that a loop may hold."""


class Clauses(NamedTuple):
    """What a statement has besides its condition, as in `Statement`."""

    confidence: Fraction | None = None
    claim: str = ""
    covers: tuple[str, ...] = ()
    idle: str = ""
    published: bool = False
    every_ps: int | None = None


class Statements:
    """Collects the statements of a case; `run` is how it is run, None after a mistake.

    Only those of some `kinds`, if they are given.
    """

    def __init__(
        self,
        names: CaseScope,
        run: Run | None,
        loops: Loops,
        evaluator: Evaluator,
        phases: Sequence[Phase] = (),
        kinds: Collection[str] = KINDS,
    ) -> None:
        self.statements: list[Statement] = []
        self._names = names
        self._run = run
        self._kinds = kinds
        self._loops = loops
        self._evaluator = evaluator
        self._context = evaluator.context
        self._labels: dict[str, ast.Node] = {}
        self._verified: list[tuple[Run, str]] = []
        nodes = (node for node, _ in names.statements)
        self._phase = next((n for n in nodes if isinstance(n, ast.Search | ast.Point)), None)
        self._points = {node.name.text: node for node, _ in names.select_statements(ast.Point)}
        points = [phase for phase in phases if isinstance(phase, Point)]
        self._runs = {point.name: point.run for point in points}
        self._goal_points = {point.name for point in points if point.uses_goals}

    def add(self, node: ast.Statement, scope: Scope, subscript: str) -> None:
        """Add what a statement judges or reports; loops repeat their statements."""
        if isinstance(node, ast.Criterion) and node.kind != "invariant":
            if node.kind in self._kinds:
                self._read_criterion(node, scope, subscript)
        elif isinstance(node, ast.Report):
            if "report" in self._kinds:
                self._report(node, scope, subscript)
        elif isinstance(node, ast.Loop):
            self._read_loop(node, scope, subscript)
        elif isinstance(node, ast.At) and self._phase is not None:
            raise explain_misplaced(node, HERE)
        elif not isinstance(node, IN_LOOPS if subscript else ELSEWHERE):
            if isinstance(node, ast.Bind) and not subscript and node.names[0].text in FIELDS:
                return
            raise _explain_stray(node, "a loop" if subscript else HERE)

    def _read_loop(self, node: ast.Loop, scope: Scope, subscript: str) -> None:
        for iteration in self._loops.open_loop(node, scope):
            for statement in node.body.statements:
                try:
                    self.add(
                        statement, iteration.scope, _append_iteration(subscript, iteration.shown)
                    )
                except CheckError as mistake:
                    self._context.report(mistake)
            for binding in iteration.scope.names.values():
                binding.evaluate(self._context)

    def _read_criterion(self, node: ast.Criterion, scope: Scope, subscript: str) -> None:
        claim = read_claim(node)
        covers = read_claimed(node, scope, self._evaluator)
        when = evaluate_when(node, scope, self._evaluator)
        clauses = Clauses(None, claim, covers, when.idle, when.published)
        if not when.met:  # what it asks may make no sense here: it is not worked out
            self._add(node, node.condition, when.stand_in, subscript, clauses)
            return
        expression = build_condition(node.condition, scope, self._evaluator)
        self._require_decided(node.condition, expression, node.kind)
        self._verify_pairs(node.condition, expression)
        self._verify_payload(node.condition, expression)
        confidence = read_confidence(node, expression, scope, self._evaluator)
        if confidence is not None:
            self._verify_repeats(node, expression)
        if expression is not None:
            settled = evaluate_without_readings(expression) is True and claim != CONSISTENT
            idle = DECIDED if settled else ""
            published = when.published or is_published(expression)
            clauses = Clauses(confidence, claim, covers, idle, published)
        self._add(node, node.condition, expression, subscript, clauses)

    def _require_decided(
        self, node: ast.Expression, expression: Expression | None, kind: str
    ) -> None:
        """Refuse a criterion on flows of phases, which are sent in many trials."""
        measured = list_observed(expression) if expression is not None else ()
        loose = [leaf for leaf in measured if leaf.network not in self._points]
        if self._phase is None or not loose or (kind == "require" and len(loose) == len(measured)):
            return
        searched = isinstance(self._phase, ast.Search)
        point = next(iter(self._points), "")
        at_point = f"measure it at a point: `{point}.{loose[0].text}`"
        raise make_error(
            "E0515",
            f"{'a search' if searched else 'this test'} runs many trials: "
            f"which one does `{loose[0].text}` mean?",
            node.span,
            secondary=(self._phase.name.span, "searched here" if searched else "the first ones"),
            help=(at_point if point else "judge what a goal has found, or add a `point`")
            + "; a `require` is judged in every trial",
        )

    def _find_run(self, expression: Expression | None) -> Run | None:
        """Return how what an expression measures is run: as its points, or as the whole case."""
        leaves = list_measurements(expression) if expression is not None else ()
        runs = [self._runs[leaf.network] for leaf in leaves if leaf.network in self._runs]
        if runs:
            return min(runs, key=lambda run: run.repeat)
        return None if self._phase is not None else self._run

    def _verify_repeats(self, node: ast.Criterion, expression: Expression | None) -> None:
        """Refuse a confidence with too few repeats: too few for one is too few for all."""
        shared = self._find_shared(expression)
        run = self._run if shared else self._find_run(expression)
        if run is None or (run, shared) in self._verified:
            return
        self._verified.append((run, shared))
        points = (node for name, node in self._points.items() if self._runs.get(name) == run)
        point = None if shared else next(points, None)
        place = point or next((node for node, _ in self._names.select_statements(ast.Run)), None)
        verify_repeats(node, place, run, self._names.test, shared=shared)

    def _find_shared(self, expression: Expression | None) -> str:
        """Return what is drawn once per repeat of the case: a goal, or a point that uses one."""
        if expression is None:
            return ""
        named = [
            leaf.network for leaf in list_observed(expression) if leaf.network in self._goal_points
        ]
        return next(iter([*(leaf.goal for leaf in list_found(expression)), *named]), "")

    def _verify_pairs(self, node: ast.Expression, expression: Expression | None) -> None:
        """Refuse points of different repeats: which of their trials belong together?"""
        leaves = list_observed(expression) if expression is not None else ()
        counts = {
            leaf.network: self._runs[leaf.network].repeat
            for leaf in leaves
            if leaf.network in self._runs and self._runs[leaf.network].repeat > 1
        }
        if len(set(counts.values())) <= 1:
            return
        raise make_error(
            "E0515",
            "the trials of these points do not pair: "
            + ", ".join(f"`{name}` has {count}" for name, count in sorted(counts.items())),
            node.span,
            note="a statement about several points is judged in the first trial of each, then in"
            " the second, and so on; a point with one trial pairs with all",
            help="give these points the same `repeat`",
        )

    def _verify_payload(self, node: ast.Expression, expression: Expression | None) -> None:
        """Refuse what is measured of bytes where a test makes none."""
        for leaf in list_measurements(expression) if expression is not None else ():
            run = self._runs.get(leaf.network, self._run)
            if "payload" in leaf.needs and run is not None and not run.payload:
                raise make_error(
                    "E0524",
                    f"`{leaf.text}` compares bytes, and this test makes none",
                    node.span,
                    help="add `payload = true` to `run`: times and losses stay as they are",
                )

    def _report(self, node: ast.Report, scope: Scope, subscript: str) -> None:
        when = evaluate_when(node, scope, self._evaluator)
        items: Sequence[ast.Expression] = (node.value,)
        if isinstance(node.value, ast.ListLiteral):
            items = node.value.items
            if node.label is not None and len(items) > 1:
                raise make_error(
                    "E0510",
                    "a label names one value",
                    node.label.span,
                    help="write a `report` with its own label for each",
                )
        for item in items:
            if not when.met:
                self._add(node, item, when.stand_in, subscript, Clauses(idle=when.idle))
                continue
            try:
                expression = build_reported(item, scope, self._evaluator)
                self._require_decided(item, expression, "report")
                self._verify_pairs(item, expression)
                self._verify_payload(item, expression)
                run = self._find_run(expression)
                every_ps = read_interval(node, expression, run, scope, self._evaluator)
            except CheckError as mistake:
                self._context.report(mistake)
                continue
            self._add(node, item, expression, subscript, Clauses(every_ps=every_ps))

    def _add(
        self,
        statement: ast.Criterion | ast.Report,
        node: ast.Expression,
        expression: Expression | None,
        subscript: str,
        clauses: Clauses,
    ) -> None:
        kind = "report" if isinstance(statement, ast.Report) else statement.kind
        name = statement.label
        text = " ".join(node.span.text.split())
        label = f"{name.text if name else text}{subscript}"
        place = name or node
        known = self._labels.get(label)
        if known is not None and (name is not None or kind != "report"):
            raise explain_duplicate_label(label, place, known.span)
        self._labels.setdefault(label, place)
        if expression is not None:
            said = {"expect": "expect", "require": "require"}.get(kind, "report")
            self.statements.append(
                Statement(said, label, text, expression, node.span, *clauses)  # type: ignore[arg-type]
            )


def list_conditions(
    search: ast.Search, scope: Scope, flows: Mapping[str, FlowValue], evaluator: Evaluator
) -> Iterator[Statement]:
    """Yield what goals of a search ask of a trial by a condition; mistakes are reported.

    A metric without a flow is that of each of the `flows`, which are those that are tested.
    """
    for goal in list_goals(search):
        for bind in list_meets(goal):
            try:
                yield from _read_condition(goal, bind.value, scope, flows, evaluator)
            except CheckError as mistake:
                evaluator.context.report(mistake)


def _read_condition(
    goal: ast.Goal,
    node: ast.Expression,
    scope: Scope,
    flows: Mapping[str, FlowValue],
    evaluator: Evaluator,
) -> Iterator[Statement]:
    paths = [path for path in node.with_all_below() if isinstance(path, ast.Path)]
    _verify_no_result(paths, scope)
    metrics = {
        path.name.text: path.name
        for path in paths
        if scope.find(path.name.text) is None
        and evaluator.context.catalogue.find("metric", path.name.text) is not None
    }
    for flow, value in flows.items():
        inner = Scope(scope)
        for name in metrics.values():
            known = bind_known(name, "a metric", value.get_field(name, evaluator))
            inner.names[name.text] = known
        condition = build_condition(node, inner, evaluator)
        if condition is not None:
            _verify_measured(goal, node, condition, evaluator)
            label = f"goal {goal.name.text}" + (f"[{flow}]" if metrics else "")
            yield Statement("expect", label, flatten_text(node.span.text), condition, node.span)
        if not metrics:
            return


def _verify_no_result(paths: Sequence[ast.Path], scope: Scope) -> None:
    """Raise CheckError if a condition of a goal names a goal or a point."""
    for path in paths:
        known = scope.find(path.name.text)
        if known is not None and known.what in RESULTS:
            raise make_error(
                "E0514",
                f"a trial does not know what `{path.name.text}` comes to",
                path.span,
                note="each trial is judged by itself, by what it measures",
                help="compare with a number, or let an `expect` say it after the search",
            )


def _verify_measured(
    goal: ast.Goal, node: ast.Expression, condition: Expression, evaluator: Evaluator
) -> None:
    """Warn of a condition of a goal that no device changes: it says nothing of a load."""
    leaves = list_observed(condition)
    if any(not isinstance(leaf, Measured) or not leaf.of_source for leaf in leaves):
        return
    why = "no device changes what a source sends" if leaves else "it measures nothing in a trial"
    evaluator.context.report(
        make_error(
            "W0601",
            f"goal `{goal.name.text}` does not depend on the device: {why}",
            node.span,
            help="name what a greater load can break, such as `loss_ratio <= 0.1%`",
        )
    )


def _explain_stray(node: ast.Statement, here: str) -> CheckError:
    if isinstance(node, ast.Bind):
        return make_error(
            "E0104",
            f"a test has no field `{node.names[0].text}`",
            node.span,
            note="fields of a test: " + " ".join(FIELDS),
            help=f"write `let {node.names[0].text} = …` for a value",
        )
    return explain_misplaced(node, here)


def _append_iteration(subscript: str, shown: str) -> str:
    """Return the subscript of a label with one more iteration, without one that it names.

    That of a flow at a point names the point: `[low.user]`, and not `[low][low.user]`.
    """
    last = subscript.rpartition("[")[2].removesuffix("]")
    if last and shown.startswith(f"{last}."):
        subscript = subscript.removesuffix(f"[{last}]")
    return f"{subscript}[{shown}]"
