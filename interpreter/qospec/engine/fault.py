"""Faults that a test puts on a path: which items they hit, by their numbers or at random.

The items of a connection are numbered as they come, from 1, those of each kind by themselves: its
third OAM cell is number 3. What is drawn for an item depends on its connection and number alone.

At random, each item is hit by itself, or in runs: then a connection is good or bad, from item to
item, each with its own probability (Gilbert 1960, Elliott 1963). It begins as it is on average.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

from qospec.catalogue.kinds import Domain, Ratio
from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.kernel import as_signed, kernel
from qospec.engine.random import WORD, draw_threefry
from qospec.protocol.streams import KindName

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting

LARGEST_NUMBER = 2**31 - 1
"""Of an item."""
Number = Annotated[int, Domain("integer", 1, LARGEST_NUMBER)]
OptionalNumber = Annotated[int | None, Domain("integer", 1, LARGEST_NUMBER)]
OptionalRatio = Annotated[Fraction | None, Domain("ratio", 0, 1)]

MeanRun = Annotated[Fraction | None, Domain("ratio", 1, 10**6)]
Leaving = Annotated[Fraction, Domain("ratio", Fraction(1, 10**9), 1)]

FIRST, COUNT, EVERY, THRESHOLD, THRESHOLD_IN_BAD, TO_BAD, TO_GOOD, BEGINS_BAD = range(8)
KEY, KEY_2, SEEN = 8, 9, 10
"""The state: the first number that is hit, or 0; how many in a row; after how many again, or 0;
below which draw, of WORD bits, an item is hit while its connection is good, and while it is bad;
below which other draw it is in the other state from the next item on, and begins as bad; the key of
the draws. Then come, for each connection index, how many of its items have come, and whether it is
bad."""
WIDTH = 2


class Chain(NamedTuple):
    """A connection that is good or bad: four probabilities, and how it begins.

    Source: E. N. Gilbert, Capacity of a burst-noise channel, BSTJ 39 (1960); E. O. Elliott,
    Estimates of error rates for codes on burst-noise channels, BSTJ 42 (1963).

    Attributes:
        in_good: With which it is hit while good.
        in_bad: While bad.
        to_bad: With which it is bad from the next item on, while good.
        to_good: Good, while bad.
    """

    in_good: Fraction
    in_bad: Fraction
    to_bad: Fraction
    to_good: Fraction

    @property
    def begins_bad(self) -> Fraction:
        """Return the share of the time in which it is bad."""
        return self.to_bad / (self.to_bad + self.to_good)


@dataclass(frozen=True)
class Fault(Element):
    """A fault that hits some items of each connection."""

    hits: ClassVar[tuple[KindName, ...]] = ()
    """The kinds of the items that it may hit; none: it may hit any."""
    hit_by: ClassVar[tuple[str, ...]] = ("first", "probability")
    """The fields of which one says what it hits: nothing, with a probability of 0."""

    first: OptionalNumber = None
    """The number of the first item of each connection that it hits, from 1."""
    count: Number = 1
    """How many items in a row it hits from there."""
    every: OptionalNumber = None
    """After how many items of a connection it hits as many again; by default, never."""
    probability: OptionalRatio = None
    """With which probability it hits any item, or, if a connection is bad at times, one while it is
    good."""
    mean_run: MeanRun = None
    """How many items in a row it hits on average (Gilbert): with `probability` overall, and none in
    between."""
    good_to_bad: OptionalRatio = None
    """With which probability a good connection is bad from its next item on (Gilbert and Elliott);
    it begins as it is on average."""
    bad_to_good: Leaving = Fraction(1)
    """With which probability a bad one is good from then on."""
    probability_in_bad: Ratio = Fraction(1)
    """With which probability it hits an item while the connection is bad."""

    def __post_init__(self) -> None:
        if all(getattr(self, field) is None for field in (*self.hit_by, "good_to_bad")):
            *others, last = (f"`{field}`" for field in self.hit_by)
            raise ValueError(f"it would hit nothing: give {', '.join(others)} or {last}")
        self._check_runs()
        if self.first is None and (self.every is not None or self.count > 1):
            raise ValueError("count and every tell what follows `first`: give it, too")
        if self.every is not None and self.every < self.count:
            raise ValueError(f"every: {self.every} is less than `count`, {self.count}")

    def _check_runs(self) -> None:
        """Raise ValueError, in the author's words, where runs are not as they can be."""
        if self.good_to_bad is None and (self.bad_to_good != 1 or self.probability_in_bad != 1):
            raise ValueError("good_to_bad: without it no connection is ever bad")
        if self.mean_run is None:
            return
        if self.good_to_bad is not None:
            raise ValueError("mean_run: follows from `bad_to_good`; give only one of the two")
        if self.probability is None or self.probability == 1:
            raise ValueError("probability: with a `mean_run`, give one below 1")
        if self.chain.to_bad > 1:
            odds = self.probability / (1 - self.probability)
            raise ValueError(f"mean_run: with this `probability` it is at least {odds}")

    @property
    def chain(self) -> Chain:
        """Return how connections are good and bad."""
        probability = self.probability or Fraction(0)
        if self.mean_run is None:
            to_bad = self.good_to_bad or Fraction(0)
            return Chain(probability, self.probability_in_bad, to_bad, self.bad_to_good)
        to_good = 1 / self.mean_run
        to_bad = to_good * probability / (1 - probability)
        return Chain(Fraction(0), Fraction(1), to_bad, to_good)

    def start(self, setting: Setting) -> Whole:
        """Return which items it hits, and that none has come."""
        key, chain = [0, 0], self.chain
        if chain.in_good or chain.to_bad:
            key = setting.draws.open_stream().integers(0, 1 << WORD, 2).tolist()
        below = (int(probability * (1 << WORD)) for probability in (*chain, chain.begins_bad))
        own = [self.first or 0, self.count, self.every or 0, *below, *key]
        return np.array([*own, *[0] * WIDTH * setting.streams.indices], np.int64)


