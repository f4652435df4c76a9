"""The cases of the trials of a search are ordinary ones, made of the test again and again."""

import pickle
from fractions import Fraction

import pytest

from qospec.model.suite import Case, GoalResult
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
    assert whole.maker is not None
    case = whole.maker(whole.case.phases[0], Fraction(load), {}, trial_ps)
    assert isinstance(case, Case), case
    return case


def test_a_trial_sends_the_load_and_no_other(whole) -> None:
    for load in (500, 7_001, 50_000):
        (flow,) = made(whole, load).flows
        assert flow.traffic.build_contract().peak_cell_rate == Fraction(load, 2)


def test_a_trial_is_as_long_as_its_goal_says_and_is_not_repeated(whole) -> None:
    run = made(whole, 500).run
    assert (run.warmup_ps, run.measure_ps, run.repeat) == (10**11, 10**12, 1)
    assert made(whole, 500, 2 * 10**12).run.measure_ps == 2 * 10**12


def test_a_trial_judges_what_is_required_and_has_no_phases(whole) -> None:
    case = made(whole, 500)
    assert [statement.label for statement in case.statements] == ["offered"]
    assert (case.name, case.phases) == ("knee:share=50%", ())


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


def test_a_case_is_plain_values_which_can_be_sent(whole) -> None:
    sent = pickle.loads(pickle.dumps(whole.case))  # noqa: S301 -- our own bytes
    assert sent == whole.case


PROCEDURES = """
topology bench {
  a, b = host
  link a -- b via media.fast_ethernet
}
let line = 100 Mbit/s @line
test t on bench {
  let floor = ndr.load / 2
  search load in 1% of line .. line {
    goal ndr { loss = 0 }
  }
  search n in 10 .. 1_000 {
    goal burst { loss = 0 }
    load = line
    method = binary
    trial = n * 6.72 us
  }
  point half { load = floor, measure = 10 ms, repeat = 5 }
  point alone { measure = 1 s }
  for i in 1 .. 2 {
    flow user = packets { rate = load / i, size = 64 B @frame } from a to b
  }
  flow back = packets { rate = 10 pkt/s, size = 64 B @frame } from b to a
  run { warmup = 20 ms }
  require sent: user[1].sent > 0
  require answered: back.sent > 0
  expect half.user[1].delay.max <= 2 * half.user[2].delay.max and half.back.lost == 0
  expect half.user[2].delay.mean < 1 ms
  report alone.back.received every 100 ms
  expect ndr.load > floor
}
"""

FOUND = {"ndr": GoalResult(Fraction(40_000_000), None), "burst": GoalResult(Fraction(7), None)}


@pytest.fixture
def procedures(planned) -> CasePlan:
    """Return a case of two searches and two points."""
    text = PROCEDURES.replace("/ i,", "/ (2 * i),")
    return planned(text)[0]


def sends(case: Case) -> dict[str, Fraction]:
    """Return the packets/s of each flow."""
    return {flow.name: flow.arrivals.compute_mean_rate(1) for flow in case.flows}


def test_a_point_knows_what_was_found_before_it(procedures) -> None:
    _, _, half, _ = procedures.case.phases
    case = procedures.maker(half, None, FOUND)
    rate = Fraction(20_000_000, 84 * 8)
    assert sends(case) == {"user[1]": rate / 2, "user[2]": rate / 4, "back": 10}
    assert case.run == half.run
    assert (half.run.warmup_ps, half.run.measure_ps, half.run.repeat) == (2 * 10**10, 10**10, 5)


def test_a_flow_takes_part_where_all_that_it_uses_has_a_value(procedures) -> None:
    *_, alone = procedures.case.phases
    case = procedures.maker(alone, None, FOUND)
    assert sends(case) == {"back": 10}
    assert [statement.label for statement in case.statements] == ["answered", "alone.back.received"]
    assert [statement.every_ps for statement in case.statements] == [None, 10**11]


def test_a_point_measures_what_is_asked_there_each_once_and_on_its_network(procedures) -> None:
    _, _, half, _ = procedures.case.phases
    case = procedures.maker(half, None, FOUND)
    measured = [statement for statement in case.statements if statement.kind == "report"]
    assert [leaf.label for leaf in measured] == [
        "half.user[1].delay.max",
        "half.user[2].delay.max",
        "half.back.lost",
        "half.user[2].delay.mean",
    ]
    assert {leaf.expression.network for leaf in measured} == {""}


def test_the_length_of_a_trial_may_depend_on_the_load(procedures) -> None:
    _, burst, _, _ = procedures.case.phases
    assert (burst.goals[0].varies, burst.goals[0].trial_ps) == (True, 6_720_000_000)
    for n in (10, 333):
        case = procedures.maker(burst, Fraction(n), FOUND)
        assert case.run.measure_ps == n * 6_720_000


def test_a_bound_that_was_not_found_is_an_error_where_it_is_used(procedures) -> None:
    _, _, half, _ = procedures.case.phases
    error = procedures.maker(half, None, {"ndr": GoalResult(None, Fraction(1))})
    assert (error.code, error.message) == ("E0515", "`ndr` has no lower bound")
    assert error.span.text == "load"
    assert isinstance(procedures.maker(half, None, FOUND), Case)


def test_the_plan_of_a_case_says_what_each_phase_costs(procedures) -> None:
    load, burst, half, alone = procedures.phases
    assert [phase.phase.name for phase in procedures.phases] == ["load", "n", "half", "alone"]
    assert (half.cost, alone.cost) == ((5, 5 * 3 * 10**10), (1, 102 * 10**10))
    assert burst.cost.trials == burst.loads[0]
    assert load.cost.trials == 21 * load.loads[0]
    assert procedures.trials == sum(phase.cost.trials for phase in procedures.phases)
