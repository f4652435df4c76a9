"""What the tests of elements share: batches, settings, and a way to carry cells in cut time."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from qospec.engine.batch import FOREVER_PS, Batch, empty, joined
from qospec.engine.clock import Clock
from qospec.engine.connections import Connections, Contract
from qospec.engine.draws import Draws
from qospec.engine.element import Setting

CBR = Contract("cbr", Fraction(1_000), 0)


class Outcome(NamedTuple):
    """What became of all cells.

    Attributes:
        departures: By output.
        lost: Of each: cause, element, connection and `sent_ps`.
    """

    departures: tuple[Batch, ...]
    lost: list[tuple[str, str, int, int]]


class Lab:
    """Where an element is tried."""

    @staticmethod
    def cells(at_ps: Sequence[int], **columns: Any) -> Batch:
        """Return a batch; a cell is known by its `sent_ps`, which is its number unless given."""
        count = len(at_ps)

        def column(name: str, usual: Any, dtype: Any) -> Any:
            return np.broadcast_to(np.array(columns.get(name, usual), dtype), count).copy()

        return Batch(
            np.array(at_ps, np.int64),
            column("sent_ps", range(count), np.int64),
            column("connection", 0, np.int32),
            column("size_bytes", 53, np.int32),
            column("marks", 0, np.uint16),
        )

    @staticmethod
    def setting(
        *, clock: Clock | None = None, contracts: Sequence[Contract] = (CBR,), **more: Any
    ) -> Setting:
        """Return what an element finds."""
        connections = Connections(tuple(contracts), (0,) * len(contracts), has_oam=True)
        return Setting(connections, Draws(("test",)), clock, **more)

    @staticmethod
    def carry(element: Any, setting: Setting, *batches: Batch, cuts: Sequence[int] = ()) -> Outcome:
        """Carry cells through an element, in one piece or cut at some times."""
        state = element.start(setting)
        departures = [empty() for _ in element.outputs]
        lost = []
        done = [0] * len(batches)
        for until_ps in (*sorted(cuts), FOREVER_PS):
            stops = [int(batch.at_ps.searchsorted(until_ps)) for batch in batches]
            now = tuple(b.part(i, j) for b, i, j in zip(batches, done, stops, strict=True))
            step = element.process(state, now, until_ps)
            departures = [joined(a, b) for a, b in zip(departures, step.departures, strict=True)]
            for loss in step.losses:
                for connection, sent_ps in zip(loss.connection, loss.sent_ps, strict=True):
                    lost.append((loss.cause, loss.element, int(connection), int(sent_ps)))
            done = stops
        return Outcome(tuple(departures), lost)


@pytest.fixture(scope="session")
def lab() -> Lab:
    """Return the place where elements are tried."""
    return Lab()
