"""How a machine answers events: messages, items that pass, timers, and its own beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.machine import BLOCKED
from qospec.engine.endpoint.deadlines import compute_begin_ps
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    MORE,
    Transition,
    consume,
    lose,
    send,
    wake_at,
)
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import kernel
from qospec.engine.machine.interpreter import (
    MOST_CHANGES,
    NO_ROOM,
    NOTHING_HAPPENS,
    admit,
    choose_transition,
    count_columns,
    dismiss_idle,
    find_due_ps,
    find_state,
    finish,
    load,
    load_destination,
    put_off,
    take,
    take_expired,
    take_up,
)
from qospec.engine.machine.servers import find_done, find_done_ps
from qospec.engine.machine.state import (
    ARRIVED,
    AT_FORWARD,
    AT_FOUND,
    AT_INPUTS,
    AT_INSTANCES,
    AT_LISTS,
    AT_NAMES,
    AT_PARTIAL,
    AT_QUEUE,
    AT_READ,
    AT_REPLIES,
    AT_VARIABLES,
    BEGUN,
    BURST,
    BY_ITEMS,
    CONTENT,
    DATA,
    EVENT,
    EVENTS,
    EXPIRED,
    FIRST,
    FLOWS,
    HEAD,
    HELD,
    IGNORED,
    INCOMPLETE,
    INPUT,
    INSTANCE,
    INSTANCES,
    INSTANT,
    KIND,
    LAST,
    LAST_COMES,
    LATE,
    LIMIT,
    LOG_ROOM,
    LOGGED,
    MESSAGES,
    MOST_EXPIRED,
    MOST_WAITING,
    NUMBERED,
    OF,
    OF_PARTS,
    OVERFLOW,
    OVERFLOWN,
    PART,
    PARTIAL,
    PLAIN,
    PORTS,
    QUEUED,
    REFERENCE,
    REFERRED,
    ROOM,
    SEEN,
    SERIAL_OF,
    SERVERS,
    SPARE_NOTES,
    SPREAD,
    STOP,
    TIMERS,
    UNTIL,
    UNTIMED,
    VALUES,
    WAITING,
    WENT,
    WINDOWS,
    WORKED_ON,
    WORKED_ROW,
    WORKING,
    build_state,
    read_counts,
    with_longer_log,
    with_more_notes,
    with_more_room,
)  # fmt: skip

if TYPE_CHECKING:
    from qospec.catalogue.machine import Counts, Program
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.machine.placement import Placement

LACKS_ROOM, LIVELY, LACKS_LOG, LACKS_NOTES = 1, 2, 3, 4
"""Reasons to replenish: what waits takes more room, or the log, or windows; and an error, too many
transitions."""
PASSED = -1
"""In place of an item that waits: one that passed."""


GROW = {LACKS_ROOM: with_more_room, LACKS_LOG: with_longer_log, LACKS_NOTES: with_more_notes}


class LivelockError(ValueError):
    """A machine takes transition after transition.

    Attributes:
        path: The machine.
        state: The state in which it took the last one.
    """

    def __init__(self, path: str, state: str, many: str, advice: str) -> None:
        super().__init__(f"`{path}` {many}, the last one in state `{state}`: {advice}")
        self.path = path
        self.state = state


class UntimedError(ValueError):
    """A transition would take a negative time, or one for which something is divided by 0."""


class TooLargeError(ValueError):
    """A transition would calculate with a number that is too large."""


def build_transition(program: Program, placement: Placement, setting: Setting) -> Transition:
    """Return how a machine answers events, from the beginning of a trial."""
    state = build_state(
        program, placement, setting.streams.count, setting.stop_ps, logs=setting.watched
    )

    def replenish(state: Whole, reason: int) -> Whole:
        if reason == LIVELY:
            _verify_numbers(program, placement.path, state)
            raise _explain_livelock(program, placement.path, state)
        return GROW[reason](state)

    def report(state: Whole) -> Counts:
        _verify_numbers(program, placement.path, state)
        return read_counts(program, state)

    return Transition(
        state,
        _arrive,
        _wake,
        (("", BLOCKED),),
        first_alarm_ps=0 if program.begins else None,
        replenish=replenish,
        columns=CONTENT - MORE + placement.values,
        report=report,
    )


def _explain_livelock(program: Program, path: str, state: Whole) -> LivelockError:
    last = program.states[int(state[LAST])].name
    if state[EXPIRED] > state[MOST_EXPIRED]:
        many = f"lets more than {state[MOST_EXPIRED]:_} timers expire in one instant"
        advice = "timers of 0 s start each other, so give one of them a longer time"
        return LivelockError(path, last, many, advice)
    many = f"takes more than {state[LIMIT]:_} transitions"
    return LivelockError(path, last, many, "it hardly lets time pass")


def _verify_numbers(program: Program, path: str, state: Whole) -> None:
    """Raise an error if a number or a time of a transition was none to go on with."""
    if state[OVERFLOWN]:
        way = program.transitions[int(state[OVERFLOWN]) - 1]
        raise TooLargeError(
            f"`{path}` comes to a number of 2^62 or more in `{way.text}`, too large to calculate"
            " with (times are in picoseconds): bound what it calculates with by `min`"
        )
    if state[UNTIMED]:
        way = program.transitions[int(state[UNTIMED]) - 1]
        raise UntimedError(
            f"`{path}` takes `{way.text}` with values for which `after` is negative, or divides by"
            " 0"
        )


@kernel
def _find_lack(state: Whole) -> int:
    """Return why no event can be answered, whatever it is; DONE if it can."""
    if state[WENT] >= state[LIMIT] or state[EXPIRED] > state[MOST_EXPIRED]:
        return LIVELY
    if state[LOG_ROOM] > 0 and state[LOGGED] > state[LOG_ROOM] - MOST_CHANGES:
        return LACKS_LOG
    return LACKS_NOTES if state[SPARE_NOTES] < state[WINDOWS] else DONE


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Hear a message, or pass an item on; see `engine.event.transition`."""
    if state[WAITING] == state[ROOM]:
        return LACKS_ROOM
    lacking = _find_lack(state)
    if lacking != DONE:
        return lacking
    if port == state[DATA]:
        _pass(state, items, item, now_ps, out)
        return DONE
    connection = items[item, CONNECTION]
    ours = connection >= state[FIRST] and connection < state[FIRST] + state[MESSAGES]
    if ours and now_ps >= state[STOP]:
        state[LATE] += 1
    if now_ps >= state[STOP] or not ours or not _is_complete(state, items, item):
        consume(out, item)
        return DONE
    if _must_wait(state, items[item, REFERRED]):
        if not _enqueue(state, item, items[item, REFERRED], port, now_ps):
            consume(out, item)
        _begin_waiting(state, now_ps, out)
        return DONE
    _hear(state, items, item, port, now_ps, out)
    consume(out, item)
    _set_alarm(state, now_ps, out)
    return DONE


