"""A checked suite with what only the process that checked it can make: trials, and values drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from fractions import Fraction

    from qospec.diagnostics import Diagnostic
    from qospec.model.drawn import Draw, Examined, Functions
    from qospec.model.suite import Case, GoalResult, Phase, Suite, Test
    from qospec.source import Span
    from qospec.units import Dimension


class Argument(NamedTuple):
    """A number that a test gives a template, and what follows from it at a place of that.

    Attributes:
        name: Of the parameter.
        place: Where the template names it.
        value: In base units.
        dimension: Of the value.
        layer: Which bits a rate counts; "" for none said.
        follow: Returns what a number is there for another value; None if that is not known.
    """

    name: str
    place: Span
    value: Fraction
    dimension: Dimension
    layer: str
    follow: Callable[[Fraction], Fraction | None]


class CaseMaker(Protocol):
    """Makes the case of one trial of a phase, which has no phases itself."""

    @property
    def case(self) -> Case:
        """Return the case with its phases."""

    def __call__(
        self,
        phase: Phase,
        load: Fraction | None,
        found: Mapping[str, GoalResult],
        trial_ps: int | None = None,
        /,
    ) -> Case | Diagnostic:
        """Return the case of one trial, or the first mistake in it.

        Its flows are those that take part in the phase. Its statements are what `require` asks of
        them and, at a point, a `report` of each value measured there, with "" as its network.

        Args:
            phase: One of `case.phases`.
            load: Of a search; None at a point, or what the only variable of one would have to be.
            found: What goals of earlier phases have found, by name.
            trial_ps: How long the trial measures, unless that depends on the load. None: as long as
                a trial of the first goal, or as the point says.
        """

    def depends_on_conditions(self, phase: Phase) -> bool:
        """Return whether a trial of a phase that was made depends on conditions."""

    def move_to_use(self, found: Diagnostic) -> Diagnostic:
        """Return a mistake in a template as one of the argument that it follows from."""

    def find_parameter_at(self, span: Span) -> str:
        """Return the parameter for which a test gives what is written in a template; "" if none."""

    def list_arguments(self, span: Span) -> tuple[Argument, ...]:
        """Return the numbers that a test gives for parameters in an expression of a template."""


class Examiner(Protocol):
    """Evaluates a property for values that it asks for."""

    def __call__(self, draw: Draw, functions: Functions, /) -> Examined | Diagnostic:
        """Return what the property is for these values, or the first mistake in it.

        `draw` is called for each `forall`, in order.
        """


class DrawnTestMaker(Protocol):
    """Makes a test of values that it asks for."""

    def __call__(self, name: str, draw: Draw, /) -> CheckedSuite | Span | Diagnostic:
        """Return the suite of one test of that name, the `where` that refuses values, or a mistake.

        `draw` is called for each `forall`, in order.
        """


class CheckedSuite(NamedTuple):
    """A suite, and what makes the trials of its searches and evaluates what it draws.

    Attributes:
        suite: What was checked.
        makers: By the name of a case with phases.
        examiners: By the name of a property.
        drawn: By the name of a test that draws.
    """

    suite: Suite
    makers: Mapping[str, CaseMaker] = {}
    examiners: Mapping[str, Examiner] = {}
    drawn: Mapping[str, DrawnTestMaker] = {}

    def select(self, tests: Iterable[Test]) -> CheckedSuite:
        """Return it with these tests only."""
        return self._replace(suite=replace(self.suite, tests=tuple(tests)))
