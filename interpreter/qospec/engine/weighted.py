"""Schedulers whose inputs have a number each."""

from __future__ import annotations

from typing import ClassVar

from qospec.engine.scheduling import Scheduler


class Weighted(Scheduler):
    """A scheduler each of whose inputs has a number: more than 0, or it would never be served."""

    numbered: ClassVar[str] = "weights"
    """The field that holds the numbers: a pair of name and number per input, in order."""

    def __post_init__(self) -> None:
        """Refuse what cannot be the inputs; in the author's words."""
        field, names = self.numbered, self.inputs
        if not names:
            raise ValueError(f"{field}: at least one input is needed")
        if len(set(names)) < len(names):
            raise ValueError(f"{field}: an input is named twice")
        for name, value in getattr(self, field):
            if value <= 0:
                raise ValueError(f"{field}: {name} would never be served; give more than 0")

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the names of its inputs, in order."""
        return tuple(name for name, _ in getattr(self, self.numbered))
