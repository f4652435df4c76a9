"""Service activation of Y.1564: of a policer, of a device without one, of a line too slow."""

from fractions import Fraction

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.report.grid import build_grids

BASE = """y1564.activation(
  cir = 20 Mbit/s @frame, EIR bursts = 100 kB @frame, loss = 0, delay = 1 ms, variation = 200 us,
  step_time = 500 ms, performance_time = 1 s
)"""
SENT = "rate = load, size = 512 B @frame"


@pytest.fixture
def activated(carried_out):
    def run(device, eir="", out="media.fast_ethernet", base=BASE, criteria="", sent=SENT):
        cases = carried_out(base.replace("EIR", eir), device, sent, criteria, out=out)
        (document,) = cases.values()
        return document

    return run


def failed(document):
    return [
        statement["label"] for statement in document["statements"] if statement["verdict"] == "fail"
    ]


def rates(document):
    return {
        statement["label"]: Fraction(statement["measured"]["value"])
        for statement in document["statements"]
        if "bit_rate" in statement["text"]
    }


def test_a_policer_of_the_contract_passes(activated):
    document = activated("policer")
    assert (document["verdict"], failed(document)) == ("pass", [])
    steps = [phase["name"] for phase in document["phases"]]
    committed = ["cir_25", "cir_50", "cir_75", "cir_100"]
    assert steps == [*committed, "excess", "policed", "performance"]


def test_frames_that_are_filled_up_are_counted_alike(activated):
    """CIR and, in 200 ms, 50 kB are 22 Mbit/s; 46 B of 64 B counted would pass 30 Mbit/s."""
    base = BASE.replace("500 ms", "200 ms").replace("= 1 s", "= 200 ms")
    document = activated("policer", base=base, sent="rate = load, size = 64 B @frame")
    assert (document["verdict"], failed(document)) == ("pass", [])
    (table,) = build_grids([document], 110, 40)
    assert float(table.columns[2].cells[5]) == pytest.approx(22, rel=1e-3)


def test_each_step_reports_the_four_performance_attributes(activated):
    """A row for each step; at CIR, 20 Mbit/s of frames pass."""
    document = activated("policer")
    (table,) = build_grids([document], 110, 40)
    assert [column.head for column in table.columns] == [
        "at", "verdict", "information_rate", "frame_loss_ratio", "transfer_delay",
        "delay_variation",
    ]  # fmt: skip
    steps = ["cir_25", "cir_50", "cir_75", "cir_100", "excess", "policed", "performance"]
    assert table.columns[0].cells == steps
    assert float(table.columns[2].cells[3]) == pytest.approx(20, rel=1e-3)


def test_each_step_sends_its_share_of_the_contract(activated):
    """25, 50, 75 and 100 % of CIR, CIR and EIR, and CIR and 125 % of EIR. Source: Y.1564, 8."""
    document = activated("queue", eir="eir = 8 Mbit/s @frame,")
    (table,) = build_grids([document], 110, 40)
    rates = [float(cell) for cell in table.columns[2].cells]
    assert rates == pytest.approx([5, 10, 15, 20, 28, 30, 20], rel=1e-3)


@pytest.mark.parametrize(
    ("device", "bursts", "verdict"),
    [("generous policer", "100 kB", "fail"), ("policer", "55 kB", "pass")],
)
def test_a_policer_may_pass_its_bursts_once_and_no_more(activated, device, bursts, verdict):
    """In 500 ms CIR and 150 kB are 22.4 Mbit/s, and 50 kB 20.8, in frames a little more.

    With 100 kB 21.6 may pass, with 55 kB 20.9, where twice 100 kB would be 23.2 and half of 55 kB
    20.5.
    """
    document = activated(device, base=BASE.replace("100 kB", bursts))
    failed_step = ["policed_to_limit[policed.user]"] if verdict == "fail" else []
    assert (document["verdict"], failed(document)) == (verdict, failed_step)


def test_without_a_policer_too_much_passes(activated):
    """CIR + EIR and a quarter more arrive, 25 Mbit/s. Source: the policing step."""
    document = activated("queue")
    assert failed(document) == ["policed_to_limit[policed.user]"]
    assert rates(document)["policed_to_limit[policed.user]"] == pytest.approx(25_000_000, rel=1e-3)
    (why,) = document["why"]
    assert why.startswith("no packet was discarded: ")
    assert "dut.queue (0 overflow)" in why


