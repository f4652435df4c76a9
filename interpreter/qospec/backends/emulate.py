"""The emulation: the engine of this program, in which anything can be said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.backend import Backend
from qospec.catalogue.kinds import backend
from qospec.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.diagnostics import Problems
    from qospec.document import Document
    from qospec.engine.experiment import Experiment
    from qospec.engine.measure.observation import Observation
    from qospec.model.suite import Case
    from qospec.source import Span


@backend(source="none: docs/architecture.md")
@dataclass(frozen=True)
class Emulate(Backend):
    """Carry trials out in the emulation, exactly and repeatably."""

    def verify(self, case: Case, span: Span, problems: Problems) -> None:
        """Refuse nothing."""

    def describe(self) -> Document:
        """Return its name."""
        return {"name": "emulate"}

    def carry_out(
        self, experiment: Experiment, on_progress: Callable[[int, int], None]
    ) -> Observation:
        """Return what the engine observes."""
        from qospec.engine.graph import emulation

        return emulation.run(experiment, on_progress=on_progress)
