"""Populations: what is measured as one, such as the flow `ab` or its OAM cells `ab.oam`."""

from __future__ import annotations

from qospec.dataclass import dataclass


@dataclass(frozen=True)
class Population:
    """A stretch of connection indices that is measured as one.

    What it carries is shared out among members with `each` so many connections.
    """

    flow: str
    member: int | None
    oam: bool
    first: int
    stop: int
    each: int = 1

    @property
    def name(self) -> str:
        """Return how a statement names it."""
        return population_name(self.flow, self.member, oam=self.oam)


def population_name(flow: str, member: int | None, *, oam: bool) -> str:
    """Return how a statement names a flow, a member of it, or its OAM cells."""
    index = "" if member is None else f"[{member}]"
    return f"{flow}{index}{'.oam' if oam else ''}"
