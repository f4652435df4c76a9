"""Makes the cases of the trials of a case with phases, while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qospec.check.evaluate.context import CheckError, LimitReached
from qospec.check.test.case import CaseBuilder
from qospec.check.test.parts import CaseScope

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.test.parts import Parts
    from qospec.check.test.sweeps import Combination
    from qospec.check.topology.flatten import Networks
    from qospec.diagnostics import Diagnostic
    from qospec.model.suite import Case, GoalResult, Phase


class Trials(NamedTuple):
    """A `CaseMaker`: it builds the case again, with the variables of a phase at fixed values.

    The networks are those of the case: they are evaluated once for all equal arguments.
    """

    parts: Parts
    points: Combination
    networks: Networks
    evaluator: Evaluator
    name: str

    def __call__(
        self,
        phase: Phase,
        load: Fraction | None,
        found: Mapping[str, GoalResult],  # noqa: ARG002 -- no phase depends on another yet
        trial_ps: int | None = None,
        /,
    ) -> Case | Diagnostic:
        """Return the case of one trial, or the first mistake in it."""
        context, case = self.evaluator.context, None
        with context.apart() as problems:
            try:
                names = CaseScope(self.parts, self.points, self.evaluator)
                builder = CaseBuilder(names, self.networks, self.evaluator)
                case = builder.trial(self.name, self.points, phase, load, trial_ps)
            except CheckError as mistake:
                context.report(mistake)
            except LimitReached:
                pass
        return case if case is not None else problems.errors[0]
