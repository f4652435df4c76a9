"""What transitions do: conditions and values, instances that begin and end, timers, messages."""

import pytest

from qospec.engine.machine.transition import TooLargeError, UntimedError

LARGE = 2**62


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9 5 negate +", 4),
        ("9 0 not +", 10),
        ("9 4 not +", 9),
        ("9 2 5 - abs +", 12),
        ("20 2 3 * -", 14),
        ("1 2 3 4 - - -", -2),
        ("9 7 v w - + +", 15),  # they are 10 and 11
        ("3 5 min", 3),
        ("3 5 max", 5),
    ],
)
def test_numbers_are_calculated_on_a_stack(alone, text, value):
    machine = alone(alone.state("s", alone.way("press", "s", set={"n": text})))
    machine.tell("press", 10)
    assert machine.counts.counters["n"] == value


@pytest.mark.parametrize(
    ("operation", "true"),
    [
        ("==", [(3, 3)]),
        ("!=", [(2, 3), (4, 3)]),
        ("<", [(2, 3)]),
        ("<=", [(2, 3), (3, 3)]),
        (">", [(4, 3)]),
        (">=", [(4, 3), (3, 3)]),
    ],
)
def test_numbers_are_compared(alone, operation, true):
    for a, b in [(2, 3), (3, 3), (4, 3)]:
        told = {"n": f"{a} {b} {operation}"}
        machine = alone(alone.state("s", alone.way("press", "s", set=told)))
        machine.tell("press", 10)
        assert machine.counts.counters["n"] == ((a, b) in true)


@pytest.mark.parametrize("a", [0, 1, 2])
@pytest.mark.parametrize("b", [0, 1, 2])
def test_conditions_are_combined(alone, a, b):
    told = {"n": f"{a} {b} and 10 * {a} {b} or +"}
    machine = alone(alone.state("s", alone.way("press", "s", set=told)))
    machine.tell("press", 10)
    assert machine.counts.counters["n"] == 10 * (a > 0 and b > 0) + (a > 0 or b > 0)


# ---- instances

FIRST, OTHER, THIRD = 9, 10, 11
"""References of instances."""


def test_each_instance_has_its_own_values_and_knows_with_whom_it_speaks(alone):
    """The second begins behind the first, of which nothing is changed."""
    state, way = alone.state, alone.way
    both = ("x", "tell"), ("y", "tell")
    machine = alone(
        state("a", way("ask", "b", 1, "v 10 ==", set={"v": "w 1 +"})),
        state(
            "b",
            way("press", "b", 2, "w 5 == v 6 == and", send=both),
            way("press", "b", 3, "w 7 == v 8 == and", send=both),
        ),
        instances=3,
        peers={("x", "tell"): 3, ("y", "tell"): 3},
        replies={4: 5, 5: 4, 6: 6},
    )
    machine.tell("ask", 10, "x", 4, reference=FIRST, content=(5,))
    machine.tell("ask", 11, "y", 3, reference=OTHER, content=(7,))
    answers = machine.tell("press", 12, "y", 5, reference=OTHER)
    assert machine.sent(answers) == [("x", 3, "tell"), ("y", 4, "tell")]
    answers = machine.tell("press", 13, "y", 6, reference=FIRST)
    assert machine.sent(answers) == [("x", 5, "tell"), ("y", 6, "tell")]
    assert machine.log == 1_1_3_2
    assert machine.counts.states["a"].sum_ps == 0


def toggling(alone, **more):
    """Return a machine whose instances end with the second message."""
    state, way = alone.state, alone.way
    return alone(
        state("a", way("press", "b", 1), way("tell", "b", 2, send=(("y", "ask"),))),
        state("b", way("press", "a", 3), way("ask", "b", 4)),
        peers={("y", "ask"): 3},
        replies={3: 4, 5: 6},
        **more,
    )


def test_an_instance_that_has_ended_is_not_found_again(alone):
    machine = toggling(alone, instances=2)
    for reference in (FIRST, FIRST, OTHER, FIRST):  # the other one takes the room of the first
        machine.tell("press", 10, reference=reference)
    assert machine.log == 1_3_1_1
    assert machine.inside == {"a": 0, "b": 2}


def test_all_rooms_may_be_taken_again(alone):
    machine = toggling(alone, instances=2)
    for reference in (FIRST, OTHER, FIRST, OTHER, THIRD, OTHER):
        machine.tell("press", 10, reference=reference)
    assert machine.log == 1_1_3_3_1_1
    machine.tell("ask", 10, reference=THIRD)
    machine.tell("ask", 10, reference=OTHER)
    assert machine.log == 1_1_3_3_1_1_4_4
    assert machine.counts.refused == 0
    machine.tell("press", 10, reference=FIRST)
    assert machine.counts.refused == 1
    machine.tell("press", 10, reference=THIRD)
    machine.tell("press", 10, reference=OTHER)
    assert machine.log == 1_1_3_3_1_1_4_4_3_3


