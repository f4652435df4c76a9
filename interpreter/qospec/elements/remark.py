"""A marker: it sets marks that later classifiers read."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.protocol.marks import ALL, COLOURS, MARKS, VALUES

if TYPE_CHECKING:
    from qospec.engine.arrays import Bits
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.connections import Contract

Codes = tuple[tuple[str, int], ...]
"""A value for each colour that is named; for all packets, under the name ""."""
CodePoint = Annotated[Codes | None, Domain("codes", 0, ALL["dscp"].highest)]
Precedence = Annotated[Codes | None, Domain("codes", 0, ALL["precedence"].highest)]
PriorityCode = Annotated[Codes | None, Domain("codes", 0, ALL["priority"].highest)]
TrafficClass = Annotated[Codes | None, Domain("codes", 0, ALL["traffic_class"].highest)]
Colour = Annotated[str | None, Domain("choice", choices=COLOURS)]


@element(
    source="RFC 2474, 3 (DSCP); RFC 2475, 2.3.3.2 (markers); RFC 791, 3.1 (precedence);"
    " IEEE 802.1Q, 9.6; RFC 5462, 2",
    carries=("packet",),
)
@dataclass(frozen=True)
class Remark(Element):
    """Write marks into each packet, whatever it carried; marks that are not given stay unchanged.

    A single value is written into all packets; a map such as `{ green: 10, yellow: 12, red: 14 }`
    gives one for each colour, and packets of other colours stay unchanged.
    """

    dscp: CodePoint = None
    """The code point in the IP header."""
    precedence: Precedence = None
    """The first three bits of the code point, as in the type of service."""
    priority: PriorityCode = None
    """The priority code point of a VLAN tag, 802.1p."""
    traffic_class: TrafficClass = None
    """The traffic class of an MPLS label, EXP."""
    colour: Colour = None
    """The mark that meters and classifiers of this device use; it does not leave the device."""

    def __post_init__(self) -> None:
        for name, codes in self._codes.items():
            for colour, _ in codes:
                if colour not in ("", *COLOURS):
                    known = ", ".join(COLOURS)
                    raise ValueError(f"{name}: `{colour}` is not a colour; expected one of {known}")
        if not any(self._given):
            raise ValueError("no mark is set; write `remark { dscp = 10 }`")
        if self.dscp and self.precedence:
            raise ValueError("precedence: part of the DSCP; set only one of the two")

    @property
    def marks_written(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for each in self._given for name in each))

    @property
    def _codes(self) -> dict[str, Codes]:
        """Return the values of each mark that holds a number."""
        return {
            "dscp": self.dscp or (),
            "precedence": self.precedence or (),
            "priority": self.priority or (),
            "traffic_class": self.traffic_class or (),
        }

    @cached_property
    def _given(self) -> tuple[dict[str, int], ...]:
        """Return the marks that are set, per colour."""
        found: tuple[dict[str, int], ...] = tuple({} for _ in COLOURS)
        for name, codes in self._codes.items():
            for colour, code in codes:
                for number in range(len(COLOURS)) if not colour else [COLOURS.index(colour)]:
                    found[number][name] = code
        for each in found if self.colour else ():
            each["colour"] = COLOURS.index(self.colour)
        return found

    def marks_after(self, marks: int, contract: Contract) -> tuple[int, ...]:
        for name, value in self._given[min(MARKS["colour"].of(marks), len(COLOURS) - 1)].items():
            marks = ALL[name].put(marks, value)
        return (marks,)

    def start(self, setting: Setting) -> tuple[Bits, Bits]:
        """Return masks of the bits kept and the bits set, per colour; one each if all are equal."""
        kept, written = [], []
        for given in self._given:
            kept.append(VALUES - 1 - sum(ALL[name].mask for name in given))
            written.append(sum(ALL[name].put(0, value) for name, value in given.items()))
        alike = len(set(kept)) == len(set(written)) == 1
        columns = 1 if alike else len(COLOURS)
        return np.array(kept[:columns], np.uint16), np.array(written[:columns], np.uint16)

    def process(self, state: tuple[Bits, Bits], arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        kept, written = state
        if batch.count and len(kept) == 1:
            batch = batch.with_marks((batch.marks & kept) | written)
        elif batch.count:
            colour = (batch.marks & np.uint16(MARKS["colour"].mask)) >> MARKS["colour"].first
            colour = np.minimum(colour, len(COLOURS) - 1)
            batch = batch.with_marks((batch.marks & kept[colour]) | written[colour])
        return Step((batch,), (until_ps,))
