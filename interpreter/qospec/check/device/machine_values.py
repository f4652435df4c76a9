"""What is observed of a machine: its states, its counters, and what it did not do."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from qospec.catalogue.machine import BLOCKED, OBSERVED, Program
from qospec.catalogue.statistics import PATTERNS, offers
from qospec.check.device.observables import explain_not_observed
from qospec.check.device.ports import PartValue
from qospec.check.evaluate.context import make_error
from qospec.check.evaluate.values import Deferred, Value
from qospec.dataclass import dataclass
from qospec.diagnostics import suggest_name
from qospec.model.expression import Counted
from qospec.units import COUNT, TIME

if TYPE_CHECKING:
    from qospec.check.evaluate.context import CheckError
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.source import Span
    from qospec.syntax import ast
    from qospec.units import Dimension

MOMENTS = ("first_entered", "last_entered")
"""When something first and last happened to a state."""
STATISTICS = ("mean", "min", "max", "p*", "stay_*")
"""Statistics of the time in a state, as metrics declare theirs."""
OFFERED = (
    "statistics of the time in a state: "
    f"{' '.join(name for name in STATISTICS if name not in PATTERNS)}, "
    f"{', and '.join(PATTERNS[name].plural for name in STATISTICS if name in PATTERNS)}"
)
OF_STATES = (
    "count",
    "most",
    "entered",
    *MOMENTS,
    *(f"time.{name}" for name in STATISTICS if name not in PATTERNS),
    *(f"time.{example}" for example in ("p99", "stay_3")),
)
"""What is observed of a state, as authors write it."""


@dataclass(frozen=True)
class MachineValue(PartValue):
    """A machine; as an element it has inputs and outputs."""

    what: ClassVar[str] = "a machine"

    @property
    def program(self) -> Program:
        """Return what it does."""
        program: Program = self.part.element.program
        return program

    @property
    def offered(self) -> tuple[str, ...]:
        """Return the names of what is observed of it."""
        program = self.program
        names = (
            *(state.name for state in program.states),
            *(counter.name for counter in program.counters),
        )
        return (*names, *OBSERVED, *(("lost", BLOCKED) if program.passes else ()))

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:
        """Return a state, a counter, what is counted of it or, for wires, an input or output."""
        program = self.program
        if self.name:
            return super().get_field(name, evaluator)
        if name.text in {state.name for state in program.states}:
            return StateValue(self.path, name.text)
        counters = {counter.name: counter.dimension for counter in program.counters}
        if name.text in counters:
            return _build_counted(self.path, f"counter.{name.text}", name.text, counters[name.text])
        if name.text in OBSERVED:
            return _build_counted(self.path, name.text, name.text, COUNT)
        lost = program.passes and name.text in ("lost", BLOCKED)
        if not lost and (self.device or name.text not in self.part.ends):
            raise explain_not_observed((self.what, self.offered), self.path, name.text, name.span)
        return super().get_field(name, evaluator)


def _build_counted(path: str, observed: str, said: str, dimension: Dimension) -> Deferred:
    text = f"{path}.{said}"
    counted = Counted("", path, None, dimension, text, f"machine.{observed}")
    return Deferred(counted, dimension, exact=dimension != TIME)


@dataclass(frozen=True)
class StateValue(Value):
    """A state of a machine."""

    what: ClassVar[str] = "a state"
    path: str
    state: str

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return how many instances are in it, or how long they stay."""
        if name.text == "time":
            return StayValue(self.path, self.state)
        if name.text not in ("count", "most", "entered", *MOMENTS):
            whole = f"{self.path}.{self.state}"
            raise explain_not_observed(("a state", OF_STATES), whole, name.text, name.span)
        which, dimension = f"{self.state}.{name.text}", TIME if name.text in MOMENTS else COUNT
        return _build_counted(self.path, f"state.{which}", which, dimension)

    def explain_unfinished(self, span: Span) -> CheckError:
        """Return the mistake of a state without what is observed of it."""
        return make_error(
            "E0502",
            f"`{span.text}` is a state: say what of it",
            span,
            note=f"observed of a state: {' '.join(OF_STATES)}",
            help=f"write `{span.text}.count`",
        )


@dataclass(frozen=True)
class StayValue(Value):
    """The time in a state."""

    what: ClassVar[str] = "the time in a state"
    path: str
    state: str

    def get_field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return a statistic of the stays that have ended, or one of the stays."""
        if not offers(STATISTICS, name.text):
            nearly = (PATTERNS[of] for of in STATISTICS if of in PATTERNS)
            raise make_error(
                "E0503",
                f"`time` has no statistic `{name.text}`",
                name.span,
                note=OFFERED,
                near=suggest_name(name.text, [n for n in STATISTICS if n not in PATTERNS]),
                help=next((of.help for of in nearly if of.nearly.match(name.text)), ""),
            )
        which = f"{self.state}.time.{name.text}"
        return _build_counted(self.path, f"state.{which}", which, TIME)

    def explain_unfinished(self, span: Span) -> CheckError:
        """Return the mistake of a missing statistic."""
        return make_error(
            "E0502",
            f"`{span.text}` has several statistics: say which one",
            span,
            note=OFFERED,
            help=f"write `{span.text}.max`",
        )