@kernel
def _wake(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Finish what was worked on, or begin with the next: what waits, a timer, or an instance."""
    lacking = _find_lack(state)
    if lacking != DONE:
        return lacking
    if now_ps >= state[STOP]:
        _dismiss_waiting(state, out)
        return DONE
    done = find_done(state)
    if done >= 0 and now_ps >= state[done + UNTIL]:
        way, row = state[done + WORKED_ON], state[done + WORKED_ROW]
        state[done + WORKED_ON] = -1
        state[WORKING] -= 1
        state[HELD] = 0
        if state[SERVERS] > 1:
            take_up(state, row)
        finish(state, items, row, way, now_ps, out)
    elif state[WORKING] < state[SERVERS]:
        _handle_next(state, items, now_ps, out)
    _set_alarm(state, now_ps, out)
    return DONE


@kernel
def _handle_next(state: Whole, items: Whole, now_ps: int, out: Whole) -> None:
    """Let the next event happen, if its time has come: of simultaneous ones, what waits first."""
    waits_ps, next_one = FOREVER_PS, _find_waiting(state)
    if next_one >= 0:
        waits_ps = state[_find_place(state, next_one) + ARRIVED]
    timer_ps, begins_ps = find_due_ps(state), _begins_ps(state)
    if min(waits_ps, timer_ps, begins_ps) > now_ps:
        return
    of_messages = state[EVENTS] - state[TIMERS] - 2
    if waits_ps <= timer_ps and waits_ps <= begins_ps:
        _go_on(state, items, next_one, now_ps, out)
    elif timer_ps <= begins_ps:
        timer, row = take_expired(state)
        _count_expired(state, now_ps)
        if find_done_ps(state, row) > 0:
            put_off(state, timer, row, timer_ps)
            return
        if timer == state[TIMERS]:
            dismiss_idle(state, row, now_ps)
            return
        _handle_event(state, items, row, of_messages + timer, now_ps, out)
    else:
        state[BEGUN] += 1
        _handle_event(state, items, state[BEGUN] - 1, state[EVENTS] - 2, now_ps, out)


@kernel
def _count_expired(state: Whole, now_ps: int) -> None:
    """Count a timer that expires in this instant."""
    if now_ps > state[INSTANT]:
        state[INSTANT], state[EXPIRED] = now_ps, 0
    state[EXPIRED] += 1


@kernel
def _must_wait(state: Whole, reference: int) -> bool:
    """Return whether an event of a reference cannot happen at once.

    Those that wait for an instance which is worked on do not go ahead of it.
    """
    if state[WORKING] == state[SERVERS] or _find_waiting(state) >= 0:
        return True
    return state[WORKING] > 0 and find_done_ps(state, _find_row(state, reference)) > 0


@kernel
def _find_place(state: Whole, number: int) -> int:
    """Return where in the state an event is that waits, by its number in the queue."""
    return state[AT_QUEUE] + (state[HEAD] + number) % state[ROOM] * QUEUED  # type: ignore[no-any-return]


@kernel
def _find_waiting(state: Whole) -> int:
    """Return the number of the event that is taken next of those that wait, -1 if none can be.

    Events of an instance that is worked on cannot. They are looked at once for each work that ends,
    in servers times events, and what comes meanwhile at each arrival.
    """
    many, held = state[WAITING], state[HELD]
    for k in range(many - held):
        number = many - 1 - k if state[LAST_COMES] else held + k
        if state[WORKING] == 0:
            return number  # type: ignore[no-any-return]
        row = _find_row(state, state[_find_place(state, number) + OF])
        if find_done_ps(state, row) == 0:
            if not state[LAST_COMES]:
                state[HELD] = number
            return number  # type: ignore[no-any-return]
    state[HELD] = many
    return -1


@kernel
def _go_on(state: Whole, items: Whole, number: int, now_ps: int, out: Whole) -> None:
    """Take an event that waits."""
    at = _find_place(state, number)
    item, reference, port = state[at + EVENT], state[at + OF], state[at + INPUT]
    _remove(state, number)
    if item == PASSED:
        _handle_passing(state, items, reference, now_ps, out)
    else:
        _hear(state, items, item, port, now_ps, out)
        consume(out, item)


@kernel
def _remove(state: Whole, number: int) -> None:
    """Take an event out of the queue; those behind it move up."""
    if number == 0:
        state[HEAD] = (state[HEAD] + 1) % state[ROOM]
    for k in range(number, state[WAITING] - 1 if number > 0 else 0):
        at, behind = _find_place(state, k), _find_place(state, k + 1)
        for column in range(QUEUED):
            state[at + column] = state[behind + column]
    state[WAITING] -= 1


@kernel
def _enqueue(state: Whole, item: int, reference: int, port: int, now_ps: int) -> bool:
    """Let something wait, for which the queue has a row; return whether it may."""
    if state[WAITING] >= state[MOST_WAITING]:
        state[OVERFLOW] += 1
        return False
    at = _find_place(state, state[WAITING])
    state[at + EVENT], state[at + OF], state[at + ARRIVED] = item, reference, now_ps
    state[at + INPUT] = port
    state[WAITING] += 1
    return True


@kernel
def _begin_waiting(state: Whole, now_ps: int, out: Whole) -> None:
    """Let what came just now be taken by a server that is free, which a machine of one has not."""
    if state[SERVERS] > 1:
        _set_alarm(state, now_ps, out)


@kernel
def _dismiss_waiting(state: Whole, out: Whole) -> None:
    """End what waits when the trial is over."""
    state[LATE] += state[WAITING]
    state[HELD] = 0
    while state[WAITING] > 0:
        item = state[state[AT_QUEUE] + state[HEAD] * QUEUED + EVENT]
        state[HEAD] = (state[HEAD] + 1) % state[ROOM]
        state[WAITING] -= 1
        if item != PASSED:
            consume(out, item)


@kernel
def _set_alarm(state: Whole, now_ps: int, out: Whole) -> None:
    """Set the alarm for the next thing to do."""
    done, next_ps = find_done(state), FOREVER_PS
    if done >= 0:
        next_ps = state[done + UNTIL]
    if state[WORKING] < state[SERVERS]:
        next_ps = min(next_ps, _begins_ps(state), find_due_ps(state))
        if _find_waiting(state) >= 0:
            next_ps = now_ps
    if next_ps < FOREVER_PS:
        wake_at(out, max(next_ps, now_ps))


@kernel
def _begins_ps(state: Whole) -> int:
    """Return when the next instance begins by itself, unless it is worked on."""
    number, many = state[BEGUN], state[INSTANCES]
    if number >= many:
        return FOREVER_PS
    if find_done_ps(state, number) > 0:  # of a message that came before
        return FOREVER_PS
    return compute_begin_ps(number - number % state[BURST], many, state[SPREAD])


# ---- events


@kernel
def _handle_event(
    state: Whole, items: Whole, row: int, event: int, now_ps: int, out: Whole
) -> None:
    """Let an event happen to an instance that exists."""
    load(state, row, now_ps)
    load_destination(state, state[state[AT_INSTANCES] + row * count_columns(state) + REFERENCE])
    way = choose_transition(state, row, event)
    if way != NOTHING_HAPPENS:
        take(state, items, row, way, now_ps, out)
    else:  # its last timer may have expired
        dismiss_idle(state, row, now_ps)


@kernel
def _find_row(state: Whole, reference: int) -> int:
    """Return the instance of a reference, -1 if there is none."""
    return 0 if state[PLAIN] else state[state[AT_FOUND] + reference] - 1


@kernel
def _hear(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> None:
    """Let a message happen to the instance of its reference, which may begin with it."""
    message, reference = state[state[AT_NAMES] + items[item, KIND]], items[item, REFERRED]
    if message < 0:
        state[IGNORED] += 1
        return
    row, at_port = _find_row(state, reference), state[state[AT_INPUTS] + port]
    load(state, row, now_ps)
    load_destination(state, reference)
    _read(state, items, item, message)
    way = choose_transition(state, row, message * state[PORTS] + at_port)
    if way == NOTHING_HAPPENS:
        state[IGNORED] += 1
        return
    if row < 0:
        row = admit(state, reference, now_ps)
    if row == NO_ROOM:
        return
    instance = state[AT_INSTANCES] + row * count_columns(state)
    if state[PLAIN]:
        state[instance + REFERENCE] = reference
    reply = state[state[AT_REPLIES] + items[item, CONNECTION] - state[FIRST]]
    state[instance + INSTANCE + state[VALUES] + at_port] = reply
    take(state, items, row, way, now_ps, out)


@kernel
def _read(state: Whole, items: Whole, item: int, message: int) -> None:
    """Make the values that a message carries those of the instance, for now."""
    at = state[AT_LISTS] + state[state[AT_READ] + 2 * message]
    for k in range(state[state[AT_READ] + 2 * message + 1]):
        state[state[AT_VARIABLES] + state[at + k]] = items[item, CONTENT + k]


@kernel
def _is_complete(state: Whole, items: Whole, item: int) -> bool:
    """Count a part of a message; return whether it is the last, and none is missing."""
    at = state[AT_PARTIAL] + (items[item, CONNECTION] - state[FIRST]) * PARTIAL
    if state[at + SERIAL_OF] != items[item, NUMBERED]:
        if state[at + SEEN] > 0:
            state[INCOMPLETE] += 1
        state[at + SERIAL_OF], state[at + SEEN] = items[item, NUMBERED], 0
    state[at + SEEN] += 1
    if items[item, PART] < items[item, OF_PARTS] - 1:
        return False
    complete = state[at + SEEN] == items[item, OF_PARTS]
    if not complete:
        state[INCOMPLETE] += 1
    state[at + SEEN] = 0
    return complete  # type: ignore[no-any-return]


# ---- what passes through


@kernel
def _pass(state: Whole, items: Whole, item: int, now_ps: int, out: Whole) -> None:
    """Send an item on as the state of its instance says, which may notice it."""
    connection = items[item, CONNECTION] % state[FLOWS]
    of_flow = connection < state[FIRST]
    row = 0 if state[PLAIN] else -1
    if of_flow:
        row = _find_row(state, connection)
    output = state[state[AT_FORWARD] + find_state(state, row)]
    if output >= 0:
        send(out, output, item, now_ps)
    else:
        lose(out, 0, item)
    if not of_flow or now_ps >= state[STOP] or state[BY_ITEMS] == 0:
        return
    # It waits though this state may not heed it: another may have come before its turn.
    if _must_wait(state, connection):
        _enqueue(state, PASSED, connection, 0, now_ps)
        _begin_waiting(state, now_ps, out)
        return
    _handle_passing(state, items, connection, now_ps, out)
    _set_alarm(state, now_ps, out)


@kernel
def _handle_passing(state: Whole, items: Whole, reference: int, now_ps: int, out: Whole) -> None:
    """Let the passing of an item happen to the instance of its connection."""
    row = _find_row(state, reference)
    load(state, row, now_ps)
    load_destination(state, reference)
    way = choose_transition(state, row, state[EVENTS] - 1)
    if way == NOTHING_HAPPENS:
        return
    if row < 0:
        row = admit(state, reference, now_ps)
    if row != NO_ROOM:
        take(state, items, row, way, now_ps, out)
