"""A warning of a plan: a class of a device that none of the flows sends anything to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.diagnostics import Diagnostic
from qospec.model.expression import Constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.model.suite import Case, Instance
    from qospec.run.survey import Survey
    from qospec.source import Span


class Classes:
    """The classes that flows have used, over all cases: each as often as it is written."""

    def __init__(self) -> None:
        self._written: dict[tuple[Span, int], str] = {}
        self._used: set[tuple[Span, int]] = set()

    def add(self, case: Case, survey: Survey) -> None:
        """Note the classes that a case uses, of classifiers in its own file that packets reach."""
        for index, table in survey.tables.items():
            draft = survey.drafts[index]
            if draft.duty == "classifier" and survey.passing.any.get(index):
                self._add(case, draft.instance, table.used)

    def _add(self, case: Case, instance: Instance, used: frozenset[int]) -> None:
        span = instance.span
        if span is None or span.source != case.flows[0].span.source:
            return  # a library is for many tests, and this one need not use all of it
        for number, condition in enumerate(instance.predicates):
            if not isinstance(condition, Constant):  # `otherwise` is for what is not expected
                self._written[span, number] = instance.element.outputs[number]
            if number in used:
                self._used.add((span, number))

    def unfed(self) -> Iterator[Diagnostic]:
        """Yield each class that no case uses."""
        for (span, number), name in self._written.items():
            if (span, number) not in self._used:
                yield Diagnostic(
                    "W0605",
                    f"no flow sends anything of class `{name}`",
                    span,
                    notes=("in any case of these tests",),
                    help=f"add a flow whose packets are of class `{name}`, or leave the class out",
                )