def test_there_are_never_more_than_there_may_be(alone):
    machine = toggling(alone, instances=1)
    for reference in (FIRST, FIRST, OTHER, THIRD):
        machine.tell("press", 10, reference=reference)
    assert (machine.log, machine.counts.refused) == (1_3_1, 1)


def test_the_most_that_were_in_a_state_at_once(alone):
    machine = toggling(alone, instances=3)
    for reference in (FIRST, OTHER, FIRST, OTHER, THIRD):
        machine.tell("press", 10, reference=reference)
    assert machine.counts.states["b"].most == 2


def test_a_new_instance_knows_nobody(alone):
    """Though one that was there before had heard something by that port."""
    machine = toggling(alone, instances=1)
    machine.tell("press", 10, "y", 5, reference=FIRST)
    machine.tell("press", 10, "y", 5, reference=FIRST)
    answers = machine.tell("tell", 10, "x", 3, reference=OTHER)
    assert machine.sent(answers) == [("y", 3, "ask")]


def test_an_instance_stays_as_long_as_a_timer_of_its_own_runs(alone):
    state, way = alone.state, alone.way
    machine = alone(
        state("a", way("press", "a", 1), way("ask", "a", 2, start=("t",)), way("t", "a", 3)),
        timers={"t": 10},
        instances=2,
    )
    machine.tell("ask", 0, reference=FIRST)
    machine.tell("press", 1, reference=OTHER)
    assert machine.inside["a"] == 1
    machine.tell("ask", 2, reference=OTHER)
    assert machine.inside["a"] == 2
    assert machine.wake(10) == [("alarm", 12)]
    assert machine.inside["a"] == 1
    machine.tell("press", 11, reference=OTHER)
    assert machine.inside["a"] == 1
    machine.wake(12)
    assert machine.inside["a"] == 0
    assert machine.log == 2_1_2_3_1_3


def test_the_sum_of_long_stays_is_exact(alone):
    """Beyond the numbers that the machine calculates with."""
    machine = toggling(alone, instances=5, stop_ps=LARGE)
    stays = [LARGE - 1 - n for n in range(5)]
    for n in range(5):
        machine.tell("press", n, reference=FIRST + n)
    for n in range(5):
        machine.tell("press", LARGE - 1, reference=FIRST + n)
    found = machine.counts.states["b"]
    assert (found.sum_ps, found.longest_ps, found.stays) == (sum(stays), stays[0], 5)


# ---- time


def test_a_transition_may_take_a_ps_or_no_time(alone):
    state, way = alone.state, alone.way
    tells = (("x", "tell"),)
    machine = alone(
        state("s", way("press", "s", send=tells), way("ask", "s", send=tells, after_ps=1)),
        peers={("x", "tell"): 4},
    )
    assert machine.sent(machine.tell("press", 10)) == [("x", 4, "tell")]
    answers = machine.tell("ask", 20)
    assert (machine.sent(answers), machine.alarm(answers)) == ([], 21)
    assert machine.sent(machine.wake(21)) == [("x", 4, "tell")]


def test_a_transition_may_stop_several_timers(alone):
    state, way = alone.state, alone.way
    machine = alone(
        state(
            "s",
            way("begin", "s", 1, start=("t", "u", "w")),
            way("press", "s", 2, stop=("u", "t")),
            *(way("t", "s", 3), way("u", "s", 4), way("w", "s", 5)),
        ),
        timers={"t": 10, "u": 11, "w": 12},
    )
    machine.wake(0)
    machine.tell("press", 5)
    machine.run(10)
    assert machine.log == 1_2_5


def test_variables_are_set_all_at_once(alone):
    """Each from what they were before: v 10 and w 11 are swapped, and n is v + 2 w, thus 32."""
    state, way = alone.state, alone.way
    told = {"v": "w", "w": "v", "n": "v w 2 * +"}
    machine = alone(
        state(
            "s",
            way("press", "s", 1, "v 10 ==", set=told, send=(("x", "tell"),)),
            way("press", "s", 2, "v 11 == w 10 == and n 32 == and"),
        ),
        peers={("x", "tell"): 4},
    )
    # A message of the same transition carries what they are now: w, then v.
    assert machine.content(machine.tell("press", 10), 2) == [[10, 11]]
    machine.tell("press", 11)
    assert machine.log == 1_2


def test_a_condition_is_met_by_what_variables_were_before(alone):
    """Of two transitions the first of which the condition holds is taken, and one only."""
    state, way = alone.state, alone.way
    machine = alone(
        state(
            "s",
            way("press", "s", 1, "v 10 ==", set={"v": "v 1 +"}),
            way("press", "s", 2, "v 11 ==", set={"v": "v 1 -"}),
        )
    )
    machine.tell("press", 10)
    machine.tell("press", 11)
    machine.tell("press", 12)
    assert machine.log == 1_2_1


