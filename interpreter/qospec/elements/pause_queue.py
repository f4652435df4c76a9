"""A queue that stops, and that tells the one behind its link to stop.

What is told is a packet, a message that the planner routes to the nearest queue that obeys. So it
takes its time on the way, as on a real link, and what was sent meanwhile needs room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import OF_PACKETS, Buffer, Domain, Limit, UnfitError, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import (
    DONE,
    FLAGS,
    NUMBER,
    SIZE,
    Standstill,
    Transition,
    consume,
    lose,
    make,
    send,
    wake_at,
)
from qospec.engine.items.batch import FOREVER_PS, count_columns
from qospec.engine.items.ring import double_ring
from qospec.engine.kernel import kernel, view_part
from qospec.engine.line import transmission
from qospec.engine.line.transmission import (
    BYTE,
    BYTE_PART,
    DENOMINATOR,
    FREE,
    PART,
    find_start,
    transmit,
)
from qospec.engine.queue.controlled_delay import (
    BYTES,
    FIELDS,
    HEAD,
    IN_BYTES,
    LAW,
    LIMIT,
    PLACES,
    QUEUE_FIELDS,
    RING,
    TAIL,
    WAITING,
    WAITS,
    WIDTH,
    append,
    count_places,
    remove,
    report_gone,
)
from qospec.protocol.encapsulation import PAUSE_BYTES

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.protocol.streams import KindName

Whether = Annotated[bool | None, Domain("truth")]
Quanta = Annotated[int, Domain("integer", 4, 65_535)]
Priorities = Annotated[tuple[tuple[str, int], ...] | None, Domain("counts", 0, 7)]
Level = Annotated[Buffer | None, Domain("buffer", 1, 2**40, layers=OF_PACKETS)]

HEARD = "heard"
TOLD = "pause"
QUANTUM_BYTES = 64
"""512 bit times."""
ALL = -1
"""In place of a priority: that of a queue without classes, which only obeys frames for all."""
NOBODY = -1
NO_PLACES = 1
MOST_TOLD = 10**7
"""How many pause frames a queue makes at most in a trial."""
PATIENCE_PS, PATIENCE_FRAMES = 10**11, 256
"""After the end of a trial: for how long, and how often, a frame is repeated at least while nothing
goes on. From then on a queue stands still."""

CLASSES, JOINED, CONNECTION, TIMES, AGAIN_AFTER, STOP, XOFF, XON, ROWS, PATIENCE, GONE = range(
    FIELDS, FIELDS + 11
)
"""Behind the fields of what waits: how many classes there are; whether the line is one with it;
the connection of its pause frames, or NOBODY; for how many quanta they stop, and after how many ps
they are repeated; the end of the trial; at how much that waits it tells to stop, and below how much
to go on; where the rows of classes begin; how long after its last packet, and the end of the trial,
a frame is repeated; and when that packet has gone, or will have."""
OWN = FIELDS + 11
PRIORITY, PAUSED_UNTIL, TELLS, AGAIN, STILL = range(QUEUE_FIELDS, QUEUE_FIELDS + 5)
"""Of a class: its priority; until when it stops; whether it has told to stop, and when it does so
again; and how many packets waited when it stood still."""
ROW = QUEUE_FIELDS + 5


@element(
    source="IEEE 802.3, annex 31B (PAUSE); IEEE 802.1Q, clause 36 (priority-based flow control)",
    duty="queue",
    carries=("packet",),
)
@dataclass(frozen=True)
class PauseQueue(Element):
    """Queue packets for the line, stop when told to, and tell who sends them to stop.

    One that obeys stops from when a pause frame comes to its input `heard`; what it is sending
    then goes on to its end. It goes on after the time that the frame says, in quanta of 512 bit
    times of its own line, or when another frame tells it to.

    One with `xoff` sends such a frame by its output `pause` once so much waits, again after half of
    the time of `quanta` for as long as it has to, and one that lets go on once less than `xon`
    waits. Who hears it is the nearest other queue that obeys, on the way of what leaves there. The
    quanta are those of the line of who hears it.

    With `priorities` it has an input for each class, a queue of its own; the class of the highest
    priority that waits and is not stopped goes first. Each class is stopped by itself, and tells
    only its own priority. What finds no room in its class is lost as `overflow`.

    Not modelled: other schedulers among the classes; the time that a MAC takes to obey, for which a
    `delay` ahead of `heard` may stand; a frame for several priorities; that bridges pass no pause
    frame on: it goes over several links to the nearest queue that obeys.

    After the end of a trial a frame is repeated until the queue has sent nothing for 100 ms, and
    for 256 frames. One that stands still for so long, as each does in a circle of queues that stop
    each other, leaves its case inconclusive: what waits is neither lost nor received.
    """

    causes = ("overflow",)
    needs_line = True
    makes = True
    signals = True
    most_made = MOST_TOLD

    limit: Limit
    """How much may wait in each class: packets or bytes."""
    obeys: Whether = None
    """Whether it stops when it is told to; by default, if it has no `xoff`."""
    xoff: Level = None
    """As soon as so much waits in a class it tells to stop; by default never."""
    xon: Level = None
    """As soon as less than this waits it tells to go on; by default less than `xoff`."""
    quanta: Quanta = 65_535
    """For how long it tells to stop: a number of 512 bit times."""
    priorities: Priorities = None
    """The input of each class with its priority, of which 7 goes first; by default there is one,
    `in`, and pause frames are for all that the queue sends."""

    def __post_init__(self) -> None:
        if not self._is_stopped and self.xoff is None:
            raise UnfitError(
                "obeys: it neither stops nor tells to stop", "leave it out, or write `xoff`, too"
            )
        self._verify_levels()
        given = [priority for _, priority in self.priorities or ()]
        if len(set(given)) < len(given):
            raise UnfitError(
                "priorities: two classes have the same", "give each a priority of its own"
            )
        if any(name == HEARD for name, _ in self.priorities or ()):
            raise UnfitError(
                f"priorities: `{HEARD}` is the input for pause frames", "choose another name"
            )

    def _verify_levels(self) -> None:
        if self.xoff is None:
            if self.xon is not None:
                raise UnfitError("xon: nobody was told to stop", "write `xoff`, too")
            return
        for name, level in (("xoff", self.xoff), ("xon", self.xon)):
            if level is not None and level.unit != self.limit.unit:
                raise UnfitError(
                    f"{name}: the limit counts {self.limit.unit}s", "count both in the same unit"
                )
        if self.xoff.amount > self.limit.amount:
            raise UnfitError("xoff: so much never waits", "write at most the `limit`")
        if self.xon is not None and self.xon.amount > self.xoff.amount:
            raise UnfitError("xon: it is above `xoff`", "write at most that, or leave it out")

    @property
    def _is_stopped(self) -> bool:
        return self.xoff is None if self.obeys is None else self.obeys

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.priorities or (("in", ALL),))

    @property
    def inputs(self) -> tuple[str, ...]:
        return (*self._names, *(HEARD,) * self._is_stopped)

    @property
    def outputs(self) -> tuple[str, ...]:
        return ("out",) if self.xoff is None else ("out", TOLD)

    def predict_outputs(self, number: int, *, kind: KindName) -> tuple[int, ...]:
        return (0,) if number < len(self._names) else ()

    @property
    def tells_by(self) -> str:
        return "" if self.xoff is None else TOLD

    @property
    def hears_at(self) -> str:
        return HEARD if self._is_stopped else ""

    @property
    def pause_priorities(self) -> frozenset[int]:
        return frozenset(priority for _, priority in self.priorities or ())

    @property
    def idle_fields(self) -> frozenset[str]:
        return frozenset({"xon", "quanta"}) if self.xoff is None else frozenset()

    @property
    def buffer(self) -> Buffer:
        return self.limit

    @property
    def keeps_order(self) -> bool:
        return self.priorities is None

    def build_transition(self, setting: Setting) -> Transition:
        joined = setting.clock is not None
        clock = setting.clock if joined else next(iter(setting.clocks), None)
        line = transmission.build_line(clock)
        told, xoff = setting.told, self.xoff or self.limit
        again_ps = FOREVER_PS if told is None else self._compute_repetition_ps(told.bit_rate)
        own = [
            len(self._names),
            joined,
            NOBODY if told is None else told.connection,
            self.quanta,
            again_ps,
            setting.stop_ps,
            xoff.amount,
            (self.xon or xoff).amount,
            OWN,
            0 if told is None else max(PATIENCE_PS, PATIENCE_FRAMES * again_ps),
            0,
        ]
        rows = np.zeros((len(self._names), ROW), np.int64)
        rows[:, PRIORITY] = [priority for _, priority in self.priorities or (("in", ALL),)]
        waiting = np.zeros(FIELDS - len(line), np.int64)
        state = np.concatenate([line, waiting, own, rows.ravel(), [0] * (WIDTH * PLACES)])
        state[LIMIT], state[IN_BYTES] = self.limit.amount, self.limit.unit == "byte"
        state[LAW] = state[RING] = OWN + rows.size
        return Transition(
            state,
            _arrive,
            _wake,
            losses=tuple(("", cause) for cause in self.causes),
            queues=("",) if setting.watched else (),
            replenish=_add_places,
            within=count_columns("flags"),
            report=_read_standstill if self.tells_by else None,
        )

    def _compute_repetition_ps(self, bit_rate: Fraction) -> int:
        """Return after how long a frame is repeated: half of the time for which it stops."""
        return int(self.quanta * 8 * QUANTUM_BYTES * 10**12 / bit_rate / 2)


def _add_places(state: Whole, _lacking: int) -> Whole:
    ring = double_ring(state[state[RING] :], WIDTH, state[HEAD], state[TAIL])
    return np.concatenate([state[: state[RING]], ring])


def _read_standstill(state: Whole) -> Standstill:
    rows = state[state[ROWS] : state[RING]].reshape(-1, ROW)
    return Standstill(int(rows[:, STILL].sum()))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Let a packet wait, lose it, or stop as it tells; see `engine.event.transition`.

    What begins in this ps goes first: it has made room, and is no longer stopped.
    """
    if state[TAIL] - state[HEAD] == count_places(state):
        return NO_PLACES
    _serve(state, items, now_ps, out)
    if port == state[CLASSES]:
        _stop_classes(state, items, item, now_ps)
        consume(out, item)
    else:
        row = view_part(state, state[ROWS] + port * ROW, ROW)
        amount = items[item, SIZE] if state[IN_BYTES] else 1
        waits = state[FREE] > now_ps or row[PAUSED_UNTIL] > now_ps
        if waits and _measure(state, row) + amount > state[LIMIT]:
            lose(out, 0, item)
        else:
            append(state, items, row, item, now_ps)
    _serve(state, items, now_ps, out)
    _tell(state, items, now_ps, out)
    _finish(state, now_ps, out)
    return DONE


