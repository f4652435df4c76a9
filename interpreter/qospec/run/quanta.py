"""A warning of a plan: a round robin some of whose turns are shorter than the packets that come."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic
from qospec.elements.drr import Drr
from qospec.engine.line.clock import CELL_BYTES
from qospec.engine.scheduler.scheduler import Combined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.scheduler.scheduler import Scheduler
    from qospec.model.suite import Case, Network
    from qospec.run.survey import Survey

    Turns = tuple[Scheduler, list[int]]
    """A scheduler, and for each of its own inputs the largest packet that comes there, in bytes."""

REASON = (
    "an input then saves up over turns in which it sends nothing; a quantum of at least the"
    " largest packet keeps delay and effort low (Shreedhar and Varghese 1996)"
)


def short(case: Case, network: Network, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each scheduler that gives an input fewer bytes per turn than a packet there has."""
    found = largest_coming(case, survey)
    for index, draft in survey.drafts.items():
        if draft.duty == "scheduler":
            scheduler: Scheduler = draft.instance.element
            coming = [found.get((index, n), 0) for n in range(len(scheduler.inputs))]
            for each, largest in _levels(scheduler, iter(coming)):
                yield from _told(each, largest, network)


def largest_coming(case: Case, survey: Survey) -> dict[tuple[int, int], int]:
    """Return the largest size in bytes of what comes, by element and number of its input."""
    return {
        place: max(_largest(case, survey.members[number].flow) for number in members)
        for place, members in survey.passing.inputs.items()
    }


def _largest(case: Case, flow: int) -> int:
    stream = case.flows[flow].stream
    return CELL_BYTES if stream is None else max(stream.sizes.size_bytes)


def _levels(scheduler: Scheduler, coming: Iterator[int]) -> Iterator[Turns]:
    """Yield the schedulers that are combined in one, the one at the line last."""
    mine: list[int] = []
    for branch in scheduler.branches:
        if branch is None:
            mine.append(next(coming))
        else:
            below = list(_levels(branch, coming))
            yield from below
            mine.append(max(below[-1][1]))
    yield (scheduler.outer if isinstance(scheduler, Combined) else scheduler), mine


def _told(scheduler: Scheduler, largest: list[int], network: Network) -> Iterator[Diagnostic]:
    """Yield the one warning of a round robin: all inputs that are short, and what suits them."""
    if not isinstance(scheduler, Drr):
        return
    place = next(each.span for each in network.elements if each.element is scheduler)
    turns = zip(scheduler.inputs, scheduler.quanta, largest, strict=True)
    short = [(name, quantum, packet) for name, quantum, packet in turns if quantum < packet]
    if not short or place is None:
        return
    name, quantum, packet = max(short, key=lambda turn: Fraction(turn[2], turn[1]))
    *others, last = [f"`{each}`" for each, *_ in short]
    inputs = f"turns of {', '.join(others)} and {last}" if others else f"a turn of {last}"
    least = -(-packet * scheduler.quantum // quantum)
    yield Diagnostic(
        "W0603",
        f"{inputs} may be too short for a single packet",
        place,
        label=f"{quantum} B per turn of `{name}`, and packets of up to {packet} B",
        notes=(REASON,),
        help=f"write `quantum = {least} B`",
    )
