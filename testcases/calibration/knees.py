"""How often a search is wrong about a device whose loss is random, and by how much.

In a trial at load x of such a device packets are lost with a probability that rises with x. The
load that is looked for is the one at which half of all trials are bad.
"""

from math import exp, log
from random import Random  # noqa: TID251 -- a device of a test, with its seed

from searches import Ended, carried_out, draws, goal, ndr, search

from qospec.dataclass import dataclass
from qospec.model.suite import Goal

NINE_IN_TEN = log(9)
ONE_PACKET = 1e-6


@dataclass(frozen=True)
class Knee:
    """A sort of devices: from 10 % to 90 % of trials are bad from `spread` below the load to above.

    In a share of the other trials, `background`, one packet is lost at any load.
    """

    spread: float
    background: float = 0.0

    def __str__(self) -> str:
        spread = f"±{100 * self.spread:g} %"
        return f"{spread}, {100 * self.background:g} % at any load" if self.background else spread

    def loss(self, load: float, true_load: float, random: Random) -> float:
        """Return what is lost in a trial, if half of the trials at `true_load` are bad."""
        distance = log(load / true_load) * NINE_IN_TEN / self.spread
        bad = 1 / (1 + exp(-max(-50.0, min(50.0, distance))))
        share = self.background + bad * (1 - 2 * self.background)
        if load > true_load:
            share = max(share, bad)
        return max(ONE_PACKET, 1 - true_load / load) if random.random() < share else 0.0


@dataclass(frozen=True)
class Count:
    """How often bounds were wrong in a number of searches, by how much, and at what cost."""

    searches: int
    above: int
    """The lower bound was above the load: a criterion that asks for too much would pass."""
    below: int
    """The upper bound was below the load: a criterion that asks for less would fail."""
    farthest: float
    """How far the bounds miss the load, as a share of it; one search in twenty misses by more."""
    trials: float


def count(knee: Knee, method: str, aim: Goal, searches: int) -> Count:
    """Search so often, each time on a device with a load and draws of its own."""
    above = below = trials = 0
    distances = []
    for seed in range(searches):
        true_load = 40_000 * 1.0001 ** (seed % 100)
        ended = _searched(knee, true_load, method, aim, seed)
        found = ended.found[aim.name]
        lower, upper = float(found.lower or 0), float(found.upper or 10**9)
        above += lower > true_load
        below += upper < true_load
        distances.append(max(0.0, lower - true_load, true_load - upper) / true_load)
        trials += len(ended.trials)
    return Count(searches, above, below, sorted(distances)[19 * searches // 20], trials / searches)


def _searched(knee: Knee, true_load: float, method: str, aim: Goal, seed: int) -> Ended:
    device = draws(lambda load, random: knee.loss(float(load), true_load, random), seed)
    return carried_out(search(aim, method=method), device)


KNEES = (
    *(Knee(spread) for spread in (0.0005, 0.0025, 0.01, 0.03, 0.1)),
    *(Knee(0.0025, background) for background in (0.1, 0.3)),
)
SEARCHES = (
    ("mlrsearch", ndr()),
    ("binary", ndr()),
    ("binary", goal(trial_s=60, total_s=60)),
)
"""21 trials of a second at a load, 11 of which decide; or one of a minute."""
