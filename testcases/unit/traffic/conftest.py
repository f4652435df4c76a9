"""What the tests of traffic share."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from qospec.engine.random import Draws


class Flow:
    """One flow's source: its streams, and its cells."""

    draws = Draws(("test",))

    def phases(self, interval: Fraction, connections: int, phases: str) -> list[Fraction]:
        """Return when each connection begins, exactly."""
        if phases == "even":
            return [number * interval / connections for number in range(connections)]
        stream = self.draws.derive("phases").open_stream()
        return [Fraction(t) for t in stream.integers(0, math.ceil(interval), connections).tolist()]

    def cells(
        self,
        process: Any,
        until_ps: int,
        connections: int = 1,
        phases: str = "random",
        cuts: Sequence[int] = (),
    ) -> list[tuple[int, int]]:
        """Return times and connections of all cells before a time, asked for in steps."""
        state = process.start(connections, phases, self.draws)
        cells: list[tuple[int, int]] = []
        before_ps = 0
        for stop_ps in (*sorted(cut for cut in cuts if cut < until_ps), until_ps):
            at_ps, connection = process.emit(state, stop_ps)
            assert all(before_ps <= t < stop_ps for t in at_ps.tolist()), "given too late"
            before_ps = max(before_ps, stop_ps)
            cells.extend(zip(at_ps.tolist(), connection.tolist(), strict=True))
        return cells


@pytest.fixture(scope="session")
def flow() -> Flow:
    """Return a flow."""
    return Flow()
