"""Our `dataclass` and `NamedTuple` mean what the standard ones do: each claim is put to both."""

import dataclasses
import inspect
import pickle
import typing
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace
from typing import Any

import pytest

from qospec.dataclass import NamedTuple, dataclass

Make = Callable[..., Any]
BOTH = pytest.mark.parametrize("made", [dataclass, dataclasses.dataclass])


@dataclass(frozen=True)
class Point:
    """Of the module, for pickle finds a class by its name."""

    x: int
    y: int = 0


@BOTH
def test_fields_are_given_by_place_or_name_and_have_defaults(made: Make) -> None:
    @made
    class Cell:
        """A cell."""

        vpi: int
        vci: int = 5
        marks: list[str] = field(default_factory=list)

    cell = Cell(1, marks=["clp"])
    assert (cell.vpi, cell.vci, cell.marks) == (1, 5, ["clp"])
    assert Cell(1).marks is not Cell(1).marks
    assert list(inspect.signature(Cell).parameters) == ["vpi", "vci", "marks"]


@BOTH
@pytest.mark.parametrize("given", [(), (1, 2, 3), (1, 2, {"vci": 2}), ({"vpi": 1, "size": 53},)])
def test_what_is_given_must_be_its_fields(made: Make, given: tuple[Any, ...]) -> None:
    @made(frozen=True)
    class Cell:
        """A cell."""

        vpi: int
        vci: int

    named = given[-1] if given and isinstance(given[-1], dict) else {}
    with pytest.raises(TypeError, match=r"Cell\.__init__\(\) (missing|takes|got)"):
        Cell(*(parameter for parameter in given if parameter is not named), **named)


@BOTH
def test_a_field_without_default_comes_first(made: Make) -> None:
    with pytest.raises(TypeError, match="default"):

        @made
        class Cell:
            """A cell."""

            vpi: int = 0
            vci: int


@BOTH
def test_a_field_may_be_given_by_name_only(made: Make) -> None:
    @made(frozen=True)
    class Base:
        """One field by name, with a default, before those of a class below."""

        oam: bool = field(default=False, kw_only=True)

    @made(frozen=True, kw_only=True)
    class Named(Base):
        """All by name."""

        vpi: int = 1
        vci: int

    @made(frozen=True)
    class Placed(Base):
        """Its own by place."""

        vpi: int

    named, placed = Named(vci=2), Placed(3, oam=True)
    assert (named.vpi, named.vci, named.oam) == (1, 2, False)
    assert (placed.vpi, placed.oam) == (3, True)
    assert [field.name for field in fields(Placed)] == ["oam", "vpi"]
    for wrong in (lambda: Named(2), lambda: Placed(3, True)):  # noqa: FBT003
        with pytest.raises(TypeError, match="positional argument"):
            wrong()


@BOTH
def test_it_checks_itself_when_it_is_made_and_when_it_is_copied(made: Make) -> None:
    @made(frozen=True)
    class Slot:
        """Of a line."""

        time_ps: int

        def __post_init__(self) -> None:
            if self.time_ps <= 0:
                raise ValueError("time_ps: must be positive")

    @made(frozen=True)
    class Late(Slot):
        """The check is inherited."""

        by_ps: int = 0

    with pytest.raises(ValueError, match="time_ps"):
        Late(0)
    with pytest.raises(ValueError, match="time_ps"):
        replace(Late(1), time_ps=0)
    assert replace(Late(1), by_ps=2) == Late(1, 2)


@BOTH
def test_it_equals_what_is_of_its_class_and_has_its_values(made: Make) -> None:
    @made(frozen=True)
    class Name:
        """A name, wherever it stands."""

        text: str
        at: int = field(default=0, compare=False, repr=False)

    @made(frozen=True)
    class Keyword(Name):
        """A name of another class."""

    assert Name("a", 1) == Name("a", 2) != Name("b", 1)
    assert Name("a") != Keyword("a")
    assert Name("a") != "a"
    assert len({Name("a", 1), Name("a", 2), Name("b")}) == 2
    assert repr(Name("a", 1)).endswith("Name(text='a')")


@BOTH
def test_what_has_no_fields_equals_its_like(made: Make) -> None:
    @made(frozen=True)
    class Nothing:
        """Nothing."""

    assert Nothing() == Nothing()
    assert len({Nothing(), Nothing()}) == 1
    assert repr(Nothing()).endswith("Nothing()")


@BOTH
def test_only_what_is_frozen_cannot_change_and_has_a_hash(made: Make) -> None:
    @made(frozen=True)
    class Ice:
        """Frozen."""

        degrees: int

    @made
    class Water:
        """Not."""

        degrees: int

    @made(eq=False)
    class Drop:
        """Like no other."""

        degrees: int

    ice, water = Ice(0), Water(1)
    with pytest.raises(FrozenInstanceError, match="degrees"):
        ice.degrees = 1
    with pytest.raises(FrozenInstanceError, match="degrees"):
        del ice.degrees
    water.degrees = 2
    assert (ice.degrees, water.degrees) == (0, 2)
    with pytest.raises(TypeError, match="unhashable"):
        hash(water)
    drop = Drop(1)
    assert drop != Drop(1)
    assert len({drop, drop}) == 1