@kernel
def _wake(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Go on with what waits, and with what is to be told; see `engine.event.transition`."""
    _serve(state, items, now_ps, out)
    _tell(state, items, now_ps, out)
    _finish(state, now_ps, out)
    return DONE


@kernel
def _measure(state: Whole, row: Whole) -> int:
    """Return how much waits in a class, as the limit counts."""
    return row[BYTES] if state[IN_BYTES] else row[WAITS]  # type: ignore[no-any-return]


@kernel
def _serve(state: Whole, items: Whole, now_ps: int, out: Whole) -> None:
    """Send the first packet of the highest class that is not stopped, if the line is free."""
    state[FREE], state[PART] = find_start(state, now_ps)
    if state[FREE] > now_ps or state[WAITING] == 0:
        return
    chosen, highest = -1, ALL - 1
    for number in range(state[CLASSES]):
        row = view_part(state, state[ROWS] + number * ROW, ROW)
        if row[WAITS] and row[PAUSED_UNTIL] <= now_ps and row[PRIORITY] > highest:
            chosen, highest = number, row[PRIORITY]
    if chosen < 0:
        return
    row = view_part(state, state[ROWS] + chosen * ROW, ROW)
    if row[TELLS] and row[AGAIN] < now_ps and row[STILL] == 0:
        row[STILL] = row[WAITS]
        state[PATIENCE] = 2 * state[AGAIN_AFTER]
    item, _ = remove(state, items, row, now_ps)
    leaves_ps = transmit(state, (state[FREE], state[PART]), items[item, SIZE])
    state[GONE] = state[FREE]
    send(out, 0, item, leaves_ps if state[JOINED] else now_ps)


@kernel
def _stop_classes(state: Whole, items: Whole, item: int, now_ps: int) -> None:
    """Stop the classes that a pause frame names, for as long as it says; 0: they go on."""
    until_ps = now_ps + _measure_quanta(state, items[item, NUMBER])
    for number in range(state[CLASSES]):
        row = view_part(state, state[ROWS] + number * ROW, ROW)
        named = row[PRIORITY] >= 0 and items[item, FLAGS] >> max(row[PRIORITY], 0) & 1
        if items[item, FLAGS] == 0 or named:
            row[PAUSED_UNTIL] = until_ps


@kernel
def _measure_quanta(state: Whole, quanta: int) -> int:
    """Return a number of quanta in ps, rounded down: in two steps, so that each fits int64."""
    denominator, part = state[DENOMINATOR], QUANTUM_BYTES * state[BYTE_PART]
    many, few = quanta >> 8, quanta & 255
    whole, rest = 256 * part // denominator, 256 * part % denominator
    carried = (many * rest + few * part) // denominator
    return quanta * QUANTUM_BYTES * state[BYTE] + many * whole + carried  # type: ignore[no-any-return]


@kernel
def _tell(state: Whole, items: Whole, now_ps: int, out: Whole) -> None:
    """Tell to stop, to stay so, or to go on, by what waits in each class."""
    if state[CONNECTION] == NOBODY:
        return
    for number in range(state[CLASSES]):
        row = view_part(state, state[ROWS] + number * ROW, ROW)
        held = _measure(state, row)
        if row[TELLS] and held < state[XON]:
            row[TELLS] = 0
            _send_pause(state, items, (row[PRIORITY], 0, now_ps), out)
        elif (row[TELLS] == 0 and held >= state[XOFF]) or (
            row[TELLS] and row[AGAIN] <= now_ps and _goes_on(state, now_ps)
        ):
            row[TELLS], row[AGAIN] = 1, now_ps + state[AGAIN_AFTER]
            _send_pause(state, items, (row[PRIORITY], state[TIMES], now_ps), out)


@kernel
def _goes_on(state: Whole, at_ps: int) -> bool:
    """Return whether a frame is still repeated then: in a circle of queues it has to end."""
    return at_ps < max(state[STOP], state[GONE]) + state[PATIENCE]  # type: ignore[no-any-return]


@kernel
def _send_pause(state: Whole, items: Whole, said: tuple[int, int, int], out: Whole) -> None:
    """Send a pause frame: for a priority or ALL, for so many quanta, now."""
    priority, quanta, now_ps = said
    frame = make(items, out, state[CONNECTION], PAUSE_BYTES, 0, now_ps)
    items[frame, NUMBER] = quanta
    items[frame, FLAGS] = 0 if priority < 0 else 1 << priority
    send(out, 1, frame, now_ps)


@kernel
def _finish(state: Whole, now_ps: int, out: Whole) -> None:
    """End an event: report who waited, and wake when a packet may go or a frame is repeated."""
    due_ps = FOREVER_PS
    for number in range(state[CLASSES]):
        row = view_part(state, state[ROWS] + number * ROW, ROW)
        if row[WAITS]:
            due_ps = min(due_ps, max(state[FREE], row[PAUSED_UNTIL]))
        if row[TELLS] and _goes_on(state, row[AGAIN]):
            due_ps = min(due_ps, row[AGAIN])
    if report_gone(state, out):
        due_ps = now_ps
    if due_ps < FOREVER_PS:
        wake_at(out, due_ps)
