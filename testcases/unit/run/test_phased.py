"""Searches as they run: which trials count, and that nothing depends on what runs beside them."""

import pickle
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.judge.readings import FlowCount, Readings
from qospec.plan.plan import CasePlan
from qospec.record.schema import CASE, list_violations
from qospec.run import workshop
from qospec.run.job import LostJob
from qospec.run.phased import PhasedRun
from qospec.run.schedule import Schedule, run_here
from qospec.run.trial import run_one
from qospec.run.workshop import Order, Workshop, hash_sources

TEXT = """
device narrow {
  port west, east: cell
  q = fifo { limit = 4 cell }
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
  search rate in 1_000 cell/s .. 300_000 cell/s {
    goal ndr { loss = 0 }
    goal pdr { loss = 5%, width = 2% }
    trial = 5 ms, total = 15 ms
  }
  flow f = ubr { pcr = rate / 3, connections = 3, phases = random } from a to b
  run { REPEAT }
  require offered: f.sent within 5% of f.planned
  expect good: ndr.rate >= 70_000 cell/s
  expect more: pdr.rate within 10% of ndr.rate
  report [ndr.lower, ndr.upper, ndr.regular]
}
"""


class Phased(PhasedRun):
    """A case with phases, and the workshop that does its jobs."""

    def __init__(self, plan: CasePlan, *, keep_going: bool) -> None:
        super().__init__(plan, keep_going=keep_going)
        self.workshop = Workshop(Order(keep_going=keep_going), [plan])


def phased(planned, text=TEXT, *, seed="0", keep_going=False, repeat=1) -> Phased:
    (plan,) = planned(text.replace("REPEAT", f"repeat = {repeat}"), seed=seed)
    return Phased(plan, keep_going=keep_going)


def document(run: Phased):
    """Return what a case comes to, trial by trial in this process."""
    (ended,) = run_here(Schedule([run]), run.workshop, lambda: None)
    return ended.result.document


def do(run: Phased, job):
    return run.workshop.do(job.name, lambda _: None)


def test_a_search_finds_the_interval_with_ndr_as_close_as_asked(planned) -> None:
    case = document(phased(planned))
    assert not list(list_violations(case, CASE))
    (search,) = case["phases"]
    ndr, pdr = search["goals"]
    assert (ndr["defaults"], pdr["defaults"]) == (["exceed", "width"], ["exceed"])
    lower, upper = (Fraction(ndr[end]["value"]) for end in ("lower", "upper"))
    assert 0 < upper - lower <= upper / 200
    assert (ndr["regular"], ndr["complete"], ndr["notes"]) == (True, True, [])
    assert Fraction(pdr["lower"]["value"]) > lower
    assert case["verdict"] == "pass"
    statements = {statement["label"]: statement for statement in case["statements"]}
    assert statements["offered"]["verdict"] == "pass"
    assert statements["ndr.lower"]["measured"]["value"] == str(lower)
    assert statements["ndr.regular"]["measured"]["text"] == "true"
    assert "`ndr.rate` is from" in statements["good"]["note"]
    assert any("dut.q (overflow)" in why for why in case["why"])
    sent = sum(t["sent"] for t in search["trials"] if t["load"] == ndr["lower"])
    assert ndr["evidence"].startswith(f"0 of {sent:_} lost: if losses are independent, with 95 %")
    assert pdr["evidence"] == ""
    assert search["emulated"]["value"] == str(Fraction(len(search["trials"]) * 5, 1_000))


def test_a_trial_is_counted_by_what_was_sent_and_lost(planned) -> None:
    (search,) = document(phased(planned))["phases"]
    for trial in search["trials"]:
        load = Fraction(trial["load"]["value"])
        assert trial["sent"] == pytest.approx(float(load / 200), abs=4)
        assert 0 <= trial["lost"] <= trial["sent"]
        ratio = Fraction(trial["lost"], trial["sent"])
        assert trial["loss"]["value"] == str(ratio)
        good = {"ndr": ratio == 0, "pdr": ratio <= Fraction(5, 100)}
        assert trial["verdicts"] == {name: "good" if of else "bad" for name, of in good.items()}


