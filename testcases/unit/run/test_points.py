"""Operating points as they run: after searches, repeated, judged as any measurement is."""

from fractions import Fraction

import numpy as np
import pytest

from qospec.plan.plan import Bounds, CasePlan
from qospec.record.schema import CASE, list_violations
from qospec.run.phased import PhasedRun
from qospec.run.runner import run_alone
from qospec.run.schedule import Schedule
from qospec.run.workshop import Order, Workshop

TEXT = """
device narrow {
  port west, east: cell
  q = fifo { limit = 4 cell }
  west.rx -> q -> east.tx
  east.rx -> west.tx
}
topology bench {
  a, b = host
  dut = narrow
  link a -- dut.west via media.stm1
  link dut.east -- b via media.e3
}
test t on bench {
  search rate in 1_000 cell/s .. 300_000 cell/s {
    goal ndr { loss = LOSS, width = 5% }
    trial = 5 ms, total = 5 ms
  }
  search pace in 20_000 cell/s .. 80_000 cell/s step 20_000 cell/s {
    goal loss_free { loss = 0 }
    rate = ndr.rate, method = step, trial = 5 ms
  }
  point busy { rate = ndr.rate, measure = 20 ms, repeat = 3 }
  point half { rate = ndr.rate / 2, measure = 10 ms }
  flow f = ubr { pcr = rate, source = SOURCE } from a to b
  flow g = ubr { pcr = pace } from b to a
  run { REPEAT }
  require offered: f.sent > 0
  expect served: busy.f.lost == 0
  expect shorter: half.f.delay.mean <= busy.f.delay.mean
  expect often: busy.f.delay.max < 1 ms
  report mean: busy.f.delay.mean
  report ratio: busy.f.throughput / ndr.rate
  report course: half.f.received every 5 ms
}
"""


def phased(planned, problems, repeat=1, **changes) -> CasePlan:
    text = TEXT.replace("REPEAT", f"repeat = {repeat}")
    usual = {"LOSS": "0", "SOURCE": "poisson { rate = rate }"}
    for name, value in {**usual, **changes}.items():
        text = text.replace(name, value)
    plans = planned(text)
    assert not problems.errors
    (plan,) = plans
    return plan


def document(plan: CasePlan):
    case = run_alone(plan, Bounds(), lambda: None)
    assert not list(list_violations(case, CASE))
    return case


def statements(case):
    return {statement["label"]: statement for statement in case["statements"]}


def test_points_follow_searches_and_have_metrics_of_their_own(planned, problems) -> None:
    case = document(phased(planned, problems, LOSS="2%"))
    assert [(phase["name"], phase["kind"]) for phase in case["phases"]] == [
        ("rate", "search"),
        ("pace", "search"),
        ("busy", "point"),
        ("half", "point"),
    ]
    *_, busy, half = case["phases"]
    assert (busy["repeats"], busy["measure"]["text"], busy["flows"]) == (3, "20 ms", ["f"])
    assert (half["repeats"], half["ran"], half["note"]) == (1, True, "")
    assert [sorted(repeat) for repeat in case["repeats"]] == [
        ["busy.f", "half.f"],
        ["busy.f"],
        ["busy.f"],
    ]
    assert case["metrics"] == case["repeats"][0]
    (ndr,) = case["phases"][0]["goals"]
    sent = int(case["metrics"]["half.f"]["sent"]["value"])
    mean = float(Fraction(ndr["lower"]["value"]) / 2 / 100)
    assert sent == pytest.approx(mean, abs=4 * mean**0.5), "the count of a Poisson process"


def test_a_statement_is_judged_in_each_trial_of_its_point(planned, problems) -> None:
    case = document(phased(planned, problems, LOSS="2%"))
    judged = statements(case)
    assert judged["served"]["verdict"] in {"pass", "fail"}
    assert judged["shorter"]["verdict"] == "pass"
    assert judged["mean"]["interval"]["repeats"] == 3
    assert judged["course"]["series"]["values"].count(" ") == 1
    lost = [Fraction(repeat["busy.f"]["lost"]["value"]) for repeat in case["repeats"]]
    assert judged["served"]["verdict"] == ("fail" if any(lost) else "pass")
    assert {loss["flow"] for loss in case["losses"]} <= {"busy.f", "half.f"}
    assert [loss["repeat"] for loss in case["losses"] if loss["flow"] == "busy.f"] == [
        number for number, cells in enumerate(lost, 1) if cells
    ]


