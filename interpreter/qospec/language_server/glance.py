"""What is wrong after an edit, as far as the declaration shows it that was edited.

To check a file of 1,000 lines builds all of its cases, which takes longer than a writer waits. So
what was known of the others stays, at its new places, until all has been checked again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.diagnostics import Edit, Label
from qospec.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qospec.check.modules.loader import Unit
    from qospec.diagnostics import Diagnostic
    from qospec.source import Source

OF_SYNTAX = "E00"
"""The codes of mistakes that are found by parsing, which reads all of a text."""


class Known(NamedTuple):
    """A text that could be read, or else the first, and what is wrong in it."""

    text: str
    found: tuple[Diagnostic, ...]


class Change(NamedTuple):
    """What differs between two texts: it began at `start`, and ended there, and ends here."""

    start: int
    old_end: int
    new_end: int


def find_change(old: str, new: str) -> Change:
    """Return the smallest part whose replacement makes one text of another."""
    most = min(len(old), len(new))
    start = _count_equal(old, new, most)
    end = _count_equal(old[::-1], new[::-1], most - start)
    return Change(start, len(old) - end, len(new) - end)


def _count_equal(one: str, other: str, most: int) -> int:
    """Return how many characters two texts begin with alike; halves are compared at once."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def merge(
    known: Known, change: Change, unit: Unit, fresh: Iterable[Diagnostic]
) -> tuple[Diagnostic, ...] | None:
    """Return what is wrong in a file of which only the declaration at a change was checked.

    None if that does not tell: more than one has changed, or what follows could not be read before.

    Args:
        known: The file before the change.
        change: What has changed since.
        unit: The file as it is.
        fresh: What was found now. Warnings elsewhere are left out: that a name is unused is not
            known of a single declaration.
    """
    declarations = unit.tree.declarations if unit.tree else ()
    around = [node.span for node in declarations if _holds(node.span, change)]
    fresh = list(fresh)
    if not around or (has_syntax(known.found) and not has_syntax(fresh)):
        return None
    found = {
        (problem.code, problem.span.start, problem.message): problem
        for problem in fresh
        if problem.span.source is unit.source
        and (problem.severity == "error" or any(problem.span in span for span in around))
    }
    for old in known.found:
        moved = _move(old, change, unit.source)
        if moved is None or old.code.startswith(OF_SYNTAX):
            continue
        # Its warnings stay as well: some are known only once its trials are planned.
        if old.severity == "warning" or not any(moved.span in span for span in around):
            found.setdefault((moved.code, moved.span.start, moved.message), moved)
    return tuple(found.values())


def _holds(span: Span, change: Change) -> bool:
    return span.start <= change.start and change.new_end <= span.end


def has_syntax(found: Iterable[Diagnostic]) -> bool:
    """Return whether some of what is wrong keeps a text from being read."""
    return any(problem.code.startswith(OF_SYNTAX) for problem in found)


def _move(problem: Diagnostic, change: Change, source: Source) -> Diagnostic | None:
    """Return a diagnostic at its new place; None if what it is about has changed."""
    old = problem.span.source

    def move(span: Span) -> Span | None:
        if span.source is not old:
            return span
        if span.end <= change.start:
            return Span(source, span.start, span.end)
        if span.start < change.old_end:
            return None
        further = change.new_end - change.old_end
        return Span(source, span.start + further, span.end + further)

    span = move(problem.span)
    if span is None:
        return None
    labels = [(move(label.span), label.text) for label in problem.secondary]
    edits = [(move(edit.span), edit.text) for edit in problem.fix]
    fix = tuple(Edit(where, text) for where, text in edits if where is not None)
    return replace(
        problem,
        span=span,
        secondary=tuple(Label(where, text) for where, text in labels if where is not None),
        fix=fix if len(fix) == len(edits) else (),
    )