@pytest.mark.slow
def test_a_policing_step_that_offers_too_little_is_not_valid(activated):
    """2 MB in 500 ms are 32 Mbit/s, more than the 5 Mbit/s above CIR: all devices would pass."""
    base = BASE.replace("100 kB", "2 MB")
    for device in ("queue", "policer"):
        document = activated(device, base=base)
        assert document["verdict"] == "inconclusive"
        (invalid,) = (
            statement for statement in document["statements"] if statement["kind"] == "require"
        )
        assert invalid["label"] == "step_time_is_long_enough[policed.user]"
        assert invalid["verdict"] == "inconclusive"


@pytest.mark.parametrize("step_ms", [50, 100, 500])
def test_a_policer_passes_however_short_the_steps_are(activated, step_ms):
    """A step of 50 ms has 245 frames at CIR, so one is more than `precision`."""
    base = BASE.replace("500 ms", f"{step_ms} ms").replace("100 kB", "15 kB")
    document = activated("tight policer", base=base)
    assert (document["verdict"], failed(document)) == ("pass", [])


def test_a_device_that_forwards_nothing_fails_each_step(activated):
    document = activated("hole")
    assert document["verdict"] == "fail"
    assert {"arrives[excess.user]", "arrives[policed.user]"} <= {*failed(document)}


@pytest.mark.parametrize(("mbit_per_s", "passing"), [(18, 3), (14, 2), (9, 1), (4, 0)])
def test_a_line_below_the_committed_rate_fails_where_it_is_reached(activated, mbit_per_s, passing):
    """The steps send 5, 10, 15 and 20 Mbit/s of frames, and 3.9 % more with preamble and gap."""
    document = activated("queue", out=f"media.ethernet {{ rate = {mbit_per_s} Mbit/s @line }}")
    points = {label.partition("[")[2].partition(".")[0] for label in failed(document)}
    steps = ["cir_25", "cir_50", "cir_75", "cir_100"]
    assert points >= {*steps[passing:], "performance", "excess", "policed"}
    assert not points & {*steps[:passing]}


def test_the_policing_step_depends_on_the_excess_rate(activated):
    """CIR + 125 % of EIR; below a fifth of CIR, 125 % of CIR + EIR."""
    large = activated("queue", eir="eir = 8 Mbit/s @frame,")
    assert max(rates(large).values()) == pytest.approx(30_000_000, rel=1e-3)
    small = activated("queue", eir="eir = 2 Mbit/s @frame,")
    assert max(rates(small).values()) == pytest.approx(27_000_000, rel=1e-3)


@pytest.mark.slow
def test_only_the_service_is_judged_and_not_what_is_sent_beside_it(activated):
    """At 1 Mbit/s, less than CIR, or at 40 Mbit/s, more than CIR and EIR."""
    for rate in (1, 40):
        slow = f"flow other = packets {{ rate = {rate} Mbit/s @frame, size = 512 B @frame }}"
        document = activated("queue", criteria=f"{slow} from a to b")
        assert failed(document) == ["policed_to_limit[policed.user]"]
        assert document["phases"][0]["flows"] == ["user", "other"]
        assert not any("other" in statement["text"] for statement in document["statements"])


SHORTEST = "a performance test of less than 15 min, the shortest of 15 min, 2 h and 24 h"


@pytest.mark.parametrize(
    ("times", "added"),
    [
        ("", []),
        (", step_time = 10 s", ["steps of less than 60 s"]),
        (", performance_time = 1 min", [SHORTEST]),
    ],
)  # fmt: skip
def test_short_times_are_deviations(planned, tmp_path, times, added):
    asked = "cir = 1 Mbit/s @frame, bursts = 9 kB @frame, loss = 0, delay = 1 ms, variation = 1 ms"
    planned(f"""
import std.procedures.y1564
topology cable {{
  a, b = host
  link a -- b via media.fast_ethernet
}}
test t = y1564.activation({asked}{times}) on cable {{
  flow user = packets {{ {SENT} }} from a to b
}}
""")
    (test,) = check([tmp_path / "a.qos"], discover(), Problems()).suite.tests
    assert [what for what, _ in test.deviations][4:] == added