def test_two_goals_share_the_trials_of_a_load(planned) -> None:
    (search,) = document(phased(planned))["phases"]
    keys = [(trial["load"]["value"], trial["number"]) for trial in search["trials"]]
    assert len(keys) == len(set(keys))
    numbers: dict[str, list[int]] = {}
    for load, number in keys:
        numbers.setdefault(load, []).append(number)
    assert all(order == list(range(1, len(order) + 1)) for order in numbers.values())
    assert max(map(len, numbers.values())) > 1


@pytest.mark.slow
@pytest.mark.parametrize("gives_up", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_what_runs_ahead_and_in_which_order_it_ends_changes_nothing(
    planned, seed, gives_up
) -> None:
    expected = document(phased(planned, repeat=2))
    choose = np.random.default_rng(seed)
    run = phased(planned, repeat=2)
    schedule = Schedule([run])
    running, ended, given_up = [], [], 0
    wasted = 0
    while not ended:
        while len(running) < 4:
            job = schedule.hand_out_job() or schedule.hand_out_job(ahead=True)
            if job is None:
                break
            running.append(job)
        job = running.pop(int(choose.integers(len(running))))
        schedule.take(job, do(run, job))
        ended = list(schedule.take_ended())
        wasted += 1
        if gives_up:
            left = [job for job in running if not schedule.drops(job)]
            given_up += len(running) - len(left)
            running = left
    assert ended[0].result.document == expected
    assert wasted >= sum(len(phase["trials"]) for phase in expected["phases"])
    assert (given_up > 0) == gives_up


def test_all_trials_of_a_load_have_one_plan(planned, monkeypatch) -> None:
    """To plan a short trial may take longer than the trial."""
    run, planned_for = phased(planned), []
    plan_at_load = workshop.plan_at_load
    monkeypatch.setattr(
        workshop,
        "plan_at_load",
        lambda whole, phase, load, *rest: (
            planned_for.append(load) or plan_at_load(whole, phase, load, *rest)
        ),
    )
    loads = [trial["load"]["value"] for trial in document(run)["phases"][0]["trials"]]
    assert len(loads) > len(set(loads)) == len(planned_for)


def test_a_trial_follows_from_its_name_and_the_files(tmp_path: Path, planned) -> None:
    """A workshop that knows no plan checks the files, and gives what one with the plan gives."""
    (plan,) = planned(TEXT.replace("REPEAT", "repeat = 2"))
    path = tmp_path / "a.qos"
    suite = check([path], discover(), Problems()).suite
    order = Order((path,), hash_sources(suite.sources), seed="0")
    here, there = Workshop(order, [plan]), pickle.loads(pickle.dumps(Workshop(order, [plan])))  # noqa: S301 -- our own bytes
    run = PhasedRun(plan)
    schedule, names = Schedule([run]), set()
    while (job := schedule.hand_out_job()) is not None:
        name = pickle.loads(pickle.dumps(job.name))  # noqa: S301 -- our own bytes
        expected, result = (process.do(name, lambda _: None).result for process in (here, there))
        assert result == expected
        names.add(name)
        schedule.take(job, here.do(name, lambda _: None))
    assert len(names) > len({name.part.load for name in names}) > 1
    assert {name.repeat for name in names} == {0, 1}


def test_files_that_were_changed_are_not_run(tmp_path: Path, planned) -> None:
    (plan,) = planned(TEXT.replace("REPEAT", "repeat = 1"))
    path = tmp_path / "a.qos"
    suite = check([path], discover(), Problems()).suite
    order = Order((path,), hash_sources(suite.sources), seed="0")
    path.write_text(path.read_text(encoding="utf-8").replace("limit = 4", "limit = 5"))
    job = PhasedRun(plan).hand_out_job(0, ahead=False)
    workshop.check_once.cache_clear()
    with pytest.raises(workshop.StaleError, match="were changed"):
        Workshop(order).do(job.name, lambda _: None)


def test_what_is_given_up_is_handed_out_again_if_it_may_be_needed(planned, monkeypatch) -> None:
    schedule = Schedule([phased(planned)])
    needed, ahead = schedule.hand_out_job(), schedule.hand_out_job(ahead=True)
    assert not schedule.drops(needed)
    assert not schedule.drops(ahead)
    with monkeypatch.context() as nothing_assumed:
        nothing_assumed.setattr("qospec.run.searching.predict_results", lambda *_: [])
        assert schedule.drops(ahead)
        assert not schedule.drops(needed)
    assert schedule.hand_out_job(ahead=True).name == ahead.name


def test_in_one_process_no_trial_runs_in_vain(planned) -> None:
    run, count = phased(planned), 0
    schedule = Schedule([run])
    while (job := schedule.hand_out_job()) is not None:
        schedule.take(job, do(run, job))
        count += 1
    (ended,) = schedule.take_ended()
    assert len(ended.result.document["phases"][0]["trials"]) == count


def test_repeats_are_drawn_independently(planned) -> None:
    first, second = document(phased(planned, repeat=2))["phases"]
    assert (first["repeat"], second["repeat"]) == (1, 2)
    same = {(t["load"]["value"], t["number"]): t["lost"] for t in first["trials"]}
    lost = {(t["load"]["value"], t["number"]): t["lost"] for t in second["trials"]}
    assert any(same[key] != lost[key] for key in same.keys() & lost.keys())


def test_two_searches_for_the_same_are_drawn_independently(planned) -> None:
    head, search, flow, rest = re.split("(  search.*?)(  flow)", TEXT, flags=re.DOTALL)
    again = re.sub("(ndr|pdr)", r"\1_2", search)
    both = "".join((head, search, again, flow, rest))
    first, second = document(phased(planned, both))["phases"]
    seen = {(t["load"]["value"], t["number"]): t["lost"] for t in first["trials"]}
    lost = {(t["load"]["value"], t["number"]): t["lost"] for t in second["trials"]}
    assert any(seen[key] != lost[key] for key in seen.keys() & lost.keys())


def test_a_burst_has_no_warmup_which_would_be_part_of_it(planned) -> None:
    text = """
    topology bench {
      a, b = host
      link a -- b via media.stm1
    }
    test t on bench {
      search burst in 10 .. 20 {
        goal longest { loss = 0 }
        trial = burst * 1 ms
        method = binary
      }
      flow f = ubr { pcr = 1_000 cell/s, phases = even } from a to b
      run { warmup = 1 s }
      report [longest.burst]
    }
    """
    (search,) = document(phased(planned, text))["phases"]
    assert [(t["sent"], t["length"]["text"]) for t in search["trials"]] == [(20, "20 ms")]
    assert search["emulated"]["text"] == "20 ms"


@pytest.mark.parametrize(
    "sizes",
    [
        "[1_518 B, 64 B]",
        "[64 B, 1_518 B]",
        "[1_518 B, 64 B, 64 B, 64 B, 64 B]",
        "[1_518 B, 1_518 B, 1_518 B, 64 B, 64 B, 64 B, 64 B, 64 B, 64 B]",
        "{ 1_518 B: 1, 64 B: 5 }",
    ],
)
@pytest.mark.parametrize("phases", ["even", "random"])
def test_a_burst_of_several_sizes_is_sent_to_its_last_frame(planned, sizes, phases) -> None:
    """The sixth frame is lost, so the longest burst has five.

    Frames are ready at the mean distance. With the third order that is 29.98 us, and 45.49 us with
    the fourth, but a large frame takes 123.04 us on the line: the second of two is sent when all of
    a burst of two have been ready for long, at 90.98 us.
    """
    text = f"""
    device faulty {{
      port west, east: packet
      core = lose {{ first = 6, every = 1_000 }}
      queue = fifo {{ limit = 100 pkt }}
      west.rx -> core -> queue -> east.tx
      east.rx -> discard
    }}
    topology bench {{
      a, b = host
      dut = faulty
      link a -- dut.west via media.fast_ethernet
      link dut.east -- b via media.fast_ethernet
    }}
    test t on bench {{
      search burst in 1 frame .. 20 frame {{
        goal longest {{ loss = 0 }}
        load = 100 Mbit/s @line
        trial = burst
        method = binary
      }}
      flow f = packets {{ rate = load, size = mix {sizes} @frame, phases = {phases} }} from a to b
      report [longest.burst]
    }}
    """
    (search,) = document(phased(planned, text))["phases"]
    for trial in search["trials"]:
        frames = int(trial["load"]["value"])
        assert (trial["sent"], trial["lost"]) == (frames, frames >= 6)
    (goal,) = search["goals"]
    assert (goal["lower"]["value"], goal["upper"]["value"]) == ("5", "6")


def test_repeats_are_judged_together_with_a_confidence(planned) -> None:
    text = TEXT.replace("expect good: ndr.rate >= 70_000 cell/s", "").replace(
        "expect more: pdr.rate within 10% of ndr.rate",
        "expect good: ndr.rate >= 70_000 cell/s with 95% confidence\n"
        "  expect bad: ndr.rate >= 90_000 cell/s with 95% confidence",
    )
    case = document(phased(planned, text, repeat=5))
    statements = {statement["label"]: statement for statement in case["statements"]}
    assert (statements["good"]["verdict"], statements["bad"]["verdict"]) == ("pass", "fail")
    assert statements["good"]["interval"]["repeats"] == 5


def test_where_nothing_is_drawn_no_trial_is_repeated(planned) -> None:
    text = TEXT.replace("phases = random", "phases = even")
    (search,) = document(phased(planned, text))["phases"]
    assert {trial["number"] for trial in search["trials"]} == {1}
    assert {trial["stands_for"] for trial in search["trials"]} == {3}
    assert {goal["evidence"] for goal in search["goals"]} == {""}


def test_the_same_seed_gives_the_same_trials_and_another_gives_others(planned) -> None:
    first, again, other = (document(phased(planned, seed=seed)) for seed in "001")
    assert first == again
    assert first["phases"][0]["trials"] != other["phases"][0]["trials"]


def test_a_failed_require_ends_the_case_at_its_trial(planned) -> None:
    text = TEXT.replace("require offered: f.sent within 5% of f.planned", "require f.lost == 0")
    case = document(phased(planned, text))
    assert case["verdict"] == "inconclusive"
    (search,) = case["phases"]
    assert len(search["trials"]) == 1  # at the highest load
    (required,) = (statement for statement in case["statements"] if statement["kind"] == "require")
    assert required["verdict"] == "inconclusive"
    assert "the case ended before" in search["goals"][0]["notes"][-1]
    whole = document(phased(planned, text, keep_going=True))
    assert len(whole["phases"][0]["trials"]) > 1
    assert whole["verdict"] == "inconclusive"


def test_a_goal_that_nothing_meets_has_an_upper_bound_only(planned) -> None:
    text = TEXT.replace("in 1_000 cell/s ..", "in 200_000 cell/s ..")
    case = document(phased(planned, text))
    (search,) = case["phases"]
    ndr, _ = search["goals"]
    assert (ndr["lower"], ndr["upper"]["text"]) == (None, "200_000 cell/s")
    assert (ndr["regular"], ndr["complete"]) == (False, True)
    lost = "; items were lost at dut.q (overflow)"
    assert ndr["notes"] == [f"no load was good, down to the lowest of the range{lost}"]
    verdicts = {statement["label"]: statement["verdict"] for statement in case["statements"]}
    assert verdicts["good"] == "inconclusive"
    assert case["verdict"] == "inconclusive"


def test_a_cause_that_is_not_the_same_in_all_repeats_says_in_which_it_is(planned) -> None:
    why = document(phased(planned, repeat=3))["why"]
    where = [(line.partition(": `")[0], line.partition("`")[2][:3]) for line in why]
    assert sorted(where) == [
        ("in repeat 1", "pdr"),
        ("in repeat 2", "pdr"),
        ("in repeat 3", "ndr"),
        ("in repeat 3", "pdr"),
        ("in repeats 1 and 2", "ndr"),
    ]


def test_a_goal_that_all_loads_meet_has_a_lower_bound_only(planned) -> None:
    text = TEXT.replace(".. 300_000 cell/s", ".. 70_000 cell/s")
    case = document(phased(planned, text))
    ndr, _ = case["phases"][0]["goals"]
    assert (ndr["lower"]["text"], ndr["upper"]) == ("70_000 cell/s", None)
    good = {statement["label"]: statement for statement in case["statements"]}["good"]
    assert good["verdict"] == "pass"
    assert good["measured_limits"] == {"lower": ndr["lower"], "upper": None}


def test_a_trial_that_sends_nothing_is_an_error_with_a_remedy(planned) -> None:
    text = TEXT.replace("in 1_000 cell/s .. 300_000", "in 200 cell/s .. 201").replace(
        "pcr = rate / 3, connections = 3", "pcr = rate, source = poisson { rate = rate }"
    )
    case = document(phased(planned, text, seed="1"))
    assert case["verdict"] == "error"
    (error,) = case["errors"]
    assert error == ("a trial of `rate` at 201 cell/s sends nothing: make its trials longer")


def test_a_trial_whose_workers_were_killed_is_an_error_of_its_case(planned) -> None:
    schedule = Schedule([phased(planned)])
    job = schedule.hand_out_job()
    ahead = schedule.hand_out_job(ahead=True)
    schedule.take(ahead, LostJob("killed"))  # nobody may ever need it
    assert not list(schedule.take_ended())
    schedule.take(job, LostJob("killed"))
    (ended,) = schedule.take_ended()
    assert ended.result.document["verdict"] == "error"
    assert ended.result.document["errors"] == ["killed (twice, the second time in a fresh one)"]


SEEN = """
topology wire {
  a, b = host
  link a -- b via media.fast_ethernet
}
test t on wire {
  flow f = packets { rate = 1_000 pkt/s, size = 64 B @frame, gaps = poisson } from a to b
  run { measure = 100 ms }
  expect f.latency.p99 < 1 ms
  expect f.jitter.max < 1 s
  report f.received every 10 ms
}
"""


def test_what_a_point_has_seen_can_be_sent_to_another_process(planned) -> None:
    (plan,) = planned(SEEN)
    result = run_one(plan, ("any",), lambda _: None, keeps=True)
    sent = pickle.loads(pickle.dumps(result))  # noqa: S301 -- our own bytes
    assert sent.judgements == result.judgements
    first, second = (Readings(discover(), {"": trial.seen}) for trial in (result, sent))
    assert list(first.list_all()) == list(second.list_all())
    (report,) = (statement for statement in plan.case.statements if statement.every_ps)
    assert first.read_series(report.expression, report.every_ps) == second.read_series(
        report.expression, report.every_ps
    )


def test_an_error_of_the_tester_is_the_verdict_of_the_case(planned, monkeypatch) -> None:
    def fail(*_args, **_more):
        raise RuntimeError("ours")

    monkeypatch.setattr("qospec.run.trial.emulation.run", fail)
    case = document(phased(planned))
    assert (case["verdict"], case["errors"]) == ("error", ["RuntimeError: ours"])


def test_more_lost_than_sent_is_an_error_and_no_result(planned, monkeypatch) -> None:
    def count(_readings):
        return [FlowCount("f", "cell", 10, 11)]

    monkeypatch.setattr("qospec.run.trial.Readings.count_exchanged", count)
    case = document(phased(planned))
    impossible = "has lost 11 items of 10, which cannot be"
    assert case["errors"] == [f"a trial of `rate` at 300_000 cell/s {impossible}"]
    assert (case["verdict"], case["phases"][0]["trials"]) == ("error", [])


def test_progress_of_a_search_grows_with_its_bounds(planned) -> None:
    shares, run = [], phased(planned)
    schedule = Schedule([run], lambda _, share: shares.append(share))
    while (job := schedule.hand_out_job()) is not None:
        schedule.note_progress(job, 0.5)
        schedule.take(job, do(run, job))
    assert shares[0] == 0
    assert 0.5 < max(shares) <= 1
    assert all(0 <= share <= 1 for share in shares)


def test_a_case_that_is_cut_has_what_its_finished_trials_gave(planned) -> None:
    """The first load, the highest, is lossy: a bound of the goals, but not the lowest load."""
    run = phased(planned)
    schedule = Schedule([run])
    job = schedule.hand_out_job()
    schedule.take(job, do(run, job))
    (ended,) = schedule.cut()
    case = ended.result.document
    assert (case["verdict"], case["ran"]) == ("inconclusive", False)
    (search,) = case["phases"]
    assert len(search["trials"]) == 1
    for goal in search["goals"]:
        assert goal["lower"] is None
        assert [note.partition(" bounds")[0] for note in goal["notes"]] == [
            "the case ended before the"
        ]
    assert schedule.is_done


def test_a_case_that_is_cut_before_a_trial_has_ended_has_no_result(planned) -> None:
    schedule = Schedule([phased(planned)])
    assert schedule.hand_out_job() is not None
    assert list(schedule.cut()) == []


UNFIT = """
topology wire {
  a, b = host
  link a -- b via media.fast_ethernet
}
test t on wire {
  search n in 1 .. 1_000 {
    goal most { loss = 0 }
    method = step
    confirm = 999
    trial = 20 ms
  }
  let size = 1_800 B @ip if BAD else 64 B @ip
  flow f = packets { rate = n * 50 kbit/s @line, size = size } from a to b
  expect found: most.n == 1_000
}
"""


def test_a_load_that_makes_what_does_not_fit_ends_the_search_and_says_where(planned) -> None:
    """A check tries every tenth load, and this is none of them."""
    case = document(phased(planned, UNFIT.replace("BAD", "n == 999")))
    assert (case["verdict"], case["errors"]) == ("inconclusive", [])
    (search,) = case["phases"]
    assert len(search["trials"]) == 1
    (note,) = search["goals"][0]["notes"]
    assert note.startswith("ended early: no trial of `n` at 999: size: 1800 B @ip does not fit")
    assert re.search(r"\(E0301, .*a\.qos:\d+:\d+\)$", note)


def test_a_load_between_the_ends_that_does_not_fit_is_refused_before_the_run(
    planned, problems
) -> None:
    assert planned(UNFIT.replace("BAD", "n > 400 and n < 600")) == ()
    (mistake,) = problems.errors
    assert (mistake.code, mistake.notes) == ("E0301", ("so it is in a trial at `n` = 401",))


def test_that_no_load_was_bad_is_why_a_goal_is_not_regular(planned) -> None:
    text = TEXT.replace(".. 300_000", ".. 2_000").replace(
        "expect good: ndr.rate >= 70_000 cell/s", ""
    )
    text = text.replace("  expect more: pdr.rate within 10% of ndr.rate", "  expect ndr.regular")
    case = document(phased(planned, text))
    assert case["verdict"] == "fail"
    assert case["why"] == ["`ndr` has no upper bound: no load was bad, up to 2000 cell/s"]
