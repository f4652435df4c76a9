"""What a machine does with each event: whether it hears it, and when, and what it passes on."""

import re

import pytest

from qospec.engine.event.transition import DONE
from qospec.engine.machine.transition import LIVELY, LivelockError

FLOWS, MESSAGES, PLANE, STOP_PS = 3, 4, 8, 1_000
"""As of `alone`: connections of flows from 0 on, of messages behind them, and one beyond."""


@pytest.mark.parametrize(
    ("connection", "at_ps", "heard"),
    [
        (FLOWS - 1, 10, False),
        (FLOWS, 10, True),
        (FLOWS + MESSAGES - 1, 10, True),
        (FLOWS + MESSAGES, 10, False),
        (FLOWS, STOP_PS - 1, True),
        (FLOWS, STOP_PS, False),
    ],
)
def test_messages_are_heard_until_the_end(alone, connection, at_ps, heard):
    machine = alone(alone.state("s", alone.way("press", "s", 1)))
    item = machine.item(connection, "press")
    assert machine.arrive(item, "x", at_ps) == [("consumed", item)]
    assert machine.log == heard


def test_it_goes_on_until_it_has_taken_as_many_transitions_as_it_may(alone):
    machine = alone(alone.state("s", alone.way("item", "s"), alone.way("press", "s")))
    machine.memory[machine.columns.LIMIT] = 2
    for number in range(2):
        for _ in range(3):  # these do not count
            machine.arrive(machine.item(0), "in", number)
        machine.wake(number)
        assert machine.code == DONE
        machine.tell("press", number)
        assert machine.code == DONE
    assert machine.tell("press", 2) == []
    assert machine.code == LIVELY
    assert machine.wake(2) == []
    assert machine.code == LIVELY


def test_transitions_that_items_cause_do_not_count_whatever_else_there_is(alone):
    """Behind another transition that takes no time."""
    machine = alone(alone.state("s", alone.way("press", "s"), alone.way("item", "s", 1)))
    machine.memory[machine.columns.LIMIT] = 1
    for _ in range(3):
        machine.arrive(machine.item(0), "in", 5)
    assert (machine.code, machine.log) == (DONE, 111)


# ---- what waits


def test_what_waited_and_timers_happen_in_their_order_of_time(alone):
    state, way = alone.state, alone.way
    machine = alone(
        state(
            "s",
            way("begin", "s", 9, start=("t", "u")),
            way("press", "s", 1, after_ps=20),
            *(way("ask", "s", 2), way("tell", "s", 3), way("t", "s", 4), way("u", "s", 5)),
        ),
        timers={"t": 10, "u": 14},
    )
    assert machine.wake(0) == [("alarm", 10)]
    assert machine.alarm(machine.tell("press", 5)) == 25
    machine.tell("ask", 12)
    machine.tell("tell", 15)
    assert machine.run(25) == STOP_PS
    assert machine.log == 9_1_4_2_5_3  # it worked from 5 on; then those of 10, 12, 14 and 15


def test_of_what_happens_at_once_what_waits_is_first_and_timers_are_before_beginnings(alone):
    state, way = alone.state, alone.way
    machine = alone(
        state(
            "s",
            way("begin", "s", 9, "n 0 ==", start=("t",), set={"n": "n 1 +"}),
            way("begin", "s", 8),
            way("press", "s", 1, after_ps=20),
            *(way("ask", "s", 2), way("t", "s", 4)),
        ),
        timers={"t": 10},
        instances=2,
        spread_ps=20,
    )
    machine.wake(0)
    first = machine.flows + 1
    machine.tell("press", 5, reference=first)
    machine.tell("ask", 10, reference=first)  # when the timer expires, and the second one begins
    machine.run(25)
    assert machine.log == 9_1_2_4_8


@pytest.mark.parametrize("start", [("t", "u"), ("u", "t")])
@pytest.mark.parametrize(("t_ps", "u_ps", "log"), [(10, 11, 12), (10, 10, 0), (11, 10, 21)])
def test_timers_expire_by_time_and_of_two_that_are_due_the_one_started_first(
    alone, start, t_ps, u_ps, log
):
    state, way = alone.state, alone.way
    ways = way("begin", "s", start=start), way("t", "s", 1), way("u", "s", 2)
    machine = alone(state("s", *ways), timers={"t": t_ps, "u": u_ps})
    machine.run(0)
    assert machine.log == (log or {"t": 12, "u": 21}[start[0]])