@pytest.mark.slow
def test_repeats_of_a_case_repeat_its_points_too(planned, problems) -> None:
    case = document(phased(planned, problems, repeat=2))
    assert [(phase["name"], phase["repeat"]) for phase in case["phases"][4:]] == [
        ("rate", 2),
        ("pace", 2),
        ("busy", 2),
        ("half", 2),
    ]
    assert len(case["repeats"]) == 6
    assert statements(case)["mean"]["interval"]["repeats"] == 2, "a load was found twice"
    means = [repeat["busy.f"]["transfer_delay.mean"]["value"] for repeat in case["repeats"]]
    assert len(set(means)) == 6


@pytest.mark.slow
def test_trials_at_a_load_that_was_found_count_as_one(planned, problems) -> None:
    judged = [
        "expect sure: busy.f.delay.mean < 1 ms with 95% confidence",
        "expect kept: steady.f.throughput >= 1% of ndr.rate with 95% confidence",
        "expect alone: steady.f.delay.mean < 1 ms with 95% confidence",
        "expect served: busy.f.lost >= 0",
    ]
    steady = "  point steady { rate = 20_000 cell/s, measure = 5 ms, repeat = 5 }\n"
    text = {
        "expect served: busy.f.lost == 0": "\n  ".join(judged),
        "  flow f =": steady + "  flow f =",
    }
    case = document(phased(planned, problems, repeat=5, **text))
    found = statements(case)
    assert [found[name]["interval"]["repeats"] for name in ("sure", "kept", "alone")] == [5, 5, 25]
    busy = [repeat["busy.f"] for repeat in case["repeats"] if "busy.f" in repeat]
    means = [Fraction(metrics["transfer_delay.mean"]["value"]) for metrics in busy]
    whole = Fraction(found["sure"]["measured"]["value"])
    assert float(whole) == pytest.approx(float(sum(means) / len(means)))


def test_a_point_that_depends_on_a_missing_bound_is_not_run(planned, problems) -> None:
    text = {"SOURCE": "constant { rate = rate }", "1_000 cell/s ..": "200_000 cell/s .."}
    case = document(phased(planned, problems, **text))
    rate, pace, busy, half = case["phases"]
    assert rate["goals"][0]["lower"] is None
    assert (busy["ran"], busy["repeats"], half["ran"]) == (False, 0, False)
    assert "`ndr` has no lower bound" in busy["note"]
    assert pace["trials"] == [] or pace["goals"][0]["notes"]
    judged = statements(case)
    assert {judged[name]["verdict"] for name in ("served", "shorter", "often")} == {"inconclusive"}
    assert judged["mean"]["measured"] is None
    assert case["verdict"] == "inconclusive"
    assert any("the point `busy` was not run" in why for why in case["why"])


def test_a_point_whose_first_trial_is_invalid_has_not_shown_what_all_three_would(
    planned, problems
) -> None:
    """Trials of searches send 1,500 cells at most, on average, and those of the point more."""
    text = {"measure = 20 ms": "measure = 60 ms", "f.sent > 0": "f.sent < 2_000 cell"}
    case = document(phased(planned, problems, **text))
    assert [phase["name"] for phase in case["phases"]] == ["rate", "pace", "busy"]
    often = statements(case)["often"]
    assert (often["verdict"], often["note"]) == ("inconclusive", "1 of 3 repeats were run")


