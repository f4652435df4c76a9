"""The machine's own kernel of Linux, in namespaces: real time, as precise as the machine is."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from qospec.backend import Backend, BackendError
from qospec.catalogue.kinds import backend
from qospec.dataclass import dataclass
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.diagnostics import Problems
    from qospec.document import Document
    from qospec.engine.experiment import Experiment
    from qospec.engine.measure.observation import Observation
    from qospec.model.suite import Case
    from qospec.source import Span

AROUND_S = 0.15
"""What a trial takes at least besides its length: to set the kernel up, and until all is seen."""


@backend(source="Linux, net/sched; namespaces(7)", name="kernel-rt")
@dataclass(frozen=True)
class KernelRt(Backend):
    """Carry trials out in namespaces of this machine's kernel, in real time.

    Elements are what they are on `kernel-vt`, as far as this kernel has their disciplines. Times
    are off by what was measured of its timers, and what depends on that is inconclusive.

    Not modelled: as of `kernel-vt`.
    """

    repeats = False

    def verify(self, case: Case, span: Span, problems: Problems) -> None:
        """Report what has no counterpart on any kernel."""
        from qospec.linux.counterparts import verify_counterparts

        verify_counterparts(case, span, problems)

    def verify_here(self, case: Case, span: Span, problems: Problems) -> None:
        """Report what this machine's kernel lacks; `describe` tells if nothing can be known."""
        from qospec.linux.modules import verify_modules

        with contextlib.suppress(BackendError):
            verify_modules(case, span, problems)

    def describe(self) -> Document:
        """Return the kernel with its modules, and the program that sends and receives."""
        from qospec.linux.machine import describe_machine

        return {"name": "kernel-rt", **describe_machine()}

    def measure(self) -> Document:
        """Return how late this machine may be behind each timer."""
        from qospec.linux.machine import describe_precision

        return {"precision": describe_precision()}

    def estimate_time_s(self, trials: int, trials_ps: int) -> float:
        """Return their length, and what each takes besides."""
        return trials_ps / PS_PER_S + trials * AROUND_S

    def carry_out(
        self, experiment: Experiment, on_progress: Callable[[int, int], None]
    ) -> Observation:
        """Return what was seen, when this machine did it in time."""
        from qospec.linux.machine import run_trial

        stop_ps = experiment.measurement.stop_ps
        observation = run_trial(experiment, lambda: on_progress(0, stop_ps))
        on_progress(stop_ps, stop_ps)
        return observation
