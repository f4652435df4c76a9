"""Numbers become rounder, and stay in their unit as long as that is short."""

from fractions import Fraction

import pytest

from qospec.diagnostics import Problems
from qospec.shrink.rounding import with_value
from qospec.source import Source
from qospec.syntax.parser import parse


@pytest.mark.parametrize(
    ("written", "value", "shown"),
    [("250 ns", 300, "300 ns"), ("250 ns", 5_000, "5 us"), ("250 ns", 0, "0 s"), ("7", 0, "0")],
)
def test_a_number_keeps_its_unit_unless_it_is_nothing_or_gets_long(written, value, shown) -> None:
    tree = parse(Source("a.qos", f"qos 1\nlet a = {written}\n"), Problems())
    assert with_value(tree.declarations[0].value, Fraction(value)) == shown
