"""How wide text may be: as the terminal, or as lines are where nobody looks."""

from __future__ import annotations

import sys

WIDEST = 110
"""Longer lines are hard to read, however wide the terminal is."""


def width(*, err: bool = False, widest: int = WIDEST) -> int:
    """Return the most characters of a line of stdout, or of stderr."""
    if not (sys.stderr if err else sys.stdout).isatty():
        return widest
    import shutil

    return max(40, min(widest, shutil.get_terminal_size().columns))
