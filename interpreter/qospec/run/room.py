"""A warning of a plan: queues that some of the packets that come are too large for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic
from qospec.run.quanta import largest_coming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.model.suite import Case, Instance
    from qospec.run.draft import Draft
    from qospec.run.survey import Survey


def too_small(case: Case, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each queue whose limit is below the size of a packet that comes there."""
    coming = largest_coming(case, survey)
    for index, draft in survey.drafts.items():
        for number, queue in enumerate(_queues(draft)):
            largest = coming.get((index, number), 0)
            limit = queue.element.limit if queue is not None else None
            if limit is None or limit.unit != "byte" or limit.amount >= largest:
                continue
            if queue is not None and queue.span is not None:
                yield Diagnostic(
                    "W0606",
                    f"a packet of {largest} B never waits in `{queue.path}`",
                    queue.span,
                    label=f"{limit.amount} B may wait",
                    notes=("it is lost unless it is sent as it comes",),
                    help=f"write a limit of at least {largest} B",
                )


def _queues(draft: Draft) -> list[Instance | None]:
    """Return the queue that a draft is, or those before a scheduler, in order of inputs."""
    return [draft.instance] if draft.duty == "queue" else draft.queues
