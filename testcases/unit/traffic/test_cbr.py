"""What CBR declares."""

from fractions import Fraction

import pytest

from qospec.catalogue.kinds import REQUIRED, discover
from qospec.engine.items.contract import Contract
from qospec.traffic.cbr import Cbr


def test_its_contract_is_its_peak_and_its_tolerance():
    assert Cbr(Fraction(3_000), 5_000_000).build_contract() == Contract(
        "cbr", Fraction(3_000), 5_000_000
    )


def test_left_to_itself_it_sends_all_that_the_contract_allows():
    assert Cbr(Fraction(3_000), 0).describe_conforming_source() == (
        "constant",
        {"rate": Fraction(3_000)},
    )


def test_a_policing_test_without_its_tolerance_says_nothing():
    kind = discover().find("traffic", "cbr")
    assert kind is not None
    assert kind.find_parameter("cdvt").default is REQUIRED
    assert kind.find_parameter("vpi").domain.high == 4_095


def test_a_rate_too_fine_to_be_kept_exactly_is_refused():
    with pytest.raises(ValueError, match=r"^pcr: "):
        Cbr(Fraction(2**50 + 1, 2**40), 0, connections=2**20)
