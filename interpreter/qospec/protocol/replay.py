"""The anti-replay window of a receiver.

A window is a row of whole numbers: the highest number accepted, then a slot for each number that
the window spans, with the last number of that slot. So a look and an entry cost the same for any
size, and nothing is shifted. All are plain loops over integers: elements compile them as kernels.

Source: RFC 4303, 3.4.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:

    class Row(Protocol):
        """A list, or an array of int64."""

        def __len__(self) -> int: ...
        def __getitem__(self, place: int, /) -> int: ...
        def __setitem__(self, place: int, value: int, /) -> None: ...


SIZE = 64
"""Of a window, unless something else is said. Source: RFC 4303, 3.4.3 (the preferred size)."""
LEAST_SIZE = 32
"""Source: RFC 4303, 3.4.3."""
HIGHEST, FIRST_SLOT = 0, 1
"""Places of a window; the number 0 is never sent, so slots begin with it."""
FRESH, REPLAYED, STALE = range(3)
"""What a number is: not seen yet, seen before, or too old to tell."""


def examine(window: Row, number: int) -> int:
    """Return whether a number is FRESH, REPLAYED or STALE; change nothing."""
    size = len(window) - FIRST_SLOT
    if number <= max(window[HIGHEST] - size, 0):
        return STALE
    return REPLAYED if window[FIRST_SLOT + number % size] == number else FRESH


def enter(window: Row, number: int) -> None:
    """Enter a number that is fresh, once its packet has proved to be genuine."""
    window[FIRST_SLOT + number % (len(window) - FIRST_SLOT)] = number
    window[HIGHEST] = max(window[HIGHEST], number)