@pytest.mark.parametrize("start", [("t", "u"), ("u", "t")])
def test_a_timer_of_no_length_that_starts_itself_lets_others_of_the_instant_expire(alone, start):
    state, way = alone.state, alone.way
    ways = way("t", "s", 1, start=("t",)), way("u", "r", 2, stop=("t",))
    machine = alone(
        state("s", way("begin", "s", start=start), *ways), state("r"), timers={"t": 0, "u": 0}
    )
    machine.run(0)
    assert machine.log == {"t": 12, "u": 2}[start[0]]


def test_timers_that_expire_without_end_in_one_instant_are_told_with_their_state(
    alone, monkeypatch
):
    monkeypatch.setattr(alone.columns, "MOST_IN_AN_INSTANT", 5)
    monkeypatch.setattr(alone.columns, "MOST_OF_AN_INSTANCE", 2)
    state, way = alone.state, alone.way
    ways = way("begin", "s", start=("t",)), way("t", "s", start=("t",))
    machine = alone(state("s", *ways), timers={"t": 0}, instances=2)
    said = "`d.m` lets more than 9 timers expire in one instant, the last one in state `s`: "
    while machine.code == DONE:
        machine.wake(0)
    with pytest.raises(LivelockError, match=re.escape(said)):
        machine.transition.replenish(machine.memory, machine.code)


def test_as_many_timers_may_expire_in_each_instant_again(alone, monkeypatch):
    monkeypatch.setattr(alone.columns, "MOST_IN_AN_INSTANT", 5)
    state, way = alone.state, alone.way
    ways = way("begin", "s", start=("t",)), way("t", "s", start=("t",))
    machine = alone(state("s", *ways), timers={"t": 1})
    machine.run(0, 200)
    assert machine.code == DONE


def test_what_waits_for_an_instance_takes_no_room_from_what_a_server_is_free_for(alone):
    state, way = alone.state, alone.way
    ways = way("press", "s", 1, after_ps=20), way("ask", "s", 2), way("tell", "s", 3)
    machine = alone(state("s", *ways), instances=2, servers=2, waiting=1)
    machine.tell("press", 0, reference=4)
    machine.tell("ask", 5, reference=4)  # waits until 20
    machine.tell("tell", 6, reference=5)
    machine.tell("tell", 7, reference=4)
    assert machine.run(20) == STOP_PS
    assert (machine.log, machine.counts.overflow) == (1_3_2, 1)


def test_what_waits_for_an_instance_and_its_timers_keep_their_order_of_time(alone):
    """Although another server is free, as long as the first one works on that instance."""
    state, way = alone.state, alone.way
    machine = alone(
        state(
            "s",
            way("tell", "s", 9, "n 0 ==", start=("t", "u"), set={"n": "1"}),
            way("press", "s", 1, after_ps=20),
            *(way("ask", "s", 2), way("tell", "s", 3), way("t", "s", 4), way("u", "s", 5)),
        ),
        timers={"t": 10, "u": 14},
        instances=2,
        servers=2,
    )
    assert machine.tell("tell", 0, reference=4) == [("consumed", 1), ("alarm", 10)]
    machine.tell("press", 5, reference=4)  # takes until 25
    assert machine.run(10, until_ps=12) == 14
    machine.tell("ask", 12, reference=4)
    assert machine.run(14, until_ps=15) == 25
    machine.tell("tell", 15, reference=4)
    assert machine.run(25) == STOP_PS
    assert machine.log == 9_1_4_2_5_3  # of one server, too


