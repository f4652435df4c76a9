"""What cannot be captured, in words for the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class CaptureError(Exception):
    """Something was asked for that the record does not hold, or that cannot be repeated.

    Attributes:
        message: Why.
        choices: What to choose from, a line each.
    """

    def __init__(self, message: str, choices: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.choices = tuple(choices)


def list_names(names: list[str], most: int = 12) -> str:
    """Return names in backquotes, up to so many."""
    more = len(names) - most
    shown = [f"`{name}`" for name in names[:most]]
    return ", ".join(shown + [f"{more} more"] * (more > 0))
