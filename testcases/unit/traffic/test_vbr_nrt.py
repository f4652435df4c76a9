"""Non-real-time VBR is the same contract in another category."""

from dataclasses import replace
from fractions import Fraction

from qospec.traffic.vbr_nrt import VbrNrt
from qospec.traffic.vbr_rt import VbrRt


def test_it_differs_from_real_time_in_its_category_alone():
    fields = (Fraction(1_000), Fraction(100), 50, 250_000_000, "vbr_2")
    mine, its = VbrNrt(*fields), VbrRt(*fields)
    assert mine.build_contract().category == "vbr_nrt"
    assert replace(mine.build_contract(), category="vbr_rt") == its.build_contract()
    assert mine.describe_conforming_source() == its.describe_conforming_source()
