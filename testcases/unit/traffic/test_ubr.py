"""What UBR declares."""

from fractions import Fraction

from qospec.engine.items.contract import Contract
from qospec.traffic.ubr import Ubr


def test_it_needs_no_tolerance():
    assert Ubr(Fraction(353_207)).build_contract() == Contract("ubr", Fraction(353_207), 0)


def test_left_to_itself_it_sends_at_its_peak():
    assert Ubr(Fraction(7)).describe_conforming_source() == ("constant", {"rate": Fraction(7)})
