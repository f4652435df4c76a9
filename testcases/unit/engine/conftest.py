"""Small things to build experiments from."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from connected import Connected, connected

from qospec.engine.items.batch import Batch, build_batch
from qospec.engine.items.contract import Contract
from qospec.engine.random import Draws
from qospec.engine.source.arrivals import Arrivals
from qospec.protocol.streams import KindName


class Listed(Arrivals):
    """Arrivals at stated times, (time, connection within the flow), spread over some time."""

    def __init__(self, cells: Sequence[tuple[int, int]], over_ps: int = 1_000_000) -> None:
        self.cells = sorted(cells)
        self.over_ps = over_ps

    def start(self, connections: int, phases: str, draws: Draws) -> list[tuple[int, int]]:
        assert all(connection < connections for _, connection in self.cells)
        assert phases in ("even", "random")
        assert draws.path
        return list(self.cells)

    def emit(self, state: list[tuple[int, int]], until_ps: int) -> tuple[np.ndarray, np.ndarray]:
        count = sum(at_ps < until_ps for at_ps, _ in state)
        ready, state[:] = state[:count], state[count:]
        at_ps = np.array([at for at, _ in ready], np.int64)
        return at_ps, np.array([connection for _, connection in ready], np.int32)

    def compute_mean_rate(self, connections: int) -> Fraction:
        assert connections
        return Fraction(len(self.cells) * 10**12, self.over_ps)

    def count_most_items(self, connections: int, length_ps: int) -> int:
        assert connections
        assert length_ps
        return len(self.cells)


@pytest.fixture
def listed() -> type[Listed]:
    return Listed


@pytest.fixture
def batch_of() -> Callable[..., Batch]:
    """Return a maker of batches, by columns that are lists; those not given are plain."""

    def make(
        at_ps: Sequence[int],
        connection: Sequence[int] | None = None,
        sent_ps: Sequence[int] | None = None,
    ) -> Batch:
        n = len(at_ps)
        return build_batch(
            at_ps=np.array(at_ps, np.int64),
            sent_ps=np.array(at_ps if sent_ps is None else sent_ps, np.int64),
            connection=np.array([0] * n if connection is None else connection, np.int32),
            size_bytes=np.full(n, 53, np.int32),
            marks=np.zeros(n, np.uint32),
        )

    return make


@pytest.fixture
def vcs() -> Callable[..., Connected]:
    """Return a maker of CBR connections, all of one peak cell rate."""

    def make(
        count: int, *, cell_rate: int = 10**11, inserted: Sequence[KindName] = ()
    ) -> Connected:
        contract = Contract("cbr", Fraction(cell_rate), 0)
        return connected((contract,) * count, inserted)

    return make
