"""What is compiled ahead of runs: one case of each kind; and what runs without being compiled."""

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from digests import SUITES, digest, stored

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.engine import kernel
from qospec.engine.graph import emulation
from qospec.plan.plan import Bounds, plan
from qospec.run import estimate, warming, workshop
from qospec.run.runner import run_alone
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


def test_steps_are_counted_of_all_trials_of_a_case(planned) -> None:
    repeated, _, _, other, _ = planned(TEXT)
    assert estimate.count_steps(other) == other.cells * (1 + len(nodes_of(other)))
    assert estimate.count_steps(repeated) == 5 * repeated.cells * (1 + len(nodes_of(repeated)))
    run = replace(other.case.run, payload=True)
    with_bytes = replace(other, case=replace(other.case, run=run))
    assert estimate.count_steps(with_bytes) == math.inf


def nodes_of(plan):
    return plan.networks[""].experiment.nodes


@contextmanager
def interpret(_steps: float) -> Iterator[None]:
    """Run kernels as Python inside, though they may have been compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "_spares", True)
        yield


POLICED = """
test policed on star {
  flow one = steady(rate = 60_000 cell/s) from a to c
  flow two = random(rate = 50_000 cell/s) from b to c
  run { measure = 2 ms, overload = true }
  report one.received
  report one.delay.p99
  report two.cell_loss_ratio
  report two.delay.std
}
"""


def test_a_network_gives_the_same_as_python_and_compiled(planned, star, monkeypatch) -> None:
    monkeypatch.setattr(workshop, "spare_compiler", lambda _: nullcontext())
    (case,) = planned(star + POLICED)
    assert estimate.count_steps(case) <= kernel.FEW_STEPS
    compiled = run_alone(case, Bounds(), lambda: None)
    monkeypatch.setattr(workshop, "spare_compiler", interpret)
    (case,) = planned(star + POLICED)
    assert run_alone(case, Bounds(), lambda: None) == compiled
    assert not compiled["errors"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "file", ["comparison/cell_lines.qos", "lancom/codecs.qos", "packets/time_sensitive.qos"]
)
def test_what_runs_as_python_gives_the_same_to_the_bit(file: str, monkeypatch) -> None:
    """Of cases that are as small; of all elements, `properties` compare both."""
    monkeypatch.setattr(workshop, "spare_compiler", interpret)
    known, compared = stored()[file], 0
    checked = check([Path(SUITES) / file], discover(), Problems())
    for planned in plan(checked, "0", Bounds(), Problems()):
        if estimate.count_steps(planned) <= kernel.FEW_STEPS:
            document = run_alone(planned, Bounds(), lambda: None)
            assert digest(document) == known[planned.case.name], planned.case.name
            compared += 1
    assert compared
