"""What an element holds that knows on arrival when each item leaves, and how much that may be.

The state begins with the fields below, then come the element's own, then a ring of what is held.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.items.ring import double_ring
from qospec.engine.kernel import kernel, view_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Whole

HEAD, TAIL, HELD, LIMIT, IN_BYTES, RING = range(6)
"""The fields: the numbers of the first item that is held and of that after the last, and their
amount; how much may be, and whether that counts bytes; where the ring begins."""
OWN = 6
"""Where the fields of the element begin."""
LEAVES, AMOUNT = 0, 1
"""The columns of the ring: when an item leaves, and the amount of the limit that it takes."""
WIDTH = 2
PLACES = 64
"""The initial size of the ring; a power of two, doubled as needed."""


def make_holding(limit: Buffer, own: Whole | Sequence[int]) -> Whole:
    """Return the state of an element that holds nothing yet, given its own fields."""
    fields = [0, 0, 0, limit.amount, limit.unit == "byte", OWN + len(own)]
    return np.concatenate([np.array(fields, np.int64), own, np.zeros(PLACES * WIDTH, np.int64)])


def with_more_places(state: Whole) -> Whole:
    """Return the state with a ring of twice the places."""
    ring = double_ring(state[state[RING] :], WIDTH, state[HEAD], state[TAIL])
    return np.concatenate([state[: state[RING]], ring])


@kernel
def has_place(state: Whole) -> bool:
    """Return whether the ring has a place for another item."""
    return (state[TAIL] - state[HEAD]) * WIDTH < len(state) - state[RING]  # type: ignore[no-any-return]


@kernel
def let_go(state: Whole, now_ps: int) -> None:
    """Hold no longer what has left by now."""
    places = (len(state) - state[RING]) // WIDTH
    ring = view_rows(state, state[RING], places, WIDTH)
    while state[HEAD] < state[TAIL] and ring[state[HEAD] & places - 1, LEAVES] <= now_ps:
        state[HELD] -= ring[state[HEAD] & places - 1, AMOUNT]
        state[HEAD] += 1


@kernel
def has_room(state: Whole, size_bytes: int) -> bool:
    """Return whether an item of that size may be held besides."""
    amount = size_bytes if state[IN_BYTES] else 1
    return state[HELD] + amount <= state[LIMIT]  # type: ignore[no-any-return]


@kernel
def hold(state: Whole, size_bytes: int, leaves_ps: int) -> None:
    """Hold an item until it leaves; there is a place for it."""
    places = (len(state) - state[RING]) // WIDTH
    ring, place = view_rows(state, state[RING], places, WIDTH), state[TAIL] & places - 1
    ring[place, LEAVES], ring[place, AMOUNT] = leaves_ps, size_bytes if state[IN_BYTES] else 1
    state[HELD] += ring[place, AMOUNT]
    state[TAIL] += 1
