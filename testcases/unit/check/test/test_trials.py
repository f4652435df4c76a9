"""The cases of the trials of a search are ordinary ones, made of the test again and again."""

import pickle
from fractions import Fraction

import pytest

from qospec.model.suite import Case
from qospec.plan.plan import Bounds, CasePlan, plan_trial

KNEE = """
topology bench {
  a, b = host
  link a -- b via media.stm1
}
traffic load(rate: CellRate) = ubr { pcr = rate }
test knee on bench {
  sweep share in [50%, 100%]
  search rate in share * 1_000 cell/s .. share * 100_000 cell/s {
    goal ndr { loss = 0 }
    goal pdr { loss = 0.5%, trial = 2 s }
  }
  let half = rate / 2
  flow user = load(rate = half) from a to b
  run { warmup = 100 ms, repeat = 3 }
  require offered: user.sent within 1% of user.planned
  expect high: ndr.rate >= 80% * 100_000 cell/s
  report pdr.rate
}
"""


@pytest.fixture
def whole(planned) -> CasePlan:
    """Return the first of two cases with a search."""
    return planned(KNEE)[0]


def made(whole: CasePlan, load: int, trial_ps: int | None = None) -> Case:
    """Return the case of one trial."""
    assert whole.case.at is not None
    case = whole.case.at(whole.case.phases[0], Fraction(load), {}, trial_ps)
    assert isinstance(case, Case), case
    return case


def test_a_trial_sends_the_load_and_no_other(whole) -> None:
    for load in (500, 7_001, 50_000):
        (flow,) = made(whole, load).flows
        assert flow.traffic.contract().peak_cell_rate == Fraction(load, 2)


def test_a_trial_is_as_long_as_its_goal_says_and_is_not_repeated(whole) -> None:
    run = made(whole, 500).run
    assert (run.warmup_ps, run.measure_ps, run.repeat) == (10**11, 10**12, 1)
    assert made(whole, 500, 2 * 10**12).run.measure_ps == 2 * 10**12


def test_a_trial_judges_what_is_required_and_has_no_phases(whole) -> None:
    case = made(whole, 500)
    assert [each.label for each in case.statements] == ["offered"]
    assert (case.name, case.phases, case.at) == ("knee:share=50%", (), None)


def test_a_trial_is_planned_like_any_case(whole) -> None:
    found = plan_trial(whole, whole.case.phases[0], made(whole, 500), Bounds())
    assert isinstance(found, CasePlan)
    assert found.cells == 275
    assert found.networks[""].experiment.seed == whole.networks[""].experiment.seed


def test_a_trial_beyond_the_limit_is_an_error_at_the_phase(whole) -> None:
    phase = whole.case.phases[0]
    (error,) = plan_trial(whole, phase, made(whole, 50_000), Bounds(most_items=1_000))
    assert error.code == "E0609"
    assert error.span == phase.span


def test_the_network_is_made_once(whole) -> None:
    assert made(whole, 500).networks[""] is whole.case.networks[""]


def test_a_case_forgets_how_it_is_made_when_it_is_sent(whole) -> None:
    sent = pickle.loads(pickle.dumps(whole.case))  # noqa: S301 -- our own bytes
    assert sent.at is None
    assert sent.phases == whole.case.phases
