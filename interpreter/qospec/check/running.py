"""`run { warmup = 0 s, measure = 60 s, repeat = 1, overload = false }`."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue import REQUIRED, Domain, Kind, Parameter
from qospec.check.context import wrong
from qospec.check.records import Record
from qospec.model import Run
from qospec.syntax import ast

if TYPE_CHECKING:
    from qospec.check.expressions import Evaluator
    from qospec.check.scope import Scope

LONGEST_PS = 10**18

RUN = Kind(
    name="run",
    role="element",
    duty="element",
    summary="How a case is run.",
    source="spec/6-procedures.md",
    parameters={
        "warmup": Parameter("warmup", Domain("time", 0, LONGEST_PS), 0),
        "measure": Parameter("measure", Domain("time", 1, LONGEST_PS), REQUIRED),
        "repeat": Parameter("repeat", Domain("integer", 1, 10_000), 1),
        "overload": Parameter("overload", Domain("truth"), default=False),
    },
    build=dict,
)
"""`run` has fields like any kind, and is checked as one."""


def run_of(test: ast.Test, scope: Scope, evaluator: Evaluator) -> Run | None:
    """Return how a test is run, or None if it does not say so rightly."""
    found = [statement for statement in test.body.statements if isinstance(statement, ast.Run)]
    if not found:
        evaluator.context.tell(
            wrong(
                "E0505",
                f"`{test.name.text}` does not say how long to measure",
                test.name.span,
                remedy="add `run { measure = 10 s }`",
            )
        )
        return None
    if len(found) > 1:
        evaluator.context.tell(
            wrong(
                "E0102",
                "`run` is declared already",
                found[1].span,
                other=(found[0].span, "first declared here"),
                remedy="keep one of them",
            )
        )
    record = Record(RUN, {}, found[0].span, evaluator).copy(found[0].body, scope, evaluator)
    if not isinstance(record, Record):
        return None
    arguments, complete = record.arguments(evaluator)
    if not complete:
        return None
    given: dict[str, Any] = {"warmup": 0, "repeat": 1, "overload": False, **arguments}
    return Run(int(Fraction(given["warmup"])), given["measure"], given["repeat"], given["overload"])
