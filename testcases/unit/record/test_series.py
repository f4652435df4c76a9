"""Time series of reports: they add up to what the whole run counts, and are in the record."""

from fractions import Fraction

import pytest

from qospec.catalogue.kinds import discover
from qospec.plan.plan import Bounds
from qospec.record.outcome import describe_case
from qospec.record.schema import CASE, list_violations
from qospec.run import trial
from qospec.run.runner import run_alone

CELLS = """
device narrow {
  port west, east: cell
  q = fifo { limit = 20 cell }
  west.rx -> q -> east.tx
  east.rx -> discard
}
topology bench {
  a, b = host
  dut = narrow
  link a -- dut.west via media.stm1
  link dut.east -- b via media.e3
}
test t on bench {
  flow f = ubr { pcr = 300_000 cell/s, source = burst { size = 60 cell, every = 2 ms } } from a to b
  run { warmup = 1 ms, measure = 9 ms, repeat = 2 }
"""
PACKETS = """
topology bench {
  a, b = host
  link a -- b via media.fast_ethernet
}
test t on bench {
  flow f = packets { rate = 2_000 pkt/s, size = mix { 64 B @ip: 1, 1_500 B @ip: 2 } } from a to b
  run { measure = 9 ms }
"""


def case(planned, text, *statements):
    (plan,) = planned("\n".join((text, *statements, "}")))
    result = trial.run(plan, discover(), lambda _: None)
    assert result.errors == ()
    return describe_case(plan, result)


def series(planned, text, metric, every="2 ms"):
    """Return a series, and what is reported of the whole first repeat."""
    found = case(planned, text, f"report shown: f.{metric} every {every}")
    kept = found["statements"][0]["series"]
    values = [None if value == "-" else Fraction(value) for value in kept["values"].split()]
    name, _, statistic = metric.partition(".")
    full = {"delay": "transfer_delay"}.get(name, name) + (f".{statistic}" if statistic else "")
    whole = found["metrics"]["f"][full]
    assert kept["unit"] == whole["unit"]
    return values, Fraction(whole["value"])


@pytest.mark.parametrize("metric", ["sent", "received", "lost"])
def test_counts_add_up_to_those_of_the_run(planned, metric):
    values, whole = series(planned, CELLS, metric)
    assert len(values) == 5
    assert sum(value or 0 for value in values) == whole > 0


@pytest.mark.parametrize("metric", ["throughput", "bit_rate.cell", "bit_rate.payload"])
def test_rates_have_the_mean_of_the_run(planned, metric):
    values, whole = series(planned, CELLS, metric)
    assert sum(2 * value for value in values[:4]) + values[4] == 9 * whole > 0
    assert len(set(values)) > 1


@pytest.mark.parametrize("layer", ["line", "frame", "ip", "payload"])
def test_so_do_those_of_packets_of_several_sizes(planned, layer):
    values, whole = series(planned, PACKETS, f"bit_rate.{layer}")
    assert sum(2 * value for value in values[:4]) + values[4] == 9 * whole > 0


def test_the_extremes_of_delays_are_those_of_the_run(planned):
    least, whole = series(planned, CELLS, "delay.min")
    assert min(value for value in least if value is not None) == whole
    largest, whole = series(planned, CELLS, "delay.max")
    assert max(value for value in largest if value is not None) == whole


def test_no_data_is_no_zero(planned):
    values, _ = series(planned, CELLS, "delay.mean", "0.5 ms")
    assert None in values
    assert 0 not in values


def test_arithmetic_applies_to_each_interval(planned):
    found = case(
        planned,
        CELLS,
        "report sent: f.sent every 2 ms",
        "report lost: f.lost every 2 ms",
        "report share: f.lost / f.sent every 2 ms",
    )
    sent, lost, share = (statement["series"]["values"].split() for statement in found["statements"])
    for of, gone, ratio in zip(sent, lost, share, strict=True):
        assert ratio == ("-" if gone == "-" else str(Fraction(int(gone), int(of))))


