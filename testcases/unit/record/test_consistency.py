"""A record that agrees with itself is read; one whose verdict its values do not bear is refused."""

import pytest

from qospec.record.consistency import list_contradictions_of


def build_case(measured: str, tolerance: str, bound: str, verdict: str, unit: str) -> dict:
    """Return a case with one criterion, `measured within tolerance of bound`."""

    def quantity(value: str, unit: str) -> dict:
        return {"value": value, "unit": unit, "text": value}

    statement = {
        "label": "near",
        "kind": "expect",
        "verdict": verdict,
        "measured": quantity(measured, unit),
        "comparison": "within",
        "bound": quantity(bound, unit),
        "tolerance": quantity(tolerance, "1"),
    }
    return {
        "name": "a",
        "statements": [statement],
        "errors": [],
        "verdict": verdict,
        "metrics": {},
        "repeats": [],
    }


@pytest.mark.parametrize(
    ("measured", "tolerance", "bound", "verdict", "unit"),
    [
        ("141", "1/100", "142", "pass", "1"),
        ("1/20", "1/100", "9/200", "fail", "1"),
        ("4", "1", "5", "pass", "1"),
        ("141", "1/100", "142", "pass", "packet"),
        ("140", "1/100", "142", "fail", "packet"),
    ],
)
def test_a_tolerance_is_a_share_or_of_numbers_a_width(
    measured: str, tolerance: str, bound: str, verdict: str, unit: str
) -> None:
    """Of 142, 1 % is 1.42; of 4.5 % it is 0.045 %; and `within 1 of 5` is 4 to 6."""
    assert list(list_contradictions_of(build_case(measured, tolerance, bound, verdict, unit))) == []


@pytest.mark.parametrize(
    ("measured", "bound", "verdict", "unit"),
    [
        ("140", "142", "pass", "1"),
        ("142", "142", "fail", "1"),
        ("140", "142", "pass", "packet"),
        ("141", "142", "fail", "packet"),
    ],
)
def test_a_verdict_that_no_reading_bears_is_told(
    measured: str, bound: str, verdict: str, unit: str
) -> None:
    assert list(list_contradictions_of(build_case(measured, "1/100", bound, verdict, unit))) == [
        f"`near` of `a` is `{verdict}`, which what was measured does not bear"
    ]


@pytest.mark.parametrize(("value", "unit"), [("-5", "pkt"), ("-1/2", "cell")])
def test_no_items_are_fewer_than_none(value: str, unit: str) -> None:
    case = build_case("141", "1/100", "142", "pass", "1")
    sent = {"value": value, "unit": unit, "text": f"{value} {unit}"}
    told = list(list_contradictions_of({**case, "repeats": [{"ab": {"sent": sent}}]}))
    assert told == ["`sent` of `ab` in `a` is below zero"]
    later = {"value": "-1/1000", "unit": "s", "text": "-1 ms"}  # differences of times may be
    found = {"ab": {"latency_difference": later, "sent": None}}
    assert list(list_contradictions_of({**case, "metrics": found})) == []
