"""A population with plain numbers."""

from collections.abc import Callable
from typing import Any

import pytest

from qospec.engine.tally import Delays, Tally


@pytest.fixture
def tally() -> Callable[..., Tally]:
    """Return a maker of tallies: nothing seen, in a window of one second, but for what is given."""

    def make(*, delays_ps: tuple[int, ...] | None = None, **seen: Any) -> Tally:
        plain: dict[str, Any] = {
            "connections": 1,
            "up": 0,
            "planned": 0,
            "sent": 0,
            "received": 0,
            "lost": {},
            "size_bytes": 53,
            "window_ps": 10**12,
        }
        if delays_ps is not None:
            plain["delays"] = of_values(delays_ps)
        return Tally(**(plain | seen))

    return make


def of_values(delays_ps: tuple[int, ...]) -> Delays:
    values = sorted(delays_ps)
    return Delays(
        count=len(values),
        sum_ps=sum(values),
        sum_of_squares_ps2=sum(value**2 for value in values),
        min_ps=values[0],
        max_ps=values[-1],
        buckets=tuple((value, value + 1, values.count(value)) for value in sorted(set(values))),
    )
