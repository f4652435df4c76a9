"""Execution: what is recorded and reported, in this process and in workers."""

import signal
from collections.abc import Iterator

import pytest

from qospec.plan.plan import CasePlan
from qospec.run import job, runner, workshop
from qospec.run.interruption import Interruption, hold_back_terminal_signals
from qospec.run.job import JobName, LostJob
from qospec.run.workshop import Order, Workshop

TEXT = """
topology wire {
  a, b = host
  link a -- b via media.stm1
}
traffic steady = cbr { pcr = 10_000 cell/s, cdvt = 1 ms }
test one on wire {
  flow f = steady from a to b
  run { measure = 10 ms }
  expect f.lost == 0
}
"""


@pytest.fixture
def plan(planned) -> CasePlan:
    (case,) = planned(TEXT)
    return case


def test_a_case_whose_workers_were_killed_is_an_error_in_words(plan: CasePlan) -> None:
    lost = LostJob("its worker process was killed by SIGSEGV")
    document, *_ = runner._build_lost_result(plan, lost)
    assert document["verdict"] == "error"
    (told,) = document["errors"]
    assert told == f"{lost.why} (twice, the second time in a fresh one)"


def test_compiling_is_no_time_of_a_case(plan: CasePlan, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = iter([3.0, 1_003.0])
    monkeypatch.setattr(job.kernel, "measure_compiling_s", lambda: next(compiled))
    clock = iter([50.0, 1_057.0])
    monkeypatch.setattr(job.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(workshop.trial, "run", lambda *_, **__: runner.Result(()))
    result = Workshop(Order(), [plan]).do(JobName(plan.case.name), lambda _: None)
    assert (result.seconds, result.compiling_s) == (7.0, 1_000.0)


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture
def heeded() -> Iterator[None]:
    """Let no signal be ignored, as a shell has it of what it starts in the background."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("heeded")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_first_signal_waits_and_a_second_does_not(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with Interruption() as interruption:
        signal.raise_signal(number)
        with pytest.raises(KeyboardInterrupt):
            interruption.check()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(number) == before


@pytest.mark.usefixtures("heeded")
def test_ctrl_c_that_is_held_comes_later() -> None:
    with Interruption() as interruption:
        with hold_back_terminal_signals():
            signal.raise_signal(signal.SIGINT)
            interruption.check()
        with pytest.raises(KeyboardInterrupt):
            interruption.check()
