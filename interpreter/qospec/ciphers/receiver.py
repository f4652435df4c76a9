"""The receiving end of an association: the anti-replay window, and what is discarded for what.

Source: RFC 4303, 3.4.3: the window is asked first, and moved only by packets that are genuine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qospec.ciphers.esp import FAULTS, GENUINE, MALFORMED
from qospec.ciphers.octets import rows_of
from qospec.protocol import replay

if TYPE_CHECKING:
    from qospec.ciphers.esp import Association

CAUSES = {replay.REPLAYED: "replayed", replay.STALE: "stale"}
"""By what the window says of a number."""


class Receiver:
    """Opens packets in the order in which they come, one by one.

    Attributes:
        discarded: The number of packets discarded, by cause: those of CAUSES, and `esp.FAULTS`.
    """

    def __init__(self, association: Association, window_size: int = replay.SIZE) -> None:
        """Begin.

        Raises:
            ValueError: The window is smaller than the standard allows.
        """
        if window_size < replay.LEAST_SIZE:
            raise ValueError(
                f"an anti-replay window spans at least {replay.LEAST_SIZE} packets,"
                f" not {window_size}"
            )
        self._association = association
        self._window = [0] * (replay.FIRST_SLOT + window_size)
        self.discarded: dict[str, int] = {}

    def receive(self, packet: bytes) -> bytes | None:
        """Return what is in a packet, or None if it is discarded."""
        found = self._opened(packet)
        if isinstance(found, bytes):
            return found
        self.discarded[found] = self.discarded.get(found, 0) + 1
        return None

    def _opened(self, packet: bytes) -> bytes | str:
        """Return what is in a packet, or for what it is discarded."""
        esp = self._association.esp
        if len(packet) < esp.clear_bytes:
            return FAULTS[MALFORMED]
        row = rows_of([packet])
        number = int(self._association.numbers_of(row)[0])
        if esp.extended:
            number = replay.whole_number(self._window, number)
        found = replay.examine(self._window, number)
        if found != replay.FRESH:
            return CAUSES[found]
        opened = self._association.open(row, np.array([number]))
        if opened.faults[0] != GENUINE:
            return FAULTS[opened.faults[0]]
        replay.enter(self._window, number)
        return opened.packets[0, : opened.size_bytes[0]].tobytes()
