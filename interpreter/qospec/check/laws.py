"""Random times by their law: `exponential(16 ms)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from qospec.check.context import wrong
from qospec.check.dimensions import named
from qospec.check.values import Amount, Poison, Value
from qospec.dataclass import dataclass
from qospec.units import DATA, TIME

if TYPE_CHECKING:
    from qospec.check.expressions import Evaluator
    from qospec.check.scope import Scope
    from qospec.syntax import ast


@dataclass(frozen=True)
class Exponential(Value):
    """A time that is drawn by the exponential law; fields that take one are `duration`s."""

    what: ClassVar[str] = "a random time"
    mean: Amount


def exponential(evaluator: Evaluator, node: ast.Call, scope: Scope) -> Value:
    """Return the exponential law of a mean; raises Refused."""
    if len(node.arguments) != 1:
        raise wrong("E0105", "`exponential` takes one time, the mean", node.span)
    (argument,) = node.arguments
    if argument.name is not None:
        raise wrong("E0104", f"`exponential` has no parameter `{argument.name.text}`", node.span)
    mean = evaluator.plain(argument.value, scope)
    if isinstance(mean, Poison):
        return mean
    if not isinstance(mean, Amount) or mean.dimension != TIME:
        what = named(mean.dimension) if isinstance(mean, Amount) else mean.what
        raise wrong(
            "E0204",
            f"`exponential` takes a time, the mean, not {what}",
            argument.span,
            remedy="for sizes write one, or a mix such as `mix { 40 B: 7, 1_500 B: 1 } @ip`"
            if isinstance(mean, Amount) and mean.dimension == DATA
            else "write `exponential(16 ms)`",
        )
    return Exponential(mean)
