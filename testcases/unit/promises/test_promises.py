"""Each promise is kept by a sound device, and found broken by one with a fault of that kind."""

from dataclasses import replace
from itertools import count

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.elements.delay import Delay
from qospec.elements.fifo import Fifo
from qospec.elements.gcra import Gcra
from qospec.elements.shape import Shape
from qospec.engine.arrays import np
from qospec.engine.element import Loss, Step
from qospec.engine.items.batch import FOREVER_PS
from qospec.metrics.transfer_delay import TransferDelay
from qospec.plan.plan import Bounds, plan
from qospec.promises.builtin import ALL, CHEAP
from qospec.run import trial
from qospec.run.runner import run_alone

TEXT = """qos 1
import std.media
device switch {
  port west, east: cell
  pipe = delay { time = 10 us }
  upc = gcra
  queue = fifo { limit = 4 cell }
  west.rx -> pipe -> upc -> queue -> east.tx
  east.rx -> west.tx
}
device router {
  port west, east: packet
  smooth = shape { rate = 50 Mbit/s @ip, burst = 1_500 B, limit = 5 pkt }
  queue = fifo { limit = 4 pkt }
  west.rx -> smooth -> queue -> east.tx
  east.rx -> west.tx
}
device watched {
  port west, east: cell
  queue = fifo { limit = 1 cell }
  west.rx -> watch.in
  watch.out -> queue -> east.tx
  east.rx -> west.tx
  machine watch {
    state idle { on item -> idle }
  }
}
topology atm {
  a, b = host
  dut = switch
  link a -- dut.west via media.stm1
  link dut.east -- b via media.e3
}
topology passing {
  a, b = host
  dut = watched
  link a -- dut.west via media.stm1
  link dut.east -- b via media.e3
}
topology ip {
  a, b = host
  dut = router
  link a -- dut.west via media.fast_ethernet
  link dut.east -- b via media.fast_ethernet
}
test switched on atm {
  flow f = cbr {
    pcr = 120_000 cell/s
    cdvt = 0 s
    source = burst { size = 10 cell, every = 200 us }
  } from a to b
  flow g = ubr { pcr = 200_000 cell/s, cdvt = 1 ms } from a to b
  run { measure = 1 ms, overload = true }
  report f.lost
}
test passed_on on passing {
  flow f = ubr { pcr = 200_000 cell/s } from a to b
  run { measure = 100 us, overload = true }
  report f.lost
}
test routed on ip {
  flow f = packets { size = 1_000 B @ip, rate = 8_000 pkt/s } from a to b
  run { measure = 10 ms }
  report f.lost
}
"""


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Return the cases by the names of their tests."""
    path = tmp_path_factory.mktemp("promises") / "it.qos"
    path.write_text(TEXT, encoding="utf-8")
    problems = Problems()
    found = plan(check([path], discover(), problems), "0", Bounds(), problems)
    assert not problems.errors
    return {result.test: result for result in found}


@pytest.fixture(scope="module")
def case(cases):
    return cases["switched"]


def errors(case, name: str) -> tuple[str, ...]:
    """Return how a trial ends that is held to one promise."""
    promises = tuple(promise for promise in ALL if promise.name == name)
    return trial.run(case, discover(), lambda _: None, promises=promises).errors


def changed(cls, how):
    """Return the `process` of an element with a change of what it gives."""
    sound = cls.process

    def process(self, state, arrivals, until_ps):
        step = sound(self, state, arrivals, until_ps) if sound else None
        return how(step, arrivals)

    return process


def test_sound_devices_keep_all_promises(cases):
    lost = set()
    for case in cases.values():
        result = trial.run(case, discover(), lambda _: None, promises=ALL)
        assert result.errors == ()
        lost |= {(loss.element, loss.cause) for loss in result.repeats[0].readings.list_losses()}
    wanted = {("dut.upc", "policed_pcr"), ("dut.queue", "overflow"), ("dut.smooth", "overflow")}
    assert lost == wanted, "they have something to keep"


def later(step, _):
    """Begin with the second item later, though it waits and the line is free."""
    (left,) = step.departures
    at_ps = left.at_ps.copy()
    at_ps[1:2] += 3 * 10**6
    return step._replace(departures=(left.with_times(at_ps),))


def earlier(step, _):
    (left,) = step.departures
    return step._replace(departures=(left.with_times(left.at_ps - 5 * 10**6),))


def restamped(step, _):
    """Forget when most items were sent: they seem to have been sent here."""
    (left,) = step.departures
    sent_ps = np.where(left.at_ps < 9 * 10**8, left.at_ps - 1, left.sent_ps)
    return step._replace(departures=(left._replace(sent_ps=sent_ps),))


def all_pass(_, arrivals):
    return Step(arrivals, (FOREVER_PS,))


def swallowing(step, _):
    (left,) = step.departures
    return step._replace(departures=(left.select_range(0, max(0, left.count - 1)),))


def first_of_each_batch_lost(step, _):
    (left,) = step.departures
    gone = left.select_range(0, min(1, left.count))
    losses = (Loss("policed_pcr", gone),) if gone.count else ()
    rest = left.select_range(gone.count, left.count)
    return step._replace(departures=(rest,), losses=(*step.losses, *losses))


def all_lost_of_few(step, arrivals):
    """Lose everything unless more than 50 come."""
    (came,) = arrivals
    if came.count > 50 or not came.count:
        return step
    none = came.select_range(0, 0)
    return step._replace(departures=(none,), losses=(Loss("overflow", came),))


@pytest.mark.parametrize(
    ("name", "test", "cls", "how"),
    [
        ("causality", "switched", Delay, earlier),
        ("propagation", "switched", Gcra, restamped),
        ("work_conservation", "switched", Fifo, later),
        ("rate", "switched", Gcra, all_pass),
        ("rate", "routed", Shape, all_pass),
        ("monotone_loss", "routed", Fifo, all_lost_of_few),
        ("cuts", "switched", Gcra, first_of_each_batch_lost),
    ],
)
def test_a_broken_promise_is_found(cases, monkeypatch, name, test, cls, how):
    monkeypatch.setattr(cls, "process", changed(cls, how))
    (error,) = errors(cases[test], name)
    assert error.startswith(f"BrokenPromise: {name}: "), error


def test_a_test_may_ask_for_them(case, monkeypatch):
    asked = replace(case.case, run=replace(case.case.run, promises=True))
    monkeypatch.setattr(Gcra, "process", changed(Gcra, all_pass))
    (error,) = errors(replace(case, case=asked), "none")
    assert error.startswith("BrokenPromise: rate: dut.upc let pass "), error
    assert errors(case, "none") == ()


SEARCH = """search rate in 100_000 cell/s .. 200_000 cell/s {
  goal ndr { loss = 0 }, trial = 1 ms, total = 10 ms
}"""


@pytest.mark.parametrize(
    "phase",
    ["point busy { rate = 120_000 cell/s, measure = 1 ms }", SEARCH],
)
def test_a_test_with_phases_may_ask_for_them(tmp_path, monkeypatch, phase):
    path = tmp_path / "phased.qos"
    flow = "flow f = ubr { pcr = 200_000 cell/s, source = constant { rate = rate } } from a to b"
    reported = "ndr.rate" if phase.startswith("search") else "busy.f.lost"
    head = TEXT.partition("test ")[0]
    asked = f"test t on atm {{ {phase}\n {flow}\n run {{ promises = true }}\n report {reported} }}"
    path.write_text(head + asked, encoding="utf-8")
    problems = Problems()
    (planned,) = plan(check([path], discover(), problems), "0", Bounds(), problems)
    assert not problems.errors
    assert run_alone(planned, Bounds(), lambda: None)["errors"] == []
    monkeypatch.setattr(Delay, "process", changed(Delay, earlier))
    (error,) = run_alone(planned, Bounds(), lambda: None)["errors"]
    assert error.startswith("BrokenPromise: causality: "), error


def test_conservation_is_an_error_of_the_trial(case, monkeypatch):
    monkeypatch.setattr(Delay, "process", changed(Delay, swallowing))
    (error,) = errors(case, "none")
    assert error.startswith("ConservationError: "), error


def test_a_device_that_remembers_the_last_trial_is_found(case, monkeypatch):
    calls = count()

    def slower(step, _):
        (left,) = step.departures
        return step._replace(departures=(left.with_times(left.at_ps + next(calls)),))

    monkeypatch.setattr(Delay, "process", changed(Delay, slower))
    (error,) = errors(case, "purity")
    assert error.startswith("BrokenPromise: purity: "), error


def test_a_device_that_is_another_event_by_event_is_found(case, monkeypatch):
    sound = Delay.build_transition

    def slower(self, setting):
        transition = sound(self, setting)
        return transition._replace(state=transition.state + 1)

    monkeypatch.setattr(Delay, "build_transition", slower)
    (error,) = errors(case, "drivers")
    assert error.startswith("BrokenPromise: drivers: "), error


@pytest.mark.parametrize(
    ("statistic", "more_ps", "message"),
    [
        ("mean", 10**12, "the mean of f.transfer_delay is not between"),
        ("p50", 10**12, "of f.transfer_delay, p50 is above p99"),
        ("min", -(10**12), "f.transfer_delay.min is -999.9 ms, and cannot be so little"),
    ],
)
def test_metrics_that_contradict_each_other_are_found(
    case, monkeypatch, statistic, more_ps, message
):
    sound = TransferDelay.measure

    def wrong(self, tally, asked):
        value = sound(self, tally, asked)
        return value + more_ps if asked == statistic and value is not None else value

    monkeypatch.setattr(TransferDelay, "measure", wrong)
    (error,) = errors(case, "metrics")
    assert error.startswith("BrokenPromise: metrics: "), error
    assert message in error


def test_each_promise_has_a_name_of_its_own():
    assert len({promise.name for promise in ALL}) == len(ALL)
    assert all(promise.runs_again is (promise not in CHEAP) for promise in ALL)
