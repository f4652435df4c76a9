"""Chains: the delay of items that several servers serve one after the other, bursts paid once.

A server guarantees its items a rate if item n ends by the latest of a(k) + T + c(k) + ... + c(n),
over all k up to n, where a(k) is when item k arrives and c(i) what item i costs: P. Goyal, S. Lam
and H. Vin, Determining end-to-end delay bounds in heterogeneous networks (1995); Le Boudec and
Thiran, 2.1.3. It says as much as a service curve with a packetiser, and more exactly.

Items of a chain keep their order. Put each guarantee into the next: item n leaves the last server
by a(j) + the sum of all T + the costs on a staircase, of items j to k at the first server, k to l
at the second, and so on to n. Every item is on it, and at several servers where a step is. Count an
item at the dearest of these servers, and let L be what the dearest item costs a server. At each
step, what is left is at most the sum of the L of its servers but for the largest. Two steps, from
server a to b and from b to c, leave no more than one from a to c would: that leaves as much, and
the lesser of their largest L, less that of b. So a chain guarantees

    T = sum of T + sum of L - the largest L,    c(i) = the largest cost of item i

Where costs are lengths over rates, that is Le Boudec and Thiran's concatenation of such nodes, with
the best node as the last; without the L it is the convolution of service curves, their section
1.4.3. An item that is lost on its way is counted nevertheless: the bound is no shorter with it.

A server that saves up, such as a shaper, may also let item n go at a(n), and its T is below 0: it
is there that items wait, or as if it were not there. So a chain takes the longest of both.
"""

from __future__ import annotations

from fractions import Fraction
from operator import attrgetter
from typing import TYPE_CHECKING

from qospec.calculus.curve import NOTHING, Curve, cover_points
from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.calculus.guarantee import Arrival
    from qospec.calculus.service import ServiceCurve


class Stage(NamedTuple):
    """What a server guarantees the items of a chain.

    Attributes:
        alone_ps: T + L, the longest time of an item that comes alone.
        largest_ps: L, the most that an item costs; 0 if T alone bounds the delay.
        above: By the size that an item has where the chain begins, a bound of what it costs.
        saves: Whether the server may let an item go at once.
    """

    alone_ps: Fraction
    largest_ps: Fraction = Fraction(0)
    above: Curve = NOTHING
    saves: bool = False


def find_leftover_service(
    service: ServiceCurve, others: Curve
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield, as pairs of T and 1/R, what a server in order of arrival leaves beside other items.

    If b + r t is the most work of others within a time t, rate R and latency T leave rate R - r
    and latency T + b/R: Le Boudec and Thiran, chapter 6, FIFO nodes. For items:
    let the guarantee of all together be reached by item k, let W be the work of ours from then on,
    and x = a(n) - a(k). Others took b + r x at most, so n ends by T + b/R + a(k) + W/R + (r/R) x:
    this is a mean of T + b/R + a(k) + W/(R - r) and T + b/R + a(n), with the weights 1 - r/R and
    r/R. One of both is as late, and each is a guarantee: of the first of our items from k on, and
    of n itself.
    """
    for rate, latency_ps in service:
        for burst, more in others.lines:
            if more < rate:
                yield latency_ps + burst / rate, 1 / (rate - more)


def bound_delay_ps(arriving: Arrival, stages: Sequence[Sequence[Stage]]) -> Fraction | None:
    """Return the longest delay of items through a chain; None: no bound.

    Args:
        arriving: What arrives at its first server.
        stages: By server, what it guarantees; each holds.
    """
    best: Fraction | None = None
    for slowest_ps in sorted({stage.largest_ps for some in stages for stage in some}):
        chosen = [
            min(fast, key=attrgetter("alone_ps"))
            for some in stages
            if (fast := [stage for stage in some if stage.largest_ps <= slowest_ps])
        ]
        if len(chosen) < len(stages):
            continue
        found = _bound_each_ps(arriving, chosen)
        if found is not None and (best is None or found < best):
            best = found
    return best


def _bound_each_ps(arriving: Arrival, chain: Sequence[Stage]) -> Fraction | None:
    """Return the longest delay with one guarantee of each server, whichever let items go at once.

    Of those that do not, one has the largest L. The others of them have a T + L of 0 at most, so
    they add no more than that an item may cost them most.
    """
    found = Fraction(0)
    for slowest in [None, *(n for n, stage in enumerate(chain) if stage.saves)]:
        most_ps = Fraction(0) if slowest is None else chain[slowest].largest_ps
        some = [
            stage if n == slowest or not stage.saves else _compute_added(stage, most_ps)
            for n, stage in enumerate(chain)
        ]
        longest_ps = _delay_ps(arriving, some)
        if longest_ps is None:
            return None
        found = max(found, longest_ps)
    return found


def _compute_added(stage: Stage, most_ps: Fraction) -> Stage:
    """Return what a server adds that saves up, and is not the one with the largest L."""
    alone_ps = max(stage.alone_ps, Fraction(0))
    return stage._replace(alone_ps=alone_ps) if stage.largest_ps <= most_ps else Stage(alone_ps)


def _delay_ps(arriving: Arrival, chain: Sequence[Stage]) -> Fraction | None:
    """Return the longest delay with one guarantee of each server."""
    largest_ps = max(stage.largest_ps for stage in chain)
    behind_ps: Fraction | None = Fraction(0)
    if largest_ps:
        behind_ps = arriving.bound_work(_bound_dearest(arriving.sizes, chain)).find_excess()
    if behind_ps is None:
        return None
    once_ps = sum((stage.alone_ps for stage in chain), Fraction(0)) - largest_ps
    return once_ps + max(behind_ps, Fraction(0))


def _bound_dearest(sizes: Sequence[int], chain: Sequence[Stage]) -> Curve:
    """Return a bound of what items cost the dearest of some servers, by their sizes."""
    known = {stage.above for stage in chain if stage.largest_ps}
    if len(known) == 1:
        return known.pop()
    return cover_points(
        (max(above.count_within(size) or Fraction(0) for above in known), size) for size in sizes
    )
