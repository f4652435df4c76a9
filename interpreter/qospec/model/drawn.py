"""What `forall` draws, and what a property is for some values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from qospec.dataclass import NamedTuple, dataclass

if TYPE_CHECKING:
    from qospec.model.expression import Expression
    from qospec.source import Span
    from qospec.units import Dimension


@dataclass(frozen=True)
class Drawn:
    """What a `forall` draws: one of a list, a number between two, or the times of cells.

    Attributes:
        name: Of the variable.
        span: Where its values are written.
        choices: The values of a list, as they are written; () if there is no list.
        low: The least number, in base units; None unless numbers are drawn.
        high: The greatest, likewise.
        dimension: Of the numbers.
        layer: Which bits a number counts; "" for none said.
        whole: Whether only whole numbers are drawn.
        most_cells: How many cells are drawn at most; 0 unless cells are drawn.
    """

    name: str
    span: Span = field(compare=False)
    choices: tuple[str, ...] = ()
    low: Fraction | None = None
    high: Fraction | None = None
    dimension: Dimension | None = None
    layer: str = ""
    whole: bool = False
    most_cells: int = 0


DrawnValue = int | Fraction | tuple[int, ...]
"""The number of a choice, a number in base units, or the times of cells in ps."""


class Draw(Protocol):
    """Draws a value."""

    def __call__(self, drawn: Drawn, /) -> DrawnValue:
        """Return a value of those that may be drawn."""


class Asserted(NamedTuple):
    """An `expect` of a property for some values, whose condition is of constants."""

    label: str
    text: str
    condition: Expression
    span: Span


class Examined(NamedTuple):
    """What a property is for some values.

    Attributes:
        drawn: Each `forall` with its value, in order.
        refused: The `where` that these values do not meet; None if they meet all.
        asserted: Each `expect`; none if the values were refused.
    """

    drawn: tuple[tuple[Drawn, DrawnValue], ...]
    refused: Span | None
    asserted: tuple[Asserted, ...]


Functions = Mapping[str, Callable[..., Any]]
"""What carries out the functions of properties, by name."""
