"""The event loop: when it stops, what it counts, and who answers."""

import numpy as np
import pytest

from qospec.engine.event import component, drive
from qospec.engine.event.component import Component, Member
from qospec.engine.event.counting import count_nothing
from qospec.engine.event.places import Places
from qospec.engine.event.transition import (
    DONE,
    MORE,
    MOST_MADE,
    NO_ITEMS,
    SPARE,
    USUAL,
    Transition,
    make,
    send,
    wake_at,
)
from qospec.engine.items.batch import FOREVER_PS, make_empty
from qospec.engine.items.totals import CAME, ENTRIES, LEFT
from qospec.engine.kernel import get_function, kernel
from qospec.protocol.streams import number_flow

ONE = number_flow(1)
KERNEL = 1
"""Anything but NO_KERNEL."""


@kernel
def delay(state, items, item, port, now_ps, out):  # noqa: ARG001
    send(out, 0, item, now_ps + state[0])
    return DONE


@kernel
def tick(state, items, now_ps, out):
    state[0] -= 1
    send(out, 0, make(items, out, 0, 53, 0, now_ps), now_ps)
    if state[0] > 0:
        wake_at(out, now_ps + 10)
    return DONE


def chain(*delays_ps):
    """Return elements that delay items, one behind the other."""
    members = []
    for number, delay_ps in enumerate(delays_ps):
        inputs = ((number - 1, 0) if number else None,)
        members.append(Member(Transition(np.array([delay_ps]), delay), (inputs,), 1, "q"))
    return Component(members, range(len(delays_ps)), ONE)


def left(elements, batch, until_ps):
    """Return when what leaves before a time does so."""
    found = []
    elements.advance([batch], until_ps, lambda _, batch: found.extend(batch.at_ps.tolist()))
    return found


def test_what_happens_at_a_time_is_not_before_it(batch_of):
    elements = chain(5, 0)
    assert left(elements, batch_of([1]), 6) == []
    assert left(elements, make_empty(), 7) == [6]


def test_each_arrival_is_an_event(batch_of):
    elements = chain(5, 0)
    assert left(elements, batch_of([1, 1, 3]), FOREVER_PS) == [6, 6, 8]
    assert elements._working.report[drive.EVENTS] == 6


def test_what_comes_and_leaves_is_counted_of_each_element(batch_of):
    elements = chain(5, 0)
    left(elements, batch_of([1, 1, 3]), FOREVER_PS)
    expected = np.zeros((2, ENTRIES, 1, 2))
    expected[:, [CAME, LEFT]] = 3, 3 * 53
    assert elements.ledger.tolist() == expected.tolist()


def test_python_may_answer_all(batch_of, monkeypatch):
    """As if no transition were compiled."""
    monkeypatch.setattr(
        component,
        "build_function_table",
        lambda kernels, *_, **__: np.zeros(len(kernels), np.int64),
    )
    elements = chain(5, 0)
    assert left(elements, batch_of([1, 1, 3]), FOREVER_PS) == [6, 6, 8]


def test_the_first_place_of_all_may_be_an_alarm():
    """Of an element without inputs."""
    transition = Transition(np.array([3]), delay, tick, first_alarm_ps=5)
    elements = Component([Member(transition, (), 1, "q")], [0], ONE)
    found = {}

    def note(outlet, batch):
        found.setdefault(elements.outlets[outlet].what, []).extend(batch.at_ps.tolist())

    elements.advance([], FOREVER_PS, note)
    assert found == {component.MAKES: [5, 15, 25], component.LEAVES: [5, 15, 25]}


@kernel
def multiply(state, items, item, port, now_ps, out):  # noqa: ARG001
    if items[0, SPARE] < state[0]:
        return NO_ITEMS
    for _ in range(state[0]):
        send(out, 0, make(items, out, 0, 53, 0, now_ps), now_ps)
    send(out, 0, item, now_ps)
    return DONE


def multiply_in_python(state, items, item, port, now_ps, out):
    return multiply(state, items, item, port, now_ps, out)


@pytest.mark.parametrize("arrive", [multiply, multiply_in_python])
@pytest.mark.parametrize("rows", [4, 5, 1 << 14])
def test_an_answer_may_be_longer_than_the_outbox_and_make_more_items_than_the_pool_has(
    batch_of, monkeypatch, arrive, rows
):
    monkeypatch.setattr(component, "OUTBOX_ROWS", rows)
    monkeypatch.setattr(component, "POOL_ROWS", 100)
    count = 5 * component.POOL_ROWS
    ahead = Member(Transition(np.array([count]), arrive), ((None,),), 1, "many", seen=True)
    behind = Member(Transition(np.array([5]), delay), (((0, 0),),), 1, "q")
    elements = Component([ahead, behind], [0, 1], ONE)
    found = {}

    def note(outlet, batch):
        found.setdefault(elements.outlets[outlet].what, []).extend(batch.at_ps.tolist())

    elements.advance([batch_of([1, 3])], FOREVER_PS, note)
    made = [1] * count + [3] * count
    left = [1] * (count + 1) + [3] * (count + 1)
    assert found[component.MAKES] == made
    assert found[component.SEEN] == left
    assert found[component.LEAVES] == [at_ps + 5 for at_ps in left]


# ---- what hinders an event


def hindrance(arrive=KERNEL, wake=KERNEL, *, port=0, **at):
    """Return what Python has to do before an event, of which there may be ten in all."""
    places = Places(*np.zeros((7, 2, 2), np.int64))._replace(port=np.array([port]))
    items = np.zeros((1, MORE + USUAL), np.int64)
    items[0, SPARE] = at.get("spare", 1 + MOST_MADE)
    report = np.zeros(4, np.int64)
    report[[drive.EVENTS, drive.ANSWERED]] = at.get("events", 0), at.get("answered", 0)
    counters = count_nothing().counters
    working = drive.Working(items, *np.zeros((4, 1, 4), np.int64), counters, report)
    return get_function(drive._find_hindrance)(places, ([arrive], [wake], []), working, 10)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ({"events": 9}, drive.IDLE),
        ({"events": 10}, drive.BUDGET),
        # One item may come from outside, besides those that the element makes.
        ({"spare": MOST_MADE + 1}, drive.IDLE),
        ({"spare": MOST_MADE}, drive.POOL),
    ],
)
def test_an_event_may_make_some_items(at, expected):
    assert hindrance(**at) == expected


@pytest.mark.parametrize("answered", [0, 1])
@pytest.mark.parametrize("wake", [KERNEL, drive.NO_KERNEL])
@pytest.mark.parametrize("arrive", [KERNEL, drive.NO_KERNEL])
@pytest.mark.parametrize("port", [0, 1, drive.ALARM_PORT])
def test_python_answers_once_what_has_no_kernel(arrive, wake, port, answered):
    needed = wake if port == drive.ALARM_PORT else arrive
    expected = drive.PYTHON if needed == drive.NO_KERNEL and not answered else drive.IDLE
    assert hindrance(arrive, wake, port=port, answered=answered) == expected


# ---- what is counted


@pytest.mark.parametrize("kinds", [1, 2, 3])
def test_sums_are_by_output_and_plane(kinds):
    """Items and bytes of each; what has no connection counts as of the last kind."""
    connections = 3
    found = [
        [get_function(drive._find_sum)(connections, kinds, number, index) for index in range(12)]
        for number in range(3)
    ]
    assert found == [
        [2 * (number * kinds + min(index // connections, kinds - 1)) for index in range(12)]
        for number in range(3)
    ]
