"""A marker: writes what later classifiers read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue import Domain, element
from qospec.engine.arrays import np
from qospec.engine.element import Step
from qospec.engine.marks import MARKS, VALUES

if TYPE_CHECKING:
    from qospec.engine.batch import Batch
    from qospec.engine.clock import Clock
    from qospec.engine.element import Setting

CodePoint = Annotated[int | None, Domain("integer", 0, MARKS["dscp"].highest)]
PriorityCode = Annotated[int | None, Domain("integer", 0, MARKS["priority"].highest)]
TrafficClass = Annotated[int | None, Domain("integer", 0, MARKS["traffic_class"].highest)]


@element(
    source="RFC 2474, 3 (DSCP); RFC 2475, 2.3.3.2 (markers); IEEE 802.1Q, 9.6; RFC 5462, 2",
    carries=("packet",),
)
@dataclass(frozen=True)
class Remark:
    """Write marks into each packet, whatever it bore; those that are left out stay as they are."""

    dscp: CodePoint = None
    """The code point in the IP header."""
    priority: PriorityCode = None
    """The priority code point of a VLAN tag, 802.1p."""
    traffic_class: TrafficClass = None
    """The traffic class of an MPLS label, EXP."""

    def __post_init__(self) -> None:
        if not self._given():
            raise ValueError("nothing is marked; write `remark { dscp = 10 }`")

    def _given(self) -> dict[str, int]:
        fields = {
            "dscp": self.dscp,
            "priority": self.priority,
            "traffic_class": self.traffic_class,
        }
        return {name: value for name, value in fields.items() if value is not None}

    @property
    def inputs(self) -> tuple[str, ...]:
        return ("in",)

    @property
    def outputs(self) -> tuple[str, ...]:
        return ("out",)

    def remarked(self, marks: int) -> int:
        """Return what becomes of an item's marks."""
        for name, value in self._given().items():
            marks = MARKS[name].put(marks, value)
        return marks

    def least_delay_ps(self, clock: Clock | None) -> int:
        return 0

    def start(self, setting: Setting) -> tuple[int, int]:
        """Return which bits are kept, and which are set."""
        kept = VALUES - 1
        for name in self._given():
            kept &= ~MARKS[name].mask
        return kept, self.remarked(0)

    def process(self, state: tuple[int, int], arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        kept, written = state
        if batch.count:
            marks = (batch.marks & np.uint16(kept)) | np.uint16(written)
            batch = batch._replace(marks=marks)
        return Step((batch,), (until_ps,))
