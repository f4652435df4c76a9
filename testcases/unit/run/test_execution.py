"""Execution: what is kept and told, here and in workers."""

import multiprocessing
import signal
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from unittest.mock import Mock

import pytest

from qospec.run import execution
from qospec.run.interruption import Interruption, ctrl_c_held
from qospec.run.plan import CasePlan

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


def test_a_case_whose_worker_was_killed_is_an_error_in_words(plan: CasePlan) -> None:
    future: Future[execution.Result] = Future()
    future.set_exception(BrokenProcessPool())
    document, _ = execution._result(future, plan, "again")
    assert (document["verdict"], document["errors"]) == ("error", [execution.KILLED])


def test_a_case_for_a_pool_that_is_broken_already_is_one_too(plan: CasePlan) -> None:
    pool = Mock()
    pool.submit.side_effect = BrokenProcessPool()
    future = execution._submit(pool, execution._case, plan, "again")
    document, _ = execution._result(future, plan, "again")
    assert document["verdict"] == "error"


def test_any_other_mistake_is_not_hidden(plan: CasePlan) -> None:
    future: Future[execution.Result] = Future()
    future.set_exception(KeyError("ours"))
    with pytest.raises(KeyError, match="ours"):
        execution._result(future, plan, "again")


def test_of_all_workers_one_tells() -> None:
    told = multiprocessing.get_context("spawn").Value("b")
    tell = Mock()
    for _ in range(3):
        execution._tell_once(told, tell)
    tell.assert_called_once_with()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_first_signal_waits_and_a_second_does_not(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with Interruption() as interruption:
        signal.raise_signal(number)
        with pytest.raises(KeyboardInterrupt):
            interruption.check()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(number) == before


def test_ctrl_c_that_is_held_comes_later() -> None:
    with Interruption() as interruption:
        with ctrl_c_held():
            signal.raise_signal(signal.SIGINT)
            interruption.check()
        with pytest.raises(KeyboardInterrupt):
            interruption.check()
