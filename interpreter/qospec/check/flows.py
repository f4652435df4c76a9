"""Flows of a test: what they send, from where to where, and what can be measured of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from qospec import model
from qospec.check.context import Refused, wrong
from qospec.check.declared import traffic_of
from qospec.check.device import built
from qospec.check.dimensions import METRICS
from qospec.check.kinds import KindValue
from qospec.check.nodes import NodeArray, NodeValue
from qospec.check.records import Record
from qospec.check.values import Open, Poison, Value, position
from qospec.diagnostics import did_you_mean

if TYPE_CHECKING:
    from qospec.catalogue import Kind
    from qospec.check.expressions import Evaluator
    from qospec.check.scope import Scope
    from qospec.source import Span
    from qospec.syntax import ast

QUANTILE = re.compile(r"p\d{1,2}(_\d{1,6})?")


@dataclass(frozen=True)
class FlowValue(Value):
    """A flow, one member of it, or the OAM cells of either. `members` is None if it is no array."""

    what: ClassVar[str] = "a flow"
    network: str
    flow: str
    members: int | None
    member: int | None = None
    oam: bool = False

    @property
    def path(self) -> str:
        """Return it as written."""
        network = f"{self.network}." if self.network else ""
        member = "" if self.member is None else f"[{self.member}]"
        return f"{network}{self.flow}{member}{'.oam' if self.oam else ''}"

    def item(self, key: Value, span: Span) -> Value:
        """Return one member."""
        if self.members is None or self.member is not None:
            raise wrong("E0215", f"`{self.path}` is a single flow", span, remedy=f"write `{self.path}`")
        return replace(self, member=position(key, self.members, f"`{self.flow}`", span))

    def field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return a metric, or its OAM cells."""
        if name.text == "oam" and not self.oam:
            return replace(self, oam=True)
        kind = evaluator.context.catalogue.find("metric", name.text)
        if kind is None:
            raise _unknown_metric(name, evaluator.context.catalogue.of("metric"))
        metric = MetricValue(self, kind)
        return metric if metric.statistics else metric.measured("")

    def unfinished(self, span: Span) -> Refused:
        """Say that a flow is no number."""
        return wrong("E0502", f"`{self.path}` is a flow: say what of it is meant", span,
                     remedy=f"write a metric, such as `{self.path}.lost`")  # fmt: skip


@dataclass(frozen=True)
class MetricValue(Value):
    """A metric of which a statistic must be named: `user.delay`."""

    what: ClassVar[str] = "a metric"
    flow: FlowValue
    kind: Kind

    @property
    def statistics(self) -> tuple[str, ...]:
        """Return the statistics that it offers; `p*` stands for quantiles."""
        return tuple(getattr(self.kind.build, "statistics", ()))

    def field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return a statistic."""
        quantile = "p*" in self.statistics and QUANTILE.fullmatch(name.text)
        if name.text not in self.statistics and not quantile:
            offered = [each.replace("p*", "p99") for each in self.statistics]
            near = did_you_mean(name.text, offered)
            raise wrong(
                "E0503", f"`{self.kind.name}` has no statistic `{name.text}`", name.span,
                label=f"did you mean `{near}`?" if near else "",
                note=f"statistics of {self.kind.name}: " + " ".join(offered),
                remedy=f"write `{near or offered[0]}`",
            )
        return self.measured(name.text)

    def measured(self, statistic: str) -> Open:
        """Return what will be measured."""
        cls: Any = self.kind.build
        flow = self.flow
        dimension = METRICS[cls.dimension]
        text = f"{flow.path}.{self.kind.name}" + (f".{statistic}" if statistic else "")
        measured = model.Measured(
            flow.network, flow.flow, flow.member, flow.oam, self.kind.name, statistic, dimension, text
        )
        return Open(measured, dimension, bool(getattr(cls, "exact", False)))

    def unfinished(self, span: Span) -> Refused:
        """Say that a statistic is missing."""
        offered = [each.replace("p*", "p99") for each in self.statistics]
        return wrong(
            "E0502", f"`{self.flow.path}.{self.kind.name}` is many values: say which is meant", span,
            note=f"statistics of {self.kind.name}: " + " ".join(offered),
            remedy=f"write `{span.text}.{offered[0]}`",
        )  # fmt: skip


@dataclass(frozen=True)
class ControlValue(Value):
    """A control: the same flows on another topology."""

    what: ClassVar[str] = "a control"
    name: str
    flows: dict[str, FlowValue]

    def field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return a flow, as it is there."""
        known = self.flows.get(name.text)
        if known is None:
            near = did_you_mean(name.text, self.flows)
            raise wrong("E0101", f"no flow is named `{name.text}`", name.span,
                        label=f"did you mean `{near}`?" if near else "",
                        remedy=f"write `{near}`" if near else "")  # fmt: skip
        return replace(known, network=self.name)


