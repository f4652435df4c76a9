"""Why a queue of a kernel lost packets: it counts them, and does not say which for what reason."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from qospec.engine.arrays import np

if TYPE_CHECKING:
    from qospec.engine.arrays import Truths, Whole

FOREVER_NS = 2**62


def find_overflows(came_ns: Whole, begun_ns: Whole, limit: int) -> Truths:
    """Return which packets found no room in a queue that also drops at its head.

    Those that are missing although there was room were dropped there: each as the next behind it
    that was sent left the queue, since a queue looks at its head when a packet is to be sent.

    Args:
        came_ns: When packets came to the queue, in order.
        begun_ns: When the line began to send them; -1: never.
        limit: How many wait at most, besides the one that is being sent.
    """
    missing = begun_ns < 0
    sent_ns = np.where(missing, FOREVER_NS, begun_ns)
    left_ns = np.minimum.accumulate(sent_ns[::-1])[::-1]
    overflows = np.zeros(len(came_ns), np.bool_)
    waiting: deque[int] = deque()
    times = zip(came_ns.tolist(), left_ns.tolist(), missing.tolist(), strict=True)
    for number, (came, left, is_missing) in enumerate(times):
        while waiting and waiting[0] <= came:
            waiting.popleft()
        if is_missing and len(waiting) >= limit:
            overflows[number] = True
        else:
            waiting.append(left)
    return overflows