@pytest.mark.parametrize(("order", "log"), [("first_come", 1_1_2_3), ("last_come", 1_1_3_2)])
def test_all_that_waits_for_an_instance_goes_on_when_its_work_ends(alone, order, log):
    """And not only when that of the other server ends."""
    state, way = alone.state, alone.way
    ways = way("press", "s", 1, after_ps=20), way("ask", "s", 2), way("tell", "s", 3)
    machine = alone(state("s", *ways), instances=2, servers=2, order=order)
    machine.tell("press", 0, reference=4)
    machine.tell("press", 9, reference=5)
    machine.tell("ask", 10, reference=4)
    machine.tell("tell", 11, reference=4)
    assert machine.run(20, until_ps=21) == 29
    assert machine.log == log


def test_what_comes_when_a_work_has_ended_is_behind_what_waits(alone):
    state, way = alone.state, alone.way
    ways = way("press", "s", 1, after_ps=5), way("ask", "s", 2), way("tell", "s", 3)
    machine = alone(state("s", *ways, way("item", "s", 4)))
    machine.tell("press", 0)
    machine.tell("ask", 3)
    assert machine.wake(5) == [("alarm", 5)]
    machine.tell("tell", 5)
    item = machine.item(0)
    assert machine.arrive(item, "in", 5) == [("left", "out", item, 5)]
    assert machine.run(5) == STOP_PS
    assert machine.log == 1_2_3_4


def test_an_item_that_passes_is_behind_one_that_waits(alone):
    state, way = alone.state, alone.way
    ways = way("press", "s", 1, after_ps=5), way("ask", "s", 2), way("item", "s", 4)
    machine = alone(state("s", *ways))
    machine.tell("press", 0)
    machine.tell("ask", 3)
    machine.wake(5)
    machine.arrive(machine.item(0), "in", 5)
    machine.run(5)
    assert machine.log == 1_2_4


def test_an_item_waits_for_the_state_to_which_what_waits_before_it_leads(alone):
    state, way = alone.state, alone.way
    first = state("a", way("press", "b", 1, after_ps=5))
    machine = alone(first, state("b", way("ask", "c", 2)), state("c", way("item", "c", 4)))
    machine.tell("press", 0)
    machine.tell("ask", 3)
    machine.arrive(machine.item(0), "in", 4)
    machine.run(5)
    assert machine.log == 1_2_4


def test_an_item_waits_for_the_state_to_which_a_timer_before_it_leads(alone):
    state, way = alone.state, alone.way
    first = state("a", way("begin", "a", start=("t",)), way("press", "b", 1, after_ps=5))
    machine = alone(
        first, state("b", way("t", "c", 2)), state("c", way("item", "c", 4)), timers={"t": 3}
    )
    machine.run(0, 1)
    machine.tell("press", 1)
    machine.arrive(machine.item(0), "in", 4)
    machine.run(6)
    assert machine.log == 1_2_4


def test_an_item_does_not_wait_in_a_machine_that_no_item_changes(alone):
    state, way = alone.state, alone.way
    machine = alone(state("a", way("press", "a", 1, after_ps=5), forward="spare"))
    machine.tell("press", 0)
    machine.arrive(machine.item(0), "in", 3)
    assert machine.memory[machine.columns.WAITING] == 0


def test_what_waits_is_of_the_port_where_it_came(alone):
    state, way = alone.state, alone.way
    ways = way("press", "s", 1, after_ps=5), way("ask@y", "s", 2), way("ask@x", "s", 3)
    machine = alone(state("s", *ways))
    machine.tell("press", 0)
    for port in "yxy":
        machine.tell("ask", 1, port)
    machine.run(5)
    assert machine.log == 1_2_3_2


def test_what_waits_at_the_end_is_ended_at_once(alone):
    state, way = alone.state, alone.way
    machine = alone(state("s", way("press", "s", 1, after_ps=STOP_PS), way("item", "s")))
    machine.tell("press", 0)
    items = [machine.item(FLOWS, "press") for _ in range(40)]
    for item in items:
        machine.arrive(item, "x", 1)
    machine.arrive(machine.item(0), "in", 1)  # it has left
    assert machine.wake(STOP_PS) == [("consumed", item) for item in items]


def test_instances_begin_evenly_to_the_ps_before(alone):
    ways = [alone.way("begin", "s", 1)]
    machine = alone(alone.state("s", *ways), instances=3, spread_ps=11)
    assert machine.wake(0) == [("alarm", 3)]  # 11/3
    assert machine.wake(3) == [("alarm", 7)]  # 22/3
    assert machine.wake(7) == []
    assert machine.log == 111


