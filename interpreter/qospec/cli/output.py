"""How wide text may be: as the terminal, or as lines are where nobody looks."""

from __future__ import annotations

import sys

WIDEST = 110
"""Longer lines are hard to read, however wide the terminal is."""


def width() -> int:
    """Return the most characters of a line."""
    if not sys.stdout.isatty():
        return WIDEST
    import shutil

    return max(40, min(WIDEST, shutil.get_terminal_size().columns))
