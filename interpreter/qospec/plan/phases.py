"""Phases before they run: their trials at both ends of what they may try."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.model.suite import Case, GoalResult, Search

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.diagnostics import Problems
    from qospec.model.suite import Phase


def trials_at_ends(case: Case, phase: Phase, problems: Problems) -> Iterator[Case | None]:
    """Yield the case of a trial at the lowest load of a phase, then at the highest.

    At a point, as if the goals that it depends on had found their lowest or highest loads. None for
    one with a mistake, which is in `problems`.
    """
    assert case.at is not None  # noqa: S101 -- a case with phases has it
    searches = [each for each in case.phases if isinstance(each, Search)]
    for end in ("low", "high"):
        loads = {each: getattr(each, end) for each in searches}
        found = {
            goal.name: GoalResult(loads[each], loads[each])
            for each in searches
            for goal in each.goals
        }
        made = case.at(phase, loads[phase] if isinstance(phase, Search) else None, found)
        if not isinstance(made, Case):
            problems.add(made)
        yield made if isinstance(made, Case) else None