# ---- messages


def test_a_message_that_the_machine_does_not_know_is_ignored(alone):
    machine = alone(alone.state("s", alone.way("press", "s", 1)))
    machine.tell("other", 10)
    machine.tell("other", 11)
    assert (machine.counts.ignored, machine.log) == (2, 0)


@pytest.mark.parametrize(("connection", "back"), [(3, 6), (4, 5), (5, 3), (6, 4)])
def test_an_answer_goes_back_where_the_message_came_from(alone, connection, back):
    way = alone.way("press", "s", send=(("y", "tell"),))
    machine = alone(
        alone.state("s", way), peers={("y", "tell"): 4}, replies={3: 6, 4: 5, 5: 3}
    )  # none leads back from the last, so it is the nearest
    answers = machine.tell("press", 10, "y", connection)
    assert machine.sent(answers) == [("y", back, "tell")]


def test_a_connection_may_be_the_first_of_all(alone):
    way = alone.way("press", "s", send=(("x", "tell"), ("y", "tell")))
    peers = {("x", "tell"): 2, ("y", "tell"): 0}
    machine = alone(alone.state("s", way), flows=0, peers=peers, replies={1: 0})
    answers = machine.tell("press", 10, "x", connection=1)
    assert machine.sent(answers) == [("x", 0, "tell"), ("y", 0, "tell")]
    assert machine.counts.unheard == 0


def test_values_of_a_message_are_read_in_its_order(alone):
    machine = alone(alone.state("s", alone.way("tell", "s", 1, "w 3 == v 7 == and")))
    machine.tell("tell", 10, content=(3, 7))
    machine.tell("tell", 11, content=(7, 3))
    assert (machine.log, machine.counts.ignored) == (1, 1)


@pytest.mark.parametrize(
    ("parts", "heard", "incomplete"),
    [
        ([(3, 1, 0), (3, 1, 1)], 1, 0),
        ([(3, 1, 0), (4, 2, 0), (3, 1, 1), (4, 2, 1)], 2, 0),  # on two connections
        ([(5, 1, 0), (6, 2, 0), (6, 2, 1), (5, 1, 1)], 2, 0),
        ([(3, 1, 0), (3, 2, 0), (3, 2, 1)], 1, 1),  # the last part is lost
        ([(3, 1, 1)], 0, 1),  # the first
        ([(3, 1, 1), (3, 2, 0), (3, 2, 1)], 1, 1),
        ([(6, 1, 0), (6, 2, 1)], 0, 2),  # of two messages each half
    ],
)
def test_a_message_of_two_parts_is_heard_with_both(alone, parts, heard, incomplete):
    """Parts: the connection, the number of the message, and that of the part."""
    machine = alone(alone.state("s", alone.way("press", "s", set={"n": "n 1 +"})))
    for connection, number, part in parts:
        machine.tell("press", 10, connection=connection, number=number, part=(part, 2))
    assert machine.counts.counters["n"] == heard
    assert machine.counts.incomplete == incomplete


def test_a_part_that_comes_while_others_wait_leaves_them_as_they_are(alone):
    machine = alone(alone.state("s", alone.way("press", "s", 1, after_ps=20)))
    for connection in (3, 4, 5, 6):
        machine.tell("press", 1, connection=connection)
    for connection in (3, 4, 5, 6):
        machine.tell("press", 2, connection=connection, part=(0, 2))
    machine.run(21)
    assert (machine.log, machine.counts.incomplete) == (1111, 0)


# ---- what passes


def redirecting(alone, **more):
    """Return a machine that lets pass: as it is, elsewhere, or not at all; and says what it saw."""
    state, way = alone.state, alone.way
    return alone(
        state("a", way("press", "b", 1)),
        state("b", way("item", "b", 2), way("ask", "c", 3), forward="spare"),
        state("c", way("item", "c", 4), way("tell", "d", 5), forward="discard"),
        state("d", forward="spare"),
        **more,
    )


