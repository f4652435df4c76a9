"""What is observed of an element of a device: what it loses, what waits in it, how busy it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from qospec.catalogue.statistics import is_of_cause, name_cause
from qospec.check.evaluate.context import make_error
from qospec.check.evaluate.values import Deferred, Value
from qospec.dataclass import dataclass
from qospec.diagnostics import suggest_name
from qospec.model.expression import Counted
from qospec.units import RATIO

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Kind
    from qospec.check.evaluate.context import CheckError
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.source import Span
    from qospec.syntax import ast
    from qospec.units import Dimension

STATISTICS = ("max", "mean", "bound")
"""Statistics of an occupancy; `bound` is what is proved of its `max`."""
UTILISATION = "utilisation"
"""The share of the time in which an element works."""


def list_observables(kind: Kind) -> tuple[str, ...]:
    """Return what is observed of an element of that kind, as authors write it."""
    causes = dict.fromkeys(
        name for cause in list_loss_causes(kind, "lost") for name in (name_cause(cause), cause)
    )
    waiting = tuple(f"occupancy.{e}" for e in STATISTICS) if has_occupancy(kind) else ()
    busy = (UTILISATION,) if kind.build.serves else ()
    return (*(("lost", *causes) if causes else ()), *waiting, *busy)


def has_occupancy(kind: Kind) -> bool:
    """Return whether items wait in an element of a kind, so that there is an occupancy."""
    return kind.duty == "queue" or bool(kind.build.holds)


def list_loss_causes(kind: Kind, name: str) -> tuple[str, ...]:
    """Return the causes of loss at a kind of element that a name stands for."""
    causes: tuple[str, ...] = kind.build.causes
    return causes if name == "lost" else tuple(c for c in causes if is_of_cause(c, name))


def describe_kind(kind: Kind) -> tuple[str, tuple[str, ...]]:
    """Return an element of a kind as messages name it ("`fifo`"), and what is observed of it."""
    return f"`{kind.name}`", list_observables(kind)


def explain_not_observed(
    whose: tuple[str, tuple[str, ...]], path: str, asked: str, span: Span
) -> CheckError:
    """Return the mistake of using what is not observed at `path`.

    Of several words in `asked`, the last is compared with what is offered.
    """
    what, offered = whose
    last = asked.rpartition(".")[2]
    near = suggest_name(asked, offered) or suggest_name(last, offered)
    return make_error(
        "E0423",
        f"`{path}.{asked}` cannot be observed",
        span,
        label=f"did you mean `{near}`?" if near else "",
        note=f"observed of {what}: {' '.join(offered) or 'nothing'}",
        help=f"write `{path}.{near}`" if near else "",
    )


def make_utilisation(path: str) -> Deferred:
    """Return the utilisation of the element at a path."""
    counted = Counted("", path, None, RATIO, f"{path}.{UTILISATION}", UTILISATION)
    return Deferred(counted, RATIO, exact=False)


@dataclass(frozen=True)
class Losses(Deferred):
    """How many items were lost at an element, in all or for a cause; it has no fields."""

    kind: Kind
    path: str
    asked: str

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Refuse: losses for a cause have a name of their own, `q.overflow`."""
        raise explain_not_observed(
            describe_kind(self.kind), self.path, f"{self.asked}.{name.text}", name.span
        )


@dataclass(frozen=True)
class Occupancy(Value):
    """The occupancy of a queue, a shaper or a processor: its `max`, its `mean` and its `bound`."""

    what: ClassVar[str] = "what waits in a queue, a shaper or a processor"
    path: str
    dimension: Dimension

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return one of these."""
        if name.text not in STATISTICS:
            near = suggest_name(name.text, STATISTICS)
            raise make_error(
                "E0503",
                f"`occupancy` has no statistic `{name.text}`",
                name.span,
                note=f"statistics of occupancy: {' '.join(STATISTICS)}",
                near=near,
            )
        text = f"{self.path}.occupancy.{name.text}"
        counted = Counted("", self.path, None, self.dimension, text, f"occupancy.{name.text}")
        return Deferred(counted, self.dimension, exact=name.text != "mean")

    def explain_unfinished(self, span: Span) -> CheckError:
        """Return the mistake of a missing statistic."""
        return make_error(
            "E0502",
            f"`{span.text}` has several statistics: say which one",
            span,
            note=f"statistics of occupancy: {' '.join(STATISTICS)}",
            help=f"write `{span.text}.max`",
        )
