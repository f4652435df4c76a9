"""What phases offer to criteria and to later phases: goals with their results, points."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.measurements import (
    ControlValue,
    DeferredMetric,
    MetricValue,
    PlaceValue,
)
from qospec.check.evaluate.values import (
    POISON,
    Amount,
    Boolean,
    Deferred,
    DeferredBoolean,
    List,
    Poison,
    Value,
)
from qospec.dataclass import dataclass
from qospec.diagnostics import suggest_name
from qospec.model.expression import Counted, Found, Measured, with_leaves
from qospec.units import CELL_RATE, PACKET_RATE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.model.expression import Expression, Leaf
    from qospec.model.suite import GoalResult, Search
    from qospec.source import Span
    from qospec.syntax import ast


OFFERED = "offered"
"""The rate at which the flows send at a load. Source: RFC 2285, 3.5.2, offered load."""


@dataclass(frozen=True)
class GoalValue(Value):
    """A goal, as criteria see it: its results are known after the run.

    `search` is None after a mistake in it. `carries` is what the flows send that take part; both
    kinds, or none if they are not known, as in a template.
    """

    what: ClassVar[str] = "a goal"
    name: str
    variable: str
    search: Search | None
    carries: frozenset[str] = frozenset()

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return the load that was found, its lower or upper bound, or whether it is regular."""
        part = _find_part(self.name, self.variable, name)
        text = f"{self.name}.{name.text}"
        if part == "regular":
            loads = None if self.search is None else self.search.dimension
            return DeferredBoolean(Found(self.name, "regular", None, text, load_dimension=loads))
        if self.search is None:
            return POISON
        search = self.search
        if part == OFFERED:
            return self._build_offered(text, name)
        found = Found(self.name, part, search.dimension, text, whole=search.is_whole)
        exact = search.is_whole or (search.step is not None and part != "load")
        return Deferred(found, search.dimension, exact=exact, layer=search.layer)

    def _build_offered(self, text: str, name: ast.Name) -> Value:
        """Return what the flows are to send at the load that was found."""
        assert self.search is not None  # noqa: S101 -- seen before
        if len(self.carries) > 1:
            raise make_error(
                "E0515",
                f"`{text}` would add cells and packets",
                name.span,
                help=f"write `{self.name}.{self.variable}`, or ask a point for each flow",
            )
        if not self.carries:
            return POISON
        dimension = CELL_RATE if "cell" in self.carries else PACKET_RATE
        loads = self.search.dimension
        found = Found(self.name, OFFERED, dimension, text, load_dimension=loads)
        return Deferred(found, dimension, exact=False)

    def explain_unfinished(self, span: Span) -> CheckError:
        """Return the mistake of a goal used as a value."""
        return _explain_unfinished(self.name, self.variable, span)


