"""Classes of classifiers to which no flow of any case sends items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.statistics import parse_mark
from qospec.check.device import predicates
from qospec.diagnostics import Diagnostic
from qospec.model.expression import Constant
from qospec.plan.assembly import list_feeders

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.model.suite import Case, Instance
    from qospec.plan.tables import Routes
    from qospec.source import Span


class UsedClasses:
    """The classes that flows use, over all cases."""

    def __init__(self) -> None:
        self._written: dict[tuple[Span, int], str] = {}
        self._used: set[tuple[Span, int]] = set()
        self._changed: dict[tuple[Span | None, int], tuple[str, str]] = {}

    def add(self, case: Case, routes: Routes) -> None:
        """Note the classes that a case uses, of classifiers in its own file that packets reach."""
        for index, table in routes.tables.items():
            draft = routes.drafts[index]
            if draft.duty == "classifier" and routes.reach.any.get(index):
                self._add(case, draft.instance, table.used)
                self._note_changes(index, draft.instance, routes)

    def _add(self, case: Case, instance: Instance, used: frozenset[int]) -> None:
        span = instance.span
        if span is None:
            return
        # A library serves many tests, and no test need use all of it; nor one without any flow.
        own = any(flow.span.source == span.source for flow in case.flows[:1])
        for number, condition in enumerate(instance.predicates):
            if own and not isinstance(condition, Constant):  # `otherwise` is for the unexpected
                self._written[span, number] = instance.element.outputs[number]
            if number in used:
                self._used.add((span, number))

    def _note_changes(self, index: int, instance: Instance, routes: Routes) -> None:
        """Note where marks that unused classes read are changed on the way to a classifier."""
        for number, condition in enumerate(instance.predicates):
            key = (instance.span, number)
            if instance.span is None or key in self._used or key in self._changed:
                continue
            for name in predicates.list_attributes(condition):
                for ahead in _list_ahead(index, routes):
                    if name in ahead.element.marks_written:
                        self._changed[key] = ahead.path, predicates.spell_attribute(name)

    def find_unfed(self) -> Iterator[Diagnostic]:
        """Yield each class that no case uses."""
        for (span, number), name in self._written.items():
            if (span, number) not in self._used:
                element, mark = self._changed.get((span, number), ("", ""))
                changed = [f"`{element}` changes `{mark}` on the way"] if element else []
                shown = f"{mark.partition('.')[2]}_0"
                if parse_mark(shown):
                    changed.append(f"a flow's `received.{shown}` counts what arrives so marked")
                way_out = (
                    f"classify ahead of `{element}`"
                    if element
                    else f"add a flow whose packets are of class `{name}`"
                )
                yield Diagnostic(
                    "W0605",
                    f"nothing that arrives here is of class `{name}`",
                    span,
                    notes=("in any case of these tests", *changed),
                    help=f"{way_out}, or leave the class out",
                )


def _list_ahead(index: int, routes: Routes) -> list[Instance]:
    """Return the elements on the way of some items to an element, in order of their numbers."""
    before, found, waiting = list_feeders(routes.drafts), set[int](), [index]
    while waiting:
        fresh = {feeder for feeder in before[waiting.pop()] if routes.reach.any.get(feeder)} - found
        found |= fresh
        waiting += fresh
    return [routes.drafts[number].instance for number in sorted(found)]
