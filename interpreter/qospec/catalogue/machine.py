"""What a machine does, as the checker makes it and the engine runs it, and what is observed of it.

Conditions and the values of counters are programs for a stack of whole numbers: pairs of an
operation of `OPERATIONS` and an argument. Times are in ps, all other quantities in base units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple, dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.catalogue.kinds import Buffer
    from qospec.units import Dimension

    Code = tuple[tuple[int, int], ...]
    """Pairs of an operation, by its place in `OPERATIONS`, and an argument."""

BEGIN, ITEM = "begin", "item"
"""The events that no machine declares: an instance begins by itself, an item passes through."""
DESTINATION = "destination"
"""What conditions and values may use besides those that a machine declares: the address to which
the packets of an instance's connection go, as a number; `NO_ADDRESS` if none is known."""
NO_ADDRESS = -1
TOO_LARGE = 2**62
"""A machine calculates with numbers below this."""
IN, OUT = "in", "out"
"""The input for items that pass through, and the output that they leave by if no state says it."""
DISCARD = "discard"
"""In place of an output: what passes through is lost, as BLOCKED."""
BLOCKED = "blocked"
"""The cause of loss."""

FIRST_COME, LAST_COME = ORDERS = "first_come", "last_come"
"""Which of the events that wait a machine takes next."""

OPERATIONS = (
    "constant", "variable", "+", "-", "*", "negate", "==", "!=", "<", "<=", ">", ">=", "and", "or",
    "not", "min", "max", "abs", "/", "duration",
)  # fmt: skip
"""What a program may do; `constant` and `variable` push their argument, or what it numbers. `/` is
rounded down, and `duration` divides an amount by one per second, for a time in ps."""
DEEPEST = 32
"""How many numbers its stack holds."""
MOST_AT_ONCE = 30
"""How many cells or packets the messages of one transition may be together."""


class Message(NamedTuple):
    """A message, and the values of an instance that it carries."""

    name: str
    values: tuple[str, ...] = ()


class Variable(NamedTuple):
    """A value of an instance, or a counter of a machine: what it is at first, and its dimension."""

    name: str
    initial: int
    dimension: Dimension


class Transition(NamedTuple):
    """From a state to another, on an event: a message that arrives, or a timer that expires.

    Attributes:
        event: The message, the timer, BEGIN or ITEM.
        port: By which the message arrives; "" for any.
        target: The state that follows.
        where: The condition; () for none.
        after_ps: How long the machine works on it before it does the rest.
        after: In place of it, a program that gives it; () for none.
        counts_in: The windows in which it counts.
        start_all: The timers that it starts of all instances.
        call: By port, programs of the addresses of the machines that the instance sends to by it
            from then on.
        send: The port and the name of each message that it sends.
        start: The timers that it starts.
        stop: Those that it stops.
        assign: By number of a variable, values first and counters behind, its new value; windows,
            which conditions may use, are behind both.
        text: As written, without its fields.
    """

    event: str
    port: str
    target: str
    where: Code = ()
    after_ps: int = 0
    send: tuple[tuple[str, str], ...] = ()
    start: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    assign: tuple[tuple[int, Code], ...] = ()
    text: str = ""
    after: Code = ()
    counts_in: tuple[str, ...] = ()
    start_all: tuple[str, ...] = ()
    call: tuple[tuple[str, Code], ...] = ()


class State(NamedTuple):
    """A state, with its transitions in order, and the output for what passes through."""

    name: str
    transitions: tuple[Transition, ...]
    forward: str = OUT


