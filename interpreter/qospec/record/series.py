"""Time series in the record: what a report shows for each interval."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.judge.verdict import dimension_of
from qospec.record.quantity import quantity
from qospec.units import PS_PER_S, TIME, base_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.document import Document
    from qospec.judge.result import Judged
    from qospec.model.suite import Statement

NO_DATA = "-"


def series_document(statement: Statement, judged: Sequence[Judged]) -> Document:
    """Return as `series` the values by interval of a report, of the first repeat; else nothing."""
    dimension = dimension_of(statement.expression)
    first = judged[0].readings if judged else None
    if statement.every_ps is None or first is None or dimension is None:
        return {}
    values = first.series(statement.expression, statement.every_ps)
    if not values:  # of a point that was not run
        return {}
    shown = (NO_DATA if value is None else str(value) for value in values)
    return {
        "series": {
            "every": quantity(Fraction(statement.every_ps, PS_PER_S), TIME),
            "unit": base_unit(dimension),
            "values": " ".join(shown),
        }
    }