def test_a_batch_may_end_anywhere(planned, monkeypatch):
    asked = [f"report f.{m} every 0.3 ms" for m in ("sent", "lost", "throughput", "delay.mean")]
    whole = [statement["series"] for statement in case(planned, CELLS, *asked)["statements"]]
    monkeypatch.setenv("QOS_CHUNK", "7")
    assert [
        statement["series"] for statement in case(planned, CELLS, *asked)["statements"]
    ] == whole


def test_only_what_is_requested_is_counted(planned):
    (plan,) = planned(CELLS + "report f.lost\nreport f.sent every 1 ms when 1 > 2\n}\n")
    assert plan.networks[""].experiment.measurement.series == ()
    result = trial.run(plan, discover(), lambda _: None)
    assert all("series" not in statement for statement in describe_case(plan, result)["statements"])


@pytest.mark.parametrize(
    "kind", discover().select_role("metric").values(), ids=lambda kind: kind.name
)
def test_what_a_metric_has_by_intervals_is_one_of_its_statistics(kind):
    offered = {
        statistic for carries in kind.carries for statistic in kind.list_statistics(carries)
    } or {""}
    assert {*kind.build.series} <= offered


RESTARTING = """
device router {
  port west, east: packet
  core = processor { per_packet = 25 us, limit = 64 pkt, restart_time = 2 ms }
  west.rx -> core -> east.tx
  east.rx -> west.tx
}
topology bench {
  a, b = host
  dut = router
  link a -- dut.west via media.fast_ethernet
  link dut.east -- b via media.fast_ethernet
}
test t on bench {
  flow f = packets { rate = LOAD, size = 64 B @frame } from a to b
"""


def test_a_series_says_what_changes_meanwhile(planned):
    text = RESTARTING.replace("LOAD", "9_000 pkt/s") + "run { measure = 9 ms }\n"
    found = case(planned, text, "at 3 ms { restart  =  dut }", "report f.received every 1 ms")
    (change,) = found["statements"][0]["series"]["changes"]
    assert (change["at"]["text"], change["what"]) == ("3 ms", "restart = dut")
    plain = case(planned, text, "report f.received every 1 ms")
    assert "changes" not in plain["statements"][0]["series"]


def test_of_several_points_it_says_what_changes_at_its_own(planned):
    text = (
        RESTARTING.replace("LOAD", "load")
        + """
  point steady { load = 9_000 pkt/s, measure = 9 ms }
  point stepped {
    load = 9_000 pkt/s
    measure = 9 ms
    at 4 ms { load = 2_000 pkt/s, restart = dut }
  }
  report before: steady.f.received every 1 ms
  report after: stepped.f.received every 1 ms
}
"""
    )
    (plan,) = planned(text)
    document = run_alone(plan, Bounds(), lambda: None)
    before, after = (statement["series"] for statement in document["statements"])
    assert "changes" not in before
    assert [change["what"] for change in after["changes"]] == ["load = 2_000 pkt/s, restart = dut"]
    assert not list(list_violations(document, CASE))


TEMPLATES = """
test slower(dut_name: Name, share: Ratio = 50%, full: PacketRate) {
  point stepped {
    load = full
    measure = 9 ms
    at 4 ms { load = share * full, restart = dut_name }
  }
}
test halved(part: Name, more: PacketRate) = slower(dut_name = part, full = 8_000 pkt/s + more) { }
test t = halved(part = dut, more = 1_000 pkt/s) on bench {
  flow f = packets { rate = load, size = 64 B @frame } from a to b
  report stepped.f.received every 1 ms
}
"""


def test_a_change_of_a_template_is_told_in_the_words_of_the_test(planned):
    plans = planned(RESTARTING.partition("test t")[0] + TEMPLATES)
    assert [change.text for change in plans[0].case.phases[0].run.changes] == [
        "load = 50% * (8_000 pkt/s + 1_000 pkt/s), restart = dut"
    ]
