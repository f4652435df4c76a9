"""What a transition must not do is reported, whatever it would lead to in memory."""
# ruff: noqa: ARG001 -- all kernels have the same arguments

import numpy as np
import pytest

from qospec.engine.element import BrokenPromiseError
from qospec.engine.event import component
from qospec.engine.event.component import (
    POOL_ROWS,
    Component,
    CrowdedError,
    EndlessError,
    Member,
)
from qospec.engine.event.transition import (
    DONE,
    MOST_MADE,
    SAID_OF_ITEM,
    Transition,
    lose,
    make,
    report_wait,
    send,
    wake_at,
)
from qospec.engine.items.batch import FOREVER_PS, Batch, TooLateError, build_batch
from qospec.engine.kernel import kernel
from qospec.protocol.streams import number_flow

AT_PS = 1_000
ONE = number_flow(1)


@kernel
def pass_on(state, items, item, port, now_ps, out):
    send(out, 0, item, now_ps)
    return DONE


@kernel
def set_alarm(state, items, item, port, now_ps, out):
    send(out, 0, item, now_ps)
    wake_at(out, now_ps + state[0])
    return DONE


@kernel
def make_many(state, items, item, port, now_ps, out):
    for _ in range(state[0]):
        send(out, 0, make(items, out, 0, 53, 0, now_ps), now_ps)
    send(out, 0, item, now_ps)
    return DONE


@kernel
def breed(state, items, item, port, now_ps, out):
    for _ in range(state[0]):
        send(out, 0, make(items, out, 0, 53, 0, now_ps), now_ps + 1)
    send(out, 0, item, now_ps + 1)
    return DONE


@kernel
def delay(state, items, item, port, now_ps, out):
    send(out, 0, item, now_ps + state[0])
    return DONE


@kernel
def send_below(state, items, item, port, now_ps, out):
    send(out, -1, item, now_ps)
    return DONE


@kernel
def send_beyond(state, items, item, port, now_ps, out):
    send(out, state[0], item, now_ps)
    return DONE


@kernel
def lose_all(state, items, item, port, now_ps, out):
    lose(out, state[0], item)
    return DONE


@kernel
def wait(state, items, item, port, now_ps, out):
    report_wait(out, state[0], now_ps, now_ps + 1)
    send(out, 0, item, now_ps + 1)
    return DONE


@kernel
def wait_often(state, items, item, port, now_ps, out):
    for _ in range(state[0]):
        report_wait(out, 0, now_ps, now_ps)
    send(out, 0, item, now_ps)
    return DONE


@kernel
def rest(state, items, now_ps, out):
    return DONE


def note_alarm(state, items, now_ps, out):
    state[1] = now_ps
    return DONE


def items(*at_ps: int) -> Batch:
    count = len(at_ps)
    return build_batch(
        at_ps=np.array(at_ps),
        sent_ps=np.zeros(count, np.int64),
        connection=np.zeros(count, np.int32),
        size_bytes=np.full(count, 53, np.int32),
        marks=np.zeros(count, np.uint32),
    )


def ran(*transitions: Transition, seen: bool = False, goes_round: bool = False) -> int:
    """Send one item through transitions in a chain, or a ring; return how many rows went out."""
    count = len(transitions)
    members = []
    for number, transition in enumerate(transitions):
        inputs = [(number - 1, 0)] if number else [None]
        if goes_round and not number:
            inputs.append((count - 1, 0))
        members.append(Member(transition, (tuple(inputs),), 1, f"q{number}", seen=seen))
    came = 0

    def count_rows(_: int, batch: Batch) -> None:
        nonlocal came
        came += batch.count

    Component(members, range(count), ONE).advance([items(AT_PS)], FOREVER_PS, count_rows)
    return came


def with_number(number: int, arrive, wake=None) -> Transition:
    return Transition(np.array([number, 0]), arrive, wake)


def test_an_alarm_without_a_kernel_for_it():
    with pytest.raises(BrokenPromiseError, match="`q1` sets an alarm, and has no `wake`"):
        ran(with_number(0, pass_on), with_number(5, set_alarm))


def write_beyond(state, items, item, port, now_ps, out):
    items[item, 99] = 1
    return DONE


@kernel
def wake_again(state, items, now_ps, out):
    wake_at(out, now_ps)
    return DONE