def test_where_nothing_is_drawn_a_point_runs_once(planned, problems) -> None:
    plan = phased(planned, problems, SOURCE="constant { rate = rate }, phases = even")
    schedule, names = Schedule([PhasedRun(plan)]), []
    while (job := schedule.hand_out_job()) is not None:
        names.append(job.name)
        schedule.take(job, Workshop(Order(), [plan]).do(job.name, lambda _: None))
    (ended,) = schedule.take_ended()
    case = ended.result.document
    assert sum(name.phase == 2 for name in names) == 1
    assert case["repeats"][0]["busy.f"] == case["repeats"][2]["busy.f"]
    assert case["phases"][2]["repeats"] == 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_trials_gives_the_same_points(planned, problems, seed) -> None:
    expected = document(phased(planned, problems, repeat=2))
    choose = np.random.default_rng(seed)
    plan = phased(planned, problems, repeat=2)
    schedule = Schedule([PhasedRun(plan)])
    running, ended = [], []
    while not ended:
        while len(running) < 5:
            job = schedule.hand_out_job() or schedule.hand_out_job(ahead=True)
            if job is None:
                break
            running.append(job)
        job = running.pop(int(choose.integers(len(running))))
        schedule.take(job, Workshop(Order(), [plan]).do(job.name, lambda _: None))
        ended = list(schedule.take_ended())
    assert ended[0].result.document == expected


def test_a_point_above_the_first_line_by_a_load_that_was_found_is_not_run(
    planned, problems
) -> None:
    changes = {"LOSS": "0", "half { rate = ndr.rate / 2": "half { rate = 7 * ndr.rate"}
    source = "constant { rate = rate }, phases = even"
    case = document(phased(planned, problems, **changes, SOURCE=source))
    half = case["phases"][3]
    assert half["ran"] is False
    assert half["note"].startswith(
        "the load of `half` is more than the first link can carry (`f`: "
    )
    assert "carries 149.76 Mbit/s @cell" in half["note"]
    assert case["verdict"] == "inconclusive"
    assert not case["errors"]


def test_a_search_above_the_first_line_by_a_load_that_was_found_is_not_run(
    planned, problems
) -> None:
    """At 1_000 cell/s, which the earlier search could find, it would fit."""
    changes = {"LOSS": "0", "rate = ndr.rate, method": "rate = 7 * ndr.rate, method"}
    source = "constant { rate = rate }, phases = even"
    case = document(phased(planned, problems, **changes, SOURCE=source))
    pace = case["phases"][1]
    note = "the load of `pace` is more than the first link can carry (`f`: "
    assert pace["goals"][0]["notes"][0].startswith(f"not searched: {note}")
    assert "carries 149.76 Mbit/s @cell" in pace["goals"][0]["notes"][0]
    assert pace["trials"] == []
    assert [phase["name"] for phase in case["phases"]] == ["rate", "pace", "busy", "half"]
    assert not case["errors"]


def test_a_point_says_how_many_of_how_many_were_lost(planned, problems) -> None:
    changes = {"busy { rate = ndr.rate": "busy { rate = 1.5 * ndr.rate", "LOSS": "0"}
    source = "constant { rate = rate }, phases = even"
    case = document(phased(planned, problems, **changes, SOURCE=source))
    busy, half = case["phases"][2:]
    seen = [repeat["busy.f"] for repeat in case["repeats"]]
    lost, sent = (sum(int(metrics[of]["value"]) for metrics in seen) for of in ("lost", "sent"))
    assert lost > 0
    assert busy["note"] == f"{lost:_} of {sent:_} cells were lost in 3 trials"
    assert half["note"] == ""


@pytest.mark.parametrize(
    ("criterion", "verdict", "named"),
    [
        ("ndr.rate >= 290_000 cell/s", "fail", "ndr"),
        ("loss_free.pace >= 90_000 cell/s", "inconclusive", "loss_free"),
    ],
)
def test_reasons_name_the_goals_of_criteria_that_do_not_hold(
    planned, problems, criterion, verdict, named
) -> None:
    expected = f"expect high: {criterion}\n  report mean"
    source = "constant { rate = rate }, phases = even"
    case = document(phased(planned, problems, **{"report mean": expected}, SOURCE=source))
    assert statements(case)["high"]["verdict"] == verdict
    whys = [reason for reason in case["why"] if "upper bound" in reason]
    assert [why.split("`")[1] for why in whys] == [named]


