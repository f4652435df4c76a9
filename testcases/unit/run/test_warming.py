"""What is compiled ahead of runs: one case of each kind, and no more of it than is needed."""

import pytest

from qospec.engine.graph import emulation
from qospec.run import warming
from qospec.run.workshop import Order
from qospec.units import PS_PER_S

TEXT = """
topology wire {
  a, b = host
  link a -- b via media.stm1
}
test one on wire {
  sweep rate in [10_000 cell/s, 20_000 cell/s, 30_000 cell/s]
  flow f = cbr { pcr = rate, cdvt = 1 ms } from a to b
  run { warmup = 1 s, measure = 1_000 s, repeat = 5 }
  expect rare: f.cell_loss_ratio < 1% with 95% confidence
}
test other on wire {
  flow f = ubr { pcr = 10_000 cell/s, connections = 2, phases = even } from a to b
  run { measure = 1 ms }
  expect f.lost == 0
}
test skipped on wire {
  skip unless 1 == 2 "it is not asked for"
  flow f = ubr { pcr = 10_000 cell/s, connections = 2, phases = even } from a to b
  run { measure = 1 ms }
  expect f.lost == 0
}
"""


def jobs(plans):
    """Return the jobs of plans, and where they are done."""
    workshop = warming.WarmingWorkshop(Order(), plans)
    return warming.select_distinct_jobs(plans, workshop), workshop


def test_of_cases_that_differ_in_numbers_only_one_is_run(planned) -> None:
    plans = planned(TEXT)
    assert len(plans) == 5
    names = [name.case for name in jobs(plans)[0]]
    assert names == ["one:rate=10_000cell_per_s", "other"]


def test_a_time_series_has_kernels_of_its_own(planned) -> None:
    asked = "report f.sent every 1 s when rate > 10_000 cell/s"
    plans = planned(TEXT.replace("  expect rare", f"  {asked}\n  expect rare"))
    names = [name.case for name in jobs(plans)[0]]
    assert names == ["one:rate=10_000cell_per_s", "one:rate=20_000cell_per_s", "other"]


def test_what_is_run_is_short_and_nothing_of_it_goes_wrong(
    planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    whole = emulation.run
    monkeypatch.setattr(
        emulation,
        "run",
        lambda experiment, **more: seen.append(experiment) or whole(experiment, **more),
    )
    results = list(warming.warm_all(*jobs(planned(TEXT)), 1))
    assert [result.document["name"] for result in results] == ["one:rate=10_000cell_per_s", "other"]
    first, second = (experiment.measurement for experiment in seen)
    assert (first.start_ps, first.stop_ps) == (PS_PER_S // 10, PS_PER_S // 5)
    assert (second.start_ps, second.stop_ps) == (0, PS_PER_S // 1_000)


PHASES = """
topology wire {
  a, b = host
  link a -- b via media.stm1
}
test knee on wire {
  search rate in 1_000 cell/s .. 300_000 cell/s {
    goal ndr { loss = 0 }
  }
  point there { rate = ndr.rate, measure = 60 s }
  flow f = ubr { pcr = rate } from a to b
  report [ndr.rate, there.f.delay.p99]
}
"""


def test_a_trial_of_each_phase_is_run_shortly(planned) -> None:
    (plan,) = planned(PHASES)
    names, workshop = jobs([plan])
    measured_ps = [workshop.plan(name).case.run.measure_ps for name in names]
    assert measured_ps == [PS_PER_S, 60 * PS_PER_S]
    assert len(list(warming.warm_all(names, workshop, 1))) == 2
