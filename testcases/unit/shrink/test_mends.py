"""The changes of single values that mend a case: which are found, and how far they reach."""

from fractions import Fraction

import pytest

from qospec.shrink.draft import Draft
from qospec.shrink.mends import Cure, Mend, Seen, find
from qospec.shrink.places import list_places
from qospec.syntax import ast

DEVICE = """
device box(room: Packets = 8 pkt, ports: Int = 2) {
  port p[2]: packet
  let each = 6 us + (14 us if fast else 0 us)
  cpu = processor { per_packet = each, limit = room, slow = false }
  sort = classify { voice = pkt.dscp == 46 }
  out = strict { order = [low, high] }
}
"""


class Nothing:
    """The files of a draft that imports none."""

    def find_unit(self, name: str) -> None:
        """Return that there is none."""


def found(passes, bound: Fraction | None = None) -> list[Cure]:
    """Return what mends a device, given with which changes it passes."""
    draft = Draft.read(f"qos 1{DEVICE}")
    assert draft is not None

    def tried(mend: Mend) -> Seen:
        value = Fraction(mend.new.split()[0]) if mend.new[0].isdigit() else None
        side = None if bound is None or value is None else (value > bound) - (value < bound)
        return Seen(passes(mend, value), side)

    side = None if bound is None else -1
    cures: list[Cure] = []
    for cures in find(draft, Nothing(), tried, side):  # type: ignore[arg-type]  # noqa: B007
        pass
    return cures


def test_values_are_found_but_not_how_many_ports_there_are_or_what_is_meant() -> None:
    draft = Draft.read(f"qos 1{DEVICE}")
    assert draft is not None
    (device,) = draft.tree.declarations
    assert isinstance(device, ast.Device)
    trails = {".".join(place.trail) for place, _ in list_places(device, None)}
    assert trails == {"room", "ports", "each", "cpu.slow", "out.order"}


def test_what_was_found_before_the_search_was_interrupted_is_known() -> None:
    draft = Draft.read(f"qos 1{DEVICE}")
    assert draft is not None

    def tried(mend: Mend) -> Seen:
        if mend.new == "[high, low]":
            raise KeyboardInterrupt
        return Seen(mend.new == "true", None)

    known: list[Cure] = []
    with pytest.raises(KeyboardInterrupt):
        for known in find(draft, Nothing(), tried, None):  # type: ignore[arg-type]  # noqa: B007
            pass
    assert [cure.near.new for cure in known] == ["true"]


def test_orders_and_truths_are_turned_round() -> None:
    cures = found(lambda mend, _: mend.new in ("[high, low]", "true"))
    assert [(cure.near.old, cure.near.new) for cure in cures] == [
        ("false", "true"),
        ("[low, high]", "[high, low]"),
    ]


def test_a_value_mends_from_its_first_to_its_last() -> None:
    cures = found(
        lambda mend, value: mend.old == "8 pkt" and value is not None and 14 <= value < 60
    )
    (cure,) = cures
    near, far = (Fraction(mend.new.split()[0]) for mend in (cure.near, cure.far))
    assert 14 <= near < 16
    assert 50 < far < 60


def test_a_narrow_range_is_found_between_two_sides_of_the_bound() -> None:
    def passes(mend: Mend, value: Fraction | None) -> bool:
        return mend.old == "6 us" and value is not None and abs(value - 25) < Fraction(1, 4)

    (cure,) = found(passes, Fraction(25))
    assert abs(Fraction(cure.near.new.split()[0]) - 25) < Fraction(1, 4)
    assert cure.shown.startswith("`each` of `box` = ")


def test_the_roundest_value_of_a_narrow_range_mends_too() -> None:
    def passes(mend: Mend, value: Fraction | None) -> bool:
        return mend.old == "6 us" and value is not None and abs(value - 7) < Fraction(1, 50)

    (cure,) = found(passes, Fraction(7))
    assert cure.roundest is not None
    assert cure.roundest.new == "7 us"
    assert cure.roundest in cure.mends
    assert cure.shown == f"`each` of `box` = 7 us to {cure.far.new} instead of 6 us"


def test_what_passes_by_a_hair_holds_up_no_smaller_test() -> None:
    """With 2.99 us it passes, too, but what is a little smaller would not."""
    (cure,) = found(lambda mend, value: mend.old == "6 us" and value is not None and value < 3)
    assert cure.near not in cure.mends
    assert {mend.new for mend in cure.mends} == {cure.roundest.new, cure.far.new}


TOPOLOGY = """
topology net(room: Packets = 8 pkt, length: Length = 10 km) {
  a = host(count = 3)
  one = box(room = room, speed = 5 Mbit/s)
  for i in 0 .. 1 {
    more = box(7 pkt, count = 4)
  }
  link a[0] -- one.p via medium(length = length)
}
"""


def test_what_a_topology_gives_devices_is_tried_too_and_nothing_else_of_it() -> None:
    draft = Draft.read(f"qos 1{TOPOLOGY}")
    assert draft is not None
    (topology,) = draft.tree.declarations
    found_places = {
        ".".join(place.trail): draft.quote(value) for place, value in list_places(topology, None)
    }
    assert found_places == {"one.speed": "5 Mbit/s", "more": "7 pkt", "room": "8 pkt"}


def test_a_range_below_the_old_value_runs_upwards_too() -> None:
    (cure,) = found(lambda mend, value: mend.old == "14 us" and value is not None and value < 10)
    low, high = (Fraction(mend.new.split()[0]) for mend in (cure.far, cure.near))
    assert low < high < 10
    shown = f"`each` of `box` = {cure.far.new} to {cure.near.new}"
    assert cure.shown.removeprefix(shown).lstrip(",").endswith("instead of 14 us")


def test_all_values_of_a_field_are_kept_that_mend() -> None:
    cures = found(
        lambda mend, value: (
            mend.place.trail == ("each",) and value == 2 * Fraction(mend.old.split()[0])
        )
    )
    assert [cure.near.old for cure in cures] == ["6 us", "14 us"]
