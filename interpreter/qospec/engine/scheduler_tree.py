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

    from qospec.engine.clock import Clock
    from qospec.engine.policy import Policy
    from qospec.engine.scheduling import Scheduler

    Tree = NDArray[void]
    """Records of the fields of ROW and of those that the policies add."""

NO_LIMIT = 2**62

ROW = (
    "parent",  # row of the scheduler that it is an input of
    "first",  # of a scheduler: row of its first input; 0 for a queue
    "last",  # and the row behind its last
    "policy",  # number of its policy among those of the tree
    "level",  # row of `Service.came` that it writes and reads; -1: none
    "waits",  # how many cells wait below it
    "item",  # number of the cell that it would send next
    "size",  # and that cell's bytes
    "choice",  # of a scheduler: row of the input which that cell is at
    "came",  # virtual time of its parent when that cell came, if the policy asks for it
    "sent",  # of the root: row of the queue of the cell that is being sent; 0: none
    "doomed",  # of the root: whether someone at a queue that is too small must be sent at once
    "head",  # of a queue: place of the first that waits
    "tail",  # and behind the last
    "amount",  # what they take together
    "limit",
    "next",  # number of the cell that comes next
    "next_ps",  # and when; NO_LIMIT: none comes
)


def planted(root: Scheduler, clock: Clock) -> tuple[Tree, list[int], tuple[Policy, ...]]:
    """Return the tree of a scheduler, the row of each of its inputs, and its policies."""
    rows: list[tuple[Scheduler | None, int, int]] = [(root, -1, -1)]
    first: dict[int, int] = {}
    for row, (scheduler, _, above) in enumerate(rows):
        if scheduler is not None:
            first[row] = len(rows)
            level = above + scheduler.policy.marks
            rows += [(branch, row, level) for branch in scheduler.branches]
    schedulers = {row: each for row, (each, _, _) in enumerate(rows) if each is not None}
    found = {each.policy.name: each.policy for each in schedulers.values()}
    policies = tuple(found[name] for name in sorted(found))
    fields = sorted({field for policy in policies for field in policy.fields})
    tree = np.zeros(len(rows), [(name, "i8") for name in (*ROW, *fields)])
    tree["parent"] = [parent for _, parent, _ in rows]
    tree["level"], tree["limit"], tree["next_ps"] = -1, NO_LIMIT, NO_LIMIT
    for row, scheduler in schedulers.items():
        last = first[row] + len(scheduler.branches)
        tree["first"][row], tree["last"][row] = first[row], last
        tree["policy"][row] = policies.index(scheduler.policy)
        if scheduler.policy.marks:
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
