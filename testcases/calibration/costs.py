"""What searches for two goals cost, beside a search for one, and beside bisection."""

import statistics
from collections.abc import Callable, Mapping
from math import exp
from random import Random  # noqa: TID251 -- a device of a test, with its seed
from typing import NamedTuple

from searches import Device, carried_out, draws, loses, ndr, pdr, search

DEVICES = 25
Share = Callable[[float, Random], float]
"""Returns what is lost of a load, in units of what the device forwards."""


def _sharp(load: float, _: Random) -> float:
    return 1 - 1 / load


def _soft(load: float, _: Random) -> float:
    """The queue overflows from 87.5 % on, ever more often."""
    above = max(0.0, load - 0.875)
    return 1 - (min(load, 0.875) + 0.125 * (1 - exp(-8 * above))) / load


def _collapsing(load: float, _: Random) -> float:
    """Each packet that is lost takes a tenth of the time of one that is forwarded."""
    return 1 - (1 - min(0.9, 0.1 * (load - 1))) / load if load > 1 else 0.0


def _varying(load: float, random: Random) -> float:
    return 1 - random.gauss(1, 0.01) / load


def _random_loss(load: float, random: Random) -> float:
    """One packet in a hundred thousand, of 40,000 in a trial at full load."""
    lost = sum(random.random() < 1e-3 for _ in range(int(400 * load)))
    return max(lost / (40_000 * load), 1 - 1 / load)


def _bursts(load: float, random: Random) -> float:
    """A queue of a fifth of what a trial forwards, and 40 bursts of exponential lengths."""
    waiting = lost = 0.0
    for _ in range(40):
        waiting = max(0.0, waiting + (load * random.expovariate(1) - 1) / 40)
        lost += max(0.0, waiting - 0.2)
        waiting = min(0.2, waiting)
    return lost / load


MODELS: Mapping[str, tuple[Share, bool]] = {
    "sharp knee, nothing drawn": (_sharp, False),
    "sharp knee": (_sharp, True),
    "soft knee, nothing drawn": (_soft, False),
    "soft knee": (_soft, True),
    "livelock, nothing drawn": (_collapsing, False),
    "random loss": (_random_loss, True),
    "varying by 1 %": (_varying, True),
    "long bursts": (_bursts, True),
}
"""Whether anything is drawn: if nothing is, one trial decides a load."""


class Cost(NamedTuple):
    """The mean number of trials of a second."""

    ndr: float
    both: float
    ndr_by_bisection: float


def cost(name: str, devices: int = DEVICES) -> Cost:
    """Return what searches on devices of that sort cost, from 20,000 to 60,000 packets/s."""
    asked = (search(ndr()), search(ndr(), pdr()), search(ndr(), method="binary"))
    made = [_device(*MODELS[name], seed, devices) for seed in range(devices)]
    return Cost(*(statistics.mean(len(carried_out(a, d).trials) for d in made) for a in asked))


def _device(share: Share, drawn: bool, seed: int, devices: int) -> Device:  # noqa: FBT001
    rate = 20_000 + 40_000 * (seed + 0.5) / devices
    if not drawn:
        return loses(lambda load: max(0.0, share(float(load) / rate, Random(0))))  # noqa: S311
    return draws(lambda load, random: share(float(load) / rate, random), seed)
