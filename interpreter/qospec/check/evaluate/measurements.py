"""What can be measured of a flow: `user[2].oam.delay.p99`."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from qospec.catalogue.statistics import (
    ABOVE,
    OF_FRAMES,
    PATTERNS,
    name_share_above,
    offers,
    parse_cells,
)
from qospec.check.evaluate import unmeasured
from qospec.check.evaluate.context import CheckError, IndexedError, make_error
from qospec.check.evaluate.dimensions import METRICS, describe_dimension
from qospec.check.evaluate.values import Amount, Deferred, Poison, Value, find_position
from qospec.dataclass import dataclass
from qospec.diagnostics import suggest_name
from qospec.model.expression import Measured
from qospec.protocol.encapsulation import LAYERS
from qospec.protocol.streams import KINDS
from qospec.units import COUNTED, PS_PER_S, RATIO, TIME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.catalogue.kinds import Catalogue, Kind
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.model.expression import Place
    from qospec.protocol.streams import KindName
    from qospec.source import Span
    from qospec.syntax import ast

CAUSES = "causes"
"""Stands for all causes of loss among the statistics of a metric."""
NOT_CALLS = "it is measured of calls, which are flows of `voice`"
"""Why other traffic is not rated."""
DISCARDED = "discarded"
"""The cause of what is wired to `discard`."""


@dataclass(frozen=True)
class FlowValue(Value):
    """A flow, one member of it, or a part of either, such as its OAM cells.

    `members` is None if it is no array; `has` are the parts that it has. At a `place`, only what
    passes there. The `network` is a point or a control; of a control, it is another topology.
    What it `tells` are "connections", as the sender of `tcp`, or "calls", as a source of them.
    `unrated` is why it is not rated as calls, in words; "" if it is. By its `rating_field` it is.
    `lengths` are the mean bytes of its items in each layer, as far as these are known; `is_mixed`
    if items differ in them. `frame_cells` are the cells of its longest frame; 0 if not known.
    """

    what: ClassVar[str] = "a flow"
    network: str
    flow: str
    members: int | None
    member: int | None = None
    part: KindName = "user"
    carries: str = "cell"
    has: tuple[KindName, ...] = ()
    unrated: str = NOT_CALLS
    rating_field: str = ""
    place: Place | None = None
    tells: frozenset[str] = frozenset()
    controlled: bool = False
    lengths: tuple[tuple[str, Fraction], ...] = ()
    is_mixed: bool = False
    frame_cells: int = 0

    @property
    def path(self) -> str:
        """Return it as written."""
        network = f"{self.network}." if self.network else ""
        member = "" if self.member is None else f"[{self.member}]"
        return f"{network}{self.flow}{member}{'' if self.part == 'user' else f'.{self.part}'}"

    @property
    def is_unanswered(self) -> bool:
        """Return whether it is what a source sends whatever becomes of it, and not at a place."""
        return self.part == "user" and self.place is None and "answers" not in self.has

    @property
    def _told(self) -> frozenset[str]:
        """Return what needs no telling, and what it tells of itself, rather than of a part."""
        return self.tells | {""} if self.part == "user" else frozenset({""})

    def move_to_network(self, network: str, *, controlled: bool) -> FlowValue:
        """Return the same flow on another network."""
        return replace(self, network=network, controlled=controlled)

    def get_item(self, key: Value, span: Span) -> Value:
        """Return one member."""
        if self.members is None or self.member is not None:
            raise IndexedError(f"`{self.path}` is a single flow", span)
        return replace(self, member=find_position(key, self.members, f"`{self.flow}`", span))

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return a metric, or a part of it."""
        for part in self.has:
            if name.text == part and self.part == "user":
                return replace(self, part=part, carries=KINDS[part].are or self.carries)
        kind = evaluator.context.catalogue.find("metric", name.text)
        if kind is None or kind.build.told_by not in self._told:
            parts = self.has if self.part == "user" else ()
            measured = [
                metric
                for metric in evaluator.context.catalogue.select_role("metric").values()
                if self.carries in metric.carries and metric.build.told_by in self._told
            ]
            raise unmeasured.explain_unknown_metric(self.path, measured, parts, name, kind)
        if self.carries not in kind.carries:
            framed = "frame" in kind.carries and "frames" in self.has
            frames = f"{self.path}.frames" if framed and self.part == "user" else ""
            known = evaluator.context.catalogue
            raise unmeasured.explain_not_measured(self.carries, name, known, frames)
        follows = not kind.build.needs.isdisjoint({"variation", "latency"})
        if self.part == "exchanges" and (kind.build.sized or follows):
            needed = "the size of packets" if kind.build.sized else "each packet on its way"
            raise make_error(
                "E0501",
                f"`{name.text}` is not measured of exchanges",
                name.span,
                note=f"it needs {needed}, and an exchange is several of them",
                help=f"measure requests or answers: `{self.flow}.{name.text}`",
            )
        if kind.build.of_calls and self.unrated:
            raise unmeasured.explain_not_rated(name, self.unrated, self.rating_field)
        metric = MetricValue(self, kind, name.text, evaluator.context.catalogue)
        return metric.build_measured("") if metric.is_single else metric

    def explain_unfinished(self, span: Span) -> CheckError:
        """Return the mistake of a flow used as a number."""
        return make_error(
            "E0502",
            f"`{self.path}` is a flow: say what to measure of it",
            span,
            help=f"write a metric, such as `{self.path}.lost`",
        )


