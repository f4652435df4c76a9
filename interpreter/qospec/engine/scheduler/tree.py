"""Schedulers as a tree: a row for each of them and for each of the queues before them.

The root comes first, then the inputs of each scheduler side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import void
    from numpy.typing import NDArray

    Tree = NDArray[void]
    """Records of the fields of NUMBERS and ROW, and of those that the policies add."""

NO_LIMIT = 2**62

NUMBERS = (
    "parent",  # row of the scheduler that it is an input of; 0 for the root
    "item",  # number of the cell that it would send next
    "inner",  # of a scheduler: row of the one below the root that selects after it; 0: none
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
