"""`run { warmup = 0 s, measure = 60 s, repeat = 1, … }`, and `skip unless condition "why"`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import LONGEST_PS, REQUIRED, Domain, Kind, Parameter
from qospec.check.evaluate.context import CheckError, error
from qospec.check.records.record import Record
from qospec.model.suite import MAX_REPEATS, Run
from qospec.syntax import ast

if TYPE_CHECKING:
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.check.test.parts import CaseScope
    from qospec.model.suite import Search


class RunFields:
    """The fields of `run`."""

    warmup: int
    """How long flows send before anything is measured."""
    measure: int
    """How long is measured."""
    repeat: int
    """How many trials there are, each with draws of its own."""
    overload: bool
    """Whether flows may ask for more than a line carries."""
    common_draws: bool
    """Whether all cases of the test draw the same random numbers."""


RUN = Kind(
    name="run",
    role="element",
    duty="element",
    summary="How a case is run.",
    source="spec/6-procedures.md",
    parameters={
        "warmup": Parameter("warmup", Domain("time", 0, LONGEST_PS), 0),
        "measure": Parameter("measure", Domain("time", 1, LONGEST_PS), REQUIRED),
        "repeat": Parameter("repeat", Domain("integer", 1, MAX_REPEATS), 1),
        "overload": Parameter("overload", Domain("truth"), default=False),
        "common_draws": Parameter("common_draws", Domain("truth"), default=False),
    },
    build=RunFields,
)
"""`run` has fields like any kind, and is checked like one."""


SEARCHED = replace(RUN, parameters={name: RUN.parameters[name] for name in ("warmup", "repeat")})
"""Of a test with a search: the search has the rest."""


SET_BY_SEARCH = {
    "measure": (
        "the goals of a search set how long a trial measures",
        "write `trial = …` in the search",
    ),
    "overload": ("a search may offer more than a line carries", "remove it"),
}
"""Fields of `run` that a search determines: why, and what to write instead."""


def run_of(names: CaseScope, search: Search | None, evaluator: Evaluator) -> Run | None:
    """Return how a test is run, or None after a mistake.

    A search has the length of its trials itself, and may offer more than a line carries.
    """
    searching = any(names.of(ast.Search))
    found = list(names.of(ast.Run))
    if not found and searching:
        return _searched({}, search)
    if not found:
        if not names.scope.may_hold("run"):
            message = f"`{names.test.name.text}` does not say how long to measure"
            help_text = "add `run { measure = 10 s }`"
            evaluator.context.report(error("E0505", message, names.test.name.span, help=help_text))
        return None
    if len(found) > 1:
        evaluator.context.report(
            error(
                "E0102",
                "`run` is already declared",
                found[1][0].span,
                secondary=(found[0][0].span, "first declared here"),
                help="keep one of them",
            )
        )
    node, scope = found[0]
    body = _without_fields_of_search(node.body, evaluator) if searching else node.body
    kind = SEARCHED if searching else RUN
    record = Record(kind, {}, node.span, evaluator).copy(body, scope, evaluator)
    if not isinstance(record, Record):
        return None
    arguments, complete = record.arguments(evaluator)
    if not complete or "repeat" in record.excused - record.given.keys():
        return None
    if searching:
        return _searched(arguments, search)
    given: dict[str, Any] = {"warmup": 0, "repeat": 1, **arguments}
    return Run(
        int(Fraction(given["warmup"])),
        given["measure"],
        given["repeat"],
        given.get("overload", False),
        given.get("common_draws", False),
    )


def _without_fields_of_search(body: ast.Body, evaluator: Evaluator) -> ast.Body:
    """Report the fields of `run` that a search determines, and leave them out."""
    kept = []
    for node in body.statements:
        if not isinstance(node, ast.Bind) or node.names[0].text not in SET_BY_SEARCH:
            kept.append(node)
            continue
        name = node.names[0]
        why, way_out = SET_BY_SEARCH[name.text]
        message = f"`run` has no field `{name.text}` in a test with a search"
        evaluator.context.report(error("E0104", message, name.span, note=why, help=way_out))
    return replace(body, statements=tuple(kept))


def _searched(given: dict[str, Any], search: Search | None) -> Run | None:
    if search is None or not search.goals:
        return None
    longest_ps = max(goal.trial_ps for goal in search.goals)
    return Run(int(given.get("warmup", 0)), longest_ps, given.get("repeat", 1), overload=True)


def skip_reason(names: CaseScope, evaluator: Evaluator) -> str:
    """Return why a case is left out: the first reason whose condition is false; "" if none is.

    The condition must be known before the run; a mistake in it is reported.
    """
    reasons = [
        node.reason.text.strip()
        for node, scope in names.of(ast.Skip)
        if not _is_met(node, scope, evaluator)
    ]
    return reasons[0] if reasons else ""


def _is_met(node: ast.Skip, scope: Scope, evaluator: Evaluator) -> bool:
    if not node.reason.text.strip():
        evaluator.context.report(_no_reason(node))
    return evaluator.truth(node.condition, scope) is not False


def _no_reason(node: ast.Skip) -> CheckError:
    return error(
        "E0513",
        "a skipped case needs a reason",
        node.reason.span,
        help="say why: the report shows it",
    )
