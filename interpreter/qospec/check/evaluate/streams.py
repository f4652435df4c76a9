"""Streams of cells, and the functions that properties have for them."""

from __future__ import annotations

from dataclasses import field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from qospec.check.evaluate.context import explain_lacking_arguments, make_error
from qospec.check.evaluate.dimensions import NUMBER, describe_dimension
from qospec.check.evaluate.values import Amount, Boolean, List, Poison, Value
from qospec.dataclass import dataclass
from qospec.diagnostics import suggest_name
from qospec.units import CELL_RATE, CELLS, PS_PER_S, TIME

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qospec.check.evaluate.context import CheckError
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.source import Span
    from qospec.syntax import ast
    from qospec.units import Dimension

MAX_CELLS = 1_000_000


@dataclass(frozen=True)
class Arrivals(Value):
    """The times of cells, drawn or derived from others.

    Attributes:
        stream: What the functions of properties make of them; None while they are unknown.
        most: How many may be drawn; 0 for cells that are given.
    """

    what: ClassVar[str] = "a stream of cells"
    stream: Any = None
    most: int = 0


@dataclass(frozen=True)
class Function(Value):
    """A function: its parameters, by name and in order, and its result.

    A parameter is a dimension, or None for a stream of cells. Those of `optional` may be left out.
    `run` carries it out; without, the result is unknown.
    """

    what: ClassVar[str] = "a function"
    name: str
    summary: str
    parameters: Mapping[str, Dimension | None] = field(compare=False)
    gives: Value
    optional: frozenset[str] = frozenset()
    run: Callable[..., Any] | None = field(default=None, compare=False)

    def call(self, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Value:
        """Return its result, once its arguments have been checked; raises CheckError."""
        given: dict[str, tuple[Span, Value]] = {}
        free = list(self.parameters)
        for argument in call.arguments:
            name = argument.name.text if argument.name else next(iter(free), "")
            if name not in self.parameters:
                raise self._explain_unknown(argument)
            if name in given:
                raise make_error(
                    "E0114",
                    f"`{name}` is given twice",
                    argument.span,
                    secondary=(given[name][0], "given here already"),
                )
            value = evaluator.require_plain(argument.value, scope)
            given[name] = argument.span, value
            free.remove(name)
            self._fits(name, argument.value, value)
        missing = [name for name in free if name not in self.optional]
        if missing:
            raise explain_lacking_arguments(self.name, missing, call.span)
        return self._compute_result({name: value for name, (_, value) in given.items()}, call.span)

    def _compute_result(self, given: Mapping[str, Value], span: Span) -> Value:
        """Return what it gives for these arguments; raises CheckError."""
        if self.name == "cells":
            return self._build_cells(given, span)
        if self.run is None or any(isinstance(value, Poison) for value in given.values()):
            return self.gives
        arguments = {
            name: value.stream if isinstance(value, Arrivals) else getattr(value, "value", None)
            for name, value in given.items()
        }
        result = self._carry_out(span, **arguments)
        if isinstance(self.gives, Amount):
            return replace(self.gives, value=Fraction(result))
        return Boolean(result) if isinstance(self.gives, Boolean) else Arrivals(result)

    def _build_cells(self, given: Mapping[str, Value], span: Span) -> Value:
        """Return cells at times that are given, or a number of them to draw."""
        most, times = given.get("at_most"), given.get("at")
        if (most is None) == (times is None):
            raise make_error(
                "E0105",
                "`cells` needs either `at_most` or `at`",
                span,
                help="write `cells(at_most = 100)` to draw from, or `cells(at = [0 s, 1 us])`",
            )
        if isinstance(most, Amount) and most.value is not None:
            return Arrivals(most=int(most.value))
        if not isinstance(times, List) or self.run is None:
            return Arrivals()
        at = [item.value for item in times.items if isinstance(item, Amount)]
        times_ps = tuple(int(time * PS_PER_S) for time in at if time is not None)
        return Arrivals(self._carry_out(span, times_ps=times_ps))

    def _carry_out(self, span: Span, **arguments: Any) -> Any:
        """Return what `run` gives; raises CheckError."""
        assert self.run is not None  # noqa: S101 -- the caller's choice
        try:
            return self.run(**arguments)
        except ValueError as why:
            raise make_error("E0205", f"`{self.name}`: {why}", span) from None

    def _explain_unknown(self, argument: ast.Argument) -> CheckError:
        listed = " ".join(self.parameters)
        name = argument.name.text if argument.name else ""
        near = suggest_name(name, self.parameters)
        message = (
            f"`{self.name}` has no parameter `{name}`" if name else f"too many for `{self.name}`"
        )
        return make_error(
            "E0104" if name else "E0114",
            message,
            argument.span,
            note=f"parameters of {self.name}: {listed}",
            near=near,
        )

    def _fits(self, name: str, node: ast.Expression, value: Value) -> None:
        expected = self.parameters[name]
        if name == "at":
            _verify_times(node, value)
            return
        if isinstance(value, Poison) or (expected is None and isinstance(value, Arrivals)):
            return
        if expected is None:
            raise make_error(
                "E0204",
                f"`{self.name}` takes a stream of cells, not {value.what}",
                node.span,
                help="draw one: `forall arrivals in cells(at_most = 100)`",
            )
        if not isinstance(value, Amount):
            raise make_error(
                "E0204", f"`{name}` is {describe_dimension(expected)}, not {value.what}", node.span
            )
        if value.dimension != expected and value.value != 0:
            raise make_error(
                "E0202",
                f"`{name}` is {describe_dimension(expected)}, not "
                f"{describe_dimension(value.dimension)}",
                node.span,
            )
        known = value.value
        if known is not None and known < 0:
            raise make_error("E0205", f"`{name}` must be at least 0", node.span)
        if known == 0 and expected == CELL_RATE:
            raise make_error("E0205", f"`{name}` must be above 0", node.span)
        counts = known is None or (known.denominator == 1 and 0 < known <= MAX_CELLS)
        if name == "at_most" and not counts:
            limit = f"a whole number from 1 to {MAX_CELLS:_}"
            raise make_error("E0205", f"`at_most` is {limit}", node.span)


def _verify_times(node: ast.Expression, value: Value) -> None:
    """Require a list of times that ascend, in whole picoseconds."""
    if isinstance(value, Poison):
        return
    if not isinstance(value, List):
        message = f"`at` is a list of times, not {value.what}"
        raise make_error("E0204", message, node.span, help="write `at = [0 s, 1 us]`")
    if len(value.items) > MAX_CELLS:
        raise make_error("E0205", f"`at` has more than {MAX_CELLS:_} times", node.span)
    before = Fraction(0)
    for item in value.items:
        if isinstance(item, Poison):
            continue
        if not isinstance(item, Amount) or (item.dimension != TIME and item.value != 0):
            what = describe_dimension(item.dimension) if isinstance(item, Amount) else item.what
            raise make_error("E0202", f"`at` is a list of times, and one is {what}", node.span)
        if item.value is None:
            continue
        if (item.value * PS_PER_S).denominator != 1 or item.value < before:
            help_text = "write them in order, from 0 s on, in whole picoseconds (0.001 ns)"
            raise make_error(
                "E0205", "these times of cells do not ascend", node.span, help=help_text
            )
        before = item.value


CONTRACT = {"arrivals": None, "pcr": CELL_RATE, "cdvt": TIME}

FUNCTIONS = {
    function.name: function
    for function in (
        Function(
            "cells",
            "Draws times of cells, at most so many, or has cells at these times.",
            {"at_most": NUMBER, "at": TIME},
            Arrivals(),
            frozenset(["at_most", "at"]),
        ),
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
            Boolean(None),
            frozenset(["cdvt"]),
        ),
        Function(
            "shape",
            "Gives the cells as a shaper sends them: none before it conforms to this contract.",
            CONTRACT,
            Arrivals(),
            frozenset(["cdvt"]),
        ),
        Function(
            "delay",
            "Gives the longest time that a cell of these was held by what it passed.",
            {"arrivals": None},
            Amount(None, TIME),
        ),
        Function("count", "Counts cells.", {"arrivals": None}, Amount(None, CELLS)),
    )
}
"""The functions of properties, by name."""
