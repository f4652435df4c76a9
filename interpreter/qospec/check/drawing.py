"""What properties reckon with: streams of cells that are drawn, and the functions of them.

The table `FUNCTIONS` is the only list of these functions.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

from qospec.check.context import wrong
from qospec.check.dimensions import NUMBER, named
from qospec.check.values import Amount, Poison, Truth, Value
from qospec.dataclass import dataclass
from qospec.diagnostics import did_you_mean
from qospec.units import CELL_RATE, CELLS, TIME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.check.expressions import Evaluator
    from qospec.check.scope import Scope
    from qospec.source import Span
    from qospec.syntax import ast
    from qospec.units import Dimension

MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class Arrivals(Value):
    """The times of cells, drawn or worked out of others."""

    what: ClassVar[str] = "a stream of cells"


@dataclass(frozen=True)
class Function(Value):
    """A function: what it takes, by name and in order, and what it gives.

    A parameter is a dimension, or None for a stream of cells. Those of `optional` may be left out.
    """

    what: ClassVar[str] = "a function"
    name: str
    summary: str
    parameters: Mapping[str, Dimension | None] = field(compare=False)
    gives: Value
    optional: frozenset[str] = frozenset()

    def call(self, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:
        """Return what it gives, once its arguments have been checked; raises Refused."""
        given: dict[str, Span] = {}
        free = list(self.parameters)
        for argument in call.arguments:
            name = argument.name.text if argument.name else next(iter(free), "")
            if name not in self.parameters:
                raise self._unknown(argument)
            if name in given:
                raise wrong(
                    "E0114",
                    f"`{name}` is given twice",
                    argument.span,
                    other=(given[name], "given here already"),
                )
            given[name] = argument.span
            free.remove(name)
            self._fits(name, argument.value, evaluator.plain(argument.value, scope))
        missing = [name for name in free if name not in self.optional]
        if missing:
            raise wrong(
                "E0105",
                f"`{self.name}` needs `{missing[0]}`",
                call.span,
                remedy=f"add `{missing[0]} = …`",
            )
        return self.gives

    def _unknown(self, argument: ast.Argument) -> Exception:
        listed = " ".join(self.parameters)
        name = argument.name.text if argument.name else ""
        near = did_you_mean(name, self.parameters)
        message = (
            f"`{self.name}` has no parameter `{name}`" if name else f"too many for `{self.name}`"
        )
        return wrong(
            "E0104" if name else "E0114",
            message,
            argument.span,
            label=f"did you mean `{near}`?" if near else "",
            note=f"parameters of {self.name}: {listed}",
            remedy=f"write `{near}`" if near else "",
        )

    def _fits(self, name: str, node: ast.Expression, value: Value) -> None:
        wanted = self.parameters[name]
        if isinstance(value, Poison) or (wanted is None and isinstance(value, Arrivals)):
            return
        if wanted is None:
            raise wrong(
                "E0204",
                f"`{self.name}` takes a stream of cells, this is {value.what}",
                node.span,
                remedy="draw one: `forall arrivals in cells(at_most = 100)`",
            )
        if not isinstance(value, Amount):
            raise wrong("E0204", f"`{name}` is {named(wanted)}, this is {value.what}", node.span)
        if value.dimension != wanted and value.value != 0:
            raise wrong(
                "E0202", f"`{name}` is {named(wanted)}, not {named(value.dimension)}", node.span
            )
        if value.value is not None and value.value < 0:
            raise wrong("E0205", f"`{name}` must be at least 0", node.span)
        known = value.value
        counts = known is None or (known.denominator == 1 and 0 < known <= MOST_CELLS)
        if name == "at_most" and not counts:
            limit = f"a whole number from 1 to {MOST_CELLS:_}"
            raise wrong("E0205", f"`at_most` is {limit}", node.span)


CONTRACT = {"arrivals": None, "pcr": CELL_RATE, "cdvt": TIME}

FUNCTIONS = {
    each.name: each
    for each in (
        Function("cells", "Draws times of cells.", {"at_most": NUMBER}, Arrivals()),
        Function(
            "police",
            "Gives the cells that a policer of this contract passes.",
            CONTRACT,
            Arrivals(),
            frozenset(["cdvt"]),
        ),
        Function(
            "conforms",
            "Asks whether all cells conform to this contract.",
            CONTRACT,
            Truth(None),
            frozenset(["cdvt"]),
        ),
        Function("count", "Counts cells.", {"arrivals": None}, Amount(None, CELLS)),
    )
}
"""The functions of properties, by name."""
