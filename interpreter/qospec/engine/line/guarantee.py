"""What a line guarantees, alone or behind a queue: bounds of delay, backlog and output.

A line that is idle begins at once, one with slots with the next slot; then it serves without pause
until nothing waits. Work is measured in the time that it takes on the line. Times are rounded down
when an item leaves, which lengthens a delay only if it began in a slot that was rounded, too.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from qospec.calculus.curve import Curve
from qospec.calculus.guarantee import (
    NO_SHARE,
    TOO_MUCH,
    UNKNOWN,
    Arrival,
    Costs,
    Guarantee,
    Guarantees,
    Server,
    compute_costs,
    find_least_known,
)
from qospec.calculus.service import WHOLE, RateLatency, bound_backlog, bound_delay_ps, delay_service
from qospec.protocol.atm import CELL_BYTES

if TYPE_CHECKING:
    from qospec.calculus.guarantee import CostsOf, Share
    from qospec.calculus.service import ServiceCurve
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.line.clock import Clock


@functools.lru_cache(maxsize=1024)
def cost_sizes(clock: Clock, sizes: tuple[int, ...]) -> Costs:
    """Return the time that items of some sizes take of a line; mixes of packets have hundreds."""
    framed = clock.encapsulation
    if framed is None:
        return compute_costs(sizes, lambda _: CELL_BYTES, clock.byte_time_ps)
    return compute_costs(sizes, framed.count_line_bytes, clock.byte_time_ps)


def bound_latency_ps(clock: Clock) -> int:
    """Return how long an idle line lets an item wait: for the next slot, if it has slots."""
    return ceil(clock.slot_ps) - 1 if clock.slotted else 0


def round_ps(clock: Clock, time_ps: Fraction) -> int:
    """Return a bound of a time on a line as whole ps, as items leave."""
    return ceil(time_ps) if clock.slotted else floor(time_ps)


def bound_sending_ps(clock: Clock, arriving: Arrival) -> int:
    """Return the longest time from the first bit of an item sent to its last at the far end."""
    return ceil(cost_sizes(clock, arriving.sizes).longest_ps) + clock.arrival_ps - clock.lead_ps


def bound_full_ps(clock: Clock, arriving: Arrival, limit: Buffer | None) -> int | None:
    """Return the time on the line of what is ahead of an item that a queue admits, with itself.

    That is what the limit lets wait, and the item that is being sent, which may have begun within
    the ps in which this one arrives; None without a limit.
    """
    return None if limit is None else _compute_full_ps(cost_sizes(clock, arriving.sizes), limit)


def _compute_full_ps(costs: Costs, limit: Buffer) -> int:
    if limit.unit == "byte":
        return ceil(limit.amount * costs.dearest_ps + costs.longest_ps)
    return ceil((limit.amount + 1) * costs.longest_ps)


def count_fitting(arriving: Arrival, limit: Buffer | None) -> int | None:
    """Return how many items find room within a limit."""
    if limit is None:
        return None
    return limit.amount // (arriving.sizes[0] if limit.unit == "byte" else 1)


def guarantee_in_order(
    clock: Clock, arriving: Arrival, limit: Buffer | None = None
) -> tuple[Guarantee, ...]:
    """Return what a line guarantees of what arrives and waits in order, within a limit."""
    if not arriving.sizes:
        return (Guarantee(0, 0),)
    of = functools.partial(cost_sizes, clock)
    longest_ps, waits_ps = of(arriving.sizes).longest_ps, bound_latency_ps(clock)
    service = delay_service(WHOLE, waits_ps)
    most = find_least_known(
        bound_delay_ps(arriving.measure_work(of), service), bound_full_ps(clock, arriving, limit)
    )
    behind = bound_backlog(arriving.items, (RateLatency(1 / longest_ps, Fraction(waits_ps)),))
    waiting: Fraction | int | None = come_within(clock, arriving, most)
    if behind is not None:  # one of them is being sent, unless all wait for a slot
        waiting = find_least_known(waiting, floor(behind) if waits_ps else ceil(behind) - 1)
    bounded = _build_guarantee(clock, arriving, most, waiting, limit)
    return (bounded._replace(server=build_server(clock, service, of)),)


def come_within(clock: Clock, arriving: Arrival, most_ps: Fraction | int | None) -> int | None:
    """Return how many items wait at most, given the longest time up to the end of one on the line.

    All that wait have come within the longest time that an item waits, up to its own on the line.
    """
    if most_ps is None:
        return None
    shortest_ps = cost_sizes(clock, arriving.sizes).shortest_ps
    came = arriving.items.count_within(max(Fraction(most_ps) - shortest_ps, Fraction(0)))
    return None if came is None else floor(came)


def build_server(clock: Clock, service: ServiceCurve, costs_at: CostsOf) -> Server:
    """Return a service of a line as a chain needs it, which goes by when items have arrived.

    Where slots are rounded, items leave less than a ps later than the service says; see `round_ps`.
    """
    rounded_ps = int(clock.slotted and clock.slot_ps.denominator > 1)
    return Server(delay_service(service, rounded_ps), costs_at, clock.arrival_ps)


def _build_guarantee(
    clock: Clock,
    arriving: Arrival,
    most: Fraction | int | None,
    waiting: Fraction | int | None,
    limit: Buffer | None,
) -> Guarantee:
    """Return a guarantee, given the longest time up to the end of an item on the line.

    A bucket that is smaller than an item lets none pass, and its curve gives less than no time.
    """
    least_ps = floor(cost_sizes(clock, arriving.sizes).shortest_ps) + clock.arrival_ps
    if most is None:
        return Guarantee(least_ps, None, why=TOO_MUCH if arriving.items.is_bounded else UNKNOWN)
    most_ps = round_ps(clock, Fraction(most)) + clock.arrival_ps
    known = find_least_known(waiting, count_fitting(arriving, limit))
    return Guarantee(
        least_ps, max(least_ps, most_ps), None if known is None else max(0, int(known))
    )


def bound_sent(clock: Clock, arriving: Arrival) -> Arrival | None:
    """Return a bound of all that a line sends: its items are no closer than it sends them.

    Nor are there more than it has been given: Le Boudec and Thiran, 1.4.1 and 1.7.2. Both
    count items when their last bit arrives, so the first of an interval is there whole.
    """
    if not arriving.sizes:
        return None
    costs, waits_ps = cost_sizes(clock, arriving.sizes), bound_latency_ps(clock)
    slack_ps = int(not costs.whole)
    spaced = Arrival(
        Curve.from_lines([(1, 1 / costs.shortest_ps)]).widen(slack_ps),
        Curve.from_lines([(arriving.sizes[-1], 1 / costs.cheapest_ps)]).widen(slack_ps),
        arriving.sizes,
    )
    items = arriving.items.serve(1 / costs.longest_ps, waits_ps).widen(slack_ps)
    size_bytes = arriving.size_bytes.serve(1 / costs.dearest_ps, waits_ps).widen(slack_ps)
    return spaced.intersect(
        Arrival(items.raise_by(1), size_bytes.raise_by(arriving.sizes[-1]), arriving.sizes)
    )


def guarantee_line(
    clock: Clock | None, arriving: Arrival, limit: Buffer | None = None
) -> Guarantees:
    """Return what a line guarantees, or a queue that it serves: what is lost delays no other."""
    if clock is None:
        raise ValueError("no line serves this element")
    return Guarantees(guarantee_in_order(clock, arriving, limit), bound_sent(clock, arriving))


def guarantee_share(
    clock: Clock, arriving: Arrival, share: Share, limit: Buffer | None
) -> Guarantee:
    """Return what a scheduler guarantees of an input by its share, within a limit."""
    if not share.service:
        return Guarantee(0, None, why=NO_SHARE)
    delayed = delay_service(share.service, bound_latency_ps(clock))
    most = find_least_known(bound_delay_ps(arriving.measure_work(share.costs), delayed))
    if share.always and limit is not None:
        full_ps = _compute_full_ps(share.costs(arriving.sizes), limit)
        # What is being sent may have begun within this very ps.
        most = find_least_known(most, *(late + full_ps / rate + 1 for rate, late in delayed))
    bounded = _build_guarantee(clock, arriving, most, come_within(clock, arriving, most), limit)
    return bounded._replace(server=build_server(clock, delayed, share.costs))
