"""Faults that a test puts on a path: which items they hit, by their numbers or at random.

The items of a connection are numbered as they come, from 1, those of each kind by themselves: its
third OAM cell is number 3. What is drawn for an item depends on its connection and number alone.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

from qospec.catalogue.kinds import Domain, Ratio
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.kernel import kernel, signed
from qospec.engine.random import WORD, threefry
from qospec.protocol.streams import KindName

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting

LARGEST_NUMBER = 2**31 - 1
"""Of an item."""
Number = Annotated[int, Domain("integer", 1, LARGEST_NUMBER)]
OptionalNumber = Annotated[int | None, Domain("integer", 1, LARGEST_NUMBER)]

FIRST, COUNT, EVERY, THRESHOLD, KEY, KEY_2, SEEN = range(7)
"""The state: the first number that is hit, or 0; how many in a row; after how many again, or 0;
below which draw, of WORD bits, an item is hit; the key of the draws. Then comes, for each
connection index, how many of its items have come."""


@dataclass(frozen=True)
class Fault(Element):
    """A fault that hits some items of each connection."""

    hits: ClassVar[tuple[KindName, ...]] = ()
    """The kinds of the items that it may hit; none: it may hit any."""

    first: OptionalNumber = None
    """The number of the first item of each connection that it hits, from 1."""
    count: Number = 1
    """How many items in a row it hits from there."""
    every: OptionalNumber = None
    """After how many items of a connection it hits as many again; by default, never."""
    probability: Ratio = Fraction(0)
    """With which probability it hits any item."""

    def __post_init__(self) -> None:
        if self.first is None and not self.probability:
            raise ValueError("it would hit nothing: give `first` or `probability`")
        if self.first is None and (self.every is not None or self.count > 1):
            raise ValueError("count and every tell what follows `first`: give it, too")
        if self.every is not None and self.every < self.count:
            raise ValueError(f"every: {self.every} is less than `count`, {self.count}")

    def start(self, setting: Setting) -> Whole:
        """Return which items it hits, and that none has come."""
        key = [0, 0]
        if self.probability:
            key = setting.draws.stream().integers(0, 1 << WORD, 2).tolist()
        threshold = int(self.probability * (1 << WORD))
        own = [self.first or 0, self.count, self.every or 0, threshold, *key]
        return np.array([*own, *[0] * setting.streams.indices], np.int64)


@kernel
def is_hit(state: Whole, connection: int) -> bool:
    """Count an item of a connection index, and return whether the fault hits it."""
    state[SEEN + connection] += 1
    number = state[SEEN + connection]
    if state[FIRST] and number >= state[FIRST]:
        since = number - state[FIRST]
        if state[EVERY]:
            since %= state[EVERY]
        if since < state[COUNT]:
            return True
    if state[THRESHOLD]:
        word, _ = threefry((state[KEY], state[KEY_2]), signed(connection) << WORD | number)
        return word < state[THRESHOLD]  # type: ignore[no-any-return]
    return False