def test_timers_are_stopped_before_they_are_started(alone):
    """So one that a transition stops and starts runs anew: until 5 + 10, not until 10."""
    state, way = alone.state, alone.way
    machine = alone(
        state(
            "s",
            way("begin", "s", 1, start=("t",)),
            way("press", "s", 2, stop=("t",), start=("t",)),
            way("t", "s", 3),
        ),
        timers={"t": 10},
    )
    machine.wake(0)
    assert machine.alarm(machine.tell("press", 5)) == 15
    machine.run(15)
    assert machine.log == 1_2_3


def test_a_timer_that_is_stopped_leaves_those_of_other_instances(alone):
    state, way = alone.state, alone.way
    ways = way("t", "a", 3), way("tell", "b", 2, stop=("t",))
    machine = alone(
        state("a", way("press", "b", 1, start=("t",))),
        state("b", *ways),
        timers={"t": 10},
        instances=3,
    )
    for now_ps, reference in ((0, FIRST), (2, OTHER), (4, THIRD)):
        machine.tell("press", now_ps, reference=reference)
    machine.tell("tell", 5, reference=OTHER)
    assert machine.wake(10) == [("alarm", 14)]
    assert machine.wake(14) == []
    assert machine.log == 1_1_1_2_3_3
    assert machine.inside == {"a": 0, "b": 1}


def test_a_message_carries_values_in_its_order(alone):
    way = alone.way("press", "s", send=(("x", "ask"), ("x", "tell")), set={"w": "v 3 +"})
    peers = {("x", "ask"): 3, ("x", "tell"): 3}
    machine = alone(alone.state("s", way), peers=peers)
    assert machine.content(machine.tell("press", 10), 2) == [[13, 0], [13, 10]]


# ---- how long it takes


@pytest.mark.parametrize(
    ("text", "takes_ps"),
    [
        ("20 7 /", 2),
        ("v 3 * 4 /", 7),  # of 30, as v is 10
        ("10 353207 duration", 28_312_009),  # 10 / 353_207 s = 28.312009 us, rounded down
        ("7 2 duration", 3_500_000_000_000),
        ("1 3 duration 2 *", 666_666_666_666),
        ("9007199254740993 9007199254740992 duration", 1_000_000_000_000),
        ("999999999999 1000000000000 duration", 999_999_999_999),
        ("4000000000 1 duration", 10**18),  # no more than the longest time
        ("2000000000000000000 4000000000000000000 duration", 500_000_000_000),
        ("1333333333333333333 4000000000000000000 duration", 333_333_333_333),
        ("4611686018427387902 4611686018427387903 duration", 999_999_999_999),
        ("-3 -2 duration", 1_500_000_000_000),
    ],
)
def test_a_time_is_worked_out_from_values(alone, text, takes_ps):
    way = alone.way("press", "s", after=text)
    machine = alone(alone.state("s", way), stop_ps=2 * 10**18)
    assert machine.alarm(machine.tell("press", 10)) == 10 + takes_ps
    assert machine.counts.states["s"].instances == 1


def test_a_time_is_worked_out_from_what_values_were_before(alone):
    way = alone.way("ask", "s", after="w 2 *", set={"w": "w 1 +"})
    machine = alone(alone.state("s", way))
    assert machine.alarm(machine.tell("ask", 10, content=(5,))) == 20


@pytest.mark.parametrize("text", ["7 v 10 - /", "7 0 duration", "3 v -", "-4000000000 1 duration"])
def test_a_time_that_cannot_be_is_an_error_of_the_trial(alone, text):
    machine = alone(alone.state("s", alone.way("press", "s", after=text, text="on press -> s")))
    machine.tell("press", 10)
    with pytest.raises(UntimedError, match=r"`d\.m` takes `on press -> s` with values for which"):
        _ = machine.counts


LARGEST = 2**62 - 1
"""A machine calculates with numbers up to this."""


@pytest.mark.parametrize(
    "where",
    [
        f"{LARGEST // 10} v * {LARGEST // 10 * 10} ==",
        f"{-LARGEST} 10 v - + {-LARGEST} ==",
        f"{LARGEST} v - v + {LARGEST} ==",
    ],
)
def test_numbers_may_be_large(alone, where):
    machine = alone(alone.state("s", alone.way("press", "s", 1, where)))
    machine.tell("press", 10)
    assert machine.log == 1


