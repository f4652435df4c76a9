"""A scheduler: the credit-based shaper of one class of streams."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.calculus.guarantee import Share
from qospec.calculus.service import RateLatency
from qospec.catalogue.kinds import Domain, UnfitError, element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.line.guarantee import cost_sizes
from qospec.engine.scheduler.gating import find_gate, measure_open_ps
from qospec.engine.scheduler.policy import Policy
from qospec.engine.scheduler.scheduler import Scheduler
from qospec.engine.scheduler.tree import FIRST, OPENS, WAITS, list_own_fields
from qospec.units import RATE, format_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.scheduler import Competitor
    from qospec.engine.scheduler.tree import Tree

IdleSlope = Annotated[Fraction, Domain("rate", 1, 10**14, layers=("line",))]
"""Bits per second of all that a line sends, exact."""

CREDIT, PART, AT, GAIN, OF = list_own_fields(5)
"""The credit, as time of the line in whole ps and a numerator over OF; when that was; and what it
gains in a ps, as a numerator: the idle slope's share of the line."""
FINEST = 2**31
"""The largest denominator of that share."""


@kernel
def _add_gain(tree: Tree, scheduler: int, until_ps: int) -> None:
    """Add what the credit gains while its gate is open; a frame that is sent costs besides."""
    gate = find_gate(tree, scheduler)
    open_ps = measure_open_ps(tree, gate, tree[scheduler, AT], until_ps)
    whole, rest = divmod(open_ps, tree[scheduler, OF])
    part = tree[scheduler, PART] + rest * tree[scheduler, GAIN]
    carried, tree[scheduler, PART] = divmod(part, tree[scheduler, OF])
    tree[scheduler, CREDIT] += whole * tree[scheduler, GAIN] + carried
    tree[scheduler, AT] = until_ps


@kernel
def _find_opening(tree: Tree, scheduler: int, now_ps: int) -> int:
    """Return when the credit is no longer below 0."""
    if now_ps > tree[scheduler, AT]:
        _add_gain(tree, scheduler, now_ps)
    ready_ps = max(now_ps, tree[tree[scheduler, FIRST], OPENS])
    owed_ps, gain = -tree[scheduler, CREDIT], tree[scheduler, GAIN]
    if owed_ps <= 0:
        return ready_ps  # type: ignore[no-any-return]
    if owed_ps > gain:  # it is asked again then: a product with all of it could overflow
        owed = (owed_ps - 1) // gain * tree[scheduler, OF]
        return max(ready_ps, now_ps + owed)  # type: ignore[no-any-return]
    owed = owed_ps * tree[scheduler, OF] - tree[scheduler, PART]
    return max(ready_ps, now_ps - -owed // gain)  # type: ignore[no-any-return]


@kernel
def _on_arrival(tree: Tree, scheduler: int, k: int, size_bytes: int, now_ps: int) -> int:
    """Take away what no frame waited for."""
    if tree[k, WAITS] == 1 and now_ps > tree[scheduler, AT]:
        _add_gain(tree, scheduler, now_ps)
        if tree[scheduler, CREDIT] >= 0:
            tree[scheduler, CREDIT], tree[scheduler, PART] = 0, 0
    return 0


@kernel
def _on_service(tree: Tree, scheduler: int, k: int, size_bytes: int, end_ps: int) -> int:
    """Pay for a frame: the credit falls by the send slope, which is the idle slope less the line.

    It is being sent since the scheduler was last asked when it may send.
    """
    paid_ps = end_ps - tree[scheduler, AT]
    _add_gain(tree, scheduler, end_ps)
    tree[scheduler, CREDIT] -= paid_ps
    return 0


@kernel
def _select(tree: Tree, scheduler: int) -> int:
    """Return the only input."""
    return tree[scheduler, FIRST]  # type: ignore[no-any-return]


@element(
    source="IEEE 802.1Q-2022, 8.6.8.2 (credit-based shaper, 802.1Qav) and Annex L",
    duty="scheduler",
    carries=("packet",),
)
@dataclass(frozen=True)
class Credit(Scheduler):
    """Let frames of a class pass while their credit is not negative.

    The credit grows by the idle slope while a frame waits, or while it is negative; a frame that is
    sent costs the rate of the line less the idle slope. Where it would be positive and no frame
    waits, it is 0. Below `gates` it stands still while its gate is closed, so the class is given
    the idle slope only of the time in which its gate is open. It shapes what a queue holds, so its
    output is an input of `strict` or `gates`, or a line.

    Not modelled: the raise of an administered slope below gates, 802.1Q's operIdleSlope times
    OperCycleTime over GateOpenTime, so write the product; and a limit of the credit, which its
    bounds are not: it is at most what it gains while the longest frames of others are sent
    (hiCredit), and at least what one frame costs (loCredit).
    """

    idle_slope: IdleSlope
    """Bits per second that the class is given, of all that its frames take of the line; below
    `gates`, of the time in which its gate is open."""

    policy = Policy(
        "credit",
        _select,
        on_arrival=_on_arrival,
        on_service=_on_service,
        find_opening=_find_opening,
    )
    passes_over = True

    @property
    def inputs(self) -> tuple[str, ...]:
        return ("in",)

    def bound_share(self, number: int, inputs: Sequence[Competitor | None], clock: Clock) -> Share:
        return self.bound_share_behind(Fraction(0), clock)

    def bound_share_behind(self, longest_ps: Fraction, clock: Clock) -> Share:
        """Return the idle slope, after a frame of others: De Azua and Boyer 2014, class A.

        A frame begins with the first ps in which the credit is not negative.
        """
        service = RateLatency(self.idle_slope / clock.bit_rate, longest_ps + 1)
        return Share((service,), functools.partial(cost_sizes, clock), always=True)

    def explain_unfit(self, clock: Clock, largest: Sequence[int]) -> UnfitError | None:
        share = self.idle_slope / clock.bit_rate
        if share >= 1:
            return UnfitError(
                "the idle slope is all that the line has: the credit would never fall",
                f"write less than {format_value(clock.bit_rate, RATE)}",
            )
        if share.denominator > FINEST:
            return UnfitError(
                "this share of the line is too fine to be kept exactly",
                "write an idle slope of fewer digits",
            )
        return None

    def build_fields(self, clock: Clock) -> Mapping[int, int | tuple[int, ...]]:
        share = self.idle_slope / clock.bit_rate
        return {GAIN: share.numerator, OF: share.denominator}
