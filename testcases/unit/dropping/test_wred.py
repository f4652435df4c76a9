"""Random early detection by class."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.dropping.wred import Wred
from qospec.elements.fifo import Fifo
from qospec.protocol.marks import set_marks

COLOURS = ("green", "yellow", "red")
TYPICAL = 40


@st.composite
def curves(draw, limit):
    """Draw a curve for some of the colours."""
    found = {}
    for value in draw(st.sets(st.integers(0, 2), min_size=1)):
        high = draw(st.integers(2, limit.amount))
        p = Fraction(1, draw(st.sampled_from([1, 2, 7, 100])))
        found[value] = (draw(st.integers(1, high - 1)), high, p)
    return found


@given(data=st.data(), gentle=st.booleans(), k=st.integers(0, 6))
def test_each_class_has_its_curve_and_counts_its_own(bench, data, gentle, k):
    marks = [set_marks(colour=n) for n in range(3)]
    traffic, unit = data.draw(bench.traffic(marks)), data.draw(st.sampled_from(["packet", "byte"]))
    limit = Buffer(data.draw(st.integers(2, 12 if unit == "packet" else 9_000)), unit)
    own = data.draw(curves(limit))
    low, high, p = (
        tuple((COLOURS[value], curve[place]) for value, curve in own.items()) for place in range(3)
    )
    low, high = (tuple((key, Buffer(n, unit)) for key, n in ends) for ends in (low, high))
    average_of = {"weight": Fraction(1, 2**k), "typical": TYPICAL}
    policy = Wred("colour", low, high, p, gentle=gentle, **average_of)
    average = bench.average(policy.weight, bench.typical_ps(traffic.clock, TYPICAL))
    by_value = {value: bench.curve(*curve, gentle=gentle) for value, curve in own.items()}
    bench.agree(traffic, limit, policy, bench.rules("colour", {}, by_value, average))


def wred(low, high, p, by="colour"):
    ends = (
        tuple((key, Buffer(n, "packet")) for key, n in limits.items()) for limits in (low, high)
    )
    return Wred(by, *ends, tuple((key, Fraction(share)) for key, share in p.items()))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (({"green": 5}, {"red": 9}, {"green": 1}), "high: its classes differ from those of `low`"),
        (({"green": 5}, {"green": 9}, {"red": 1}), "p: its classes differ from those of `low`"),
        (
            ({"green": 5}, {"green": 9}, {"green": 0}),
            "p: no item of class `green` would be lost early",
        ),
    ],
)
def test_classes_fit_together(fields, message):
    with pytest.raises(ValueError, match=message):
        wred(*fields)


def test_each_value_that_no_mark_has_is_refused():
    with pytest.raises(ValueError, match="is not a colour") as refused:
        wred({"10": 5, "red": 5}, {"10": 9, "blue": 9}, {"red": 1})
    known = "expected one of green, yellow, red"
    assert refused.value.args == (
        f"low[10]: `10` is not a colour; {known}",
        f"high[10]: `10` is not a colour; {known}",
        f"high[blue]: `blue` is not a colour; {known}",
    )


def test_each_curve_fits_the_queue(bench):
    with pytest.raises(ValueError, match="low: 9 is not below high, 5"):
        Fifo(bench.packets(9), wred({"green": 9}, {"green": 5}, {"green": 1}))


def test_a_class_without_a_curve_has_the_limit_alone(bench):
    policy = replace(wred({"red": 1}, {"red": 2}, {"red": 1}), weight=Fraction(1))
    lost = bench.lost(bench.packets(4), policy, [0, 0, 0, 0, set_marks(colour=2), 0, 0])
    assert lost == [("early", 4), ("overflow", 6)]
