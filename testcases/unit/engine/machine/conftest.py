"""A machine by itself: it is told events, and what it answers is looked at.

Its program is built by hand, so that numbers of states, ports, messages and connections are such
that no two of them are mistaken for each other.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from connected import connected
from definition import kernels_as_python

from qospec.catalogue.machine import OPERATIONS, Counts, Message, Program, State, Transition
from qospec.catalogue.machine import Variable as Named
from qospec.engine.element import Setting
from qospec.engine.event import transition
from qospec.engine.items import totals
from qospec.engine.items.contract import Contract
from qospec.engine.machine import state as columns
from qospec.engine.machine.placement import Placement
from qospec.engine.machine.transition import build_transition
from qospec.engine.random import Draws
from qospec.units import COUNT

FLOWS, MESSAGES, BEYOND = 3, 4, 1
"""How many connections flows have, how many messages, and others, whose numbers are largest."""
PLANE = FLOWS + MESSAGES + BEYOND
STOP_PS = 1_000
VALUES = ("v", "w")
COUNTERS = ("log", "n")
WINDOWS = {"short": 10, "long": 100}
KNOWN = (Message("press"), Message("ask", ("w",)), Message("tell", ("w", "v")))
NAMES = ("other", "tell", "press", "ask")
"""The messages of all machines, in another order than those of this one."""
POOL = 200
WORDS = {
    totals.LEFT: "left",
    totals.LOST: "lost",
    totals.CONSUMED: "consumed",
    totals.MADE: "made",
}


def code(text: str) -> tuple[tuple[int, int], ...]:
    """Return a program from words in reverse Polish notation: `n 1 +`."""
    variables = (*VALUES, *COUNTERS, *WINDOWS)
    found = []
    for word in text.split():
        if word in variables:
            found.append((OPERATIONS.index("variable"), variables.index(word)))
        elif word in OPERATIONS:
            found.append((OPERATIONS.index(word), 0))
        else:
            found.append((OPERATIONS.index("constant"), int(word)))
    return tuple(found)


def way(event: str, target: str, digit: int = 0, where: str = "", **more: Any) -> Transition:
    """Return a transition that appends a digit to the counter `log`, and sets what `set` says."""
    told = {"log": f"log 10 * {digit} +", **more.pop("set", {})}
    numbers = [*VALUES, *COUNTERS]
    assign = tuple((numbers.index(name), code(text)) for name, text in told.items())
    name, _, port = event.partition("@")
    after = code(more.pop("after", ""))
    return Transition(name, port, target, code(where), assign=assign, after=after, **more)


def state(name: str, *ways: Transition, **more: Any) -> State:
    return State(name, ways, **more)


class Alone:
    """A machine by itself. Answers are tuples: what, which number, which item, and when."""

    way, state = staticmethod(way), staticmethod(state)
    flows, messages, kind, stop_ps = FLOWS, MESSAGES, PLANE, STOP_PS
    columns = columns

    def __init__(
        self,
        *states: State,
        peers: dict[tuple[str, str], int] | None = None,
        replies: dict[int, int] | None = None,
        flows: int = FLOWS,
        stop_ps: int = STOP_PS,
        **more: Any,
    ) -> None:
        """Place a machine of these states; `more` is of its program."""
        self.program = Program(
            "m",
            ("x", "y"),
            KNOWN,
            tuple(more.pop("timers", {}).items()),
            states,
            tuple(Named(name, 10 + n, COUNT) for n, name in enumerate(VALUES)),
            tuple(Named(name, 0, COUNT) for name in COUNTERS),
            windows=tuple(WINDOWS.items()),
            **more,
        )
        placement = Placement(
            "d.m", peers or {}, replies or {}, NAMES, 2, flows, MESSAGES, flows + 1, 20, 53, 7
        )
        contract = Contract("packets", Fraction(1), 0)
        every = connected((contract,) * PLANE, ("oam",))
        setting = Setting(*every, Draws(("test",)), stop_ps=stop_ps)
        self.transition = build_transition(self.program, placement, setting)
        self.memory = self.transition.state
        width = transition.MORE + self.transition.columns
        self.items = np.zeros((POOL, width), np.int64)
        self.items[1:, transition.NEXT] = range(2, POOL + 1)
        self.items[0, [transition.FREE, transition.SPARE]] = 1, POOL - 1
        self.out = np.zeros((transition.SAID_OF_ITEM * POOL, 4), np.int64)
        self.code = transition.DONE
        self.serial = 100

    # ---- events

    def item(self, connection: int, message: str = "", **values: Any) -> int:
        """Return a new item: one of a flow, or a part of a message; by default, all of it."""
        found = int(transition.acquire(self.items, connection, 53, 0, 0))
        row = self.items[found]
        self.serial += 1
        row[columns.KIND] = NAMES.index(message) if message else -1
        row[columns.REFERRED] = values.get("reference", 9)
        row[columns.NUMBERED] = values.get("number", self.serial)
        row[columns.PART], row[columns.OF_PARTS] = values.get("part", (0, 1))
        content = values.get("content", ())
        row[columns.CONTENT : columns.CONTENT + len(content)] = content
        return found

    def arrive(self, item: int, port: str, now_ps: int) -> list[tuple[Any, ...]]:
        """Let an item arrive at a port, and return the answers."""
        self.out[0, 0] = 0
        number = self.program.inputs.index(port)
        self.code = self.transition.arrive(self.memory, self.items, item, number, now_ps, self.out)
        return self._answers()

    def tell(
        self, message: str, now_ps: int, port: str = "x", connection: int = FLOWS, **values: Any
    ) -> list[tuple[Any, ...]]:
        """Let a message arrive, and return the answers."""
        return self.arrive(self.item(connection, message, **values), port, now_ps)

    def wake(self, now_ps: int) -> list[tuple[Any, ...]]:
        """Let the alarm go off, and return the answers."""
        self.out[0, 0] = 0
        assert self.transition.wake is not None
        self.code = self.transition.wake(self.memory, self.items, now_ps, self.out)
        return self._answers()

    def run(self, alarm_ps: int, until_ps: int = STOP_PS) -> int:
        """Let alarms go off in their times; return when the next one would, or STOP_PS."""
        while alarm_ps < until_ps:
            alarm_ps = self.alarm(self.wake(alarm_ps))
        return alarm_ps

    # ---- answers

    def _answers(self) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        for what, number, item, at_ps in self.out[1 : 1 + self.out[0, 0]].tolist():
            if what == transition.ALARM:
                found.append(("alarm", at_ps))
            elif what == totals.LEFT:
                found.append(("left", self.program.outputs[number], item, at_ps))
            elif what == totals.LOST:
                found.append(("lost", number, item))
            else:
                found.append((WORDS[what], item))
        return found

    @staticmethod
    def alarm(answers: Sequence[tuple[Any, ...]]) -> int:
        """Return the time of the alarm, which is set once or not at all: STOP_PS."""
        times = [answer[1] for answer in answers if answer[0] == "alarm"]
        assert len(times) <= 1
        return int(times[0]) if times else STOP_PS

    def sent(self, answers: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Return of each item that leaves: the output, the connection, and the message."""
        return [
            (
                output,
                int(self.items[item, transition.CONNECTION]),
                NAMES[self.items[item, columns.KIND]],
            )
            for output, item in (answer[1:3] for answer in answers if answer[0] == "left")
        ]

    def content(self, answers: Sequence[tuple[Any, ...]], count: int) -> list[list[int]]:
        """Return so many values of each item that leaves."""
        sent = [answer[2] for answer in answers if answer[0] == "left"]
        return [row[columns.CONTENT :][:count].tolist() for row in self.items[sent]]

    @property
    def counts(self) -> Counts:
        """Return what was observed."""
        assert self.transition.report is not None
        found: Counts = self.transition.report(self.memory)
        return found

    @property
    def log(self) -> int:
        """Return the digits of the transitions that were taken."""
        return self.counts.counters["log"]

    @property
    def inside(self) -> dict[str, int]:
        """Return how many instances are in each state."""
        return {name: state.instances for name, state in self.counts.states.items()}


@pytest.fixture
def alone() -> Iterator[type[Alone]]:
    """Return the maker of machines by themselves, whose kernels run as Python."""
    with kernels_as_python():
        yield Alone
