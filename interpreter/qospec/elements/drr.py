"""A scheduler: deficit round robin."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Data, Weights, element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.scheduler.policy import Policy
from qospec.engine.scheduler.scheduler import Quanta, Taken, Weighted, compute_bounded_share
from qospec.engine.scheduler.tree import (
    FIRST,
    LAST,
    SIZE,
    WAITS,
    list_input_fields,
    list_own_fields,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.calculus.guarantee import Share
    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.scheduler import Competitor
    from qospec.engine.scheduler.tree import Tree

LARGEST_QUANTUM = 2**40

FRONT, BACK, GRANTED = list_own_fields(3)
"""The first and the last input of the list, and whether the first has had its quantum."""
BEHIND, ACTIVE, DEFICIT, QUANTUM = list_input_fields(4)
"""The next input of the list, whether this one is on it, and what it may send."""


@kernel
def _select(tree: Tree, scheduler: int) -> int:
    """Return the first input whose deficit covers its packet; the others move to the back."""
    while True:
        k = tree[scheduler, FRONT]
        if tree[k, WAITS]:
            if not tree[scheduler, GRANTED]:
                tree[k, DEFICIT] += tree[k, QUANTUM]
                tree[scheduler, GRANTED] = 1
            if tree[k, SIZE] <= tree[k, DEFICIT]:
                return k  # type: ignore[no-any-return]
            tree[tree[scheduler, BACK], BEHIND] = k
            tree[scheduler, BACK] = k
        else:
            tree[k, ACTIVE], tree[k, DEFICIT] = 0, 0
        tree[scheduler, FRONT], tree[k, BEHIND] = tree[k, BEHIND], 0
        tree[scheduler, GRANTED] = 0


@kernel
def _on_arrival(tree: Tree, scheduler: int, k: int, size_bytes: int, now_ps: int) -> int:
    """Append an input to the list, unless it is already on it."""
    if not tree[k, ACTIVE]:
        tree[k, ACTIVE], tree[k, DEFICIT], tree[k, BEHIND] = 1, 0, 0
        if tree[scheduler, FRONT]:
            tree[tree[scheduler, BACK], BEHIND] = k
        else:
            tree[scheduler, FRONT] = k
        tree[scheduler, BACK] = k
    return 0


@kernel
def _on_service(tree: Tree, scheduler: int, k: int, size_bytes: int, end_ps: int) -> int:
    tree[k, DEFICIT] -= size_bytes
    return 0


@kernel
def _on_idle(tree: Tree, scheduler: int, k: int) -> int:
    """Remove the input at the front of the list; clear the list if no packet waits."""
    tree[k, ACTIVE], tree[k, DEFICIT] = 0, 0
    tree[scheduler, FRONT], tree[scheduler, GRANTED] = tree[k, BEHIND], 0
    if tree[scheduler, WAITS] == 0:
        tree[scheduler, FRONT] = 0
        for i in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
            tree[i, ACTIVE], tree[i, DEFICIT] = 0, 0
    return 0


@element(
    source="Shreedhar and Varghese 1996, Efficient fair queuing using deficit round-robin, IEEE/ACM"
    " Trans. Networking 4, 375",
    duty="scheduler",
)
@dataclass(frozen=True)
class Drr(Weighted):
    """Serve the inputs in turn, each with its quantum of bytes; what remains is carried over.

    An input with waiting packets is on a list. In its turn its deficit grows by its quantum, and
    its packets are sent as long as the deficit covers them. Then it goes to the end of the list
    with the remaining deficit or, if nothing waits, leaves the list and loses it.

    A quantum smaller than the largest packet costs turns in which nothing is sent, and delay.
    """

    weights: Weights
    """Number of quanta of each input."""

    quantum: Data = 1_500
    """The number of bytes that an input of weight 1 may send in its turn."""

    policy = Policy("drr", _select, _on_arrival, _on_service, _on_idle)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.quantum == 0:
            raise ValueError("quantum: at least one byte is needed")
        for name, weight in self.weights:
            if (weight * self.quantum).denominator != 1:
                raise ValueError(f"weights: the quantum of `{name}` is not a whole number of bytes")
            if weight * self.quantum > LARGEST_QUANTUM:
                raise ValueError(f"weights: the quantum of `{name}` exceeds 1 TiB")

    @property
    def quanta(self) -> Quanta:
        return Quanta(self.quantum, tuple(int(weight * self.quantum) for _, weight in self.weights))

    def bound_share(self, number: int, inputs: Sequence[Competitor | None], clock: Clock) -> Share:
        """Return its quanta beside those of others, whose turns may all come first.

        Boyer, Stea and Sofack 2012, Deficit Round Robin with network calculus: while this input is
        served x bytes it has at most (x + d) / Q full turns, and others one turn more, in which
        each sends a quantum and, over all of them, what it had saved up. What is saved up, d, was
        too little for a packet: a byte less than the largest. Up to the end of a packet, the turn
        in which it is sent is not one of those that are full, so x does not count it.
        """
        quanta = self.quanta.of_inputs

        def bound_taken(mine: Competitor, other: Competitor, place: int) -> Taken:
            ratio = Fraction(quanta[place], quanta[number])
            saved_bytes = mine.largest_bytes - 1 - mine.smallest_bytes
            first_bytes = quanta[place] + ratio * saved_bytes + other.largest_bytes - 1
            before_ps = first_bytes * other.dearest_ps
            return Taken(before_ps, byte_ps=ratio * other.dearest_ps)

        return compute_bounded_share(number, inputs, clock, bound_taken)

    def build_fields(self, clock: Clock) -> Mapping[int, int | tuple[int, ...]]:
        return {QUANTUM: self.quanta.of_inputs}
