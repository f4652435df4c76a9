"""Connections as settings and experiments begin with them: their contracts, and their streams."""

from collections.abc import Sequence

from qospec.engine.items.contract import Contract
from qospec.protocol.streams import KindName, Stream, Streams, number_streams

Connected = tuple[tuple[Contract, ...], Streams]


def connected(
    contracts: Sequence[Contract], inserted: Sequence[KindName] = (), *, exchanges: int = 0
) -> Connected:
    """Return those of one flow, of which the last may be whole exchanges."""
    streams = (
        Stream(0, "user", len(contracts) - exchanges),
        Stream(0, "exchanges", exchanges),
    )
    own = tuple(number_streams(stream for stream in streams if stream.connections))
    return tuple(contracts), Streams(("f",), own, tuple(inserted))
