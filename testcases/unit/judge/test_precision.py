"""Verdicts on times that are precise only to some extent: by hand, of a flow without a queue."""

import pytest

from qospec.backends.emulate import Emulate
from qospec.catalogue.kinds import discover
from qospec.dataclass import dataclass
from qospec.model.expression import Measured
from qospec.record.outcome import describe_case
from qospec.run import trial
from qospec.run.rejudging import RecordedReadings
from qospec.units import PACKETS, TIME

BENCH = """
topology bench {
  a, b = host
  link a -- b via media.ethernet
}
test t on bench {
  flow f = packets { rate = 100 pkt/s, size = 1_000 B @ip } from a to b
"""
"""A frame takes 1,018 B of 0.8 us, after its preamble: 814.4 us for each packet."""


@dataclass(frozen=True)
class Imprecise(Emulate):
    """A back end whose times are off by so much at most."""

    precision_us: int = 0

    def carry_out(self, experiment, on_progress):
        seen = super().carry_out(experiment, on_progress)
        return seen._replace(precision_ps=self.precision_us * 10**6)


def judged(planned, statement: str, precision_us: int, run: str = "measure = 50 ms") -> dict:
    """Return what becomes of a statement."""
    (found,) = told(planned, statement, precision_us, run)["statements"]
    return found


def told(planned, statement: str, precision_us: int, run: str = "measure = 50 ms") -> dict:
    """Return what becomes of a case."""
    (case,) = planned(f"{BENCH}  run {{ {run} }}\n  {statement}\n}}\n")
    backend = Imprecise(precision_us)
    done = trial.run(case, discover(), lambda _: None, backend=backend)
    return describe_case(case, done)


def test_what_is_proved_is_not_compared_with_a_time_that_is_not_precise(planned):
    (bound, *_) = told(planned, "report f.delay.max", 0)["bounds"]
    assert (bound["what"], bound["share"]["text"]) == ("delay of f", "100 %")
    assert not told(planned, "report f.delay.max", 20).get("bounds")


@pytest.mark.parametrize(
    ("condition", "precision_us", "verdict"),
    [
        ("f.delay.max < 900 us", 0, "pass"),
        ("f.delay.max < 900 us", 85, "pass"),
        ("f.delay.max < 900 us", 86, "inconclusive"),
        ("f.delay.max < 700 us", 114, "fail"),
        ("f.delay.max < 700 us", 115, "inconclusive"),
        ("f.delay.p50 > 800 us", 14, "pass"),
        ("f.delay.p50 > 800 us", 15, "inconclusive"),
        # Of differences both ends are off, and of those between statistics each is.
        ("f.jitter.max < 100 us", 49, "pass"),
        ("f.jitter.max < 100 us", 50, "inconclusive"),
        ("f.delay.max - f.delay.min < 100 us", 50, "inconclusive"),
        ("f.delay.above(900 us) == 0 %", 85, "pass"),
        ("f.delay.above(900 us) == 0 %", 86, "inconclusive"),
        ("f.delay.above(700 us) > 99 %", 115, "inconclusive"),
        # 5 packets in 50 ms, of which an edge is off by 2 % at 500 us.
        ("f.throughput within 5 % of 100 pkt/s", 500, "pass"),
        ("f.throughput within 1 % of 100 pkt/s", 500, "inconclusive"),
        # No time decides about these.
        ("f.lost == 0 pkt", 10_000, "pass"),
        ("f.delay.max < 900 us and f.lost == 1 pkt", 86, "fail"),
    ],
)
def test_a_criterion_within_the_precision_is_inconclusive(
    planned, condition, precision_us, verdict
):
    found = judged(planned, f"expect {condition}", precision_us)
    assert found["verdict"] == verdict
    note = f"times are precise to {precision_us} us on this machine, by which"
    assert (note in found["note"]) == (verdict == "inconclusive")


def test_a_value_is_shown_with_what_it_may_be(planned):
    found = judged(planned, "report f.delay.max", 20)
    limits = found["measured_limits"]
    assert [limits[end]["text"] for end in ("lower", "upper")] == ["794.4 us", "834.4 us"]
    assert "measured_limits" not in judged(planned, "report f.delay.max", 0)


def test_what_passes_a_place_inside_is_exact_where_times_are(planned):
    box = "device box {\n  port w, e: packet\n  w.rx -> e.tx\n  e.rx -> w.tx\n}\n"
    text = BENCH.replace(
        "link a -- b", "x = box\n  link a -- x.w via media.ethernet\n  link x.e -- b"
    )
    asked = "  run { measure = 50 ms }\n  expect x.e.tx.bit_rate.line > 1 kbit/s @line\n}\n"
    (case,) = planned(f"{box}{text}{asked}")
    done = trial.run(case, discover(), lambda _: None)
    (found,) = describe_case(case, done)["statements"]
    assert found["verdict"] == "pass"


@pytest.mark.parametrize(
    ("precision_us", "note"),
    [(85, "the repeats do not differ"), (86, "times are precise to 86 us on this machine")],
)
def test_more_repeats_do_not_make_times_more_precise(planned, precision_us, note):
    statement = "expect f.delay.mean < 900 us with 95 % confidence"
    found = judged(planned, statement, precision_us, run="measure = 20 ms, repeat = 5")
    assert found["verdict"] == "inconclusive"
    assert found["note"].startswith(note)


def test_what_a_record_holds_of_imprecise_times_is_not_judged_again():
    """Else a criterion that was undecided would be decided by another limit."""
    quantity = {"value": "1", "unit": "s", "text": "1 s"}
    metrics = {"f": {"transfer_delay.max": quantity, "lost": quantity | {"unit": "packet"}}}
    fields = {"network": "", "flow": "f", "member": None, "part": "user", "text": ""}
    delay = Measured(**fields, metric="transfer_delay", statistic="max", dimension=TIME)
    lost = Measured(**fields, metric="lost", statistic="", dimension=PACKETS)
    held = {
        exact: RecordedReadings(metrics, {}, exact=exact).holds(delay) for exact in (True, False)
    }
    assert held == {True: True, False: False}
    assert RecordedReadings(metrics, {}, exact=False).holds(lost)
