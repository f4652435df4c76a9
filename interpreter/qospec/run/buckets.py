"""A warning of a plan: a token bucket that is smaller than some of the packets that come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic, Label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.model.suite import Case
    from qospec.run.survey import Survey


def small(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each meter and shaper whose bucket never has tokens for packets of a flow.

    A meter's bucket of no bytes lets nothing pass on purpose; a shaper's loses all.
    """
    for index in sorted(survey.passing.any):
        instance = survey.drafts[index].instance
        bucket_bytes: int = getattr(instance.element, "bucket_bytes", 0)
        for number in sorted({survey.members[n].flow for n in survey.passing.any[index]}):
            flow = case.flows[number]
            largest_bytes = 0 if flow.stream is None else max(flow.stream.sizes.size_bytes)
            shapes = instance.kind.name == "shape"
            if bucket_bytes < largest_bytes and (bucket_bytes or shapes):
                yield Diagnostic(
                    "W0607",
                    f"packets of `{flow.name}` are longer than the bucket of `{instance.path}`",
                    instance.span or flow.span,
                    others=(Label(flow.span, f"up to {largest_bytes} B @ip"),),
                    notes=(f"it holds tokens for {bucket_bytes} bytes: longer ones never conform",),
                    help=f"give it a burst of {largest_bytes} B at least",
                )