@dataclass(frozen=True)
class Program:
    """What a machine does. It begins in its first state.

    Attributes:
        name: As written.
        ports: By which messages come and go.
        messages: Those that it knows.
        timers: Pairs of a name and a length in ps; None while that depends on a parameter.
        windows: Likewise: of each instance, how often transitions counted within the last so long.
        states: In order.
        values: Of each instance.
        counters: Of the machine.
        instances: How many there may be at once, each with a reference; None for one without.
        spread_ps: The time over which those that begin by themselves do so, one after the other.
        burst: How many of them begin together.
        size: Of a message, in cells or bytes; None for one cell.
        servers: On how many events it works at once, each of another instance.
        order: Which of the events that wait it takes next, of `ORDERS`.
        waiting: How many may wait; None: as many as come.
        address: By which others call it; None if it has none.
    """

    name: str
    ports: tuple[str, ...]
    messages: tuple[Message, ...]
    timers: tuple[tuple[str, int | None], ...]
    states: tuple[State, ...]
    values: tuple[Variable, ...] = ()
    counters: tuple[Variable, ...] = ()
    instances: int | None = None
    spread_ps: int = 0
    burst: int = 1
    size: Buffer | None = None
    windows: tuple[tuple[str, int | None], ...] = ()
    servers: int = 1
    order: str = FIRST_COME
    waiting: int | None = None
    address: int | None = None

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """Return the transitions of all states, in order."""
        return tuple(way for state in self.states for way in state.transitions)

    @property
    def begins(self) -> bool:
        """Return whether its instances begin by themselves."""
        return any(way.event == BEGIN for way in self.states[0].transitions)

    @property
    def passes(self) -> bool:
        """Return whether items pass through it."""
        forwards = any(state.forward != OUT for state in self.states)
        return forwards or any(way.event == ITEM for way in self.transitions)

    def find_message(self, name: str) -> Message | None:
        """Return a message by its name."""
        return next((message for message in self.messages if message.name == name), None)

    def list_waiting(self) -> Iterator[str]:
        """Yield the states other than the first that messages lead out of, and no item does."""
        messages = {message.name for message in self.messages}
        for state in self.states[1:]:
            events = {way.event for way in state.transitions}
            onward = {way.event for way in state.transitions if way.target != state.name}
            if onward & messages and ITEM not in events:
                yield state.name

    def waits_for(self, port: str, message: str) -> bool:
        """Return whether a state waits for a message at a port."""
        return any(way.event == message and way.port in ("", port) for way in self.transitions)

    def list_sent(self, port: str) -> tuple[str, ...]:
        """Return the messages that it sends by a port."""
        return tuple(
            dict.fromkeys(m for way in self.transitions for by, m in way.send if by == port)
        )

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the ports at which it hears anything, then the input for what passes through."""
        names = [message.name for message in self.messages]
        heard = tuple(p for p in self.ports if any(self.waits_for(p, name) for name in names))
        return (*heard, IN) if self.passes else heard

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the ports by which it sends anything, then the outputs for what passes through."""
        sent = {port for way in self.transitions for port, _ in way.send}
        ports = tuple(port for port in self.ports if port in sent)
        if not self.passes:
            return ports
        forwards = [state.forward for state in self.states if state.forward != DISCARD]
        return (*ports, *dict.fromkeys(forwards))

    def list_output_ports(self) -> Iterator[tuple[int, str]]:
        """Yield the outputs that are ports for messages, by number."""
        for number, name in enumerate(self.outputs):
            if name in self.ports:
                yield number, name


class StateCount(NamedTuple):
    """What was observed of a state in a trial.

    Attributes:
        instances: How many instances are in it at the end.
        most: How many were in it at once, at most.
        entered: How often it was entered.
        stays: How many stays in it have ended.
        sum_ps: How long these were together.
        shortest_ps: The shortest of them; 0 if there is none.
        longest_ps: The longest of them.
        first_ps: When it was first entered; 0 if never.
        last_ps: When it was last entered.
    """

    instances: int
    most: int
    entered: int
    stays: int
    sum_ps: int
    shortest_ps: int
    longest_ps: int
    first_ps: int
    last_ps: int


class Rest(NamedTuple):
    """How a machine is left at the end of a trial.

    Attributes:
        waiting: By state out of which only messages lead, the references of the instances in it
            of which no timer runs.
        running: The references of those of which one runs, or that are worked on.
        moves: Whether anything waits for the machine, or came to it after the end.
    """

    waiting: dict[str, tuple[int, ...]]
    running: frozenset[int]
    moves: bool


ANY = -1
"""In place of a reference: the machine is one, which takes every message."""


class Counts(NamedTuple):
    """What was observed of a machine in a trial.

    Attributes:
        states: By name.
        counters: By name, at the end.
        taken: How often each transition was taken, in the order of `Program.transitions`.
        ignored: Messages that came in a state that does not wait for them.
        refused: Instances that did not begin, as there were as many as there may be.
        unheard: Messages that were not sent, as no machine waits for them.
        incomplete: Messages of which cells were lost.
        log: All changes of state in order, as `engine.machine.stays` reads them; b"" if no
            statement uses them.
        rest: How it is left at the end.
        overflow: Events for which there was no room to wait.
    """

    states: dict[str, StateCount]
    counters: dict[str, int]
    taken: tuple[int, ...]
    ignored: int
    refused: int
    unheard: int
    incomplete: int
    log: bytes = b""
    rest: Rest = Rest({}, frozenset(), moves=False)
    overflow: int = 0


OBSERVED = ("ignored", "refused", "unheard", "incomplete", "overflow")
"""What is counted of a machine, by the names of `Counts`."""

BY_INTERVAL = ("count", "most", "entered", "time.mean", "time.min", "time.max")
"""What a report may show of a state by interval."""


def is_known_by_interval(observed: str) -> bool:
    """Return whether a report may show by interval what is observed, as `Counted` has it."""
    duty, _, asked = observed.partition(".")
    what, _, state = asked.partition(".")
    return (duty, what) == ("machine", "state") and state.partition(".")[2] in BY_INTERVAL


class Unreached(NamedTuple):
    """The states that a machine was never in, and the transitions that it never took, as text."""

    states: tuple[str, ...]
    transitions: tuple[str, ...]


def list_unreached(program: Program, taken: tuple[int, ...]) -> Unreached:
    """Return what a machine never did, given how often it took each transition in all."""
    ways = list(zip(program.transitions, taken, strict=True))
    reached = {program.states[0].name} | {way.target for way, times in ways if times}
    states = tuple(state.name for state in program.states if state.name not in reached)
    never, number = [], 0
    for state in program.states:
        for way in state.transitions:
            if not taken[number]:
                never.append(f"{state.name}: {way.text}")
            number += 1
    return Unreached(states, tuple(never))
