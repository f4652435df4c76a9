"""Service activation of Y.1564: of a policer, of a device without one, of a line too slow."""

from fractions import Fraction

import pytest

BASE = """y1564.activation(
  cir = 20 Mbit/s @frame, EIR loss = 0, delay = 1 ms, variation = 200 us,
  step_time = 500 ms, performance_time = 1 s
)"""
SENT = "rate = load, size = 512 B @frame"


@pytest.fixture
def activated(carried_out):
    def run(device, eir="", out="media.fast_ethernet"):
        (document,) = carried_out(BASE.replace("EIR", eir), device, SENT, out=out).values()
        return document

    return run


def failed(document):
    return [each["label"] for each in document["statements"] if each["verdict"] == "fail"]


def rates(document):
    return {
        each["label"]: Fraction(each["measured"]["value"])
        for each in document["statements"]
        if "bit_rate" in each["text"]
    }


def test_a_policer_of_the_contract_passes(activated):
    document = activated("policer")
    assert (document["verdict"], failed(document)) == ("pass", [])
    steps = [phase["name"] for phase in document["phases"]]
    committed = ["cir_25", "cir_50", "cir_75", "cir_100"]
    assert steps == [*committed, "excess", "policed", "performance"]


def test_without_a_policer_too_much_passes(activated):
    """CIR + EIR and a quarter more arrive, 25 Mbit/s. Source: the policing step."""
    document = activated("queue")
    (label,) = failed(document)
    assert "policed.user" in label
    assert "<=" in label
    assert rates(document)[label] == pytest.approx(25_000_000, rel=1e-3)


def test_a_line_below_the_committed_rate_fails_where_it_is_reached(activated):
    document = activated("queue", out="media.ethernet { rate = 18 Mbit/s @line }")
    points = {label.partition("[")[2].partition(".")[0] for label in failed(document)}
    assert {"cir_100", "performance", "excess", "policed"} <= points
    assert not points & {"cir_25", "cir_50", "cir_75"}


def test_the_policing_step_depends_on_the_excess_rate(activated):
    """CIR + 125 % of EIR; below a fifth of CIR, 125 % of CIR + EIR."""
    large = activated("queue", eir="eir = 8 Mbit/s @frame,")
    assert max(rates(large).values()) == pytest.approx(30_000_000, rel=1e-3)
    small = activated("queue", eir="eir = 2 Mbit/s @frame,")
    assert max(rates(small).values()) == pytest.approx(27_000_000, rel=1e-3)
