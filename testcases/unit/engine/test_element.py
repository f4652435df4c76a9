"""Former names of functions: nobody would call them, so a class that has one is refused."""

import re

import pytest

from qospec.dataclass import dataclass
from qospec.engine.element import Element
from qospec.engine.scheduler.scheduler import Scheduler

FORMER = [(base, *names) for base in (Element, Scheduler) for names in base._former_names.items()]


@pytest.mark.parametrize(("base", "former", "name"), FORMER)
def test_a_function_with_a_former_name_is_refused_with_that_of_today(
    base: type, former: str, name: str
) -> None:
    assert hasattr(base, name)
    assert not hasattr(base, former)
    message = f"`Own.{former}` is called `{name}` today: rename it, since nothing calls it"
    with pytest.raises(TypeError, match=re.escape(message)):
        type("Own", (base,), {former: lambda self: self, "__qualname__": "Own"})


def test_a_property_with_a_former_name_is_refused() -> None:
    with pytest.raises(TypeError, match="is called `guarantee_service` today"):
        type("Own", (Element,), {"guarantees": property(id)})


def test_a_field_may_have_a_former_name() -> None:
    @dataclass(frozen=True)
    class Own(Element):
        hop: int = 3

    assert Own().hop == 3


def test_what_is_no_scheduler_may_have_a_share() -> None:
    own = type("Own", (Element,), {"share": lambda _: 1})
    assert own().share() == 1