def test_an_item_passes_as_the_state_says(alone):
    machine = redirecting(alone)
    item = machine.item(1)
    assert machine.arrive(item, "in", 10) == [("left", "out", item, 10)]
    machine.tell("press", 11)
    assert machine.arrive(item, "in", 12) == [("left", "spare", item, 12)]
    assert machine.log == 1_2
    machine.tell("ask", 13)
    assert machine.arrive(item, "in", 14) == [("lost", 0, item)]
    assert machine.log == 1_2_3_4
    machine.tell("tell", 15)
    assert machine.arrive(item, "in", 16) == [("left", "spare", item, 16)]
    assert machine.log == 1_2_3_4_5


@pytest.mark.parametrize(
    ("connection", "at_ps", "noticed"),
    [
        (FLOWS - 1, STOP_PS - 1, True),
        (FLOWS - 1, STOP_PS, False),
        (FLOWS, 20, False),  # a message for another machine
        (FLOWS + MESSAGES, 20, False),
        (PLANE + 1, 20, True),  # an OAM cell of connection 1
        (PLANE + FLOWS, 20, False),
    ],
)
def test_items_of_flows_are_noticed_until_the_end_and_all_pass(alone, connection, at_ps, noticed):
    machine = redirecting(alone)
    machine.tell("press", 10)
    item = machine.item(connection)
    assert machine.arrive(item, "in", at_ps) == [("left", "spare", item, at_ps)]
    assert machine.log == (12 if noticed else 1)


def noticing(alone, **more):
    """Return a machine with an instance for each connection of which an item has come."""
    state, way = alone.state, alone.way
    return alone(
        state("a", way("press", "a", 9, after_ps=20, start=("t",)), way("item", "b", 1, "n 7 <")),
        state("b", way("item", "b", 2), forward="spare"),
        timers={"t": 500},
        **more,
    )


def test_an_item_is_one_of_the_instance_of_its_connection(alone):
    machine = noticing(alone, instances=3)
    for connection, output in [(0, "out"), (1, "out"), (0, "spare"), (PLANE + 1, "spare")]:
        item = machine.item(connection)
        assert machine.arrive(item, "in", 10) == [("left", output, item, 10)]
    assert machine.log == 1_1_2_2
    for connection in (2, FLOWS, FLOWS + 1, FLOWS + MESSAGES):  # of these none is in b
        item = machine.item(connection)
        assert machine.arrive(item, "in", 11) == [("left", "out", item, 11)]
    assert machine.inside == {"a": 0, "b": 3}
    assert machine.log == 1_1_2_2_1


def test_an_item_for_which_there_is_no_instance_passes(alone):
    machine = noticing(alone, instances=1)
    for connection in (1, 2):
        item = machine.item(connection)
        assert machine.arrive(item, "in", 10) == [("left", "out", item, 10)]
    assert (machine.log, machine.counts.refused) == (1, 1)


def test_an_item_that_changes_nothing_begins_nothing(alone):
    machine = noticing(alone, instances=1)
    machine.memory[machine.memory[machine.columns.AT_VARIABLES] + 3] = 7  # n
    machine.arrive(machine.item(1), "in", 10)
    assert machine.counts.taken == (0, 0, 0)
    assert machine.counts.refused == 0


def test_an_item_passes_at_once_and_is_noticed_when_the_machine_is_free(alone):
    machine = noticing(alone, instances=3)
    machine.tell("press", 0)
    for connection in (2, 1):
        item = machine.item(connection)
        assert machine.arrive(item, "in", 5) == [("left", "out", item, 5)]
    assert machine.log == 9
    assert machine.run(20, 21) == 20 + 500  # when the timer expires
    assert machine.log == 9_1_1
    for connection, output in [(0, "out"), (1, "spare"), (2, "spare")]:
        item = machine.item(connection)
        assert machine.arrive(item, "in", 30)[0] == ("left", output, item, 30)


def test_an_item_may_start_a_timer(alone):
    state, way = alone.state, alone.way
    ways = way("item", "s", start=("t",)), way("t", "s", 1)
    machine = alone(state("s", *ways), timers={"t": 10})
    item = machine.item(0)
    assert machine.arrive(item, "in", 5) == [("left", "out", item, 5), ("alarm", 15)]
    machine.run(15)
    assert machine.log == 1
