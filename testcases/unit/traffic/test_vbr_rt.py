"""What VBR declares, and that its source keeps it."""

import math
from fractions import Fraction

import pytest
from connected import connected
from hypothesis import assume, given
from hypothesis import strategies as st

from qospec.catalogue.kinds import discover
from qospec.elements.gcra import Gcra
from qospec.engine.element import Setting
from qospec.engine.items.batch import build_batch
from qospec.traffic.vbr_rt import VbrRt


@pytest.mark.parametrize(
    ("conformance", "applies", "tagging"),
    [("vbr_1", "0+1", False), ("vbr_2", "0", False), ("vbr_3", "0", True)],
)
def test_the_conformance_definitions(conformance, applies, tagging):
    """ATM Forum TM 4.1."""
    contract = VbrRt(Fraction(1_000), Fraction(100), 50, 0, conformance).build_contract()
    assert (contract.sustainable_applies_to, contract.tagging) == (applies, tagging)
    assert (contract.category, contract.burst_tolerance_ps) == ("vbr_rt", 441 * 10**9)


@given(
    peak=st.fractions(1_000, 10**6, max_denominator=100),
    ratio=st.sampled_from([1, Fraction(7, 3), 10, 1_000]),
    size=st.sampled_from([1, 2, 10, 50]),
    connections=st.integers(1, 3),
    phases=st.sampled_from(["random", "even"]),
)
def test_its_conforming_source_conforms(flow, peak, ratio, size, connections, phases):
    """With 1 ps of tolerance, for times are whole ps. And it uses the contract to the full."""
    assume(peak / ratio >= Fraction(1, 100))
    traffic = VbrRt(peak, peak / ratio, size, 1, connections=connections)
    name, given_ = traffic.describe_conforming_source()
    process = discover().find("arrivals", name).build(**given_)
    assert process.compute_mean_rate(connections) == connections * traffic.sustainable_cell_rate
    until_ps = math.ceil(3 * process.every)
    state = process.start(connections, phases, flow.draws)
    at_ps, connection = process.emit(state, until_ps)
    batch = build_batch(
        at_ps=at_ps,
        sent_ps=at_ps,
        connection=connection,
        size_bytes=connection * 0 + 53,
        marks=(connection * 0).astype("uint8"),
    )
    contracts = connected((traffic.build_contract(),) * connections)
    gcra = Gcra()
    step = gcra.process(gcra.start(Setting(*contracts, flow.draws)), (batch,), until_ps)
    assert step.losses == ()


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ((Fraction(100), Fraction(101), 10, 0), "scr"),
        ((Fraction(100), Fraction(1, 10**6), 10**6, 0), "mbs"),
        ((Fraction(100), Fraction(100), 1, 10**18), None),
        ((Fraction(100), Fraction(50), 2, 10**18), "mbs"),
        ((Fraction(2**63 + 1, 2**60), Fraction(1), 2, 0), "pcr"),
    ],
)
def test_fields_that_contradict_each_other_are_refused(fields, word):
    if word is None:
        assert VbrRt(*fields).build_contract().burst_tolerance_ps == 0
        return
    with pytest.raises(ValueError, match=rf"^{word}: "):
        VbrRt(*fields)