def _unknown_metric(name: ast.Name, known: dict[str, Kind]) -> Refused:
    spellings = [spelling for each in known.values() for spelling in (each.name, *each.aliases)]
    near = did_you_mean(name.text, [*spellings, "oam"])
    return wrong(
        "E0501", f"`{name.text}` is nothing that is measured", name.span,
        label=f"did you mean `{near}`?" if near else "", note="metrics: " + " ".join(sorted(known)),
        remedy=f"write `{near}`" if near else "",
    )  # fmt: skip


def flow(node: ast.Flow, scope: Scope, evaluator: Evaluator) -> tuple[model.Flow | None, int | None]:
    """Return a flow and how many members it has; None if something of it is wrong."""
    origins, many = _hosts(node.origin, scope, evaluator)
    targets, others = _hosts(node.target, scope, evaluator)
    record = _traffic(node, scope, evaluator)
    if origins is None or targets is None:
        return None, many
    if len(origins) != len(targets) or (many is None) != (others is None):
        raise wrong(
            "E0303", f"{_count(many)} cannot be paired with {_count(others)}", node.target.span,
            label=_count(others), other=(node.origin.span, _count(many)),
            remedy="give arrays of equal length, or one host of each",
        )
    if not origins:
        raise wrong("E0303", f"`{node.name.text}` has no members: these arrays are empty", node.origin.span)
    same = [start for start, stop in zip(origins, targets, strict=True) if start == stop]
    if same:
        raise wrong("E0304", f"`{node.name.text}` begins and ends at `{same[0]}`", node.target.span,
                    other=(node.origin.span, "begins here"), remedy="choose another host")  # fmt: skip
    if record is None:
        return None, many
    return _built(node, record, origins, targets, evaluator), many


def _count(many: int | None) -> str:
    return "a single host" if many is None else f"an array of {many}"


def _hosts(node: ast.Path, scope: Scope, evaluator: Evaluator) -> tuple[tuple[str, ...] | None, int | None]:
    value = evaluator.value(node, scope)
    if isinstance(value, Poison):
        return None, None
    nodes = value.nodes if isinstance(value, NodeArray) else (value.node,) if isinstance(value, NodeValue) else ()
    if not isinstance(value, NodeArray | NodeValue) or any(each.template is not None for each in nodes):
        raise wrong("E0306", f"a flow runs between hosts, `{node.span.text}` is {value.what}", node.span,
                    remedy="name a host of the topology")  # fmt: skip
    return tuple(each.path for each in nodes), len(nodes) if isinstance(value, NodeArray) else None


def _traffic(node: ast.Flow, scope: Scope, evaluator: Evaluator) -> Record | None:
    value = evaluator.strict(node.traffic, scope)
    if node.body is not None:
        value = value.copy(node.body, scope, evaluator)
    value = traffic_of(value, node.traffic, evaluator)
    return value if isinstance(value, Record) else None


def _built(
    node: ast.Flow, record: Record, origins: tuple[str, ...], targets: tuple[str, ...], evaluator: Evaluator
) -> model.Flow | None:
    sending = sent(record, evaluator)
    if sending is None:
        return None
    traffic, arrivals, arguments = sending
    defaults = {name: each.default for name, each in record.kind.parameters.items()}
    shared = {**defaults, **arguments}
    return model.Flow(
        node.name.text, record.kind, traffic, arrivals, origins, targets,
        connections=shared["connections"], phases=shared["phases"], clp=shared["clp"],
        virtual_path=shared["virtual_path"], span=node.span,
    )  # fmt: skip


def sent(record: Record, evaluator: Evaluator) -> tuple[Any, Any, dict[str, Any]] | None:
    """Return the objects of a record of traffic: what is declared, what is emitted, its arguments."""
    arguments, complete = record.arguments(evaluator)
    source = _source(record, evaluator)
    if not complete:
        built(record, arguments, complete=False, evaluator=evaluator)
        return None
    traffic = built(record, arguments, complete=True, evaluator=evaluator)
    if traffic is None or isinstance(source, Poison):
        return None
    if source is not None:
        given, whole = source.arguments(evaluator)
        arrivals = built(source, given, complete=True, evaluator=evaluator) if whole else None
    else:
        name, given = traffic.conforming_source()
        kind = evaluator.context.catalogue.find("arrivals", name)
        arrivals = kind.build(**given) if kind is not None else None
    return None if arrivals is None else (traffic, arrivals, arguments)


def _source(record: Record, evaluator: Evaluator) -> Record | Poison | None:
    if "source" not in record.given:
        return None
    binding = record.binding("source")
    value = binding.value(evaluator.context) if binding is not None else Poison()
    if isinstance(value, KindValue):
        value = Record(value.kind, {}, record.given["source"].value.span, evaluator)
    if isinstance(value, Poison):
        return value
    if not isinstance(value, Record) or value.kind.role != "arrivals":
        place = record.given["source"].value.span
        evaluator.context.tell(wrong(
            "E0307", f"`source` is an arrival process, not {value.what}", place,
            note="arrival processes: " + " ".join(evaluator.context.catalogue.of("arrivals")),
            remedy="write one, such as `burst { size = 10 cell, every = 1 ms }`",
        ))  # fmt: skip
        return Poison()
    return value
