"""The phases of a test: the variables that they bind, and what they find, as names.

A phase is evaluated by itself, in fresh scopes of the case: there a variable has one value, that of
a trial, and a goal of an earlier phase is the load that was found. The criteria, which are judged
after all phases, have scopes of their own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import flatten_text, make_error
from qospec.check.evaluate.goals import GoalOfTrial, GoalValue, PointOfTrial, PointValue
from qospec.check.evaluate.scope import Binding, bind_known
from qospec.check.evaluate.values import POISON, Amount, Value
from qospec.check.records.spelling import list_spellings
from qospec.check.test.changes import list_changes
from qospec.check.test.point import POINT, build_point
from qospec.check.test.restarts import is_field, with_restarts
from qospec.check.test.search import (
    SearchReader,
    build_search_kind,
    find_ends,
    list_goals,
)
from qospec.dataclass import NamedTuple
from qospec.model.suite import GoalResult, PointLoad, Search
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence
    from fractions import Fraction

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.check.test.parts import CaseScope
    from qospec.model.suite import Phase, Point, Run
    from qospec.source import Span

WHAT = "a variable of a phase"

PhaseNode = ast.Search | ast.Point


class Trial(NamedTuple):
    """A trial of a phase.

    Attributes:
        number: Of the phase in the test.
        load: Of a search; of a point in place of the value of its only variable. None: the
            highest, or the lowest if `lowest`; at a point what it says.
        found: What goals of earlier phases have found. None: their highest or lowest loads.
        lowest: Which of them.
        trial_ps: How long it lasts; None: as long as the phase says.
        changes: How many changes of a point have taken place.
    """

    number: int
    load: Fraction | None = None
    found: Mapping[str, GoalResult] | None = None
    lowest: bool = False
    trial_ps: int | None = None
    changes: int = 0


class Phases:
    """The phases of a test as they are written.

    Attributes:
        nodes: In their order.
        read: What they mean, as far as they have been read; None after a mistake.
        values: By variable, its highest value in the first phase that binds it.
        unused: The variables that the phases of templates bind and nothing uses, with the template.
    """

    def __init__(self, names: CaseScope, evaluator: Evaluator) -> None:
        self.nodes = [node for node, _ in place_phases(names)]
        self.read: list[Phase | None] = []
        self.values: dict[str, Value] = {}
        self._evaluator = evaluator
        self._context = evaluator.context
        catalogue = evaluator.context.catalogue
        self._spellings: dict[type, Container[str]] = {
            ast.Search: list_spellings(build_search_kind(catalogue)),
            ast.Point: list_spellings(POINT),
        }
        used = {name for statement, _ in names.statements for name in _list_names(statement)}
        placed = [(node, names.find_template(scope)) for node, scope in place_phases(names)]
        # the flows of a template, which use its names, are elsewhere
        self._binds = [self._list_variables(phase, None if of else used) for phase, of in placed]
        self.variables: dict[str, ast.Name] = {}
        self.unused: dict[str, ast.Test] = {}
        for node, template in placed:
            for name in self._list_bound(node):
                self.variables.setdefault(name.text, name)
                if template is not None and names.topology is not None and name.text not in used:
                    self.unused.setdefault(name.text, template)

    def _list_variables(self, node: PhaseNode, used: set[str] | None) -> list[ast.Bind]:
        """Return the bindings of a phase that are no fields of it: names that something uses."""
        fields = self._spellings[type(node)]
        return [
            bind
            for bind in node.body.statements
            if isinstance(bind, ast.Bind)
            and all(n.text not in fields and (used is None or n.text in used) for n in bind.names)
        ]

    def _list_bound(self, node: PhaseNode) -> Iterator[ast.Name]:
        """Yield the variables that a phase binds, that which it searches first."""
        if isinstance(node, ast.Search):
            yield node.name
        binds = self._binds[self.nodes.index(node)]
        yield from (name for bind in binds for name in bind.names)

    def list_changes(self, number: int) -> list[ast.At]:
        """Return what changes during the trials of a phase."""
        node = self.nodes[number]
        return list_changes(node) if isinstance(node, ast.Point) else []

    def list_values(self, number: int) -> tuple[tuple[str, Span], ...]:
        """Return the variables that a phase binds, with the places of their values."""
        node = self.nodes[number]
        own = [(node.name.text, node.values.span)] if isinstance(node, ast.Search) else []
        binds = [
            (name.text, bind.value.span) for bind in self._binds[number] for name in bind.names
        ]
        return (*own, *binds)

    def list_unbound(self, number: int) -> frozenset[str]:
        """Return the variables that a phase does not bind."""
        bound = {name.text for name in self._list_bound(self.nodes[number])}
        return frozenset(self.variables.keys() - bound)

    # ---- names

    def declare(self, names: CaseScope, trial: Trial) -> None:
        """Declare the variables, goals and points as a trial sees them."""
        for number, (node, scope) in enumerate(place_phases(names)):
            for name in self._list_first_bound(node):
                scope.declare(self._make_variable(name, names, trial), self._context)
            if isinstance(node, ast.Point):
                point = PointOfTrial(node.name.text)
                scope.declare(bind_known(node.name, "a point", point), self._context)
                continue
            read = self.read[number] if number < trial.number else None
            search = read if isinstance(read, Search) else None
            for goal in list_goals(node):
                result = None if search is None else _assume_found(goal.name.text, search, trial)
                is_later = number >= trial.number
                value = GoalOfTrial(goal.name.text, node.name, search, result, is_later)
                scope.declare(bind_known(goal.name, "a goal", value), self._context)

    def declare_judged(
        self,
        names: CaseScope,
        points: Mapping[str, PointValue],
        carried: Sequence[frozenset[str]],
    ) -> None:
        """Declare them as criteria see them.

        `points` are those that have been read, by name; `carried` says of each phase what is sent.
        """
        for number, (node, scope) in enumerate(place_phases(names)):
            for name in self._list_first_bound(node):
                value = self.values.get(name.text, POISON)
                scope.declare(self._make_varying(name, value), self._context)
            if isinstance(node, ast.Point):
                point_value = points.get(node.name.text, POISON)
                scope.declare(bind_known(node.name, "a point", point_value), self._context)
                continue
            read = self.read[number] if number < len(self.read) else None
            search = read if isinstance(read, Search) else None
            for goal in list_goals(node):
                made = GoalValue(goal.name.text, node.name.text, search, carried[number])
                scope.declare(bind_known(goal.name, "a goal", made), self._context)

    def _list_first_bound(self, node: PhaseNode) -> list[ast.Name]:
        """Return the variables that no phase before this one binds."""
        return [name for name in self._list_bound(node) if self.variables[name.text] is name]

    def _make_varying(self, name: ast.Name, value: Value) -> Binding:
        binding = bind_known(name, WHAT, value)
        binding.varies = {name.text: self._suggest_instead(name.text)}
        return binding

    def _make_variable(self, name: ast.Name, names: CaseScope, trial: Trial) -> Binding:
        made = Binding(
            name.text, name.span, WHAT, lambda: self._evaluate_variable(name.text, names, trial)
        )
        made.varies = {name.text: self._suggest_instead(name.text)}
        return made

    def _suggest_instead(self, name: str) -> str:
        """Return what a criterion writes in place of a variable."""
        searches = [node for node in self.nodes if isinstance(node, ast.Search)]
        goals = [
            goal for search in searches if search.name.text == name for goal in list_goals(search)
        ]
        return f"{goals[0].name.text}.{name}" if goals else ""

    def _evaluate_variable(self, name: str, names: CaseScope, trial: Trial) -> Value:
        """Return the value of a variable in a trial; POISON if its phase does not bind it."""
        node, scope = place_phases(names)[trial.number]
        if isinstance(node, ast.Search) and node.name.text == name:
            if trial.load is not None:
                search = self.read[trial.number]
                assert isinstance(search, Search)  # noqa: S101 -- it was read before it is run
                return Amount(trial.load, search.dimension, search.layer)
            ends = find_ends(node, scope, self._evaluator)
            return POISON if ends is None else ends.low if trial.lowest else ends.high
        given = reversed(self._list_given(trial))
        for bind in given:
            if name in [name.text for name in bind.names]:
                value = self._evaluator.require_plain(bind.value, scope)
                unfinished = value.explain_unfinished(bind.value.span)
                if unfinished is not None:
                    raise unfinished
                instead = trial.load if isinstance(node, ast.Point) else None
                if instead is not None and isinstance(value, Amount):
                    return replace(value, value=instead, text="")
                return value
        return POISON

    def _list_given(self, trial: Trial) -> list[ast.Bind]:
        """Return the bindings that give variables their values, those of later changes last."""
        changes = self.list_changes(trial.number)[: trial.changes]
        later = [statement for change in changes for statement in change.body.statements]
        return self._binds[trial.number] + [
            statement for statement in later if isinstance(statement, ast.Bind)
        ]

    # ---- what they mean

    def build_phase(self, names: CaseScope, trial: Trial, run: Run | None) -> Phase | None:
        """Return what a phase means at the load of a trial; None after a mistake."""
        node, scope = place_phases(names)[trial.number]
        before = self._context.mistakes
        found: list[Phase | None] = []

        def read() -> Value:
            for name in self._list_bound(node):
                if (bound := names.scope.find(name.text)) is not None:
                    bound.evaluate(self._context)
            if isinstance(node, ast.Point):
                fields = self._list_fields(trial.number)
                variables = {name.text for name in self._list_bound(node)}
                point = build_point(node, fields, variables, run, scope, self._evaluator)
                found.append(point and self._complete_point(point, node, scope, names))
            elif (ends := find_ends(node, scope, self._evaluator)) is not None:
                fields = self._list_fields(trial.number)
                found.append(SearchReader(node, ends, fields, scope, self._evaluator).read_search())
            return POISON

        reading = Binding(node.name.text, node.name.span, "a phase", read)
        reading.evaluate(self._context)
        lacking = sorted(reading.varies.keys() & self.list_unbound(trial.number))
        if lacking and self._context.mistakes == before:
            raise make_error(
                "E0514",
                f"`{lacking[0]}` has no value in this phase",
                node.name.span,
                note="it is a variable, and each phase gives its variables values of its own",
                help=f"add `{lacking[0]} = …` to the phase",
            )
        return found[0] if found else None

    def _complete_point(
        self, point: Point, node: ast.Point, scope: Scope, names: CaseScope
    ) -> Point:
        """Return a point with what restarts, and whether it depends on a goal."""
        run = point.run
        if not any(map(is_field, self._list_bound(node))):  # else it is a variable of that name
            changes = [(change, scope) for change in list_changes(node)]
            run = with_restarts(run, changes, names.network, self._evaluator)
        uses_goals = self._uses_goals(node, names)
        return replace(point, run=run, uses_goals=uses_goals, load=self._load(node, names))

    def _load(self, node: ast.Point, names: CaseScope) -> PointLoad | None:
        """Return the value of the only variable of a point, if it has one that is a number."""
        binds = self._binds[self.nodes.index(node)]
        bound = [(name, bind.value) for bind in binds for name in bind.names]
        binding = names.scope.find(bound[0][0].text) if len(bound) == 1 else None
        value = binding.evaluate(self._context) if binding is not None else None
        if not isinstance(value, Amount) or value.value is None:
            return None
        name, written = bound[0]
        literal = isinstance(written, ast.Number | ast.Quantity)
        words = name.text if literal else flatten_text(written.span.text)
        return PointLoad(name.text, value.value, value.dimension, value.layer, written.span, words)

    def _uses_goals(self, node: ast.Point, names: CaseScope) -> bool:
        """Return whether a point or a flow names a goal, or a `let` that does."""
        goals = {
            goal.name.text
            for node in self.nodes
            if isinstance(node, ast.Search)
            for goal in list_goals(node)
        }
        every = [one for statement, _ in names.statements for one in statement.with_all_below()]
        lets = {
            statement.name.text: statement.value
            for statement in every
            if isinstance(statement, ast.Let)
        }
        waiting: list[ast.Node] = [
            node,
            *(statement for statement in every if isinstance(statement, ast.Flow)),
        ]
        seen: set[str] = set()
        while waiting:
            new = set(_list_names(waiting.pop())) - seen
            seen |= new
            waiting += [lets[name] for name in new & lets.keys()]
        return bool(seen & goals)

    def _list_fields(self, number: int) -> list[ast.Bind]:
        """Return the bindings of a phase that are its fields, or are meant to be."""
        statements = self.nodes[number].body.statements
        variables = self._binds[number]
        return [
            statement
            for statement in statements
            if isinstance(statement, ast.Bind) and statement not in variables
        ]

    def keep_sized(self, number: int, phase: Phase | None) -> None:
        """Keep what a phase means, once it is known how long its trials are."""
        self.read[number] = phase

    def keep(self, phase: Phase | None, names: CaseScope) -> None:
        """Keep what a phase means, and the highest values of its variables, as declared there."""
        self.read.append(phase)
        for name in self._list_bound(self.nodes[len(self.read) - 1]):
            binding = names.scope.find(name.text)
            if binding is not None:
                self.values.setdefault(name.text, binding.evaluate(self._context))


def place_phases(names: CaseScope) -> list[tuple[PhaseNode, Scope]]:
    """Return the phases of a test, each with the names that it sees."""
    return [(node, scope) for node, scope in names.statements if isinstance(node, PhaseNode)]


def _assume_found(goal: str, search: Search, trial: Trial) -> GoalResult:
    """Return what a goal has found; as long as it has not, one end of the range."""
    if trial.found is not None:
        return trial.found.get(goal, GoalResult(None, None))
    end = search.low if trial.lowest else search.high
    return GoalResult(end, end)


def _list_names(node: ast.Node) -> Iterator[str]:
    """Yield the first name of each path below a node."""
    every = node.with_all_below()
    yield from (node.name.text for node in every if isinstance(node, ast.Path))