@dataclass(frozen=True)
class MetricValue(Value):
    """A metric that needs a statistic: `user.delay`."""

    what: ClassVar[str] = "a metric"
    flow: FlowValue
    kind: Kind
    spelling: str
    catalogue: Catalogue

    @property
    def is_single(self) -> bool:
        """Return whether it is a number itself, whatever statistics it offers besides."""
        return "" in self._offered or not self._offered

    @property
    def statistics(self) -> tuple[str, ...]:
        """Return the statistics that it offers, those of `PATTERNS` in short."""
        offered = self._offered
        if CAUSES not in offered:
            return offered
        causes = _list_causes(self.catalogue)
        return tuple(
            cause for offer in offered for cause in (causes if offer == CAUSES else (offer,))
        )

    @property
    def _offered(self) -> tuple[str, ...]:
        """Return what it offers, all causes of loss as one word."""
        if self.flow.place is None or self.flow.place.framed:
            return self._everywhere
        return tuple(layer for layer in self._everywhere if layer not in unmeasured.FRAME_LAYERS)

    @property
    def _everywhere(self) -> tuple[str, ...]:
        """Return those that it offers where packets have frames."""
        offered = self.kind.list_statistics(self.flow.carries)
        framed = "frames" in self.flow.has and self.flow.part == "user" and not self.flow.place
        return tuple(name for name in offered if framed or name != OF_FRAMES)

    def explain_unframed(self, asked: str, span: Span) -> CheckError:
        """Return the mistake of bits of frames where there are none."""
        return unmeasured.explain_unframed(self.spelling, self.statistics, asked, span)

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return a statistic."""
        if name.text == ShareAbove.name:
            if "p*" not in self.statistics:
                known, carries = evaluator.context.catalogue, self.flow.carries
                raise unmeasured.explain_no_shares(self.spelling, carries, name, known)
            return ShareAbove(self)
        if not offers(self.statistics, name.text):
            if name.text in unmeasured.FRAME_LAYERS and name.text in self._everywhere:
                raise self.explain_unframed(name.text, name.span)
            path = self.flow.path
            raise unmeasured.explain_unknown_statistic(self.spelling, path, self.statistics, name)
        places, longest = parse_cells(name.text), self.flow.frame_cells
        if places and (places.stop <= places.start or 0 < longest <= places.start):
            raise unmeasured.explain_no_cells(self.flow.path, longest, places, name)
        return self.build_measured(name.text)

    def build_measured(self, statistic: str) -> Value:
        """Return what will be measured; for a metric of places only, once it has one."""
        if self.flow.place is None and "flow" not in self.kind.build.measured_at:
            return Unplaced(self, statistic)
        measured = self.build_leaf(statistic)
        layer = statistic if measured.dimension.has_data and statistic in LAYERS else ""
        return DeferredMetric(
            measured,
            measured.dimension,
            self.kind.build.exact,
            self,
            statistic,
            layer=layer,
        )

    def build_leaf(self, statistic: str) -> Measured:
        """Return a statistic as a term of a condition."""
        metric, flow = self.kind.build, self.flow
        dimension = METRICS[metric.dimension]
        dimension = COUNTED[flow.carries].get(dimension, dimension)
        text = f"{flow.path}.{self.spelling}" + (f".{statistic}" if statistic else "")
        if flow.flow and flow.place is not None:
            text += f".at({flow.place.name})"
        least, most = (
            None if end is None else Fraction(end) for end in (metric.least, metric.most)
        )
        return Measured(
            flow.network,
            flow.flow,
            flow.member,
            flow.part,
            self.kind.name,
            statistic,
            dimension,
            text,
            flow.members if flow.member is None else None,
            metric.needs | _find_needs(statistic),
            least,
            most,
            flow.place,
            metric.of_source and flow.is_unanswered,
        )

    def explain_unfinished(self, span: Span) -> CheckError:
        """Return the mistake of a missing statistic."""
        return self.explain_choice(span, "")

    def explain_choice(self, span: Span, layer: str) -> CheckError:
        """Return the mistake of a missing statistic, of which the `layer` that it meets is one."""
        return make_error(
            "E0502",
            f"`{self.flow.path}.{self.spelling}` has several statistics: say which one",
            span,
            note=unmeasured.describe_offered(self.spelling, self.statistics),
            help=f"write `{span.text}.{layer if layer in self.statistics else self.statistics[0]}`",
        )


@dataclass(frozen=True)
class ShareAbove(Value):
    """`user.delay.above`, to be called with a bound: the share of the delays that exceed it."""

    what: ClassVar[str] = "a share"
    name: ClassVar[str] = "above"
    metric: MetricValue

    @property
    def path(self) -> str:
        """Return it as written."""
        return f"{self.metric.flow.path}.{self.metric.spelling}.above"

    def call(self, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:
        """Return what will be measured."""
        if len(call.arguments) != 1 or call.arguments[0].name is not None:
            raise self.explain_unfinished(call.span)
        node = call.arguments[0].value
        bound = evaluator.require_known(evaluator.require_value(node, scope), node)
        if not isinstance(bound, Amount) or bound.dimension != TIME:
            what = describe_dimension(bound.dimension) if isinstance(bound, Amount) else bound.what
            message = f"the bound of `above` is a time, not {what}"
            raise make_error("E0204", message, node.span, help=f"write `{self.path}(1 ms)`")
        value = bound.value or Fraction(0)
        if value < 0:
            raise make_error("E0205", "the bound of `above` is below 0", node.span)
        measured = replace(
            self.metric.build_leaf(name_share_above(int(value * PS_PER_S))),
            dimension=RATIO,
            text=f"{self.path}({node.span.text})",
            least=Fraction(0),
            most=Fraction(1),
        )
        return Deferred(measured, RATIO, exact=False)

    def explain_unfinished(self, span: Span) -> CheckError:
        """Return the mistake of a missing bound."""
        message = f"`{self.path}` needs a bound: it is the share that exceeds it"
        return make_error("E0502", message, span, help=f"write `{self.path}(1 ms)`")


@dataclass(frozen=True)
class DeferredMetric(Deferred):
    """A statistic of a metric, which may have others below it: `user.lost`, `user.lost.overflow`.

    And it may be measured elsewhere: `user.throughput.at(router.east.tx)`.
    """

    metric: MetricValue
    statistic: str

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return a statistic, or what a place is given to."""
        if name.text == AtPlace.name and self.metric.flow.place is None:
            return AtPlace(self.metric, self.statistic)
        if self.statistic:
            return super().get_field(name, evaluator)
        return self.metric.get_field(name, evaluator)


