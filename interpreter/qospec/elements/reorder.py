"""A link or a device that lets certain items be overtaken."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import LONGEST_PS, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.fault import Fault, is_hit
from qospec.engine.kernel import kernel, link_kernel
from qospec.engine.varying_delay import Delaying, VaryingDelay, arrive

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Times, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch

Positive = Annotated[int, Domain("time", 1, LONGEST_PS)]

TIME, FAULT = 0, 1
"""What delays are made of, item by item: that of items that are hit, and the state of the fault."""


@element(source="RFC 4737, 3.3 (reordered packet), as a fault of a test")
@dataclass(frozen=True)
class Reorder(VaryingDelay, Fault):
    """Hold back some cells or packets of each connection, chosen as those of `lose`.

    Whatever arrives within that time overtakes them, but for others that are held back, too.
    """

    time: Positive = field(kw_only=True)
    """How long an item is held back."""

    @property
    def shortest_ps(self) -> int:
        return 0

    @property
    def longest_ps(self) -> int:
        return self.time

    def start_delays(self, setting: Setting) -> Delaying:
        fault = Fault.start(self, setting)
        own = np.concatenate([[self.time], fault])

        def draw_delays(batch: Batch) -> Times:
            delays_ps = np.empty(batch.count, np.int64)
            _write_delays(batch.connection, fault, self.time, delays_ps)
            return delays_ps

        return Delaying(draw_delays, own, _arrive)


@kernel
def _delay_if_hit(own: Whole, connection: int) -> int:
    """Return the delay of an item of a connection index."""
    return own[TIME] * is_hit(own[FAULT:], connection)  # type: ignore[no-any-return]


_arrive = link_kernel(arrive, "if_hit", {"_delay": _delay_if_hit})


@kernel
def _write_delays(connection: Indices, fault: Whole, time_ps: int, delays_ps: Times) -> None:
    """Write the delays of a batch."""
    for i in range(len(connection)):
        delays_ps[i] = time_ps * is_hit(fault, connection[i])
