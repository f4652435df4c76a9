"""Resource management cells of ABR, and what cells on their way tell of congestion.

The column FLAGS of a cell holds what is below, WINDOW of an RM cell the explicit rate, STAMP the
current cell rate of its source. Source: ATM Forum TM 4.1, 5.10.3 (the fields of an RM cell); ITU-T
I.361, 2.2.4 (the payload type, of which one bit is EFCI). Not modelled: how rates are rounded to
the 16 bits that they have there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.event.transition import STAMP, WINDOW
from qospec.engine.items.batch import count_columns

if TYPE_CHECKING:
    from fractions import Fraction

RATE_UNITS = 2**20
"""Rates are whole numbers of so many parts of a cell/s: of 1 cell/s, to a millionth."""
HIGHEST_RATE = 10**8
"""In cells/s, of which an STM-256 carries 94 million: so many units fit int64 2**16 times."""
EFCI, IS_RM, IS_BACKWARD, CONGESTED, NO_INCREASE = 1, 2, 4, 8, 16
"""The flags: explicit forward congestion indication of a cell of the user; what an RM cell is; its
CI, and its NI."""
EXPLICIT_RATE, CURRENT_RATE = WINDOW, STAMP
COLUMNS_USED = count_columns("stamp")


def convert_rate(cell_rate: Fraction) -> int:
    """Return cells/s in units of kernels, rounded down."""
    return int(cell_rate * RATE_UNITS)
