"""The interpreter of machines: what an event does, by the tables of `state`.

A machine works on one event at a time, or on several of different instances. What comes while it
works waits its turn; timers that run out then expire when it is free, each in its order of time,
unless they are stopped meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import LONGEST_PS
from qospec.catalogue.machine import NO_ADDRESS, OPERATIONS
from qospec.engine.endpoint.deadlines import (
    DUE,
    find_earliest,
    meet_deadline,
    move_deadline,
    set_deadline,
)
from qospec.engine.event.transition import make, send
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import kernel, view_rows
from qospec.engine.machine.servers import occupy
from qospec.engine.machine.state import (
    AFTER,
    ASSIGN,
    ASSIGNS,
    AT_CALLED,
    AT_CHOICES,
    AT_DESTINATIONS,
    AT_FOUND,
    AT_FREE,
    AT_INITIAL,
    AT_INSTANCES,
    AT_LENGTHS,
    AT_LISTS,
    AT_LOG,
    AT_NEW,
    AT_SENDS,
    AT_STACK,
    AT_STATES,
    AT_TAKEN,
    AT_TIMERS,
    AT_VARIABLES,
    AT_WAYS,
    AT_WINDOWS,
    BY_ITEM,
    CALL,
    CALLED,
    CALLS,
    CARRIED,
    CARRIES,
    CARRY,
    CHANGE,
    CONTENT,
    COUNT,
    COUNTERS,
    DESTINATIONS,
    ENTERED,
    EVENTS,
    FIRST_AT,
    FREE,
    HALT,
    HALTS,
    INSTANCE,
    INSTANCES,
    INTO,
    KIND,
    LARGE,
    LAST,
    LAST_AT,
    LOG_ROOM,
    LOGGED,
    LONGEST,
    MARKS,
    MOST,
    NAME,
    NOTED,
    NUMBERED,
    OBSERVED,
    OF_PARTS,
    OUTPUT,
    OVERFLOWN,
    PART,
    PARTS,
    PEER,
    PERMANENT,
    PORT,
    PORTS,
    PUT_OFF,
    REFERENCE,
    REFERRED,
    REFUSED,
    SEND,
    SENDS,
    SENT,
    SERIAL,
    SHORTEST,
    SINCE,
    SIZE_BYTES,
    START,
    START_ALL,
    START_ALLS,
    STARTS,
    STATE,
    STAYS,
    SUM,
    TARGET,
    TIMER,
    TIMERS,
    UNHEARD,
    UNTIMED,
    VALUES,
    WAY,
    WENT,
    WHEN,
    WHERE,
    WHERE_LENGTH,
    WHO,
    WINDOW,
    WINDOWS,
    WORK,
    WORKS,
)  # fmt: skip
from qospec.engine.machine.windows import count_within, find_empty_ps, forget, note_transition
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole

(CONSTANT, VARIABLE, PLUS, MINUS, TIMES, NEGATE, EQUAL, UNEQUAL, LESS, AT_MOST) = range(10)
(MORE, AT_LEAST, AND, OR, NOT, LEAST, GREATEST, ABSOLUTE, DIVIDED, DURATION) = range(10, 20)
"""Their places in `catalogue.machine.OPERATIONS`."""
assert len(OPERATIONS) == 1 + DURATION  # noqa: S101 -- or these are not up to date
NOTHING_HAPPENS, NO_ROOM = -1, -2
"""In place of an instance: no transition is taken; or one would be, and there is no room for it."""
NO_TIME = -(2**62)
"""In place of a time: something was divided by 0."""
TOO_LARGE = 2**62
"""No result is as large as this, so that the sum or the difference of two is exact."""
NEAREST, NOBODY = -1, -2
"""In place of the connection by which an instance sends: to the nearest, or it called nobody."""
ENDED = -1
"""In place of a state, in the log: an instance is no more."""
TIMER_RANK, EMPTY_RANK = range(2)
"""Of what is due at once: timers, in the order in which they were started, before windows that are
empty."""
MOST_CHANGES = 3
"""That one event logs: an instance begins, enters another state, and ends."""


# ---- conditions and values


@kernel
def _evaluate(state: Whole, way: int, place: int, length: int) -> int:
    """Return what a program of a transition gives: pairs of an operation and an argument."""
    lists, stack, top = state[AT_LISTS] + place, state[AT_STACK], -1
    for k in range(length):
        operation, argument = state[lists + 2 * k], state[lists + 2 * k + 1]
        if operation == CONSTANT:
            top += 1
            state[stack + top] = argument
        elif operation == VARIABLE:
            top += 1
            state[stack + top] = state[state[AT_VARIABLES] + argument]
        elif operation == NEGATE:
            state[stack + top] = -state[stack + top]
        elif operation == NOT:
            state[stack + top] = state[stack + top] == 0
        elif operation == ABSOLUTE:
            state[stack + top] = abs(state[stack + top])
        else:
            top -= 1
            a, b = state[stack + top], state[stack + top + 1]
            if operation < DIVIDED:
                state[stack + top] = _operate(state, way, operation, a, b)
            elif b == 0:
                return NO_TIME
            else:
                state[stack + top] = a // b if operation == DIVIDED else _compute_duration_ps(a, b)
    return state[stack]  # type: ignore[no-any-return]


@kernel
def _operate(state: Whole, way: int, operation: int, a: int, b: int) -> int:
    """Return the result of an operation; of one that is too large, note that, and return 0."""
    if _is_too_large(operation, a, b):
        state[OVERFLOWN] = 1 + way
        return 0
    return _combine(operation, a, b)


@kernel
def _compute_duration_ps(amount: int, per_second: int) -> int:
    """Return how long an amount takes, rounded down; LONGEST_PS if it is longer, either way."""
    if per_second < 0:
        amount, per_second = -amount, -per_second
    whole, rest = amount // per_second, amount % per_second
    if abs(whole) >= LONGEST_PS // PS_PER_S:
        return LONGEST_PS if whole > 0 else -LONGEST_PS
    if per_second >= TOO_LARGE // 1_000:
        return _divide_long(whole, rest, per_second)
    for _ in range(4):  # a product of 10^12 would be too large
        whole, rest = whole * 1_000 + rest * 1_000 // per_second, rest * 1_000 % per_second
    return whole


@kernel
def _divide_long(whole: int, rest: int, per_second: int) -> int:
    """Return the ps of seconds and of a rest, of which a thousandfold would be too large."""
    for _ in range(12):
        whole, tenfold = 10 * whole, 0
        for _ in range(10):
            tenfold += rest
            if tenfold >= per_second:
                whole, tenfold = whole + 1, tenfold - per_second
        rest = tenfold
    return whole


@kernel
def _is_too_large(operation: int, a: int, b: int) -> bool:
    """Return whether the result of an operation is too large to calculate with."""
    if operation == PLUS:
        return abs(a + b) >= TOO_LARGE
    if operation == MINUS:
        return abs(a - b) >= TOO_LARGE
    return operation == TIMES and b != 0 and abs(a) > (TOO_LARGE - 1) // abs(b)


@kernel
def _combine(operation: int, a: int, b: int) -> int:  # noqa: C901, PLR0911, PLR0912 -- one of each
    if operation == PLUS:
        return a + b
    if operation == MINUS:
        return a - b
    if operation == TIMES:
        return a * b
    if operation == EQUAL:
        return int(a == b)
    if operation == UNEQUAL:
        return int(a != b)
    if operation == LESS:
        return int(a < b)
    if operation == AT_MOST:
        return int(a <= b)
    if operation == MORE:
        return int(a > b)
    if operation == AT_LEAST:
        return int(a >= b)
    if operation == AND:
        return int(a != 0 and b != 0)
    if operation == OR:
        return int(a != 0 or b != 0)
    return min(a, b) if operation == LEAST else max(a, b)


# ---- instances


@kernel
def count_columns(state: Whole) -> int:
    """Return how many columns an instance has."""
    return INSTANCE + state[VALUES] + state[PORTS]  # type: ignore[no-any-return]


@kernel
def load(state: Whole, row: int, now_ps: int) -> None:
    """Make values and windows of an instance, or of a new one, those that conditions see."""
    place = state[AT_INITIAL]
    if row >= 0:
        place = state[AT_INSTANCES] + row * count_columns(state) + INSTANCE
    for k in range(state[VALUES]):
        state[state[AT_VARIABLES] + k] = state[place + k]
    place = state[AT_VARIABLES] + state[VALUES] + state[COUNTERS]
    for k in range(state[WINDOWS]):
        state[place + k] = 0 if row < 0 else count_within(state, row, k, now_ps)


@kernel
def load_destination(state: Whole, reference: int) -> None:
    """Make it visible where the packets of a connection go, that an instance is of."""
    known = reference >= 0 and reference < state[DESTINATIONS]
    place = state[AT_VARIABLES] + state[VALUES] + state[COUNTERS] + state[WINDOWS]
    state[place] = state[state[AT_DESTINATIONS] + reference] if known else NO_ADDRESS


@kernel
def find_state(state: Whole, row: int) -> int:
    """Return the state of an instance; of one that does not exist, the first."""
    return 0 if row < 0 else state[state[AT_INSTANCES] + row * count_columns(state) + STATE]


@kernel
def choose_transition(state: Whole, row: int, event: int) -> int:
    """Return the transition that an event causes, given the values that `load` made visible."""
    choice = state[AT_CHOICES] + 2 * (find_state(state, row) * state[EVENTS] + event)
    first = state[AT_LISTS] + state[choice]
    for n in range(state[choice + 1]):
        way = state[first + n]
        at = state[AT_WAYS] + way * WAY
        length = state[at + WHERE_LENGTH]
        if length == 0 or _evaluate(state, way, state[at + WHERE], length) != 0:
            return way  # type: ignore[no-any-return]
    return NOTHING_HAPPENS


@kernel
def admit(state: Whole, reference: int, now_ps: int) -> int:
    """Return the row of a new instance, in the first state; NO_ROOM if there is none."""
    if state[FREE] == 0:
        state[REFUSED] += 1
        return NO_ROOM
    state[FREE] -= 1
    row = state[state[AT_FREE] + state[FREE]]
    instance = state[AT_INSTANCES] + row * count_columns(state)
    state[instance + STATE], state[instance + REFERENCE] = 0, reference
    state[instance + SINCE] = now_ps
    for k in range(state[VALUES]):
        state[instance + INSTANCE + k] = state[state[AT_INITIAL] + k]
    for port in range(state[PORTS]):
        state[instance + INSTANCE + state[VALUES] + port] = -1
    state[state[AT_FOUND] + reference] = 1 + row
    _enter(state, row, 0, now_ps)
    return row  # type: ignore[no-any-return]


@kernel
def dismiss_idle(state: Whole, row: int, now_ps: int) -> None:
    """Free an instance in the first state, unless a timer runs or a window holds anything."""
    instance = state[AT_INSTANCES] + row * count_columns(state)
    if state[PERMANENT] or state[instance + STATE] != 0:
        return
    deadlines = view_rows(state, state[AT_TIMERS], _count_rows(state), TIMER)
    for timer in range(state[TIMERS]):
        if deadlines[_find_row(state, timer, row), DUE] < FOREVER_PS:
            return
    empty_ps = find_empty_ps(state, row)
    if empty_ps > now_ps:
        set_deadline(deadlines, _find_row(state, state[TIMERS], row), empty_ps, EMPTY_RANK)
        return
    for window in range(state[WINDOWS]):
        at = state[AT_WINDOWS] + (row * state[WINDOWS] + window) * WINDOW
        while state[at + NOTED] > 0:
            forget(state, at)
    state[state[AT_STATES] + COUNT] -= 1
    _record_entry(state, row, ENDED, now_ps)
    state[instance + STATE] = -1
    state[state[AT_FOUND] + state[instance + REFERENCE]] = 0
    state[state[AT_FREE] + state[FREE]] = row
    state[FREE] += 1


@kernel
def _record_entry(state: Whole, row: int, number: int, now_ps: int) -> None:
    """Note that an instance enters a state, if a log is kept; there is room."""
    if state[LOG_ROOM] == 0:
        return
    at = state[AT_LOG] + state[LOGGED] * CHANGE
    state[at + WHO], state[at + WHEN], state[at + INTO] = row, now_ps, number
    state[LOGGED] += 1


@kernel
def _enter(state: Whole, row: int, number: int, now_ps: int) -> None:
    """Count an instance that enters a state."""
    _record_entry(state, row, number, now_ps)
    observed = state[AT_STATES] + number * OBSERVED
    if state[observed + ENTERED] == 0:
        state[observed + FIRST_AT] = now_ps
    state[observed + LAST_AT] = now_ps
    state[observed + COUNT] += 1
    state[observed + ENTERED] += 1
    state[observed + MOST] = max(state[observed + MOST], state[observed + COUNT])


@kernel
def _leave(state: Whole, number: int, stay_ps: int) -> None:
    """Count an instance that leaves a state after so long."""
    observed = state[AT_STATES] + number * OBSERVED
    state[observed + COUNT] -= 1
    if state[observed + STAYS] == 0 or stay_ps < state[observed + SHORTEST]:
        state[observed + SHORTEST] = stay_ps
    state[observed + STAYS] += 1
    state[observed + SUM] += stay_ps
    if state[observed + SUM] >= LARGE:
        state[observed + SUM] -= LARGE
        state[observed + CARRY] += 1
    state[observed + LONGEST] = max(state[observed + LONGEST], stay_ps)


# ---- timers


@kernel
def _count_rows(state: Whole) -> int:
    """Return the number of rows of deadlines: of the heap, and all timers of all instances.

    Behind the timers, if there are windows: when those of an instance are empty, so that it ends.
    """
    return 1 + (state[TIMERS] + min(state[WINDOWS], 1)) * state[INSTANCES]  # type: ignore[no-any-return]


@kernel
def _find_row(state: Whole, timer: int, row: int) -> int:
    """Return the row of a timer of an instance among all deadlines."""
    return 1 + timer * state[INSTANCES] + row  # type: ignore[no-any-return]


@kernel
def halt(state: Whole, timer: int, row: int) -> None:
    """Stop a timer of an instance, if it runs."""
    deadlines = view_rows(state, state[AT_TIMERS], _count_rows(state), TIMER)
    meet_deadline(deadlines, _find_row(state, timer, row))
    deadlines[_find_row(state, timer, row), PUT_OFF] = 0


@kernel
def _start(state: Whole, timer: int, row: int, now_ps: int) -> None:
    """Start a timer of an instance, anew if it runs: behind those that are due then already."""
    deadlines = view_rows(state, state[AT_TIMERS], _count_rows(state), TIMER)
    expires_ps = now_ps + state[state[AT_LENGTHS] + timer]
    set_deadline(deadlines, _find_row(state, timer, row), expires_ps, TIMER_RANK)
    deadlines[_find_row(state, timer, row), PUT_OFF] = 0


@kernel
def find_due_ps(state: Whole) -> int:
    """Return when a timer expires next; FOREVER_PS if none runs."""
    deadlines = view_rows(state, state[AT_TIMERS], _count_rows(state), TIMER)
    return deadlines[find_earliest(deadlines), DUE]  # type: ignore[no-any-return]


@kernel
def take_expired(state: Whole) -> tuple[int, int]:
    """Stop the timer that expires next; return it, and the row of its instance.

    One more than the last timer: the windows of the instance are empty.
    """
    number = find_earliest(view_rows(state, state[AT_TIMERS], _count_rows(state), TIMER)) - 1
    timer, row = number // state[INSTANCES], number % state[INSTANCES]
    halt(state, timer, row)
    return timer, row


@kernel
def put_off(state: Whole, timer: int, row: int, due_ps: int) -> None:
    """Let a timer that was due wait as long as its instance is worked on."""
    deadlines = view_rows(state, state[AT_TIMERS], _count_rows(state), TIMER)
    deadlines[_find_row(state, timer, row), PUT_OFF] = 1 + due_ps


@kernel
def take_up(state: Whole, row: int) -> None:
    """Let the timers of an instance that were put off expire, each in its turn."""
    deadlines = view_rows(state, state[AT_TIMERS], _count_rows(state), TIMER)
    for timer in range(state[TIMERS] + min(state[WINDOWS], 1)):
        at = _find_row(state, timer, row)
        if deadlines[at, PUT_OFF] > 0:
            move_deadline(deadlines, at, deadlines[at, PUT_OFF] - 1)
            deadlines[at, PUT_OFF] = 0


# ---- transitions


@kernel
def take(state: Whole, items: Whole, row: int, way: int, now_ps: int, out: Whole) -> None:
    """Take a transition: change the state and the variables, and do the rest now or later."""
    at = state[AT_WAYS] + way * WAY
    state[state[AT_TAKEN] + way] += 1
    if state[at + BY_ITEM] == 0:
        state[WENT] += 1
    takes_ps = state[at + AFTER]
    if state[at + WORKS] > 0:
        takes_ps = _evaluate(state, way, state[at + WORK], state[at + WORKS])
        if takes_ps < 0:
            state[UNTIMED] = 1 + way
    _call(state, row, way)
    _assign(state, row, way)
    note_transition(state, row, at, now_ps)
    instance = state[AT_INSTANCES] + row * count_columns(state)
    before, after = state[instance + STATE], state[at + TARGET]
    state[LAST] = before
    if before != after:
        _leave(state, before, now_ps - state[instance + SINCE])
        _enter(state, row, after, now_ps)
        state[instance + STATE], state[instance + SINCE] = after, now_ps
    if takes_ps > 0:
        occupy(state, way, row, now_ps + takes_ps)
    else:
        finish(state, items, row, way, now_ps, out)


@kernel
def _call(state: Whole, row: int, way: int) -> None:
    """Let an instance send to those that a transition calls, by what variables were before."""
    at = state[AT_WAYS] + way * WAY
    first = state[AT_LISTS] + state[at + CALL]
    peers = state[AT_INSTANCES] + row * count_columns(state) + INSTANCE + state[VALUES]
    for k in range(state[at + CALLS]):
        port, place = state[first + 3 * k], first + 3 * k
        address = _evaluate(state, way, state[place + 1], state[place + 2])
        state[peers + port] = NOBODY
        for n in range(state[CALLED]):
            called = state[AT_CALLED] + 3 * n
            if state[called] == port and state[called + 1] == address:
                state[peers + port] = state[called + 2]


@kernel
def _assign(state: Whole, row: int, way: int) -> None:
    """Set variables as a transition says, all from what they were before."""
    at = state[AT_WAYS] + way * WAY
    first = state[AT_LISTS] + state[at + ASSIGN]
    for k in range(state[at + ASSIGNS]):
        place = first + 3 * k
        state[state[AT_NEW] + k] = _evaluate(state, way, state[place + 1], state[place + 2])
    for k in range(state[at + ASSIGNS]):
        state[state[AT_VARIABLES] + state[first + 3 * k]] = state[state[AT_NEW] + k]
    instance = state[AT_INSTANCES] + row * count_columns(state) + INSTANCE
    for k in range(state[VALUES]):
        state[instance + k] = state[state[AT_VARIABLES] + k]


@kernel
def finish(state: Whole, items: Whole, row: int, way: int, now_ps: int, out: Whole) -> None:
    """Do what a transition does once it has been worked on: timers, then messages."""
    at = state[AT_WAYS] + way * WAY
    for k in range(state[at + HALTS]):
        halt(state, state[state[AT_LISTS] + state[at + HALT] + k], row)
    for k in range(state[at + START_ALLS]):
        timer = state[state[AT_LISTS] + state[at + START_ALL] + k]
        for other in range(state[INSTANCES]):
            if find_state(state, other) >= 0:
                _start(state, timer, other, now_ps)
    for k in range(state[at + STARTS]):
        timer = state[state[AT_LISTS] + state[at + START] + k]
        _start(state, timer, row, now_ps)
    for k in range(state[at + SENDS]):
        _say(state, items, row, state[AT_SENDS] + (state[at + SEND] + k) * SENT, now_ps, out)
    dismiss_idle(state, row, now_ps)


@kernel
def _say(state: Whole, items: Whole, row: int, at: int, now_ps: int, out: Whole) -> None:
    """Send a message, in all its parts, to who last spoke to the instance there, or the nearest."""
    instance = state[AT_INSTANCES] + row * count_columns(state)
    connection = state[instance + INSTANCE + state[VALUES] + state[at + PORT]]
    if connection == NEAREST:
        connection = state[at + PEER]
    if connection < 0:
        state[UNHEARD] += 1
        return
    state[SERIAL] += 1
    for part in range(state[PARTS]):
        item = make(items, out, connection, state[SIZE_BYTES], state[MARKS], now_ps)
        items[item, KIND], items[item, REFERRED] = state[at + NAME], state[instance + REFERENCE]
        items[item, NUMBERED], items[item, PART] = state[SERIAL], part
        items[item, OF_PARTS] = state[PARTS]
        for k in range(state[at + CARRIES]):
            value = state[state[AT_LISTS] + state[at + CARRIED] + k]
            items[item, CONTENT + k] = state[instance + INSTANCE + value]
        send(out, state[at + OUTPUT], item, now_ps)
