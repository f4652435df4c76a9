"""Phases in words: what a search looks for and what its goals ask of a load, defaults included."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.check.evaluate.context import flatten_text
from qospec.model.suite import Search
from qospec.reference.kinds import write_default
from qospec.reference.values import read_written_text, value_text
from qospec.syntax import ast
from qospec.units import PS_PER_S, RATIO, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.test.parts import CaseScope
    from qospec.check.test.phases import Phases
    from qospec.document import Document
    from qospec.model.suite import Goal, Phase, Point


def describe_phases(phases: Sequence[Phase], written: Phases) -> list[Document]:
    """Return the phases of a case in order, with the values that they give to other variables."""
    return [
        _describe_phase(phase, list(_list_given(written, number)))
        for number, phase in enumerate(phases)
    ]


def describe_written_phases(statements: Sequence[ast.Statement]) -> list[Document]:
    """Return the phases of a template, whose values are not known, as they are written."""
    return [
        _as_written(statement)
        for statement in statements
        if isinstance(statement, ast.Search | ast.Point)
    ]


def _as_written(node: ast.Search | ast.Point) -> Document:
    goals = [statement for statement in node.body.statements if isinstance(statement, ast.Goal)]
    parts = [
        read_written_text(statement) for statement in node.body.statements if statement not in goals
    ]
    if isinstance(node, ast.Search):
        parts = [f"in {read_written_text(node.values)}", *parts]
    return {
        "name": node.name.text,
        "kind": "search" if isinstance(node, ast.Search) else "point",
        "type": ", ".join(parts),
        "goals": [
            {
                "name": goal.name.text,
                "type": ", ".join(map(read_written_text, goal.body.statements)),
            }
            for goal in goals
        ],
    }


def choose_names(names: CaseScope, written: Phases, evaluator: Evaluator) -> list[Document]:
    """Return the variables of the first phase, with the highest values that they have there."""
    bindings = ((names.scope.find(name), span) for name, span in written.list_values(0))
    return [
        {
            "name": binding.name,
            "value": value_text(binding.evaluate(evaluator.context)) or flatten_text(span.text),
        }
        for binding, span in bindings
        if binding is not None
    ]


def _describe_phase(phase: Phase, given: list[str]) -> Document:
    if isinstance(phase, Search):
        others = f", with {', '.join(given)}" if given else ""
        goals = [{"name": goal.name, "type": _describe_goal(goal, phase)} for goal in phase.goals]
        text = f"{describe_search(phase)}{others}"
        return {"name": phase.name, "kind": "search", "type": text, "goals": goals}
    return {
        "name": phase.name,
        "kind": "point",
        "type": ", ".join([*_point(phase), *given]),
        "goals": [],
    }


def _list_given(written: Phases, number: int) -> Iterator[str]:
    """Yield what a phase gives to variables beside that which it searches, and what changes."""
    names = {name for name, _ in written.list_values(number)}
    for statement in written.nodes[number].body.statements:
        if isinstance(statement, ast.Bind):
            bound = (name.text for name in statement.names if name.text in names)
            yield from (f"{name} = {read_written_text(statement.value)}" for name in bound)
    yield from map(read_written_text, written.list_changes(number))


def _point(point: Point) -> Iterator[str]:
    yield f"each trial {format_value(Fraction(point.run.measure_ps, PS_PER_S), TIME)}"
    if point.run.repeat > 1:
        yield f"{point.run.repeat} repeats"


def _describe_goal(goal: Goal, search: Search) -> str:
    return describe_goal(goal, list_goal_values(goal, search))


def describe_search(search: Search) -> str:
    """Return the range of a search, and by which method it looks."""
    low, high = load_text(search.low, search), load_text(search.high, search)
    by = f"by {search.method}"
    if fields := _write_method_fields(search):
        by += f" with {fields}"
    whole = search.step == 1 and search.dimension.is_ratio
    shown = search.step is not None and not whole
    step = f" in steps of {load_text(search.step or Fraction(0), search)}" if shown else ""
    return f"from {low} to {high}{step}, {by}"


def _write_method_fields(search: Search) -> str:
    """Return the fields of a search that belong to its method, as an author writes them."""
    parameters = discover().select_role("method")[search.method].parameters
    return ", ".join(
        f"{name} = {write_default(replace(parameter, default=getattr(search.chooser, name)))}"
        for name, parameter in parameters.items()
    )


def load_text(value: Fraction, search: Search) -> str:
    """Return a load as text, with the layer that it counts."""
    return format_value(value, search.dimension) + (f" @{search.layer}" if search.layer else "")


def list_goal_values(goal: Goal, search: Search) -> dict[str, str]:
    """Return the fields of a goal, without its loss, as text."""
    values = {
        "trial": format_value(Fraction(goal.trial_ps, PS_PER_S), TIME),
        "total": format_value(Fraction(goal.total_ps, PS_PER_S), TIME),
        "exceed": format_value(goal.exceed, RATIO),
        "width": load_text(goal.width, search)
        if goal.absolute
        else format_value(goal.width, RATIO),
    }
    if goal.varies:
        values["trial"] = f"up to {values['trial']}, which depends on {search.name}"
        del values["total"]
    return values


def describe_goal(goal: Goal, values: dict[str, str]) -> str:
    """Return what a goal asks of a load; says which of its fields were not given."""
    parts = [
        f"{name} {text}{' (default)' if name in goal.defaults else ''}"
        for name, text in values.items()
    ]
    asks = goal.meets or f"loss {format_value(goal.loss, RATIO)}"
    return ", ".join([asks, *parts])
