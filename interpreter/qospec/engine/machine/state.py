"""The state of a machine: one array of integers, with its program as tables, for `interpreter`.

The first fields are numbers; those that begin with AT say where a table begins. Rows of tables have
the columns below. The queue of what waits and the log of changes are the last parts, so that they
can grow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.machine import (
    ANY,
    BEGIN,
    DEEPEST,
    ITEM,
    LAST_COME,
    NO_ADDRESS,
    Counts,
    Rest,
    StateCount,
)
from qospec.engine.arrays import np
from qospec.engine.endpoint.deadlines import DEADLINE, DUE, clear_deadlines
from qospec.engine.event.transition import MORE
from qospec.engine.items.batch import COLUMNS, FOREVER_PS
from qospec.engine.kernel import get_function, view_rows
from qospec.engine.machine.placement import Placement

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.catalogue.machine import Code, Program, Transition
    from qospec.engine.arrays import Whole

(STOP, INSTANCES, PLAIN, PERMANENT, SPREAD, BEGUN, SERVERS, WORKING, LAST_COMES) = range(9)
"""When the trial ends; how many instances there may be; whether there is one for everything;
whether all exist from the beginning; over what time they begin, and how many have; how many servers
there are, and how many of them work; whether what came last is taken first."""
(WENT, FIRST, MESSAGES, FLOWS, DATA, PARTS, SIZE_BYTES, MARKS, SERIAL) = range(9, 18)
"""How many transitions no passing item caused; the first connection of messages and their number;
the number of those of flows; the input for what passes, -1: none; in how many parts a message is
sent, how large these are, and with which marks; how many messages it has sent."""
(IGNORED, REFUSED, UNHEARD, INCOMPLETE, FREE, HEAD, WAITING, ROOM, LAST, LIMIT) = range(18, 28)
"""Four counts; how many instances are free; the first row of the queue, how many rows are in use,
and how many there are; the state in which the last transition was taken; how many may be."""
(STATES, EVENTS, TIMERS, VALUES, COUNTERS, PORTS, NAMES, REFERENCES, BY_ITEMS, BURST) = range(
    28, 38
)
"""How many there are; the last two, of transitions that items cause which pass, and of instances
that begin together."""
LOGGED, LOG_ROOM, WINDOWS, SPARE_NOTE, SPARE_NOTES, UNTIMED, OVERFLOWN = range(38, 45)
"""How many rows of the log are in use, and how many there are; 0: none is kept. How many windows an
instance has; the first note that is free, and how many are; 1 more than the last transition of
which `after` was negative, or divided by 0; 0: none; likewise of which a number was too large."""
LATE, MOST_WAITING, OVERFLOW, HELD = range(45, 49)
"""How much came after the end of the trial, or still waited then; how many events may wait, and how
many more came; how many at the head of the queue are known to wait for instances that are worked
on."""
(
    AT_WAYS, AT_CHOICES, AT_LISTS, AT_SENDS, AT_INPUTS, AT_NAMES, AT_FORWARD, AT_INITIAL,
    AT_VARIABLES, AT_STACK, AT_NEW, AT_INSTANCES, AT_TIMERS, AT_LENGTHS, AT_FREE, AT_FOUND,
    AT_STATES, AT_TAKEN, AT_REPLIES, AT_READ, AT_PARTIAL, AT_SPANS, AT_WINDOWS, AT_QUEUE, AT_NOTES,
    AT_LOG, AT_SERVERS, AT_CALLED, AT_DESTINATIONS,
) = range(49, 78)  # fmt: skip
CALLED, DESTINATIONS = 78, 79
"""How many pairs of a port and an address lead to a machine: by row of their table these two, and
the connection to it; and of how many connections of flows it is known where they go."""
INSTANT, EXPIRED, MOST_EXPIRED = range(80, 83)
"""When a timer last expired; how many did in that instant, and how many may in one."""
FIELDS = 83

(
    TARGET, AFTER, WHERE, WHERE_LENGTH, SEND, SENDS, START, STARTS, HALT, HALTS, ASSIGN, ASSIGNS,
    BY_ITEM, WORK, WORKS, NOTE, NOTES, START_ALL, START_ALLS, CALL, CALLS,
) = range(21)  # fmt: skip
"""A transition: the state that follows, how long it takes; where its condition begins, and how many
pairs it has; likewise rows of messages, timers to start, timers to stop, and assignments, three
numbers each; whether an item that passes causes it; likewise the program of how long it takes, and
the windows in which it counts, the timers that it starts of all instances, and, three numbers each,
ports by which it calls others."""
WAY = 21
UNTIL, WORKED_ON, WORKED_ROW, BEGAN = range(4)
"""A server: until when it works, on which transition (-1: none) of which instance; and how many the
machine had begun to work on before."""
SERVER = 4
PUT_OFF = DEADLINE
"""A timer: a deadline, and when it was due while its instance was worked on, plus 1; else 0."""
TIMER = DEADLINE + 1
OUTPUT, PORT, NAME, PEER, CARRIED, CARRIES = range(6)
"""A message that is sent: the output and port, its number, the connection to the nearest machine
that waits for it, -1: none; where the numbers of the values that it carries begin, and how many."""
SENT = 6
STATE, REFERENCE, SINCE = range(3)
"""An instance: its state (-1: free), its reference, and since when it is in that state. Then come
its values and, by port, the connection by which it sends, -1: the nearest, -2: nobody."""
INSTANCE = 3
COUNT, MOST, ENTERED, STAYS, SUM, CARRY, SHORTEST, LONGEST, FIRST_AT, LAST_AT = range(10)
"""What is observed of a state; the sum of stays is `SUM + CARRY * LARGE` ps."""
OBSERVED = 10
LARGE = 2**62
SERIAL_OF, SEEN = range(2)
"""Of a connection, the message of which parts have come, and how many."""
PARTIAL = 2
EVENT, OF, ARRIVED, INPUT = range(4)
"""What waits: an item that brings a message (EVENT is its row, INPUT where it came), or -1 for an
item that passed, of the reference OF; and when it came."""
QUEUED = 4
WHO, WHEN, INTO = range(3)
"""A change in the log: the instance, when it was, and the state that it entered, -1: it ended. One
that is there from the beginning is in the log at the time THERE."""
CHANGE = 3
THERE = -1
OLDEST, NEWEST, NOTED = range(3)
"""A window of an instance: the rows of its oldest and newest note, and how many there are."""
WINDOW = 3
NOTED_AT, NEXT_NOTE = range(2)
"""A note in a window, or one that is free: when it was, and the row of the next, -1: none."""
NOTE_COLUMNS = 2
FIRST_ROOM = 64
MOST_TRANSITIONS = 10_000_000
"""In a trial, without those that items cause that pass through."""
MOST_IN_AN_INSTANT, MOST_OF_AN_INSTANCE = 10_000, 100
"""How many timers may expire in one instant, and how many more for each instance."""

KIND, REFERRED, NUMBERED, PART, OF_PARTS, CONTENT = (
    MORE + len(COLUMNS) + place for place in range(6)
)
"""Columns of items that are messages, behind those of all items: the message, the reference of the
instance that sent it, its number, which part of it this is, and of how many; then its values."""


def read_table(state: Whole, at: int, count: int, width: int) -> Whole:
    """Return a table of a state, for Python."""
    table: Whole = get_function(view_rows)(state, int(state[at]), count, width)
    return table


def build_state(
    program: Program, placement: Placement, flows: int, stop_ps: int, *, logs: bool = False
) -> Whole:
    """Return the state of a machine at the beginning of a trial.

    Args:
        program: What it does.
        placement: Where.
        flows: How many connections flows have, on all kinds.
        stop_ps: The end of the trial.
        logs: Whether it keeps a log of all changes of state.
    """
    state = _Writer(program, placement).write_state()
    state = with_more_notes(state) if program.windows else state
    state[[STOP, FLOWS, LIMIT]] = stop_ps, flows, MOST_TRANSITIONS
    count = int(state[INSTANCES])
    clear_deadlines(read_table(state, AT_TIMERS, _count_deadlines(program), TIMER))
    instances = read_table(
        state, AT_INSTANCES, count, INSTANCE + len(program.values) + len(program.ports)
    )
    instances[:, STATE] = -1
    instances[:, INSTANCE + len(program.values) :] = -1
    if state[PERMANENT]:
        instances[:, STATE] = 0
        instances[:, REFERENCE] = placement.reference + np.arange(count)
        instances[:, INSTANCE : INSTANCE + len(program.values)] = [
            v.initial for v in program.values
        ]
        found = int(state[AT_FOUND]) + placement.reference
        state[found : found + count] = 1 + np.arange(count)
        observed = read_table(state, AT_STATES, len(program.states), OBSERVED)
        observed[0, [COUNT, MOST]] = count
    else:
        state[FREE] = count
        free = int(state[AT_FREE])
        state[free : free + count] = np.arange(count)[::-1]
    return _with_log(state) if logs else state


def _count_deadlines(program: Program) -> int:
    """Return how many rows the deadlines have, as `interpreter` counts them."""
    return 1 + (len(program.timers) + bool(program.windows)) * (program.instances or 1)


def _with_log(state: Whole) -> Whole:
    """Return a state with a log, in which are those that are there from the beginning."""
    there = int(state[INSTANCES]) if state[PERMANENT] else 0
    log = np.zeros((there + FIRST_ROOM, CHANGE), np.int64)
    log[:there, WHO], log[:there, WHEN] = np.arange(there), THERE
    state[LOGGED], state[LOG_ROOM] = there, len(log)
    return np.concatenate([state, log.ravel()])


class _Writer:
    """Writes the tables of a program."""

    def __init__(self, program: Program, placement: Placement) -> None:
        self._program = program
        self._placement = placement
        self._lists: list[int] = []
        self._sends: list[int] = []
        self._timers = [name for name, _ in program.timers]
        self._states = [state.name for state in program.states]
        self._values = [value.name for value in program.values]
        self._windows = [name for name, _ in program.windows]

    def write_state(self) -> Whole:
        """Return all of them behind the fields, without what changes."""
        tables, fields = self._build_tables(), [0] * FIELDS
        for number, value in self._compute_fields(self._program.instances or 1).items():
            fields[number] = value
        place = FIELDS
        for at, table in tables.items():
            fields[at] = place
            place += len(table)
        numbers = [n for table in tables.values() for n in table]
        if self._placement.numbers:
            numbers = [self._placement.numbers.get(n, n) for n in numbers]
        return np.array([*fields, *numbers], np.int64)

    def _build_tables(self) -> dict[int, list[int]]:
        program, placement = self._program, self._placement
        count = program.instances or 1
        ways = [number for way in program.transitions for number in self._write_way(way)]
        values, counters = len(program.values), len(program.counters)
        windows = len(program.windows)
        initial = [variable.initial for variable in program.values]
        replies = [
            placement.replies.get(placement.first + n, -1) for n in range(placement.connections)
        ]
        return {
            AT_WAYS: ways,
            AT_CHOICES: self._list_choices(),
            AT_READ: self._read(),
            AT_LISTS: self._lists,
            AT_SENDS: self._sends,
            AT_INPUTS: [
                program.ports.index(p) if p in program.ports else -1 for p in program.inputs
            ],
            AT_NAMES: [self._number_message(name) for name in placement.names],
            AT_FORWARD: self._list_forwards(),
            AT_INITIAL: initial,
            AT_VARIABLES: initial
            + [n.initial for n in program.counters]
            + [0] * windows
            + [NO_ADDRESS],
            AT_SERVERS: [0, -1, 0, 0] * program.servers,
            AT_DESTINATIONS: list(placement.destinations),
            AT_CALLED: self._list_called(),
            AT_STACK: [0] * (DEEPEST + 1),
            AT_NEW: [0] * (values + counters),
            AT_INSTANCES: [0] * (count * (INSTANCE + values + len(program.ports))),
            AT_TIMERS: [0] * (_count_deadlines(program) * TIMER),
            AT_LENGTHS: [int(length or 0) for _, length in program.timers],
            AT_FREE: [0] * count,
            AT_FOUND: [0] * placement.references,
            AT_STATES: [0] * (len(program.states) * OBSERVED),
            AT_TAKEN: [0] * len(program.transitions),
            AT_REPLIES: replies,
            AT_PARTIAL: [0] * (placement.connections * PARTIAL),
            AT_SPANS: [int(length or 1) for _, length in program.windows],
            AT_WINDOWS: [0] * (count * windows * WINDOW),
            AT_QUEUE: [0] * (FIRST_ROOM * QUEUED),
            AT_NOTES: [],
            AT_LOG: [],
        }

    def _list_called(self) -> list[int]:
        return [
            number
            for (port, address), connection in self._placement.called.items()
            for number in (self._program.ports.index(port), address, connection)
        ]

    def _compute_fields(self, count: int) -> dict[int, int]:
        program, placement = self._program, self._placement
        size = program.size
        return {
            INSTANCES: count,
            PLAIN: program.instances is None,
            PERMANENT: program.instances is None or program.begins,
            SPREAD: program.spread_ps,
            BURST: program.burst,
            BEGUN: 0 if program.begins else count,
            SERVERS: program.servers,
            LAST_COMES: program.order == LAST_COME,
            MOST_WAITING: FOREVER_PS if program.waiting is None else program.waiting,
            FIRST: placement.first,
            MESSAGES: placement.connections,
            DATA: len(program.inputs) - 1 if program.passes else -1,
            PARTS: size.amount if size is not None and size.unit == "cell" else 1,
            SIZE_BYTES: placement.size_bytes,
            MARKS: placement.marks,
            ROOM: FIRST_ROOM,
            STATES: len(program.states),
            EVENTS: self._events,
            TIMERS: len(program.timers),
            VALUES: len(program.values),
            COUNTERS: len(program.counters),
            PORTS: len(program.ports),
            NAMES: len(placement.names),
            REFERENCES: placement.references,
            BY_ITEMS: sum(way.event == ITEM for way in program.transitions),
            WINDOWS: len(program.windows),
            CALLED: len(placement.called),
            DESTINATIONS: len(placement.destinations),
            SPARE_NOTE: -1,
            MOST_EXPIRED: MOST_IN_AN_INSTANT + MOST_OF_AN_INSTANCE * count,
        }

    def _number_message(self, message: str) -> int:
        """Return the number of a message within this machine, -1 if it does not know it."""
        names = [message.name for message in self._program.messages]
        return names.index(message) if message in names else -1

    # ---- events: each message at each port, each timer, begin, item

    @property
    def _events(self) -> int:
        program = self._program
        return len(program.messages) * len(program.ports) + len(program.timers) + 2

    def _is(self, way: Transition, event: int) -> bool:
        """Return whether a transition waits for an event, by its number."""
        program = self._program
        of_messages = len(program.messages) * len(program.ports)
        if event < of_messages:
            message, port = divmod(event, len(program.ports))
            named = way.event == program.messages[message].name
            return named and way.port in ("", program.ports[port])
        names = [*self._timers, BEGIN, ITEM]
        return not way.port and way.event == names[event - of_messages]

    def _list_choices(self) -> list[int]:
        """Return, by state and event, where its transitions begin in the lists, and how many."""
        found: list[int] = []
        first = 0
        for state in self._program.states:
            for event in range(self._events):
                fitting = [
                    first + n for n, way in enumerate(state.transitions) if self._is(way, event)
                ]
                found += self._put_list(fitting)
            first += len(state.transitions)
        return found

    def _read(self) -> list[int]:
        """Return, by message, where the numbers of the values that it carries are listed."""
        carried = [
            [self._values.index(v) for v in message.values] for message in self._program.messages
        ]
        return [number for numbers in carried for number in self._put_list(numbers)]

    def _list_forwards(self) -> list[int]:
        outputs = self._program.outputs
        return [
            outputs.index(state.forward) if state.forward in outputs else -1
            for state in self._program.states
        ]

    # ---- transitions

    def _put_list(self, numbers: Sequence[int]) -> list[int]:
        """Put numbers into the lists; return where they begin, and how many there are."""
        self._lists += numbers
        return [len(self._lists) - len(numbers), len(numbers)]

    def _put_code(self, code: Code) -> list[int]:
        place, _ = self._put_list([number for pair in code for number in pair])
        return [place, len(code)]

    def _write_way(self, way: Transition) -> Iterator[int]:
        """Yield the columns of a transition, and put what these name where they say."""
        first = len(self._sends) // SENT
        for port, name in way.send:
            message = self._program.find_message(name)
            carried = [self._values.index(value) for value in (message.values if message else ())]
            self._sends += [
                self._program.outputs.index(port),
                self._program.ports.index(port),
                self._placement.names.index(name),
                self._placement.peers.get((port, name), -1),
                *self._put_list(carried),
            ]
        assigned = [
            number for variable, code in way.assign for number in (variable, *self._put_code(code))
        ]
        start, _ = self._put_list(assigned)
        yield from (self._states.index(way.target), way.after_ps, *self._put_code(way.where))
        yield from (first, len(way.send))
        yield from self._put_list([self._timers.index(name) for name in way.start])
        yield from self._put_list([self._timers.index(name) for name in way.stop])
        yield from (start, len(way.assign), way.event == ITEM, *self._put_code(way.after))
        yield from self._put_list([self._windows.index(name) for name in way.counts_in])
        yield from self._put_list([self._timers.index(name) for name in way.start_all])
        called = [
            number
            for port, code in way.call
            for number in (self._program.ports.index(port), *self._put_code(code))
        ]
        start, _ = self._put_list(called)
        yield from (start, len(way.call))


def with_more_room(state: Whole) -> Whole:
    """Return a state with twice the rows for what waits."""
    room, at, behind = int(state[ROOM]), int(state[AT_QUEUE]), int(state[AT_NOTES])
    queue = np.zeros((2 * room, QUEUED), np.int64)
    queue[:room] = np.roll(read_table(state, AT_QUEUE, room, QUEUED), -int(state[HEAD]), axis=0)
    larger = np.concatenate([state[:at], queue.ravel(), state[behind:]])
    larger[HEAD], larger[ROOM] = 0, 2 * room
    larger[[AT_NOTES, AT_LOG]] += room * QUEUED
    return larger


def with_more_notes(state: Whole) -> Whole:
    """Return a state with twice the rows for notes in windows, the new ones free."""
    at, at_log = int(state[AT_NOTES]), int(state[AT_LOG])
    room = (at_log - at) // NOTE_COLUMNS
    more = max(room, FIRST_ROOM)
    notes = np.zeros((more, NOTE_COLUMNS), np.int64)
    notes[:, NEXT_NOTE] = room + 1 + np.arange(more)
    notes[-1, NEXT_NOTE] = state[SPARE_NOTE]
    larger = np.concatenate([state[:at_log], notes.ravel(), state[at_log:]])
    larger[SPARE_NOTE] = room
    larger[SPARE_NOTES] += more
    larger[AT_LOG] += notes.size
    return larger


def with_longer_log(state: Whole) -> Whole:
    """Return a state with twice the rows for changes."""
    room = int(state[LOG_ROOM])
    larger = np.concatenate([state, np.zeros(room * CHANGE, np.int64)])
    larger[LOG_ROOM] = 2 * room
    return larger


def read_counts(program: Program, state: Whole) -> Counts:
    """Return what was observed of a machine, at the end of a trial."""
    observed = read_table(state, AT_STATES, len(program.states), OBSERVED).tolist()
    states = {
        state.name: StateCount(
            row[COUNT],
            row[MOST],
            row[ENTERED],
            row[STAYS],
            row[SUM] + row[CARRY] * LARGE,
            row[SHORTEST],
            row[LONGEST],
            row[FIRST_AT],
            row[LAST_AT],
        )
        for state, row in zip(program.states, observed, strict=True)
    }
    variables = int(state[AT_VARIABLES]) + len(program.values)
    counters = state[variables : variables + len(program.counters)].tolist()
    taken = int(state[AT_TAKEN])
    ignored, refused, unheard, incomplete = state[[IGNORED, REFUSED, UNHEARD, INCOMPLETE]].tolist()
    return Counts(
        states,
        {counter.name: n for counter, n in zip(program.counters, counters, strict=True)},
        tuple(state[taken : taken + len(program.transitions)].tolist()),
        ignored,
        refused,
        unheard,
        incomplete,
        log=read_table(state, AT_LOG, int(state[LOGGED]), CHANGE).tobytes()
        if state[LOG_ROOM]
        else b"",
        rest=_describe_rest(program, state),
        overflow=int(state[OVERFLOW]),
    )


def _describe_rest(program: Program, state: Whole) -> Rest:
    """Return how a machine is left at the end of a trial."""
    count = int(state[INSTANCES])
    instances = read_table(
        state, AT_INSTANCES, count, INSTANCE + len(program.values) + len(program.ports)
    )
    timers = read_table(state, AT_TIMERS, 1 + len(program.timers) * count, TIMER)[1:, DUE]
    runs = np.zeros(count, bool)
    runs[:] = (timers.reshape(len(program.timers), count) < FOREVER_PS).any(axis=0)
    servers = read_table(state, AT_SERVERS, program.servers, SERVER)
    runs[servers[servers[:, WORKED_ON] >= 0, WORKED_ROW]] = True
    numbers = [place.name for place in program.states]
    references = instances[:, REFERENCE] if not state[PLAIN] else np.full(count, ANY)
    waiting = {
        name: tuple(references[(instances[:, STATE] == numbers.index(name)) & ~runs].tolist())
        for name in program.list_waiting()
    }
    exists = instances[:, STATE] >= 0
    running = frozenset(references[runs & exists].tolist())
    return Rest({n: of for n, of in waiting.items() if of}, running, bool(state[LATE] > 0))