def test_reasons_of_what_is_measured_at_a_point_name_no_later_goals(planned, problems) -> None:
    later = "search n in 1 .. 4 { goal burst { loss = 0 }\n rate = 300_000 cell/s, trial = n * 1 ms"
    changes = {
        "flow f =": f"{later}\n method = binary }}\n  flow f =",
        "report mean": "expect quick: half.f.delay.max < 1 us\n  report mean",
    }
    source = "constant { rate = rate }, phases = even"
    case = document(phased(planned, problems, **changes, SOURCE=source))
    assert case["phases"][4]["goals"][0]["upper"] is not None
    assert statements(case)["quick"]["verdict"] == "fail"
    whys = [reason for reason in case["why"] if "upper bound" in reason]
    assert [why.split("`")[1] for why in whys] == ["ndr"]


def test_a_case_that_only_searches_is_measured(planned, problems) -> None:
    none = {"require offered: f.sent > 0\n": "\n"}
    kept = [line for line in TEXT.splitlines() if line.startswith(("  expect", "  report"))]
    none.update(dict.fromkeys((f"{text}\n" for text in kept), "\n"))
    case = document(phased(planned, problems, **none))
    assert (case["verdict"], case["statements"]) == ("measured", [])


def test_a_point_measures_at_places_inside_the_network_too(planned, problems) -> None:
    """E3 carries 80,000 cells/s of the 300,000; all that is sent comes to the device."""
    asked = [
        "expect enters: half.f.items.at(dut.west.rx) > 500 cell",
        "expect leaves: half.f.items.at(dut.east.tx) < 50% of half.f.items.at(dut.west.rx)",
        "expect elsewhere: half.f.items.at(dut.west.tx) == 0 cell",
    ]
    text = {
        "half { rate = ndr.rate / 2": "half { rate = 250_000 cell/s",
        "expect served: busy.f.lost == 0": "\n  ".join(asked),
    }
    found = statements(document(phased(planned, problems, **text)))
    verdicts = [found[name]["verdict"] for name in ("enters", "leaves", "elsewhere")]
    assert verdicts == ["pass", "pass", "pass"]


SERVED = """
device served {
  port west, east: packet
  core = processor { per_packet = 100 us, limit = 10 pkt }
  west.rx -> core -> east.tx
  east.rx -> discard
}
topology bench {
  a, b = host
  dut = served
  link a -- dut.west via media.fast_ethernet
  link dut.east -- b via media.fast_ethernet
}
test t on bench {
  point half { load = 5_000 pkt/s, measure = 20 ms }
  point tenth { load = 1_000 pkt/s, measure = 20 ms }
  flow f = packets { rate = load, size = 64 B @frame, phases = even } from a to b
  expect half.dut.core.utilisation within 0.5% of half.f.received / (1 pkt) * 100 us / (20 ms)
  expect tenth.dut.core.utilisation within 0.1% of half.dut.core.utilisation / 5
  expect half.dut.core.occupancy.max < 2 pkt and half.dut.core.lost == 0 pkt
  expect half.dut.east.tx.items == 5 * tenth.dut.east.tx.items
  expect half.f.throughput.at(half.dut.east.tx) > 4_900 pkt/s
  report half.dut.east.tx.bit_rate.ip
}
"""


def test_what_is_observed_of_the_topology_is_asked_of_a_point(planned, problems) -> None:
    """46 bytes of IP and 18 around them in a frame of 64: 5,000 packets/s are 1.84 Mbit/s."""
    plans = planned(SERVED)
    assert not problems.all
    (plan,) = plans
    found = document(plan)
    assert [statement["verdict"] for statement in found["statements"]] == ["pass"] * 5 + [""]
    assert found["statements"][-1]["measured"]["value"] == str(5_000 * 46 * 8)


def test_a_place_at_one_point_is_none_of_another(planned, problems) -> None:
    planned(SERVED.replace("at(half.dut.east.tx)", "at(tenth.dut.east.tx)"))
    (mistake,) = problems.errors
    assert (mistake.code, mistake.message) == ("E0502", "`half.f` is not measured at `tenth`")
