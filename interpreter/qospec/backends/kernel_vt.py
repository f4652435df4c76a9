"""A kernel of Linux in virtual time: User-Mode Linux, whose time stands still while it works."""

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


@backend(source="Linux 6.1, net/sched; User-Mode Linux, time travel", name="kernel-vt")
@dataclass(frozen=True)
class KernelVt(Backend):
    """Carry trials out on a kernel of Linux in virtual time, repeatably and without privileges.

    Lines are `htb` and `netem`, queues `pfifo`, `bfifo` and `codel`, policers `police`, shapers
    `tbf`, schedulers `prio` and `drr`, classifiers and routers filters, markers `pedit`.

    Not modelled: cells, colours, classes by size, answered traffic, and what changes during a
    trial.
    """

    runs_programs = True

    def verify(self, case: Case, span: Span, problems: Problems) -> None:
        """Report what has no counterpart on the kernel."""
        from qospec.linux.counterparts import verify_counterparts

        verify_counterparts(case, span, problems)

    def describe(self) -> Document:
        """Return the kernel, and the program that sends and receives on it, with digests."""
        from qospec.linux.parts import describe_parts

        return {"name": "kernel-vt", **describe_parts()}

    def carry_out(
        self, experiment: Experiment, on_progress: Callable[[int, int], None]
    ) -> Observation:
        """Return what was seen on the kernel, which is booted for the first trial."""
        from qospec.linux.parts import open_laboratory

        stop_ps = experiment.measurement.stop_ps
        laboratory = open_laboratory()
        observation = laboratory.run_trial(experiment, lambda: on_progress(0, stop_ps))
        on_progress(stop_ps, stop_ps)
        return observation
