"""Cells that a circuit needs."""

from fractions import Fraction

import pytest

from qospec.catalogue.kinds import REQUIRED, discover
from qospec.engine.items.contract import Contract
from qospec.traffic.circuit import Circuit


@pytest.mark.parametrize(
    ("rate", "filling", "cells_per_s"),
    [
        (64_000, 47, "170.2128"),
        (1_544_000, 47, "4106.3830"),
        (2_048_000, 47, "5446.8085"),
        (34_368_000, 47, "91404.2553"),
        (44_736_000, 47, "118978.7234"),
        (64_000, 40, "200.0000"),
    ],
)
def test_its_contract_is_the_cell_rate_that_it_needs(rate, filling, cells_per_s):
    circuit = Circuit(Fraction(rate), 5_000, filling)
    assert circuit.build_contract() == Contract("cbr", Fraction(rate, 8 * filling), 5_000)
    assert f"{float(circuit.peak_cell_rate):.4f}" == cells_per_s
    assert circuit.describe_conforming_source() == ("constant", {"rate": circuit.peak_cell_rate})


def test_a_cell_has_room_for_47_bytes_and_the_tolerance_is_told():
    kind = discover().find("traffic", "circuit")
    assert kind is not None
    assert kind.find_parameter("filling").domain.high == 47
    assert kind.find_parameter("cdvt").default is REQUIRED


def test_a_rate_too_fine_to_be_kept_exactly_is_refused():
    with pytest.raises(ValueError, match=r"^rate: "):
        Circuit(Fraction(2**50 + 1, 2**30), 0, connections=2**20)
