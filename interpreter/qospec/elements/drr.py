"""A scheduler: deficit round robin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Data, Weights, element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.scheduler.policy import Policy
from qospec.engine.scheduler.scheduler import Quanta, Weighted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.tree import Tree

LARGEST_QUANTUM = 2**40


@kernel
def _select(tree: Tree, scheduler: int) -> int:
    """Return the first input whose deficit covers its packet; the others move to the back."""
    mine = tree[scheduler]
    while True:
        k = mine["front"]
        head = tree[k]
        if head["waits"]:
            if not mine["granted"]:
                head["deficit"] += head["quantum"]
                mine["granted"] = 1
            if head["size"] <= head["deficit"]:
                return k  # type: ignore[no-any-return]
            tree[mine["back"]]["behind"] = k
            mine["back"] = k
        else:
            head["active"], head["deficit"] = 0, 0
        mine["front"], head["behind"] = head["behind"], 0
        mine["granted"] = 0


@kernel
def _on_arrival(tree: Tree, scheduler: int, k: int, size_bytes: int, now_ps: int) -> int:
    """Append an input to the list, unless it is already on it."""
    mine = tree[scheduler]
    if not tree[k]["active"]:
        tree[k]["active"], tree[k]["deficit"], tree[k]["behind"] = 1, 0, 0
        if mine["front"]:
            tree[mine["back"]]["behind"] = k
        else:
            mine["front"] = k
        mine["back"] = k
    return 0


@kernel
def _on_service(tree: Tree, scheduler: int, k: int, size_bytes: int, end_ps: int) -> int:
    tree[k]["deficit"] -= size_bytes
    return 0


@kernel
def _on_idle(tree: Tree, scheduler: int, k: int) -> int:
    """Remove the input at the front of the list; clear the list if no packet waits."""
    mine = tree[scheduler]
    tree[k]["active"], tree[k]["deficit"] = 0, 0
    mine["front"], mine["granted"] = tree[k]["behind"], 0
    if mine["waits"] == 0:
        mine["front"] = 0
        for each in range(mine["first"], mine["last"]):
            tree[each]["active"], tree[each]["deficit"] = 0, 0
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

    policy = Policy(
        "drr",
        _select,
        _on_arrival,
        _on_service,
        _on_idle,
        ("front", "back", "granted", "behind", "active", "deficit", "quantum"),
        rows=("front", "back", "behind"),
    )

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

    def fields(self, clock: Clock) -> Mapping[str, int | tuple[int, ...]]:
        return {"quantum": self.quanta.each}
