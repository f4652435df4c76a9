"""The kinds of claims that criteria make about publications."""

from __future__ import annotations

from qospec.dataclass import NamedTuple


class Claim(NamedTuple):
    """A kind of claim about a publication.

    Attributes:
        meaning: What a criterion says by it.
        reproduces: Whether a criterion that holds reproduces what was published.
    """

    meaning: str
    reproduces: bool = True


CONSISTENT = "consistent"
"""The claim of what no device decides."""

CLAIMS = {
    "exact": Claim(
        "the printed number follows from mechanism and inputs alone, to its last digit; a device"
        " that does nothing does not pass it"
    ),
    "range": Claim("what is measured lies in a published range, or within a tolerance of a number"),
    "shape": Claim("it rises, falls, is flat, is ordered or has its knee as text or figure says"),
    "calibrated": Claim(
        "the model was set by this very number, so it proves nothing", reproduces=False
    ),
    CONSISTENT: Claim(
        "the print agrees with itself, or with what a device that does nothing gives, so it proves"
        " nothing about a device",
        reproduces=False,
    ),
}
"""What a criterion can claim about a publication, after `as`; from the strongest on."""
