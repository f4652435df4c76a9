"""What can be measured of a flow: `user[2].oam.delay.p99`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from qospec.check.context import Refused, wrong
from qospec.check.dimensions import METRICS
from qospec.check.values import Open, Value, position
from qospec.conditions import Measured
from qospec.diagnostics import did_you_mean
from qospec.units import IN_PACKETS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.catalogue import Kind
    from qospec.check.expressions import Evaluator
    from qospec.check.turns import FlowTurns
    from qospec.source import Span
    from qospec.syntax import ast

QUANTILES = "p*"
"""Stands for all quantiles among the statistics that a metric offers."""

ELSEWHERE = {
    "median": "p50",
    "avg": "mean",
    "average": "mean",
    "stddev": "std",
    "stdev": "std",
    "sd": "std",
    "minimum": "min",
    "maximum": "max",
    "p0": "min",
    "p100": "max",
    "latency": "delay",
    "rtt": "delay",
    "jitter": "cdv_2pt",
    "loss": "lost",
    "dropped": "lost",
}
"""What statistics and metrics are called elsewhere, and what is meant by it here."""

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
    carries: str = "cell"

    @property
    def path(self) -> str:
        """Return it as written."""
        network = f"{self.network}." if self.network else ""
        member = "" if self.member is None else f"[{self.member}]"
        return f"{network}{self.flow}{member}{'.oam' if self.oam else ''}"

    def on(self, network: str) -> FlowValue:
        """Return the same flow on another network."""
        return replace(self, network=network)

    def item(self, key: Value, span: Span) -> Value:
        """Return one member."""
        if self.members is None or self.member is not None:
            raise wrong(
                "E0215", f"`{self.path}` is a single flow", span, remedy=f"write `{self.path}`"
            )
        return replace(self, member=position(key, self.members, f"`{self.flow}`", span))

    def field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return a metric, or its OAM cells."""
        if name.text == "oam" and not self.oam and self.carries == "cell":
            return replace(self, oam=True)
        kind = evaluator.context.catalogue.find("metric", name.text)
        if kind is None:
            raise _unknown_metric(name, evaluator.context.catalogue.of("metric"))
        if self.carries not in kind.carries:
            raise wrong(
                "E0501",
                f"`{name.text}` is not measured of {self.carries}s",
                name.span,
                note=f"metrics of {self.carries}s: "
                + " ".join(sorted(_of(self.carries, evaluator.context.catalogue.of("metric")))),
            )
        metric = MetricValue(self, kind, name.text)
        return metric if metric.statistics else metric.measured("")

    def unfinished(self, span: Span) -> Refused:
        """Say that a flow is no number."""
        return wrong(
            "E0502",
            f"`{self.path}` is a flow: say what of it is meant",
            span,
            remedy=f"write a metric, such as `{self.path}.lost`",
        )


@dataclass(frozen=True)
class MetricValue(Value):
    """A metric of which a statistic must be named: `user.delay`."""

    what: ClassVar[str] = "a metric"
    flow: FlowValue
    kind: Kind
    spelling: str

    @property
    def statistics(self) -> tuple[str, ...]:
        """Return the statistics that it offers; `p*` stands for quantiles."""
        return self.kind.statistics(self.flow.carries)

    def field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return a statistic."""
        quantile = QUANTILES in self.statistics and QUANTILE.fullmatch(name.text)
        if name.text not in self.statistics and not quantile:
            raise self._unknown(name)
        return self.measured(name.text)

    def measured(self, statistic: str) -> Open:
        """Return what will be measured."""
        cls: Any = self.kind.build
        flow = self.flow
        dimension = METRICS[cls.dimension]
        if flow.carries == "packet":
            dimension = IN_PACKETS.get(dimension, dimension)
        text = f"{flow.path}.{self.spelling}" + (f".{statistic}" if statistic else "")
        measured = Measured(
            flow.network,
            flow.flow,
            flow.member,
            flow.oam,
            self.kind.name,
            statistic,
            dimension,
            text,
            flow.members if flow.member is None else None,
        )
        return Open(measured, dimension, bool(getattr(cls, "exact", False)))

    def unfinished(self, span: Span) -> Refused:
        """Say that a statistic is missing."""
        return wrong(
            "E0502",
            f"`{self.flow.path}.{self.spelling}` is many values: say which is meant",
            span,
            note=self._offered(),
            remedy=f"write `{span.text}.{self.statistics[0]}`",
        )

    def _offered(self) -> str:
        named = " ".join(each for each in self.statistics if each != QUANTILES)
        quantiles = ", and quantiles such as p50 p99 p99_9" if QUANTILES in self.statistics else ""
        return f"statistics of {self.spelling}: {named}{quantiles}"

    def _unknown(self, name: ast.Name) -> Refused:
        """Return the mistake of a statistic that there is not; not every number is a quantile."""
        meant = ELSEWHERE.get(name.text.lower(), "")
        offered = QUANTILES in self.statistics or not QUANTILE.fullmatch(meant)
        near = meant if offered else ""
        near = near or did_you_mean(name.text, [e for e in self.statistics if e != QUANTILES])
        remedy = f"write `{near}`" if near else ""
        if not near and re.match(r"[pP]\d", name.text) and QUANTILES in self.statistics:
            remedy = "write a quantile below 100 with six decimals at most, as `p99_9` for 99.9 %"
        return wrong(
            "E0503",
            f"`{self.spelling}` has no statistic `{name.text}`",
            name.span,
            label=f"did you mean `{near}`?" if near else "",
            note=self._offered(),
            remedy=remedy,
        )


@dataclass(frozen=True)
class ControlValue(Value):
    """A control: the same flows on another topology."""

    what: ClassVar[str] = "a control"
    name: str
    flows: Mapping[str, FlowValue | FlowTurns]

    def field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return a flow, as it is there."""
        known = self.flows.get(name.text)
        if known is None:
            near = did_you_mean(name.text, self.flows)
            raise wrong(
                "E0101",
                f"no flow is named `{name.text}`",
                name.span,
                label=f"did you mean `{near}`?" if near else "",
                remedy=f"write `{near}`" if near else "",
            )
        return known.on(self.name)


def _of(carries: str, known: dict[str, Kind]) -> list[str]:
    return [name for name, kind in known.items() if carries in kind.carries]


def _unknown_metric(name: ast.Name, known: dict[str, Kind]) -> Refused:
    spellings = [spelling for each in known.values() for spelling in (each.name, *each.aliases)]
    meant = ELSEWHERE.get(name.text.lower(), "")
    near = meant if meant in spellings else did_you_mean(name.text, [*spellings, "oam"])
    return wrong(
        "E0501",
        f"`{name.text}` is nothing that is measured",
        name.span,
        label=f"did you mean `{near}`?" if near else "",
        note="metrics: " + " ".join(sorted((*e.aliases, e.name)[0] for e in known.values())),
        remedy=f"write `{near}`" if near else "",
    )
