"""What controllers by a proportional and an integral gain share: probabilities, and their changes.

Probabilities have PER_SECOND binary places, and all that is computed of them is rounded down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import LONGEST_PS, Domain
from qospec.engine.kernel import kernel
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from fractions import Fraction

Target = Annotated[int, Domain("time", 1_000, LONGEST_PS)]
Period = Annotated[int, Domain("time", PS_PER_S // 1_000, LONGEST_PS)]
"""Of at least 1 ms, so that updates cost little."""

PER_SECOND, PER_UPDATE = 40, 30
"""Binary places of a probability, and, besides, of what a ps adds to it."""
ONE = 1 << PER_SECOND
LONGEST_DELAY = 1 << 47
"""Two minutes: a delay that is longer counts as that."""


def count_gain(gain: Fraction) -> int:
    """Return what a ps adds to a probability, by a gain of so much in a second."""
    return int(gain * 2 ** (PER_SECOND + PER_UPDATE) / PS_PER_S)


@kernel
def multiply_gain(gain: int, time_ps: int) -> int:
    """Return what a time adds to a probability."""
    high, low = time_ps >> 20, time_ps & ((1 << 20) - 1)
    return (high * gain + (low * gain >> 20)) >> (PER_UPDATE - 20)
