"""Schedulers as a tree: a row for each of them and for each of the queues before them.

The root comes first, then the inputs of each scheduler side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy import void
    from numpy.typing import NDArray

    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.policy import Policy
    from qospec.engine.scheduler.scheduler import Scheduler

    Tree = NDArray[void]
    """Records of the fields of NUMBERS and ROW, and of those that the policies add."""

NO_LIMIT = 2**62

NUMBERS = (
    "parent",  # row of the scheduler that it is an input of; 0 for the root
    "item",  # number of the cell that it would send next
    "inner",  # of a scheduler: row of the one below the root that is asked after it; 0: none
    "choice",  # of a scheduler: row of the input which that cell is at
    "sent",  # of the root: row of the queue of the cell that is being sent; 0: none
    "head",  # of a queue: place of the first that waits
    "tail",  # of a queue: place of the last that was lost, or behind its places
)
"""Fields that number rows, cells and places: unsigned, for such an index is never checked for
whether it counts from the end, which in the loop takes a tenth of the time."""

ROW = (
    "first",  # of a scheduler: row of its first input; 0 for a queue
    "last",  # and the row behind its last
    "policy",  # number of its policy among those of the tree
    "level",  # row of `Service.arrival_tags` that it writes and reads; -1: none
    "waits",  # how many cells wait below it
    "size",  # bytes of `item`
    "arrival_tag",  # virtual time of its parent when that cell arrived, if the policy keeps tags
    "over_limit",  # of the root: whether someone at a queue that is too small must be sent at once
    "number",  # of a queue: which of all it is
    "limit",  # of what waits
    "bytes",  # whether that counts bytes
    "amount",  # how many bytes wait, if it does
)
"""The other fields."""


def build_tree(root: Scheduler, clock: Clock) -> tuple[Tree, list[int], tuple[Policy, ...]]:
    """Return the tree of a scheduler, the row of each of its inputs, and its policies."""
    rows: list[tuple[Scheduler | None, int, int]] = [(root, 0, -1)]
    first: dict[int, int] = {}
    for row, (scheduler, _, above) in enumerate(rows):
        if scheduler is not None:
            first[row] = len(rows)
            level = above + scheduler.policy.keeps_tags
            rows += [(branch, row, level) for branch in scheduler.branches]
    schedulers = {row: each for row, (each, _, _) in enumerate(rows) if each is not None}
    found = {each.policy.name: each.policy for each in schedulers.values()}
    policies = tuple(found[name] for name in sorted(found))
    fields = sorted({field for policy in policies for field in policy.fields})
    numbers = {*NUMBERS, *(field for policy in policies for field in policy.rows)}
    kinds = {name: "u4" if name in numbers else "i8" for name in (*NUMBERS, *ROW, *fields)}
    tree = np.zeros(len(rows), np.dtype(list(kinds.items()), align=True))
    tree["parent"] = [parent for _, parent, _ in rows]
    tree["level"], tree["limit"] = -1, NO_LIMIT
    below = sorted(schedulers)[:0:-1]
    for row, after in zip((0, *below), (*below, 0), strict=True):
        tree["inner"][row] = after
    for row, scheduler in schedulers.items():
        last = first[row] + len(scheduler.branches)
        tree["first"][row], tree["last"][row] = first[row], last
        tree["policy"][row] = policies.index(scheduler.policy)
        if scheduler.policy.keeps_tags:
            tree["level"][row] = rows[row][2] + 1
        for name, value in scheduler.fields(clock).items():
            own = isinstance(value, int)
            tree[name][slice(row, row + 1) if own else slice(first[row], last)] = value
    return tree, list(_leaves(0, first, schedulers)), policies


def _leaves(row: int, first: Mapping[int, int], schedulers: Mapping[int, Scheduler]) -> list[int]:
    """Return the rows of the queues below a row, in order of inputs."""
    if row not in schedulers:
        return [row]
    below = range(first[row], first[row] + len(schedulers[row].branches))
    return [leaf for each in below for leaf in _leaves(each, first, schedulers)]
