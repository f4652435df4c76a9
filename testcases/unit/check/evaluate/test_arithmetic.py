"""Exact quantities: dimensions, layers, and what stays open until it is measured."""

from fractions import Fraction

import pytest

from qospec.check.evaluate.dimensions import LENGTH, NUMBER
from qospec.model.expression import Constant, Measured, Operation
from qospec.units import CELL_RATE, TIME

FLOW = ("flow user = load from a to b", "run { measure = 1 s }")


def reported(suite):
    (statement,) = suite.tests[0].cases[0].statements
    return statement.expression


@pytest.mark.parametrize(
    ("text", "value", "dimension"),
    [
        ("64 kbit/s @payload / (47 B/cell @payload)", Fraction(64_000, 376), CELL_RATE),
        ("53 B / (149.76 Mbit/s @cell)", Fraction(424, 149_760_000), TIME),
        ("80% of 10 km", Fraction(8_000), LENGTH),
        ("1 / 3", Fraction(1, 3), NUMBER),
        ("0 + 2 us - 0", Fraction(2, 10**6), TIME),
        ("-(2 us)", Fraction(-2, 10**6), TIME),
        ("max(1 us, min(3 us, 2 us))", Fraction(2, 10**6), TIME),
        ("1 us if 2 < 3 and not (3 in [1, 2]) else 2 us", Fraction(1, 10**6), TIME),
    ],
)
def test_arithmetic_is_exact(small, text, value, dimension):
    constant = reported(small(*FLOW, f"report {text}"))
    assert isinstance(constant, Constant)
    assert (constant.value, constant.dimension) == (value, dimension)


def test_what_is_measured_stays_open(small):
    operation = reported(small(*FLOW, "report 2 * user.delay.mean - 1 us"))
    assert isinstance(operation, Operation)
    assert (operation.operator, operation.dimension) == ("-", TIME)
    product, constant = operation.operands
    assert isinstance(product.operands[1], Measured)
    assert constant.value == Fraction(1, 10**6)


def test_a_literal_0_takes_the_dimension_that_it_meets(small):
    operation = reported(small(*FLOW, "expect user.lost == 0"))
    left, right = operation.operands
    assert right.dimension == left.dimension


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("user.connections_up within 3 of 5", "within"),
        ("user.connections_up within (1 + 2) of 5", "within"),
        ("user.connections_up within (6 / 2) of 5", "within"),
        ("user.connections_up within (2 * 1) of 5", "within"),
        ("user.connections_up within (30% of 10) of 5", "within"),
        ("user.connections_up within 30% of 5", "within share"),
        ("user.connections_up within (3 * 10%) of 5", "within share"),
        ("user.clr within 0.1% of 0.05%", "within share"),
        ("user.clr within 0.001 of 0.05%", "within"),
        ("user.delay.mean within 2 us of 20 us", "within"),
        ("user.delay.mean within (1 us / (20 us)) of 20 us", "within share"),
        ("user.delay.mean within user.clr of 20 us", "within share"),
        ("user.delay.mean within (1 - user.clr) of 20 us", "within share"),
        ("user.delay.mean within (user.lost / user.sent) of 20 us", "within share"),
        ("user.delay.mean within user.delay.min of 20 us", "within"),
    ],
)
def test_a_tolerance_is_a_width_or_a_share_of_the_target(small, text, operator):
    assert reported(small(*FLOW, f"expect {text}")).operator == operator


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1 s + 2 cell", "E0202"),
        ("2 s of 3 s", "E0202"),
        ("64 kbit/s @payload + 1 kbit/s @cell", "E0212"),
        ("64 kbit/s @payload / (53 B/cell @cell)", "E0212"),
        ("1 / (2 - 2)", "E0209"),
        ('1 + "two"', "E0204"),
        ("5 us @cell", "E0211"),
        ("5 Mbit/s @ether", "E0211"),
        ("200 Mb/s", "E0201"),
        ("1 s if 1 s < 2 cell else 2 s", "E0203"),
    ],
)
def test_what_does_not_fit_is_refused(codes, text, code):
    assert codes(f"let a = {text}\n") == [code]


def test_an_untagged_size_meets_any_layer(codes):
    assert codes("let a = 53 B / (1 Mbit/s @cell)\nlet b = 64 kbit/s @ip + 1 bit/s\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "user.bit_rate.cell < 6 Mbit/s",
        "user.bit_rate.cell / (6 Mbit/s) < 50%",
        "max(1 bit/s, user.bit_rate.cell) < 6 Mbit/s @cell",
        "user.bit_rate.cell / (6 Mbit/s @cell) < user.bit_rate.payload / (5 Mbit/s @payload)",
        "user.bit_rate.cell / user.throughput within 1% of 53 B/cell @cell",
        "user.bit_rate.cell within 1 kbit/s of 6 Mbit/s @cell",
    ],
)
def test_a_measured_rate_meets_its_own_layer_and_none(small, text):
    assert small(*FLOW, f"expect {text}").tests


def test_what_a_search_finds_has_the_layer_that_it_is_searched_in(codes):
    text = """
topology bench {
  a, b = host
  link a -- b via line { rate = 149.76 Mbit/s @cell }
}
test t on bench {
  search rate in 1 Mbit/s @cell .. 2 Mbit/s @cell { goal ndr { loss = 0 } }
  flow user = ubr { pcr = rate / (53 B/cell @cell) } from a to b
  expect ndr.rate > 1 Mbit/s
  expect ndr.lower > 1 Mbit/s @ip
}
"""
    assert codes(text) == ["E0212"]


def test_one_mistake_gives_one_error(codes):
    assert codes("let a = 1 s + 2 cell\nlet b = 2 * a\nlet c = a + b\n") == ["E0202"]