@dataclass(frozen=True)
class Unplaced(Value):
    """A metric of places, of a flow: `user.items`, which lacks the place."""

    what: ClassVar[str] = "a metric without a place"
    metric: MetricValue
    statistic: str

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return what the place is given to."""
        if name.text == AtPlace.name:
            return AtPlace(self.metric, self.statistic)
        return super().get_field(name, evaluator)

    def explain_unfinished(self, span: Span) -> CheckError:
        """Return the mistake of a missing place."""
        message = f"`{self.metric.spelling}` is measured at a place inside the network"
        return make_error("E0502", message, span, help=f"write `{span.text}.at(x.east.tx)`")


class Located(Value, ABC):
    """A value that is a place, or has just one."""

    @abstractmethod
    def place_at(self, span: Span) -> Place:
        """Return the place; raises CheckError."""


@dataclass(frozen=True)
class PlaceValue(FlowValue, Located):
    """All items that pass a place: `router.east.tx`."""

    what: ClassVar[str] = "a place"

    @classmethod
    def from_place(cls, place: Place) -> PlaceValue:
        """Return what passes there."""
        return cls("", "", None, carries=place.carries, place=place)

    @property
    def path(self) -> str:
        """Return it as written."""
        network = f"{self.network}." if self.network else ""
        return "" if self.place is None else f"{network}{self.place.name}"

    def place_at(self, span: Span) -> Place:  # noqa: ARG002
        """Return the place."""
        assert self.place is not None  # noqa: S101 -- see `of`
        return self.place

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return a metric of what passes."""
        kind = evaluator.context.catalogue.find("metric", name.text)
        if kind is None or "place" not in kind.build.measured_at:
            raise unmeasured.explain_not_at_place(name.text, name.span, evaluator.context.catalogue)
        return super().get_field(name, evaluator)

    def explain_unfinished(self, span: Span) -> CheckError:
        """Return the mistake of a place used as a number."""
        message = f"`{self.path}` is a place: say what to measure there"
        return make_error(
            "E0502", message, span, help=f"write a metric, such as `{self.path}.items`"
        )


