"""Arbitration: in which order simultaneous items of several inputs go on to one output.

Items are simultaneous if they arrive in the same ps. Those of one input keep their order; which
input goes first decides who finds the last place in the queue behind. An arbiter is one int64
array, one for each output, and `arbitrate` is all that it does: for batches here, and for events.
Only a tie of several inputs changes an arbiter or draws a number, so it does not matter how items
are batched, as all of one ps come in one batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from qospec.catalogue.kinds import Domain
from qospec.engine.arrays import np
from qospec.engine.items.batch import join_batches
from qospec.engine.items.merge import merge_batches
from qospec.engine.kernel import kernel
from qospec.engine.random import WORD, draw_threefry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.engine.arrays import Times, Whole
    from qospec.engine.items.batch import Batch
    from qospec.engine.random import Draws

Arbitration = Annotated[
    Literal["fixed_order", "round_robin", "random"],
    Domain("choice", choices=("fixed_order", "round_robin", "random")),
]
FIXED_ORDER, ROUND_ROBIN, RANDOM = 0, 1, 2
RULES = {"fixed_order": FIXED_ORDER, "round_robin": ROUND_ROBIN, "random": RANDOM}

RULE, FIRST, KEY, DRAWN = 0, 1, 2, 4
"""The fields of an arbiter: its rule, the input that was first in the last tie, the two words of
its key, and how many numbers it has drawn."""
FIELDS = 5


def build_arbiter(arbitration: str, draws: Draws) -> Whole:
    """Return an arbiter at the beginning of a trial; `draws` are its own."""
    rule = RULES[arbitration]
    key = draws.open_stream().integers(0, 1 << WORD, 2) if rule == RANDOM else (0, 0)
    return np.array([rule, -1, *key, 0], np.int64)


def arbitrate_batches(batches: Sequence[Batch], arbiter: Whole) -> Batch:
    """Return the items of all inputs in order of time, simultaneous ones as the arbiter decides.

    Args:
        batches: One for each input.
        arbiter: Updated.
    """
    together = merge_batches(batches)
    at_ps = together.at_ps
    is_tie = arbiter[RULE] != FIXED_ORDER and sum(batch.count > 0 for batch in batches) > 1
    if not is_tie or not (at_ps[1:] == at_ps[:-1]).any():
        return together
    order = join_batches(*batches).at_ps.argsort(kind="stable")
    inputs = np.repeat(np.arange(len(batches)), [batch.count for batch in batches])[order]
    place = np.empty(together.count, np.int64)
    _arbitrate_ties(at_ps, inputs, arbiter, np.empty(len(batches), np.int64), place)
    return together.select(place)


@kernel
def _arbitrate_ties(
    at_ps: Times, inputs: Whole, arbiter: Whole, heads: Whole, place: Whole
) -> None:
    """Decide about each tie.

    Args:
        at_ps: (n,) Times, never falling.
        inputs: (n,) The input of each item, ascending at equal times.
        arbiter: Updated.
        heads: (inputs,) Overwritten.
        place: (n,) Written: the items in the order in which they go on.
    """
    start = 0
    while start < len(at_ps):
        stop = start + 1
        while stop < len(at_ps) and at_ps[stop] == at_ps[start]:
            stop += 1
        arbitrate(arbiter, inputs, (start, stop), heads, place)
        start = stop


@kernel
def arbitrate(
    arbiter: Whole, inputs: Whole, tie: tuple[int, int], heads: Whole, place: Whole
) -> None:
    """Decide in which order simultaneous items go on.

    Args:
        arbiter: Updated.
        inputs: (n,) The input of each item.
        tie: The first of the items and the end of them; their inputs ascend.
        heads: (inputs,) Overwritten.
        place: (n,) Written from `tie[0]` up to `tie[1]`: the items in the order in which they go.
    """
    start, stop = tie
    contenders = 0
    for i in range(start, stop):
        place[i] = i
        if i == start or inputs[i] != inputs[i - 1]:
            heads[contenders] = i
            contenders += 1
    if contenders > 1 and arbiter[RULE] == ROUND_ROBIN:
        _take_turns(arbiter, inputs, tie, (heads, contenders), place)
    elif arbiter[RULE] == RANDOM:
        _draw_lots(arbiter, inputs, tie, (heads, contenders), place)


@kernel
def _take_turns(
    arbiter: Whole,
    inputs: Whole,
    tie: tuple[int, int],
    contending: tuple[Whole, int],
    place: Whole,
) -> None:
    """Begin with the next input behind the one that was first in the last tie, and go round."""
    start, stop = tie
    heads, contenders = contending
    first = 0
    while first < contenders and inputs[heads[first]] <= arbiter[FIRST]:
        first += 1
    first = 0 if first == contenders else first
    arbiter[FIRST] = inputs[heads[first]]
    done, k = start, first
    while done < stop:
        i = heads[k]
        if i < stop:
            place[done] = i
            done += 1
            heads[k] = _find_next(inputs, i, stop)
        k = 0 if k + 1 == contenders else k + 1


@kernel
def _draw_lots(
    arbiter: Whole,
    inputs: Whole,
    tie: tuple[int, int],
    contending: tuple[Whole, int],
    place: Whole,
) -> None:
    """Choose among the inputs with items left, each time with equal probability."""
    start, stop = tie
    heads, contenders = contending
    for done in range(start, stop):
        k = 0
        if contenders > 1:
            word, _ = draw_threefry((arbiter[KEY], arbiter[KEY + 1]), arbiter[DRAWN])
            arbiter[DRAWN] += 1
            k = word * contenders >> WORD
        place[done] = heads[k]
        heads[k] = _find_next(inputs, heads[k], stop)
        if heads[k] == stop:
            contenders -= 1
            heads[k] = heads[contenders]


@kernel
def _find_next(inputs: Whole, i: int, stop: int) -> int:
    """Return the next item of the input of item `i`; `stop` if that is its last."""
    return i + 1 if i + 1 < stop and inputs[i + 1] == inputs[i] else stop
