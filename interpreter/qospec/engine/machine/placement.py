"""A machine in its place in a network: to whom it sends, and how its messages are numbered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Placement(NamedTuple):
    """What a machine knows of the network.

    Attributes:
        path: Its name, such as `x.call`.
        peers: By port and message, the connection to the nearest machine that waits for it.
        replies: By connection of messages that arrive, the one that leads back, if any.
        names: The messages of all machines, by the numbers that they have on their way.
        values: How many values the largest of them carries.
        first: The index of the first connection of messages; those below are of flows.
        connections: How many connections of messages there are.
        reference: That of its first instance, if it begins by itself.
        references: How many there are in all; the first are those of the flows' connections.
        size_bytes: The size of each cell or packet of a message.
        marks: With which they are sent.
        called: By port and address, the connection to the machine that is called so.
        destinations: By connection of flows, the number of the address to which its packets go;
            empty if no flow says one.
        numbers: By number of an address that is too large to calculate with, the one in its place.
    """

    path: str
    peers: Mapping[tuple[str, str], int]
    replies: Mapping[int, int]
    names: tuple[str, ...]
    values: int
    first: int
    connections: int
    reference: int
    references: int
    size_bytes: int
    marks: int
    called: Mapping[tuple[str, int], int] = {}
    destinations: tuple[int, ...] = ()
    numbers: Mapping[int, int] = {}