def test_a_column_that_it_does_not_state():
    """Compiled, it would write behind the array."""
    with pytest.raises(BrokenPromiseError, match="`q0` uses a column that it does not state"):
        ran(with_number(0, write_beyond))


def test_an_alarm_at_one_moment_for_ever(monkeypatch):
    monkeypatch.setattr(component, "MOST_EVENTS", 100)
    monkeypatch.setattr(component, "MOST_EVENTS_OF_PYTHON", 100)
    with pytest.raises(BrokenPromiseError, match="`q0` wakes without end"):
        ran(with_number(0, set_alarm, wake_again))


def test_an_alarm_in_the_past():
    with pytest.raises(BrokenPromiseError, match="`q0` acts in the past"):
        ran(with_number(-5, set_alarm, rest))


def test_an_item_that_leaves_in_the_past():
    with pytest.raises(BrokenPromiseError, match="`q0` acts in the past"):
        ran(with_number(-5, delay))


@pytest.mark.parametrize("transition", [(set_alarm, rest), (delay,)])
@pytest.mark.parametrize("after_ps", [FOREVER_PS, FOREVER_PS - AT_PS])
def test_what_is_later_than_times_can_say(transition, after_ps):
    with pytest.raises(TooLateError, match="what waits at `q0` takes it more than 50 days"):
        ran(with_number(after_ps, *transition))


@pytest.mark.parametrize("count", [POOL_ROWS, 100_000])
def test_more_answers_than_an_event_may_have(count):
    with pytest.raises(BrokenPromiseError, match="`q0` answers too much at once"):
        ran(with_number(count, make_many))


def test_as_many_answers_as_an_event_may_have():
    most = MOST_MADE + SAID_OF_ITEM * POOL_ROWS
    often = Transition(np.array([most - 1]), wait_often, queues=("",))
    assert ran(often) == most
    with pytest.raises(BrokenPromiseError, match="`q0` answers too much at once"):
        ran(often._replace(state=np.array([most])))


@pytest.mark.parametrize("arrive", [lose_all, wait])
@pytest.mark.parametrize("number", [1, 1_000_000])
def test_a_cause_or_a_queue_that_is_not_stated(arrive, number):
    stated = Transition(np.array([0]), arrive, losses=(("", "overflow"),), queues=("",))
    assert ran(stated) == 1 + (arrive is wait)
    with pytest.raises(BrokenPromiseError, match="names a cause of loss or a queue"):
        ran(stated._replace(state=np.array([number])))


def test_an_output_below_the_first():
    with pytest.raises(ValueError, match=r"`q1`: .* connection 0 arrived where none was planned"):
        ran(with_number(0, pass_on), with_number(0, send_below))


def test_an_output_beyond_the_last():
    """Which would be the first of the next element."""
    with pytest.raises(ValueError, match=r"`q0`: .* connection 0 arrived where none was planned"):
        ran(with_number(1, send_beyond), with_number(0, pass_on))


def test_what_waits_may_be_all_that_goes_out_of_an_element():
    assert ran(Transition(np.array([0]), wait, queues=("",)), with_number(0, pass_on)) == 2


@pytest.mark.parametrize("state", [np.zeros(2), np.zeros(4, np.int64)[::2], np.zeros((1, 2), int)])
def test_a_state_that_is_no_row_of_int64(state):
    with pytest.raises(BrokenPromiseError, match="`q0` has a state that is no row"):
        ran(Transition(state, pass_on))


def test_python_may_answer_an_alarm_that_a_kernel_has_set():
    transition = with_number(5, set_alarm, note_alarm)
    assert ran(transition) == 1
    assert transition.state[1] == AT_PS + 5


@pytest.mark.parametrize("seen", [True, False])
def test_an_item_that_goes_round_for_ever(seen, monkeypatch):
    monkeypatch.setattr("qospec.engine.event.component.MOST_EVENTS", 1_000)
    with pytest.raises(EndlessError):
        ran(with_number(10, delay), with_number(10, delay), seen=seen, goes_round=True)


def test_a_crowd_is_stopped_before_memory_is_full(monkeypatch):
    """Each item that leaves comes back with two more, so they are more and more."""
    monkeypatch.setattr("qospec.engine.event.component.MOST_ITEMS", 10_000)
    with pytest.raises(CrowdedError) as caught:
        ran(with_number(2, breed), goes_round=True)
    assert caught.value.path == "q0"
    assert int(str(caught.value).split()[0].replace("_", "")) > 5_000
