"""The average of what waits, by which policies drop early; see `engine.admission`."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, NamedTuple

from qospec.catalogue.kinds import OF_PACKETS, Domain, Truth
from qospec.dataclass import dataclass

Weight = Annotated[Fraction, Domain("ratio", Fraction(1, 2**16), 1)]
"""Of a newcomer in an average."""
Typical = Annotated[int, Domain("data", 1, 65_535, layers=OF_PACKETS)]
"""A size in bytes."""
LIGHTEST = 16
"""The least weight of an average is 1/2^16."""


class Average(NamedTuple):
    """How an average follows what waits: the weight of each newcomer; a typical item's bytes."""

    weight: Fraction
    typical_bytes: int


@dataclass(frozen=True, kw_only=True)
class Averaging:
    """What all policies declare that drop by an average."""

    gentle: Truth = False
    """Whether the probability rises from `p` at `high` to 1 at twice `high`, instead of at once."""
    weight: Weight = Fraction(1, 512)
    """How far each newcomer moves the average: 1, 1/2, 1/4 … or 1/65536."""
    typical: Typical = 500
    """The size of a typical packet, to count idle time by; a cell has 53 bytes."""

    def __post_init__(self) -> None:
        exponent(self.weight)

    @property
    def average(self) -> Average:
        """Return how the average follows that early drops go by."""
        return Average(self.weight, self.typical)


def exponent(weight: Fraction) -> int:
    """Return k of a weight 1/2^k; raises ValueError for other weights, in the author's words."""
    k = weight.denominator.bit_length() - 1
    if weight != 0 and 1 / weight == 2**k and k <= LIGHTEST:
        return k
    raise ValueError(f"weight: is 1, 1/2, 1/4, 1/8 … or 1/{2**LIGHTEST}, as in `1 / 512`")
