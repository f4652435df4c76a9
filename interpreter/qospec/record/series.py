"""Time series in the record: what a report shows for each interval, and what changes meanwhile."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.judge.verdict import find_dimension
from qospec.model.expression import list_observed
from qospec.model.suite import Point
from qospec.record.quantity import describe_quantity
from qospec.units import PS_PER_S, TIME, find_base_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.document import Document
    from qospec.judge.result import Judged
    from qospec.model.suite import Case, Statement

NO_DATA = "-"


def describe_series(statement: Statement, judged: Sequence[Judged], case: Case) -> Document:
    """Return as `series` the values by interval of a report, of the first repeat; else nothing."""
    dimension = find_dimension(statement.expression)
    first = judged[0].readings if judged else None
    if statement.every_ps is None or first is None or dimension is None:
        return {}
    values = first.read_series(statement.expression, statement.every_ps)
    if not values:  # of a point that was not run
        return {}
    shown = (NO_DATA if value is None else str(value) for value in values)
    return {
        "series": {
            "every": describe_quantity(Fraction(statement.every_ps, PS_PER_S), TIME),
            "unit": find_base_unit(dimension),
            "values": " ".join(shown),
            **_describe_changes(statement, case),
        }
    }


def _describe_changes(statement: Statement, case: Case) -> Document:
    """Return what changes during the trials that a report is of, at a point or not, and when."""
    runs = {phase.name: phase.run for phase in case.phases if isinstance(phase, Point)}
    places = {leaf.network for leaf in list_observed(statement.expression)}
    found = dict.fromkeys(
        (at_ps, change.text)
        for run in (runs.get(place, case.run) for place in sorted(places))
        for at_ps, change in zip(run.changes_ps, run.changes, strict=True)
    )
    shown = [
        {"at": describe_quantity(Fraction(at_ps, PS_PER_S), TIME), "what": text}
        for at_ps, text in sorted(found)
    ]
    return {"changes": shown} if shown else {}
