"""What may be made smaller in the phases of a test: trials, loads that were found, variables."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.check.evaluate.values import Amount
from qospec.diagnostics import Edit
from qospec.model.suite import Search
from qospec.shrink.draft import list_paths
from qospec.shrink.passes import SHARES, write_in_place
from qospec.shrink.rounding import find_exponent
from qospec.shrink.values import write_literal
from qospec.syntax import ast
from qospec.units import PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.model.suite import Goal
    from qospec.shrink.context import Context
    from qospec.shrink.draft import Draft
    from qospec.shrink.passes import Change

_TIMES = ("trial", "total")
_OF_METHODS = ("method", "confirm")

Times = dict[str, tuple[int, int]]
"""By goal, how long a trial lasts, and all of a load together."""


def remove_phases(context: Context) -> Iterator[Sequence[Change]]:
    """Yield the phases, each with the values that depend on it: nothing else may.

    No phase has an effect on another one that does not refer to it.
    """
    draft = context.draft
    for test in draft.tree.declarations:
        for phase in _list_phases(test):
            goals = _list_goals(phase) if isinstance(phase, ast.Search) else [phase]
            names, gone = {goal.name.text for goal in goals}, [draft.remove(phase)]
            for statement in _list_statements(test):
                used = {path.name.text for path in list_paths(statement)}
                if isinstance(statement, ast.Let) and used & names:
                    names.add(statement.name.text)
                    gone.append(draft.remove(statement))
            yield [tuple(gone)]


def _list_statements(test: ast.Declaration) -> tuple[ast.Statement, ...]:
    body = test.body if isinstance(test, ast.Test) else None
    return () if body is None else body.statements


def _list_phases(test: ast.Declaration) -> list[ast.Search | ast.Point]:
    return [
        statement
        for statement in _list_statements(test)
        if isinstance(statement, ast.Search | ast.Point)
    ]


# ---- trials of a search


def merge_trials(context: Context) -> Iterator[Sequence[Change]]:
    """Yield searches with one trial at each load, which lasts as long as before."""
    for node, search in _list_searches(context):
        times = {goal.name: (goal.trial_ps, goal.trial_ps) for goal in search.goals}
        if times != _read_times(search):
            yield [_with_times(context.draft, node, times, once=_is_once(search))]


def shorten_trials(context: Context) -> Iterator[Sequence[Change]]:
    """Yield searches with shorter trials: one at each load, or as many as before.

    What all of a load last together gets shorter with them, or there would be more of them.
    """
    for node, search in _list_searches(context):
        known = _read_times(search)
        found: dict[str, Change] = {}
        for share in SHARES:
            for alone in (True, False):
                times = {goal.name: _shorten(goal, share, alone=alone) for goal in search.goals}
                if all(times[name] < known[name] for name in times):
                    change = _with_times(context.draft, node, times, once=_is_once(search))
                    found.setdefault(str([edit.text for edit in change]), change)
        if found:
            yield list(found.values())


def use_default_method(context: Context) -> Iterator[Sequence[Change]]:
    """Yield searches by the default method, with one trial at each load."""
    for node, search in _list_searches(context):
        own = [statement for statement in node.body.statements if _is_field(statement, _OF_METHODS)]
        if own:
            times = {goal.name: (goal.trial_ps, goal.trial_ps) for goal in search.goals}
            change = _with_times(context.draft, node, times, once=False)
            yield [(*change, *map(context.draft.remove, own))]


def _list_searches(context: Context) -> Iterator[tuple[ast.Search, Search]]:
    """Yield the searches whose trials have lengths of their own: none that depends on the load."""
    by_goal = {goal.name: model for model in _list_models(context) for goal in model.goals}
    for node, _ in context.draft.nodes:
        if not isinstance(node, ast.Search):
            continue
        names = [goal.name.text for goal in _list_goals(node)]
        search = by_goal.get(names[0]) if names else None
        if search is None or names != [goal.name for goal in search.goals]:
            continue
        if not any(goal.varies or goal.trial_items is not None for goal in search.goals):
            yield node, search


def _list_models(context: Context) -> list[Search]:
    """Return the searches of the draft as they were planned."""
    phases = () if context.tried is None else context.tried.plan.case.phases
    return [phase for phase in phases if isinstance(phase, Search)]


def _list_goals(node: ast.Search) -> list[ast.Goal]:
    return [statement for statement in node.body.statements if isinstance(statement, ast.Goal)]


def _read_times(search: Search) -> Times:
    return {goal.name: (goal.trial_ps, goal.total_ps) for goal in search.goals}


def _shorten(goal: Goal, share: Fraction, *, alone: bool) -> tuple[int, int]:
    """Return a part of a goal's times: of its trial, in one digit, and of all of a load."""
    least = max(goal.trial_ps * share, Fraction(1))
    step = Fraction(10) ** find_exponent(least)
    trial_ps = int(-(-least // step) * step)
    return trial_ps, trial_ps if alone else goal.total_ps * trial_ps // goal.trial_ps


def _is_once(search: Search) -> bool:
    """Return whether a method has one trial at each load by default."""
    return bool(search.chooser.total_ps == search.chooser.trial_ps)


def _with_times(draft: Draft, node: ast.Search, times: Times, *, once: bool) -> Change:
    """Return the changes that give the goals of a search other times, each its own.

    All of a load last as long as one by default if the method has them `once`.
    """
    around = [statement for statement in node.body.statements if _is_field(statement, _TIMES)]
    edits = [draft.remove(statement) for statement in around]
    for goal in _list_goals(node):
        trial_ps, total_ps = times[goal.name.text]
        kept = [
            draft.quote(field) for field in goal.body.statements if not _is_field(field, _TIMES)
        ]
        kept.append(f"trial = {_format_time(trial_ps)}")
        if not once or total_ps > trial_ps:
            kept.append(f"total = {_format_time(total_ps)}")
        edits.append(draft.replace(goal.body, f"{{ {', '.join(kept)} }}"))
    return tuple(edits)


def _is_field(node: ast.Node, names: Sequence[str]) -> bool:
    return isinstance(node, ast.Bind) and node.names[0].text in names


def _format_time(time_ps: int) -> str:
    return format_value(Fraction(time_ps, PS_PER_S), TIME, exact=True)


# ---- loads and variables


def replace_loads(context: Context) -> Iterator[Sequence[Change]]:
    """Yield what searches found, as values where later phases use it: the search can go then."""
    draft = context.draft
    for search, result in _list_results(context):
        edits: list[Edit] = []
        for path in _list_paths(draft):
            part = path.trail[0] if path.trail else None
            if path.name.text != result["name"] or not isinstance(part, ast.Name):
                continue
            found = result.get("lower" if part.text == search.name else part.text)
            if not isinstance(found, dict):
                break  # none was found, or something else was asked for
            value = Fraction(found["value"])
            text = write_literal(Amount(value, search.dimension, search.layer))
            if text is None:
                break
            edits.append(draft.replace(path, text))
        else:
            if edits:
                yield [tuple(edits)]


def _list_results(context: Context) -> Iterator[tuple[Search, dict[str, Any]]]:
    """Yield what each goal has found, with its search."""
    tried = context.tried
    if tried is None:
        return
    results = {
        goal["name"]: goal
        for phase in tried.document.get("phases", ())
        for goal in phase.get("goals", ())
    }
    for search in _list_models(context):
        yield from ((search, results[goal.name]) for goal in search.goals if goal.name in results)


def _list_paths(draft: Draft) -> Iterator[ast.Path]:
    for node, _ in draft.nodes:
        if isinstance(node, ast.Search | ast.Point):
            yield from list_paths(node)


def inline_variables(context: Context) -> Iterator[Sequence[Change]]:
    """Yield the variables that have the same value in all phases, with it where they are used."""
    draft = context.draft
    for test in draft.tree.declarations:
        for name, binds in _find_bound(_list_phases(test)).items():
            same = len({draft.quote(bind.value) for bind in binds}) == 1
            change = write_in_place(draft, name, binds[0].value, test) if same else None
            if change:
                yield [(*change, *(draft.remove(bind) for bind in binds))]


def _find_bound(phases: list[ast.Search | ast.Point]) -> dict[str, list[ast.Bind]]:
    """Return the bindings by their names, of those that each phase has and none changes."""
    found: dict[str, list[ast.Bind]] = {}
    for phase in phases:
        for statement in phase.body.statements:
            if isinstance(statement, ast.Bind) and len(statement.names) == 1:
                found.setdefault(statement.names[0].text, []).append(statement)
    changes = [e for phase in phases for e in phase.body.statements if isinstance(e, ast.At)]
    changed = {
        name.text
        for change in changes
        for bind in change.body.statements
        if isinstance(bind, ast.Bind)
        for name in bind.names
    } | {phase.name.text for phase in phases if isinstance(phase, ast.Search)}
    return {
        name: binds
        for name, binds in found.items()
        if name not in changed and len(binds) == len(phases)
    }
