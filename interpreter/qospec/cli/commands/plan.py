"""`qos plan`: what a run would do, and how much; runs nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from qospec.cli import budget, exits, loading, options
from qospec.cli.output import say, say_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.model.suite import Case, Goal, Search
    from qospec.plan.plan import CasePlan, PhasePlan


@click.command()
@options.paths
@options.match
@options.seed
@options.max_cells
@options.settings
@options.as_json
def plan(**asked: Any) -> None:
    """Show what a run would do, and how much. Nothing is run."""
    request = loading.make_request(asked)
    suite, plans = loading.plan_request(request, runs=False)
    from qospec.run.estimate import estimate_run

    rows = [_describe_row(plan) for plan in plans]
    estimate = estimate_run(suite, plans)
    if request.as_json:
        whole = {"schema": 1, "seed": request.seed, "cases": rows}
        say_json({**whole, "estimate": estimate._asdict()})
        sys.exit(exits.PASSED)
    for row, planned in zip(rows, plans, strict=True):
        if row["skip"]:
            say(f"{row['name']}: skipped, {row['skip']}")
            continue
        if planned.case.chosen is not None:
            say(f"{row['name']}: a property, evaluated without a trial")
            continue
        most = "at most " if any(phase["kind"] == "search" for phase in row["phases"]) else ""
        trials = f"{most}{loading.count_things(row['trials'], 'trial')}"
        emulated = f"{most}{budget.format_duration(row['seconds'])} emulated in total"
        cells = (
            f"{'at most' if row['bounded'] else 'about'} {_count_items(row['cells'], planned.case)}"
        )
        say(f"{row['name']}: {trials}, {cells} each, {emulated}")
        for phase in row["phases"]:
            _say_phase(phase, planned.case)
    for note in loading.list_endless(suite):
        say(note)
    trials = loading.count_things(sum(row["trials"] for row in rows), "trial")
    say(f"{loading.count_things(len(rows), 'case')}, {trials}, seed {request.seed}")
    say(f"a run takes {budget.describe(estimate)}")


def _describe_row(plan: CasePlan) -> dict[str, Any]:
    from qospec.units import PS_PER_S

    return {
        "name": plan.case.name,
        "skip": plan.case.skip,
        "trials": plan.trials,
        "cells": plan.cells,
        "bounded": plan.bounded,
        "seconds": plan.cost.emulated_ps / PS_PER_S,
        "phases": [_describe_phase(phase) for phase in plan.phases],
    }


def _say_phase(row: dict[str, Any], case: Case) -> None:
    """Print what a phase does, and what it costs."""
    most = "at most " if row["kind"] == "search" else ""
    trials = f"{most}{loading.count_things(row['trials'], 'trial')}"
    cells = f"{'at most' if row['bounded'] else 'about'} {_count_items(row['cells'], case)} each"
    time = f"{most}{budget.format_duration(row['seconds'])}"
    say(f"  {row['text']}: {trials}, {cells}, {time} emulated")
    for goal in row.get("goals", ()):
        say(f"    goal {goal['name']}: {goal['text']}")


def _describe_phase(plan: PhasePlan) -> dict[str, Any]:
    """Return what a phase does, defaults included, and what it costs at most."""
    from qospec.model.suite import Search
    from qospec.units import PS_PER_S

    phase = plan.phase
    cost = {
        "trials": plan.cost.trials,
        "cells": plan.cells,
        "bounded": plan.bounded,
        "seconds": plan.cost.emulated_ps / PS_PER_S,
    }
    if isinstance(phase, Search):
        return {"name": phase.name, "kind": "search", **_describe_search(phase, plan.loads), **cost}
    length = budget.format_duration(phase.run.measure_ps / PS_PER_S)
    changes = [budget.format_duration(change_ps / PS_PER_S) for change_ps in phase.run.changes_ps]
    later = f", changing after {', '.join(changes)}" if changes else ""
    restarting = dict.fromkeys(path for restart in phase.run.restarts for path in restart.elements)
    later += f", restarting {', '.join(restarting)}" if restarting else ""
    text = f"point {phase.name}, each trial {length}{later}"
    return {"name": phase.name, "kind": "point", "text": text, **cost}


def _describe_search(search: Search, loads: Sequence[int]) -> dict[str, Any]:
    """Return what a search looks for, defaults included."""
    from qospec.reference.phases import describe_search

    return {
        "text": f"search {search.name} {describe_search(search)}",
        "method": search.method,
        "low": str(search.low),
        "high": str(search.high),
        "step": None if search.step is None else str(search.step),
        "goals": [_describe_goal(*pair, search) for pair in zip(search.goals, loads, strict=True)],
    }


def _describe_goal(goal: Goal, loads: int, search: Search) -> dict[str, Any]:
    from qospec.reference.phases import describe_goal, list_goal_values
    from qospec.units import RATIO, format_value

    values = list_goal_values(goal, search)
    text = f"{describe_goal(goal, values)}, at most {loads} loads"
    asks = {"meets": goal.meets} if goal.meets else {"loss": format_value(goal.loss, RATIO)}
    return {"name": goal.name, **asks, **values, "text": text}


def _count_items(count: int, case: Case) -> str:
    """Return how many cells, packets or calls, by what the flows send."""
    from qospec.plan.offered import list_counted

    plural = "" if count == 1 else "s"
    return f"{count:_} {' and '.join(noun + plural for noun in list_counted(case))}"
