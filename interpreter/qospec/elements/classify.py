"""A classifier: separate cells or packets by their properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import CONNECTION, DONE, MARKS, Transition, send
from qospec.engine.items.partition import (
    MAX_OUTPUTS,
    build_routing_table,
    encode_table,
    find_output,
    partition_by_table,
)
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.partition import RoutingTable


@element(source="RFC 3290, 4 (classifiers)", duty="classifier", open_fields=True)
@dataclass(frozen=True)
class Classify(Element):
    """Send each cell or packet to the first class whose condition it meets.

    A condition can test what all items of a connection share: category and path of cells, and
    whether they are OAM; addresses, protocol, ports and the input of packets. It can also test
    marks: CLP; DSCP, precedence, priority, traffic class and colour. Those have few values, so the
    planner compiles the conditions into a table by connection and mark. What conditions say of the
    size of a packet tells some ranges apart, and in which one it is, is noted ahead as a mark.
    """

    keeps_spacing = True
    only_splits = True

    classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.classes:
            raise ValueError("at least one class is needed, as in `rest = otherwise`")
        if len(self.classes) > MAX_OUTPUTS:
            raise ValueError(f"at most {MAX_OUTPUTS} classes are supported")

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.classes

    def start(self, setting: Setting) -> RoutingTable:
        return build_routing_table(setting)

    def build_transition(self, setting: Setting) -> Transition:
        return Transition(encode_table(setting), _arrive)

    def process(self, state: RoutingTable, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        departures = partition_by_table(batch, state, len(self.classes))
        return Step(departures, (until_ps,) * len(self.classes))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item to its class at once; see `engine.event.transition`."""
    send(out, find_output(state, 0, items[item, CONNECTION], items[item, MARKS]), item, now_ps)
    return DONE