@BOTH
def test_a_method_of_the_class_s_own_stays(made: Make) -> None:
    @made(frozen=True)
    class Bare:
        """Says itself how it is shown and compared."""

        text: str

        def __repr__(self) -> str:
            return self.text

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Bare)

        def __hash__(self) -> int:
            return 7

    assert repr(Bare("a")) == "a"
    assert Bare("a") == Bare("b")
    assert hash(Bare("a")) == 7


@BOTH
def test_who_compares_in_its_own_way_has_a_hash_of_its_fields(made: Make) -> None:
    @made(frozen=True)
    class Name:  # noqa: PLW1641 -- that is what is asked
        """A name, in whatever case."""

        text: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Name) and other.text.lower() == self.text.lower()

    assert Name("a") == Name("A")
    assert len({Name("a"), Name("a"), Name("b")}) == 2


@BOTH
def test_a_pattern_finds_its_fields_by_place(made: Make) -> None:
    @made(frozen=True)
    class Cell:
        """A cell."""

        vpi: int
        vci: int = 5

    match Cell(1):
        case Cell(vpi, vci):
            assert (vpi, vci) == (1, 5)
        case _:
            pytest.fail("no cell")


@pytest.mark.parametrize("left_out", [field(init=False, default=0), field(hash=True, default=0)])
def test_what_it_does_not_know_it_refuses(left_out: Any) -> None:
    with pytest.raises(TypeError, match="`init` or `hash` of a field: vpi"):

        @dataclass(frozen=True)
        class Cell:
            """A cell."""

            vpi: int = left_out


def test_it_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(Point(1, 2))) == Point(1, 2)  # noqa: S301 -- our own


class Circuit(NamedTuple):
    """Of ours."""

    vpi: int
    vci: int = 5
    category: str = "cbr"

    @property
    def both(self) -> tuple[int, int]:
        """Return what is in a header."""
        return self[:2]

    @classmethod
    def parse(cls, text: str) -> "Circuit":
        """Return what a text names."""
        return cls(*map(int, text.split("/")))


class StandardCircuit(typing.NamedTuple):
    """Of the standard library."""

    vpi: int
    vci: int = 5
    category: str = "cbr"

    both = Circuit.both
    parse = classmethod(vars(Circuit)["parse"].__func__)


tuples = pytest.mark.parametrize("circuit", [Circuit, StandardCircuit])


@tuples
def test_a_named_tuple_is_a_tuple_with_names(circuit: Any) -> None:
    made = circuit(1, category="ubr")
    assert made == (1, 5, "ubr")
    assert (made.vpi, made.vci, made.category) == made
    assert made.both == (1, 5)
    assert circuit.parse("3/7") == (3, 7, "cbr")
    assert hash(made) == hash((1, 5, "ubr"))
    assert repr(made) == f"{circuit.__name__}(vpi=1, vci=5, category='ubr')"
    assert list(inspect.signature(circuit).parameters) == ["vpi", "vci", "category"]
    assert not hasattr(made, "__dict__")
    assert circuit._fields == ("vpi", "vci", "category")
    assert circuit._field_defaults == {"vci": 5, "category": "cbr"}


@tuples
def test_a_named_tuple_is_replaced_and_read_by_its_names(circuit: Any) -> None:
    made = circuit(1)
    assert made._replace(vci=6) == circuit(1, 6)
    assert type(made._replace(vci=6)) is circuit
    assert made._asdict() == {"vpi": 1, "vci": 5, "category": "cbr"}
    assert circuit._make([1, 2, "ubr"]) == circuit(1, 2, "ubr")
    with pytest.raises((TypeError, ValueError), match="vpc"):
        made._replace(vpc=6)
    with pytest.raises(AttributeError):
        made.vci = 6
    match made:
        case circuit(vpi, vci):
            assert (vpi, vci) == (1, 5)
        case _:
            pytest.fail("no circuit")


@tuples
@pytest.mark.parametrize("given", [(), (1, 2, "cbr", 4)])
def test_a_named_tuple_takes_no_other_number_of_values(circuit: Any, given: Any) -> None:
    with pytest.raises(TypeError, match="argument"):
        circuit(*given)


@tuples
def test_a_named_tuple_can_be_sent_to_another_process(circuit: Any) -> None:
    made = pickle.loads(pickle.dumps(circuit(1, 2)))  # noqa: S301 -- our own
    assert (made, type(made)) == (circuit(1, 2), circuit)


@pytest.mark.parametrize("base", [NamedTuple, typing.NamedTuple])
def test_a_field_of_a_tuple_without_default_comes_first(base: Any) -> None:
    with pytest.raises(TypeError, match="default"):

        class Late(base):  # type: ignore[misc]
            """Two fields."""

            vpi: int = 0
            vci: int
