"""The Open Traffic Generator model: ports, and flows of frames between them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import export
from qospec.dataclass import dataclass
from qospec.exporter import Exporter, leave_out, refuse
from qospec.generator.configuration import CUT_THROUGH, MODES, Configuration, list_needs
from qospec.model.suite import Search
from qospec.units import PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from qospec.diagnostics import Problems
    from qospec.exporter import Document
    from qospec.model.suite import Case
    from qospec.source import Span


@export(source="Open Traffic Generator API 1.62 (Config, Port, Layer1, Flow)")
@dataclass(frozen=True)
class Otg(Exporter):
    """Write ports and flows for generators of the Open Traffic Generator API.

    A host is a port, a member of a flow is a flow, at its rate, for warmup and measurement. Devices
    are left out: they are what is tested. So are criteria, which the model has no words for.

    Not modelled: searches, changes during a trial, exchanges, bursts and random gaps.
    """

    def describe(self, case: Case, span: Span, problems: Problems) -> Document:
        """Return a configuration, as the model's YAML and JSON have it."""
        _verify_course(case, span, problems)
        needs = list_needs(case, problems)
        for flow in case.flows:
            if needs[flow.name].issuperset(MODES):
                needs[flow.name].discard(CUT_THROUGH)
                leave_out(
                    problems,
                    flow.span,
                    f"a generator measures one sort of latency of a flow: of `{flow.name}` it is"
                    " `latency`, and `delay` is left out",
                    "measure `latency` or `delay` of a flow",
                )
        trial = Configuration(case, needs, problems)
        flows = [written for flow in case.flows for written in trial.describe_flow(flow)]
        return {**trial.describe_ports(case.flows), "flows": flows}


def _verify_course(case: Case, span: Span, problems: Problems) -> None:
    """Report what a trial of the model cannot be: several, or one that changes."""
    for phase in case.phases:
        what = "search" if isinstance(phase, Search) else "point"
        refuse(
            problems,
            phase.span,
            f"a configuration sends at one load, so the {what} `{phase.name}` cannot be said",
            "write a test at that load, with `run { measure = … }`",
        )
    for change in case.run.changes:
        refuse(
            problems,
            change.span,
            f"nothing changes during a trial of the model: `{change.text}` cannot be said",
            "write a test of the time before, and one of the time after",
        )
    if case.phases:
        return
    if case.run.repeat > 1:
        leave_out(
            problems, span, f"a configuration is one trial: carry it out {case.run.repeat} times"
        )
    if case.run.warmup_ps:
        warmup = format_value(Fraction(case.run.warmup_ps, PS_PER_S), TIME)
        leave_out(
            problems,
            span,
            f"a generator counts from its first packet: the warmup of {warmup} is measured, too",
            "read its counters when the warmup is over, and take the difference",
        )
