"""What cannot be captured, in words for the user."""

from __future__ import annotations


class CaptureError(Exception):
    """Something was asked for that the record does not hold, or that cannot be repeated."""


def listed(names: list[str], most: int = 12) -> str:
    """Return names in backquotes, up to so many."""
    more = len(names) - most
    shown = [f"`{name}`" for name in names[:most]]
    return ", ".join(shown + [f"{more} more"] * (more > 0))