@dataclass(frozen=True)
class GoalOfTrial(Value):
    """A goal, as a trial of a phase sees it: known if it belongs to an earlier search.

    Attributes:
        name: As written.
        variable: Of its search.
        search: Its search; None after a mistake in it, or if it is not carried out before.
        result: What it has found; None likewise.
    """

    what: ClassVar[str] = "a goal"
    name: str
    variable: ast.Name
    search: Search | None
    result: GoalResult | None
    is_later: bool = False

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return one of its results; criteria, which are judged after all phases, learn nothing."""
        part = _find_part(self.name, self.variable.text, name)
        if evaluator.context.judging:
            return POISON
        if self.is_later:
            raise make_error(
                "E0514",
                f"`{self.name}` is not known yet in this phase",
                name.span,
                secondary=(self.variable.span, "searched here"),
                note="phases are carried out in the order in which they are written",
                help="write this phase below that search",
            )
        if self.search is None or self.result is None:
            return POISON
        if part == "regular":
            return Boolean(self.result.regular)
        if part == OFFERED:
            raise make_error(
                "E0515",
                f"`{self.name}.{OFFERED}` is known to criteria and reports only",
                name.span,
                help=f"write `{self.name}.{self.variable.text}`, the load",
            )
        load = self.result.upper if part == "upper" else self.result.lower
        if load is None:
            bound = "upper" if part == "upper" else "lower"
            raise make_error("E0515", f"`{self.name}` has no {bound} bound", name.span)
        return Amount(load, self.search.dimension, self.search.layer)

    def explain_unfinished(self, span: Span) -> CheckError:
        """Return the mistake of a goal used as a value."""
        return _explain_unfinished(self.name, self.variable.text, span)


def _find_part(goal: str, variable: str, name: ast.Name) -> str:
    """Return which result of a goal is meant: the "load", or the part of that name."""
    offered = (variable, "lower", "upper", "regular", OFFERED)
    if name.text not in offered:
        near = suggest_name(name.text, offered)
        raise make_error(
            "E0515",
            f"a goal has no `{name.text}`",
            name.span,
            label=f"did you mean `{near}`?" if near else "",
            note="a goal offers " + " ".join(offered),
            help=f"write `{goal}.{near or variable}`",
        )
    return "load" if name.text == variable else name.text


def _explain_unfinished(goal: str, variable: str, span: Span) -> CheckError:
    return make_error(
        "E0515",
        f"`{goal}` is a goal: say which of its results",
        span,
        note=f"a goal offers {variable} lower upper regular {OFFERED}",
        help=f"write `{goal}.{variable}`",
    )


@dataclass(frozen=True)
class PointValue(ControlValue):
    """An operating point, as criteria see it: the flows that take part, and lists of them.

    Attributes:
        lists: All of them, and those that a variable of the phase changes, by the names of the
            lists.
    """

    what: ClassVar[str] = "a point"
    lists: Mapping[str, tuple[Value, ...]]
    nodes: Mapping[str, Value]

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return a flow, a list of flows, or a node of the topology as it is there."""
        if name.text in self.lists:
            return List(self.lists[name.text])
        if name.text in self.nodes and name.text not in self.flows:
            return move_to_point(self.name, self.nodes[name.text])
        return super().get_field(name, evaluator)


def move_to_point(point: str, value: Value) -> Value:
    """Return a part of the topology, or what is observed of one, as it is at a point."""
    if isinstance(value, PlaceValue):
        return value.move_to_network(point, controlled=False)
    if isinstance(value, MetricValue):
        return replace(value, flow=value.flow.move_to_network(point, controlled=False))
    if not isinstance(value, Deferred):
        return value if isinstance(value, Poison) else PartAtPoint(point, value)
    moved = replace(value, expression=with_leaves(value.expression, _make_mover(point)))
    if isinstance(moved, DeferredMetric):
        metric = move_to_point(point, moved.metric)
        assert isinstance(metric, MetricValue)  # noqa: S101 -- see above
        return replace(moved, metric=metric)
    return moved


def _make_mover(point: str) -> Callable[[Leaf], Expression]:
    def move_leaf(leaf: Leaf) -> Expression:
        if not isinstance(leaf, Measured | Counted):
            return leaf
        return replace(leaf, network=point, text=f"{point}.{leaf.text}")

    return move_leaf


@dataclass(frozen=True)
class PartAtPoint(Value):
    """A node, an element or a port as it is at a point: `full.router.core`."""

    what: ClassVar[str] = "a part of the topology"
    point: str
    part: Value

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return a part of it, or what is observed of it at the point."""
        return move_to_point(self.point, self.part.get_field(name, evaluator))

    def get_item(self, key: Value, span: Span) -> Value:
        """Return one of an array."""
        return move_to_point(self.point, self.part.get_item(key, span))

    def explain_unfinished(self, span: Span) -> CheckError | None:
        """Return the mistake of using it as a value, where more of a path must follow."""
        return self.part.explain_unfinished(span)


@dataclass(frozen=True)
class PointOfTrial(Value):
    """An operating point, as a trial of a phase sees it: what it measures is not known."""

    what: ClassVar[str] = "a point"
    name: str

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Refuse a measurement in a phase; criteria are judged after all phases."""
        if evaluator.context.judging:
            return POISON
        raise make_error(
            "E0207",
            "a measured value cannot flow back into the test",
            name.span,
            note=f"`{self.name}` is a point, and its flows are measured",
            help="use what a goal has found, such as `ndr.load`",
        )