@dataclass(frozen=True)
class AtPlace(Value):
    """`user.throughput.at`, to be called with a place: of what passes there."""

    what: ClassVar[str] = "a metric at a place"
    name: ClassVar[str] = "at"
    metric: MetricValue
    statistic: str

    def call(self, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:
        """Return what will be measured."""
        if "place" not in self.metric.kind.build.measured_at:
            path, catalogue = call.path, evaluator.context.catalogue
            raise unmeasured.explain_not_at_place(self.metric.spelling, path.span, catalogue)
        if len(call.arguments) != 1 or call.arguments[0].name is not None:
            raise self.explain_unfinished(call.span)
        node = call.arguments[0].value
        value = evaluator.require_value(node, scope)
        if isinstance(value, Poison):
            return value
        flow = self.metric.flow
        if not isinstance(value, Located):
            raise make_error(
                "E0204",
                f"expected a place, found {value.what}",
                node.span,
                help="write a side of a port, such as `x.east.tx`, or an output of an element",
            )
        if flow.controlled:
            raise make_error(
                "E0502",
                f"`{flow.path}` is on a control, and the place is in the test's topology",
                call.span,
                help="measure it without the control",
            )
        if KINDS[flow.part].follows == "nothing":
            parts = "requests or answers" if flow.part == "exchanges" else "cells"
            raise make_error(
                "E0502",
                f"`{flow.part}` pass no place as wholes",
                call.span,
                help=f"measure {parts} there: `{flow.flow}`",
            )
        if isinstance(value, PlaceValue) and value.network not in ("", flow.network):
            raise make_error(
                "E0502",
                f"`{flow.path}` is not measured at `{value.network}`",
                node.span,
                help="write the place alone, such as `x.east.tx`",
            )
        place = value.place_at(node.span)
        if place.carries != flow.carries:
            message = (
                f"`{place.name}` carries {place.carries}s, and `{flow.flow}` sends {flow.carries}s"
            )
            raise make_error("E0425", message, node.span)
        there = replace(self.metric, flow=replace(flow, place=place))
        if self.statistic and self.statistic not in there.statistics:
            raise there.explain_unframed(self.statistic, node.span)
        return there.build_measured(self.statistic)

    def explain_unfinished(self, span: Span) -> CheckError:
        """Return the mistake of a missing place."""
        message = "`at` takes one place: a side of a port, or an output of an element"
        return make_error(
            "E0502", message, span, help=f"write `{span.text.partition('(')[0]}(x.east.tx)`"
        )


@dataclass(frozen=True)
class ControlValue(Value):
    """A control: the same flows, as they are on another topology."""

    what: ClassVar[str] = "a control"
    name: str
    flows: Mapping[str, Value]

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return a flow."""
        known = self.flows.get(name.text)
        if known is None:
            near = suggest_name(name.text, self.flows)
            raise make_error(
                "E0101",
                f"no flow is named `{name.text}`",
                name.span,
                note=f"its flows: {' '.join(self.flows)}" if self.flows else "",
                near=near,
            )
        return known


@functools.cache
def _find_needs(statistic: str) -> frozenset[str]:
    """Return what has to be recorded for a statistic, besides what its metric needs."""
    forms = [p for p in PATTERNS.values() if p.form.fullmatch(statistic)]
    forms += [PATTERNS["p*"]] * bool(ABOVE.fullmatch(statistic))
    return frozenset().union(*(form.needs for form in forms))


@functools.cache
def _list_causes(catalogue: Catalogue) -> tuple[str, ...]:
    """Return the causes of loss of all elements."""
    return tuple(sorted(catalogue.causes | {DISCARDED}))