@pytest.mark.parametrize(
    "text",
    [
        "1800000000000000000 v * v *",  # 500 h by 10 by 10, which 64 bits make negative
        f"{2**61} 8 * 7 +",  # which 64 bits make 7
        f"{-(2**61)} 8 * 7 +",
        f"{2**40} {-(2**30)} * 7 +",
        f"{LARGEST} 1 +",
        f"{-LARGEST} 1 -",
    ],
)
@pytest.mark.parametrize("field", ["where", "after", "set"])
def test_a_number_that_is_too_large_is_an_error_of_the_trial(alone, field, text):
    more = {field: {"v": text} if field == "set" else text}
    machine = alone(alone.state("s", alone.way("press", "s", text="on press -> s", **more)))
    machine.tell("press", 10)
    with pytest.raises(TooLargeError, match=r"^`d\.m` comes to .* in `on press -> s`"):
        _ = machine.counts


# ---- windows


def test_what_counted_less_than_a_window_ago_is_in_it(alone):
    """Ends of the window of 10 ps at 0 and 10: what counted at 0 is in it at 9, and not at 10."""
    state, way = alone.state, alone.way
    seen = {"n": "n 10 * short +"}
    machine = alone(
        state("s", way("press", "s", counts_in=("short",)), way("tell", "s", set=seen)),
    )
    for now_ps in (0, 4, 4):
        machine.tell("press", now_ps)
    for now_ps in (4, 9, 10, 13, 14):
        machine.tell("tell", now_ps)
    assert machine.counts.counters["n"] == 3_3_2_2_0


def test_each_instance_and_each_window_counts_by_itself(alone):
    state, way = alone.state, alone.way
    seen = {"n": "n 100 * long 10 * + short +"}
    machine = alone(
        state("a", way("press", "b", counts_in=("short", "long")), way("ask", "b", set=seen)),
        state(
            "b",
            way("press", "b", counts_in=("long",)),
            way("ask", "b", set=seen),
            way("tell", "a"),
        ),
        instances=2,
    )
    for message, now_ps, reference in (
        *(("press", now_ps, FIRST) for now_ps in (0, 1, 2)),
        ("press", 3, OTHER),
        ("ask", 4, FIRST),
        ("ask", 5, OTHER),
        ("tell", 6, FIRST),
        ("ask", 7, FIRST),  # in its first state again
        ("ask", 8, THIRD),  # there is no room for it
    ):
        machine.tell(message, now_ps, reference=reference)
    assert machine.counts.counters["n"] == 31_11_31
    assert machine.counts.refused == 1


def test_an_instance_stays_as_long_as_a_window_of_its_own_holds_anything(alone):
    """What came at 1 is in the window of 10 ps until 11, so the instance ends then."""
    state, way = alone.state, alone.way
    ways = (
        way("press", "a", 1, "short 2 >="),
        way("press", "a", 2, counts_in=("short",)),
        way("ask", "a", 3, "short 0 =="),
    )
    machine = alone(state("a", *ways), instances=1)
    assert machine.alarm(machine.tell("press", 0, reference=FIRST)) == 10
    machine.tell("press", 1, reference=FIRST)
    machine.tell("press", 2, reference=FIRST)
    assert machine.log == 2_2_1
    assert machine.alarm(machine.wake(10)) == 11
    assert machine.inside["a"] == 1
    assert machine.wake(11) == []
    assert machine.inside["a"] == 0
    machine.tell("ask", 12, reference=OTHER)
    assert machine.log == 2_2_1_3
    assert machine.inside["a"] == 0


def test_an_instance_that_left_its_first_state_does_not_end_with_its_windows(alone):
    state, way = alone.state, alone.way
    machine = alone(
        state("a", way("press", "a", counts_in=("short",)), way("tell", "b")),
        state("b", way("tell", "a")),
        instances=1,
    )
    machine.tell("press", 0, reference=FIRST)
    machine.tell("tell", 5, reference=FIRST)
    assert machine.wake(10) == []
    assert machine.inside == {"a": 0, "b": 1}
    machine.tell("tell", 11, reference=FIRST)
    assert machine.inside == {"a": 0, "b": 0}


def test_windows_grow_and_what_is_too_old_makes_room(alone):
    """150 in the last 100 ps, more than there is room for at first, and never more than that."""
    state, way = alone.state, alone.way
    most = {"n": "n long 1 + max"}
    press = way("press", "s", counts_in=("long", "short"), set=most)
    machine = alone(state("s", press, way("tell", "s", set={"n": "long"})))
    item, rooms = machine.item(3, "press"), []
    for number in range(600):
        if machine.arrive(item, "x", number * 2 // 3) == []:  # it comes again when there is room
            machine.memory = machine.transition.replenish(machine.memory, machine.code)
            machine.arrive(item, "x", number * 2 // 3)
        rooms.append(len(machine.memory))
    assert machine.counts.counters["n"] == 150
    assert rooms[0] < rooms[300] == rooms[-1]
    machine.tell("tell", 450)
    # What counted after 350: from the 528th on, which came at 527 * 2 / 3 = 351.
    assert machine.counts.counters["n"] == 600 - 527
