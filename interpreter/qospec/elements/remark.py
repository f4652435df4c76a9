"""A marker: it sets marks that later classifiers read."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import DONE, MARKS, Transition, send
from qospec.engine.kernel import kernel, view_rows
from qospec.protocol.marks import ALL, ALL_BITS, COLOURS

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.contract import Contract

Codes = tuple[tuple[str, int], ...]
"""A value for each colour that is named; for all packets, under the name ""."""
CodePoint = Annotated[Codes | None, Domain("codes", 0, ALL["dscp"].highest)]
Precedence = Annotated[Codes | None, Domain("codes", 0, ALL["precedence"].highest)]
PriorityCode = Annotated[Codes | None, Domain("codes", 0, ALL["priority"].highest)]
TrafficClass = Annotated[Codes | None, Domain("codes", 0, ALL["traffic_class"].highest)]
Colour = Annotated[str | None, Domain("choice", choices=COLOURS)]

COLOUR = ALL["colour"]
FIRST, HIGHEST = COLOUR.first, COLOUR.highest
KEPT, SET = 0, 1
"""The columns of the state of `_arrive`: for each colour, the bits kept and the bits set."""


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

    answers_at_once = True
    keeps_spacing = True

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
        for name, value in self._given[min(COLOUR.of(marks), len(COLOURS) - 1)].items():
            marks = ALL[name].put(marks, value)
        return (marks,)

    @property
    def _bits(self) -> tuple[tuple[int, int], ...]:
        """Return the mask of the bits that are kept and the bits that are set, per colour."""
        return tuple(
            (
                ALL_BITS - sum(ALL[name].mask for name in given),
                sum(ALL[name].put(0, value) for name, value in given.items()),
            )
            for given in self._given
        )

    def transition(self, setting: Setting) -> Transition:
        return Transition(np.array(self._bits, np.int64).ravel(), _arrive)


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Write the marks of an item and send it on at once; see `engine.event.transition`."""
    bits, marks = view_rows(state, 0, len(COLOURS), 2), items[item, MARKS]
    colour = min((marks >> FIRST) & HIGHEST, len(COLOURS) - 1)
    items[item, MARKS] = (marks & bits[colour, KEPT]) | bits[colour, SET]
    send(out, 0, item, now_ps)
    return DONE
