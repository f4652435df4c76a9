"""Evaluates the cases of properties: nothing travels, so their conditions are known at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.diagnostics import Diagnostic
from qospec.judge.readings import Readings
from qospec.judge.result import Repeat, Result
from qospec.judge.verdict import judge
from qospec.run.functions import FUNCTIONS

if TYPE_CHECKING:
    from qospec.model.checked import Examiner
    from qospec.plan.plan import CasePlan


def evaluate_property(plan: CasePlan, examine: Examiner) -> Result:
    """Return what a property is for the choices of its case."""
    choices = iter(plan.case.chosen or ())
    found = examine(lambda _: next(choices), FUNCTIONS)
    if isinstance(found, Diagnostic):
        return Result((), (found.message,))
    readings = Readings(discover(), {})
    statements = zip(plan.case.statements, found.asserted, strict=True)
    judgements = (
        judge(replace(statement, expression=asserted.condition), readings.read)
        for statement, asserted in statements
    )
    return Result((Repeat(readings, tuple(judgements)),))
