"""A marker: it sets marks that later classifiers read."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Literal

from qospec.catalogue.kinds import Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import DONE, MARKS, Transition, send
from qospec.engine.kernel import kernel
from qospec.protocol.marks import ALL, ALL_BITS, COLOURS

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.contract import Contract

Codes = tuple[tuple[str, int], ...]
"""A value for each value of another mark, by colour or number; for all packets, under ""."""
CodePoint = Annotated[Codes | None, Domain("codes", 0, ALL["dscp"].highest)]
Precedence = Annotated[Codes | None, Domain("codes", 0, ALL["precedence"].highest)]
PriorityCode = Annotated[Codes | None, Domain("codes", 0, ALL["priority"].highest)]
TrafficClass = Annotated[Codes | None, Domain("codes", 0, ALL["traffic_class"].highest)]
Colour = Annotated[str | None, Domain("choice", choices=COLOURS)]

Key = Annotated[
    Literal["colour", "dscp", "precedence", "priority", "traffic_class"] | None,
    Domain("choice", choices=("colour", "dscp", "precedence", "priority", "traffic_class")),
]

FIRST, MASK, LAST, BITS = 0, 1, 2, 3
"""The state: the lowest bit of the mark that decides, what it may hold, and the last value that is
told from others; then, for each value, the bits that are kept and those that are set."""


@element(
    source="RFC 2474, 3 (DSCP); RFC 2475, 2.3.3.2 (markers); RFC 791, 3.1 (precedence);"
    " IEEE 802.1Q, 9.6; RFC 5462, 2",
    carries=("packet",),
)
@dataclass(frozen=True)
class Remark(Element):
    """Write marks into each packet, whatever it carried; marks that are not given stay unchanged.

    A single value is written into all packets; a map such as `{ green: 10, yellow: 12, red: 14 }`
    gives one for each colour, one such as `{ 46: 5, 34: 4 }` for each code point or, `by` it, for
    each value of another mark. Packets of other colours or values stay unchanged.
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
    by: Key = None
    """Of which mark the keys of maps are values, as it arrives: by default colours are of the
    colour, and numbers of the code point."""

    answers_at_once = True
    keeps_spacing = True

    def __post_init__(self) -> None:
        spelt = ALL[self.key].spelt
        for name, key in self._keys:
            if key not in spelt:
                what = "a colour" if self.key == "colour" else f"a value of `{self.key}`"
                known = ", ".join(spelt) if self.key == "colour" else f"{spelt[0]} to {spelt[-1]}"
                known += "" if self.by or _is_number(key) else "; code points are numbers, as 46"
                raise ValueError(f"{name}: `{key}` is not {what}; expected one of {known}")
        if self.by is not None and not self._keys:
            raise ValueError("by: there is no map whose keys it could tell; write `{ 46: 5 }`")
        if not any(self._given):
            raise ValueError("no mark is set; write `remark { dscp = 10 }`")
        if self.dscp and self.precedence:
            raise ValueError("precedence: part of the DSCP; set only one of the two")

    @property
    def marks_written(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for marks in self._given for name in marks))

    @property
    def _codes(self) -> dict[str, Codes]:
        """Return the values of each mark that holds a number."""
        return {
            "dscp": self.dscp or (),
            "precedence": self.precedence or (),
            "priority": self.priority or (),
            "traffic_class": self.traffic_class or (),
        }

    @property
    def _keys(self) -> list[tuple[str, str]]:
        """Return the keys of all maps, each with the name of the field."""
        return [(name, key) for name, codes in self._codes.items() for key, _ in codes if key]

    @cached_property
    def key(self) -> str:
        """Return the mark whose values are the keys of maps."""
        numbers = any(_is_number(key) for _, key in self._keys)
        return self.by or ("dscp" if numbers else "colour")

    @property
    def marks_read(self) -> tuple[str, ...]:
        return (self.key,) if self._keys else ()

    @cached_property
    def _given(self) -> tuple[dict[str, int], ...]:
        """Return the marks that are set, by value of the mark that decides; the last for more."""
        spelt = ALL[self.key].spelt
        found: tuple[dict[str, int], ...] = tuple({} for _ in spelt)
        for name, codes in self._codes.items():
            for key, code in codes:
                for number in range(len(spelt)) if not key else [spelt.index(key)]:
                    found[number][name] = code
        for marks in found if self.colour else ():
            marks["colour"] = COLOURS.index(self.colour)
        return found

    def predict_marks(self, marks: int, contract: Contract) -> tuple[int, ...]:
        value = min(ALL[self.key].read(marks), len(self._given) - 1)
        for name, code in self._given[value].items():
            marks = ALL[name].put(marks, code)
        return (marks,)

    @property
    def _bits(self) -> tuple[tuple[int, int], ...]:
        """Return the mask of the bits that are kept and the bits that are set, by value."""
        return tuple(
            (
                ALL_BITS - sum(ALL[name].mask for name in given),
                sum(ALL[name].put(0, value) for name, value in given.items()),
            )
            for given in self._given
        )

    def build_transition(self, setting: Setting) -> Transition:
        key, bits = ALL[self.key], self._bits
        return Transition(np.array([key.first, key.highest, len(bits) - 1, *chain(*bits)]), _arrive)


def _is_number(key: str) -> bool:
    return key.removeprefix("-")[:1].isdecimal()


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Write the marks of an item and send it on at once; see `engine.event.transition`."""
    marks = items[item, MARKS]
    place = BITS + 2 * min((marks >> state[FIRST]) & state[MASK], state[LAST])
    items[item, MARKS] = (marks & state[place]) | state[place + 1]
    send(out, 0, item, now_ps)
    return DONE
