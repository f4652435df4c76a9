"""Virtual time in whole numbers: the cost of a byte at each input, and the work of a scheduler.

A byte of an input of weight w costs D / w, where D is the least common multiple of all weights, so
no division needs rounding. The work that a scheduler has sent is its own clock, so it may be one of
several in a tree; it is exact at each decision, when whole packets have been sent. When an item
arrives while a packet is being sent, the rest of that packet is rounded down to a whole 2^-fine of
a byte. The bytes of a framed packet are spread evenly over the time of its frame.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.kernel import kernel
from qospec.engine.line.transmission import count_sent_bytes
from qospec.engine.scheduler.tree import (
    FIRST,
    LAST,
    LEVEL,
    PARENT,
    POLICY,
    VIRTUAL,
    list_own_fields,
)
from qospec.protocol.encapsulation import Framing
from qospec.protocol.ip import LARGEST_PACKET_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.engine.arrays import Whole
    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.tree import Tree

    Tags = tuple[int, ...]
    """Fields of inputs in units of virtual time."""

LARGEST_COST = 2**26
"""The highest cost of a byte, so that no tag exceeds int64 between two batches."""
FINEST = 16
FAR = 2**60
"""A tag further back than this has the same effect as one this far back."""

CLOCK = list_own_fields(12)
"""The fields of the clock of a scheduler, the first that its policy keeps."""
WORK, SEEN, WHOLE, FINE, BEGUN, END_PS, UNITS, PER_PS, HEADER, LEAST, EXTRA, PER_CELL = CLOCK
"""The bytes sent in this busy period; the position by which virtual time has advanced; the cost of
a byte at weight 1; n for a position in 2^-n of a byte; the bytes of the packet that is sent last,
and until when; 2^n bytes per ps as a fraction; and the framing."""


class Costs(NamedTuple):
    """The costs of a byte at each input, and the weights as coprime whole numbers.

    `whole` is D, the cost of a byte at weight 1.
    """

    costs: tuple[int, ...]
    weights: tuple[int, ...]
    whole: int


def compute_costs_by_weight(weights: Sequence[tuple[str, Fraction]]) -> Costs:
    """Return the costs of inputs by weight; raises ValueError in the author's words."""
    scale = math.lcm(*(Fraction(weight).denominator for _, weight in weights))
    numbers = [int(weight * scale) for _, weight in weights]
    divisor = math.gcd(*numbers)
    found = tuple(number // divisor for number in numbers)
    whole = math.lcm(*found)
    costs = tuple(whole // weight for weight in found)
    if max(costs) * sum(found) > LARGEST_COST:
        raise ValueError(
            "weights: these cannot be kept exactly; round them, or bring them closer together"
        )
    return Costs(costs, found, whole)


def build_clock_fields(clock: Clock, largest_cost: int) -> Mapping[int, int]:
    """Return the fields of a scheduler's clock, as fine as its costs allow."""
    byte_ps = clock.byte_time_ps
    fine = min(FINEST, (LARGEST_COST // largest_cost).bit_length() - 1)
    fine = max(0, min(fine, 62 - (LARGEST_PACKET_BYTES * byte_ps.numerator).bit_length()))
    pace = 2**fine / byte_ps
    framing = Framing() if clock.encapsulation is None else clock.encapsulation.framing
    around = dict(zip((HEADER, LEAST, EXTRA, PER_CELL), framing, strict=True))
    return {FINE: fine, UNITS: pace.numerator, PER_PS: pace.denominator, **around}


def compute_lost_bytes(weights: Sequence[tuple[str, Fraction]], clock: Clock) -> Fraction:
    """Return what rounding costs at most when an input begins; see `compute_fair_share`."""
    found = compute_costs_by_weight(weights)
    fine: int = build_clock_fields(clock, max(found.costs) * sum(found.weights))[FINE]
    return max(Fraction(1), Fraction(sum(found.weights), found.whole)) / (1 << fine)


def rebase(tree: Tree, tags_of: Sequence[Tags], queues: Whole, arrival_tags: Whole) -> None:
    """Shift virtual times to start from now, so that they never grow too large.

    Args:
        tree: Written.
        tags_of: By the number of a policy, its tags.
        queues: (n,) For each item that waits, the row of its queue.
        arrival_tags: (n, columns) Its arrival tags; written.
    """
    for row in range(len(tree)):
        tags = tags_of[tree[row, POLICY]]
        if not tree[row, FIRST] or not tags or not tree[row, VIRTUAL]:
            continue
        base, inputs = tree[row, VIRTUAL], slice(tree[row, FIRST], tree[row, LAST])
        tree[row, VIRTUAL] = 0
        for tag in tags:
            tree[inputs, tag] = np.maximum(tree[inputs, tag] - base, -FAR)
        if tree[row, LEVEL] >= 0:
            below = [leaf for leaf in np.unique(queues) if _is_ancestor(tree, row, leaf)]
            arrival_tags[np.isin(queues, below), tree[row, LEVEL]] -= base


def _is_ancestor(tree: Tree, row: int, leaf: int) -> bool:
    while leaf > row:
        leaf = int(tree[leaf, PARENT])
    return leaf == row


@kernel
def compute_work(tree: Tree, scheduler: int, now_ps: int) -> int:
    """Return the work of a scheduler by now in this busy period, in 2^-fine of a byte."""
    begun, fine, left = tree[scheduler, BEGUN], tree[scheduler, FINE], 0
    if now_ps < tree[scheduler, END_PS]:
        left_ps = tree[scheduler, END_PS] - now_ps
        left = left_ps * tree[scheduler, UNITS] // tree[scheduler, PER_PS]
        header, least = tree[scheduler, HEADER], tree[scheduler, LEAST]
        framing = Framing(header, least, tree[scheduler, EXTRA], tree[scheduler, PER_CELL])
        framed = count_sent_bytes(framing, begun)
        if framed != begun:
            left = left * begun // framed
    return (tree[scheduler, WORK] << fine) - min(left, begun << fine)  # type: ignore[no-any-return]


@kernel
def record_service(tree: Tree, scheduler: int, size_bytes: int, end_ps: int) -> None:
    """Record a packet that a scheduler sends until `end_ps`."""
    tree[scheduler, WORK] += size_bytes
    tree[scheduler, BEGUN], tree[scheduler, END_PS] = size_bytes, end_ps


@kernel
def restart(tree: Tree, scheduler: int) -> None:
    """Restart virtual time and work: a busy period of the scheduler has ended."""
    tree[scheduler, VIRTUAL], tree[scheduler, SEEN] = 0, 0
    tree[scheduler, WORK], tree[scheduler, BEGUN], tree[scheduler, END_PS] = 0, 0, 0
