"""What a search offers to criteria: the results of its goals."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from qospec.check.evaluate.context import CheckError, error
from qospec.check.evaluate.values import Amount, Deferred, Poison, Value
from qospec.dataclass import dataclass
from qospec.diagnostics import did_you_mean
from qospec.model.expression import Found

if TYPE_CHECKING:
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.source import Span
    from qospec.syntax import ast


@dataclass(frozen=True)
class DeferredBoolean(Value):
    """A boolean that is known only after the run."""

    what: ClassVar[str] = "a result of a search"
    expression: Found


@dataclass(frozen=True)
class GoalValue(Value):
    """A goal, and what a search has found for it, `greatest`; None if that is not known."""

    what: ClassVar[str] = "a goal"
    name: str
    variable: str
    greatest: Amount | None

    def field(self, name: ast.Name, evaluator: Evaluator) -> Value:  # noqa: ARG002
        """Return the load that was found, its lower or upper bound, or whether it is regular."""
        offered = (self.variable, "lower", "upper", "regular")
        if name.text not in offered:
            near = did_you_mean(name.text, offered)
            raise error(
                "E0515",
                f"a goal has no `{name.text}`",
                name.span,
                label=f"did you mean `{near}`?" if near else "",
                note="a goal offers " + " ".join(offered),
                help=f"write `{self.name}.{near or self.variable}`",
            )
        text = f"{self.name}.{name.text}"
        if name.text == "regular":
            return DeferredBoolean(Found(self.name, "regular", None, text))
        if self.greatest is None:
            return Poison()
        part = "load" if name.text == self.variable else name.text
        dimension, layer = self.greatest.dimension, self.greatest.layer
        found = Found(self.name, part, dimension, text)
        return Deferred(found, dimension, exact=False, layer=layer)

    def unfinished(self, span: Span) -> CheckError:
        """Return the mistake of a goal used as a value."""
        return error(
            "E0515",
            f"`{self.name}` is a goal: say which of its results",
            span,
            note=f"a goal offers {self.variable} lower upper regular",
            help=f"write `{self.name}.{self.variable}`",
        )