@kernel
def is_hit(state: Whole, connection: int) -> bool:
    """Count an item of a connection index, and return whether the fault hits it."""
    place = SEEN + WIDTH * connection
    state[place] += 1
    number = state[place]
    drawn = state[THRESHOLD] + state[TO_BAD] > 0 and _is_drawn(state, place, connection)
    if state[FIRST] and number >= state[FIRST]:
        since = number - state[FIRST]
        if state[EVERY]:
            since %= state[EVERY]
        if since < state[COUNT]:
            return True
    return drawn


@kernel
def _is_drawn(state: Whole, place: int, connection: int) -> bool:
    """Return whether an item is hit at random, and note in which state the next one finds it."""
    key, counter = (state[KEY], state[KEY_2]), as_signed(connection) << WORD
    if state[TO_BAD] == 0:
        word, _ = draw_threefry(key, counter | state[place])
        return word < state[THRESHOLD]  # type: ignore[no-any-return]
    if state[place] == 1:
        _, begins = draw_threefry(key, counter)
        state[place + 1] = begins < state[BEGINS_BAD]
    word, changes = draw_threefry(key, counter | state[place])
    bad = state[place + 1]
    if changes < state[TO_GOOD if bad else TO_BAD]:
        state[place + 1] = 1 - bad
    return word < state[THRESHOLD_IN_BAD if bad else THRESHOLD]  # type: ignore[no-any-return]


@kernel
def draw_again(state: Whole, place: int, connection: int) -> int:
    """Return a draw of WORD bits for the last item of a connection, by the key at a place."""
    key = state[place], state[place + 1]
    number = state[SEEN + WIDTH * connection]
    word, _ = draw_threefry(key, as_signed(connection) << WORD | number)
    return word
