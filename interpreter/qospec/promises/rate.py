"""Promises about rates: what passes a policer conforms, and so does what leaves a shaper."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.calculus.guarantee import describe_unbounded
from qospec.dataclass import NamedTuple
from qospec.promises.promise import Promise
from qospec.units import PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.calculus.curve import Bucket, Curve
    from qospec.engine.experiment import Experiment, Node
    from qospec.engine.graph.promises import Conduct
    from qospec.engine.items.batch import Batch
    from qospec.promises.promise import Trial


class _Stated(NamedTuple):
    """What an element states of what leaves it: the items, what counts, its bound, in words."""

    left: Batch
    amounts: list[int]
    curve: Curve
    what: str


def _find_too_much(trial: Trial) -> Iterator[str]:
    """Yield what left more densely than the element states."""
    for node, conduct in trial.nodes:
        for stated in _list_stated(node, conduct, trial.experiment):
            excess = _describe_excess(stated)
            if excess:
                yield f"{node.path} let pass {excess}"


def _list_stated(node: Node, conduct: Conduct, experiment: Experiment) -> Iterator[_Stated]:
    """Yield what an element states: of each connection whose contract it enforces, and of all."""
    for number in range(len(node.element.outputs)):
        left = conduct.join_left(number)
        for index in sorted(set(left.connection.tolist())):
            contract = experiment.contracts[experiment.streams.find_connection(index)]
            curve = node.element.bound_passing(contract, experiment.streams.find_kind(index))
            if curve is not None:
                own = left.select(left.connection == index)
                yield _Stated(own, [1] * own.count, curve, "items of a connection")
    sizes = {size for batch in conduct.arrivals for size in set(batch.size_bytes.tolist())}
    if not sizes or len(node.element.inputs) != 1 or len(node.element.outputs) != 1:
        return
    guaranteed = node.element.guarantee_service((describe_unbounded(sizes),), node.clock, (None,))
    if guaranteed is not None and guaranteed.leaves is not None:
        left, leaves = conduct.join_left(0), guaranteed.leaves
        yield _Stated(left, [1] * left.count, leaves.items, "items")
        yield _Stated(left, left.size_bytes.tolist(), leaves.size_bytes, "bytes")


def _describe_excess(stated: _Stated) -> str:
    """Return in words what exceeds a curve; "" if nothing does."""
    for line in stated.curve.lines:
        found = _find_above(stated.left.at_ps.tolist(), stated.amounts, line)
        if found is not None:
            amount, length_ps, most = found
            within = format_value(Fraction(length_ps, PS_PER_S), TIME)
            return f"{amount} {stated.what} within {within}, and at most {most} conform"
    return ""


def _find_above(
    times_ps: list[int], amounts: list[int], line: Bucket
) -> tuple[int, int, int] | None:
    """Return the first interval that has more than a line allows; None if there is none.

    That is one from i to j for which what came up to j, less what the rate gives until then,
    exceeds the least of the same just before any i by more than the burst.

    Returns:
        What comes in it, its length, and the most that may come.
    """
    scale = math.lcm(line.burst.denominator, line.rate.denominator)
    burst, rate = int(line.burst * scale), int(line.rate * scale)
    came, least, first = 0, 0, 0
    before = 0
    for number, (at_ps, amount) in enumerate(zip(times_ps, amounts, strict=True)):
        start = came * scale - rate * at_ps
        if number == 0 or start < least:
            least, first, before = start, at_ps, came
        came += amount
        if came * scale - rate * at_ps - least > burst:
            length_ps = at_ps - first
            return came - before, length_ps, math.floor(line.burst + line.rate * length_ps)
    return None


PROMISES = (
    Promise(
        "rate",
        "what passes a policer or leaves a shaper or a line conforms to its contract or rate",
        "ITU-T I.371, annex A (conformance); RFC 2475, 2.3.3 (policers and shapers)",
        _find_too_much,
    ),
)
