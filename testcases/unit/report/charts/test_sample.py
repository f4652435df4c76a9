"""Numbers of a record for charts: between what a value had to be."""

from fractions import Fraction

import pytest

from qospec.report.charts.plot import BOTTOM, TOP, build_panel
from qospec.report.charts.sample import Sample, read_sample

PERCENT = {"value": "1/4", "unit": "1", "text": "25 %"}


def quantity(value, unit="s"):
    return {"value": value, "unit": unit, "text": f"{value} {unit}"}


def statement(comparison, bound, tolerance=None, measured="10"):
    return {
        "measured": quantity(measured),
        "comparison": comparison,
        "bound": quantity(bound),
        "tolerance": tolerance,
        "verdict": "pass",
        "kind": "expect",
    }


@pytest.mark.parametrize(
    ("said", "low", "high"),
    [
        (statement("within", "12", quantity("3")), 9, 15),
        (statement("within", "12", PERCENT), 9, 15),
        (statement("within", "-12", PERCENT), -15, -9),
        (statement("<", "12"), None, 12),
        (statement("<=", "12"), None, 12),
        (statement(">", "12"), 12, None),
        (statement(">=", "12"), 12, None),
        (statement("==", "12"), 12, 12),
        (statement("!=", "12"), None, None),
    ],
)
def test_a_criterion_has_its_limits(said, low, high):
    assert read_sample(said) == Sample(Fraction(10), low, high)


def test_no_statement_has_no_number():
    assert read_sample(None) == Sample()


def test_a_band_is_drawn_as_wide_as_the_tolerance_to_either_side():
    """Over an axis from 0 to 20 s: 12 s and 3 s to either side."""
    said = [statement("within", "12", quantity("3"), measured) for measured in ("0", "20")]
    cases = [{"name": f"t:n={n}", "parameters": {"n": str(n)}} for n in range(2)]
    low, high = build_panel({"statements": said}, cases)["limits"]
    assert low["y"] == pytest.approx(BOTTOM - 9 / 20 * (BOTTOM - TOP), abs=0.05)
    assert high["y"] == pytest.approx(BOTTOM - 15 / 20 * (BOTTOM - TOP), abs=0.05)
