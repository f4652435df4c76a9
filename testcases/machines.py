"""Two machines that exchange messages, and what they do by the rules of the specification.

`Machine` describes one, as text for a file and as data. `observed` follows the rules of "Machines"
in `spec/4-devices.md`, event by event; it shares nothing with the engine. Conditions and values are
expressions that qospec and Python write alike.
"""

import heapq
import itertools
import operator
from dataclasses import field
from typing import Any, NamedTuple

from qospec.dataclass import dataclass

PORTS = ("x", "y")
CELL_PS, PROPAGATION_PS = 2 * 10**6, {"x": 500 * 10**6, "y": 617 * 10**6}
"""Of the two links between them, from a port to that of the same name."""


class Way(NamedTuple):
    """A transition; times in us. `event` may begin with a port. With `per` it takes
    `after` times a number, divided by another."""

    event: str
    target: str
    where: str = ""
    after: int = 0
    send: tuple[str, ...] = ()
    start: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    set: tuple[tuple[str, str], ...] = ()
    counts_in: tuple[str, ...] = ()
    per: tuple[str, str] | None = None

    @property
    def text(self) -> str:
        fields = [f"after = {self.after} us"] if self.after else []
        if self.per is not None:
            fields = [f"after = {self.after} us * ({self.per[0]}) / ({self.per[1]})"]
        named = {"send": self.send, "start": self.start, "stop": self.stop, "count": self.counts_in}
        fields += [f"{name} = [{', '.join(names)}]" for name, names in named.items() if names]
        if self.set:
            fields.append("set = {" + ", ".join(f"{n}: {new}" for n, new in self.set) + "}")
        where = f" where {self.where}" if self.where else ""
        return f"on {self.event}{where} -> {self.target} {{ {', '.join(fields)} }}"


class Machine(NamedTuple):
    """A machine; `messages` with the values that they carry, `timers` and `windows` in us."""

    messages: dict[str, tuple[str, ...]]
    timers: dict[str, int]
    values: dict[str, int]
    counters: dict[str, int]
    states: dict[str, tuple[Way, ...]]
    instances: int | None = None
    spread: int = 0
    burst: int = 1
    windows: dict[str, int] = {}  # noqa: RUF012 -- never changed
    servers: int = 1
    order: str = "first_come"
    waiting: int | None = None

    @property
    def text(self) -> str:
        messages = ", ".join(f"{n}: [{', '.join(of)}]" for n, of in self.messages.items())
        timers = ", ".join(f"{n}: {length} us" for n, length in self.timers.items())
        lines = [
            f"ports = [{', '.join(PORTS)}]",
            f"messages = {{ {messages} }}",
            f"timers = {{ {timers} }}",
            "values = {" + ", ".join(f"{n}: {first}" for n, first in self.values.items()) + "}",
            "counters = {" + ", ".join(f"{n}: {first}" for n, first in self.counters.items()) + "}",
        ]
        lines += [] if self.instances is None else [f"instances = {self.instances}"]
        lines += [f"spread = {self.spread} us"] if self.spread else []
        lines += [f"burst = {self.burst}"] if self.burst > 1 else []
        lines += [f"servers = {self.servers}"] if self.servers > 1 else []
        lines += [f"order = {self.order}"] if self.order != "first_come" else []
        lines += [f"waiting = {self.waiting}"] if self.waiting is not None else []
        windows = ", ".join(f"{n}: {length} us" for n, length in self.windows.items())
        lines += [f"windows = {{ {windows} }}"] if windows else []
        for name, ways in self.states.items():
            lines += [f"state {name} {{", *(way.text for way in ways), "}"]
        return "\n".join(lines)

    @property
    def ways(self) -> list[Way]:
        return [way for ways in self.states.values() for way in ways]

    @property
    def begins(self) -> bool:
        return any(way.event == "begin" for way in self.ways)

    def hears(self, port: str, message: str) -> bool:
        return any(way.event in (message, f"{port}.{message}") for way in self.ways)


@dataclass(eq=False)
class _Instance:
    reference: Any
    state: str
    since_ps: int
    values: dict[str, int]
    spoken: set[str] = field(default_factory=set)
    timers: dict[str, tuple[int, int]] = field(default_factory=dict)
    """When each expires, and how many the machine had started before it."""
    counted: dict[str, list[int]] = field(default_factory=dict)
    """When it counted in each window."""


class _Message(NamedTuple):
    name: str
    port: str
    reference: Any
    content: tuple[int, ...]


class _Running:
    """A machine while it runs."""

    def __init__(self, machine: Machine, other: Machine, name: str) -> None:
        self.machine, self.other, self.name = machine, other, name
        self.first = next(iter(machine.states))
        self.counters = dict(machine.counters)
        self.taken = dict.fromkeys(range(len(machine.ways)), 0)
        self.ignored = self.refused = self.unheard = self.overflow = 0
        self.stays: dict[str, list[int]] = {state: [] for state in machine.states}
        self.entered: dict[str, list[int]] = {state: [] for state in machine.states}
        self.inside = dict.fromkeys(machine.states, 0)
        self.most = dict.fromkeys(machine.states, 0)
        self.waiting: list[tuple[int, _Message]] = []
        self.busy: list[tuple[int, int, _Instance, Way]] = []
        """Until when each server works, in which order they began, on whom and on what."""
        self.started, self.worked = itertools.count(), itertools.count()
        self.free_ps = dict.fromkeys(PORTS, 0)
        count = machine.instances or 1
        self.permanent = machine.instances is None or machine.begins
        self.instances = (
            [self._new((name, n)) for n in range(count)] if self.permanent else list[_Instance]()
        )
        self.inside[self.first] = self.most[self.first] = len(self.instances)
        every = machine.spread * 10**6
        bursts = [n // machine.burst * machine.burst for n in range(count)]
        self.begins = [n * every // count for n in bursts] if machine.begins else []

    def _new(self, reference: Any, now_ps: int = 0) -> _Instance:
        return _Instance(reference, self.first, now_ps, dict(self.machine.values))

    # ---- what happens next

    def _done_ps(self, instance: _Instance | None) -> int:
        """Return until when an instance is worked on; 0 if it is not."""
        return next((until for until, _, whom, _ in self.busy if whom is instance), 0)

    def _find(self, reference: Any) -> _Instance | None:
        if self.machine.instances is None:
            return self.instances[0]
        return next((i for i in self.instances if i.reference == reference), None)

    def _takeable(self) -> list[tuple[int, _Message]]:
        """Return what waits and can be taken, in order."""
        ordered = self.waiting[::-1] if self.machine.order == "last_come" else self.waiting
        return [one for one in ordered if not self._done_ps(self._find(one[1].reference))]

    def _begins_ps(self) -> list[int]:
        """Return when the next instance begins by itself, unless it is worked on."""
        first = self.instances[-len(self.begins)] if self.begins else None
        return [] if self._done_ps(first) else self.begins[:1]

    def _expiring(self) -> list[tuple[int, int, str, _Instance]]:
        """Return the timers of those that are not worked on, by when they expire."""
        return [
            (due_ps, number, timer, instance)
            for instance in self.instances
            for timer, (due_ps, number) in instance.timers.items()
            if not self._done_ps(instance)
        ]

    def next_ps(self) -> int | None:
        """Return when it does anything next by itself."""
        times = [until for until, *_ in self.busy]
        if len(self.busy) < self.machine.servers:
            times += [at for at, _ in self._takeable()[:1]] + self._begins_ps()
            times += [due for due, *_ in self._expiring()]
            times += [due for due, _ in self._emptying()]
        return min(times, default=None)

    def go_on(self, now_ps: int) -> list[tuple[int, _Message]]:
        """Do one thing, and return the messages that are sent, with when they arrive."""
        done = min(self.busy, default=None, key=operator.itemgetter(0, 1))
        if done is not None and done[0] <= now_ps:
            self.busy.remove(done)
            return self._finish(*done[2:], now_ps)
        due_ps, _, timer, instance = min(
            self._expiring(), default=(2**63, 0, "", None), key=operator.itemgetter(0, 1)
        )
        begins_ps = min(self._begins_ps(), default=2**63)
        empty_ps, ended = min(self._emptying(), default=(2**63, None), key=operator.itemgetter(0))
        takeable = self._takeable()
        if takeable and takeable[0][0] <= min(due_ps, begins_ps, empty_ps):
            self.waiting.remove(takeable[0])
            return self._hear(takeable[0][1], now_ps)
        if ended is not None and empty_ps < min(due_ps, begins_ps):
            self._end(ended, now_ps)
            return []
        if due_ps <= begins_ps:
            del instance.timers[timer]
            return self._happen(instance, timer, now_ps)
        self.begins.pop(0)
        return self._happen(self.instances[-len(self.begins) - 1], "begin", now_ps)

    def arrive(self, message: _Message, now_ps: int) -> list[tuple[int, _Message]]:
        """Take a message, now or when it is free."""
        works = len(self.busy) == self.machine.servers or self._done_ps(
            self._find(message.reference)
        )
        if not works and not self._takeable():
            return self._hear(message, now_ps)
        if self.machine.waiting is not None and len(self.waiting) >= self.machine.waiting:
            self.overflow += 1
        else:
            self.waiting.append((now_ps, message))
        return []

    # ---- events

    def _names(
        self, values: dict[str, int], instance: _Instance | None, now_ps: int
    ) -> dict[str, Any]:
        """Return what expressions may use."""
        counted = {} if instance is None else instance.counted
        windows = {
            name: sum(now_ps - at < length * 10**6 for at in counted.get(name, ()))
            for name, length in self.machine.windows.items()
        }
        return {**values, **self.counters, **windows, "min": min, "max": max, "abs": abs}

    def _chosen(self, state: str, names: dict[str, Any], *events: str) -> Way | None:
        for way in self.machine.states[state]:
            if way.event in events and (not way.where or eval(way.where, {}, names)):  # noqa: S307
                return way
        return None

    def _happen(self, instance: _Instance, event: str, now_ps: int) -> list[tuple[int, _Message]]:
        names = self._names(instance.values, instance, now_ps)
        way = self._chosen(instance.state, names, event)
        if way is not None:
            return self._take(instance, way, dict(instance.values), now_ps)
        self._end(instance, now_ps)
        return []

    def _hear(self, message: _Message, now_ps: int) -> list[tuple[int, _Message]]:
        if message.name not in self.machine.messages:
            self.ignored += 1
            return []
        instance = self._find(message.reference)
        values = dict(self.machine.values if instance is None else instance.values)
        values |= zip(self.machine.messages[message.name], message.content, strict=True)
        state = self.first if instance is None else instance.state
        names = self._names(values, instance, now_ps)
        way = self._chosen(state, names, message.name, f"{message.port}.{message.name}")
        if way is None:
            self.ignored += 1
            return []
        if instance is None:
            if len(self.instances) == self.machine.instances:
                self.refused += 1
                return []
            instance = self._new(message.reference, now_ps)
            self.instances.append(instance)
            self._enter(instance, now_ps)
        if self.machine.instances is None:
            instance.reference = message.reference
        instance.spoken.add(message.port)
        return self._take(instance, way, values, now_ps)

    def _enter(self, instance: _Instance, now_ps: int) -> None:
        self.inside[instance.state] += 1
        self.entered[instance.state].append(now_ps)
        self.most[instance.state] = max(self.most[instance.state], self.inside[instance.state])

    def _take(
        self, instance: _Instance, way: Way, values: dict[str, int], now_ps: int
    ) -> list[tuple[int, _Message]]:
        self.taken[next(n for n, known in enumerate(self.machine.ways) if known is way)] += 1
        names = self._names(values, instance, now_ps)
        takes_ps = way.after * 10**6
        if way.per is not None:
            many, parts = (eval(text, {}, names) for text in way.per)  # noqa: S307
            takes_ps = takes_ps * many // parts
        for name in way.counts_in:
            instance.counted.setdefault(name, []).append(now_ps)
        new = {name: eval(text, {}, names) for name, text in way.set}  # noqa: S307
        instance.values = values | {n: v for n, v in new.items() if n in values}
        self.counters |= {n: v for n, v in new.items() if n in self.counters}
        if way.target != instance.state:
            self.stays[instance.state].append(now_ps - instance.since_ps)
            self.inside[instance.state] -= 1
            instance.state, instance.since_ps = way.target, now_ps
            self._enter(instance, now_ps)
        if takes_ps:
            self.busy.append((now_ps + takes_ps, next(self.worked), instance, way))
            return []
        return self._finish(instance, way, now_ps)

    def _finish(self, instance: _Instance, way: Way, now_ps: int) -> list[tuple[int, _Message]]:
        for timer in way.stop:
            instance.timers.pop(timer, None)
        for timer in way.start:
            due_ps = now_ps + self.machine.timers[timer] * 10**6
            instance.timers[timer] = due_ps, next(self.started)
        sent = []
        for heard in way.send:
            port, name = heard.split(".")
            if port not in instance.spoken and not self.other.hears(port, name):
                self.unheard += 1
                continue
            self.free_ps[port] = max(self.free_ps[port], now_ps) + CELL_PS
            content = tuple(instance.values[value] for value in self.machine.messages[name])
            message = _Message(name, port, instance.reference, content)
            sent.append((self.free_ps[port] + PROPAGATION_PS[port], message))
        self._end(instance, now_ps)
        return sent

    def _empty_ps(self, instance: _Instance) -> int:
        """Return from when on an instance has nothing in its windows."""
        ends = [
            at + self.machine.windows[name] * 10**6
            for name, times in instance.counted.items()
            for at in times
        ]
        return max(ends, default=0)

    def _is_idle(self, instance: _Instance) -> bool:
        return not self.permanent and instance.state == self.first and not instance.timers

    def _emptying(self) -> list[tuple[int, _Instance]]:
        """Return those that are only there for what their windows hold, and until when."""
        idle = (i for i in self.instances if self._is_idle(i) and not self._done_ps(i))
        return [(self._empty_ps(one), one) for one in idle]

    def _end(self, instance: _Instance, now_ps: int) -> None:
        if self._is_idle(instance) and self._empty_ps(instance) <= now_ps:
            self.inside[self.first] -= 1
            self.instances = [other for other in self.instances if other is not instance]

    def _rest(self, *, moves: bool) -> tuple[dict[str, int], int, bool]:
        """Return by state out of which only messages lead how many wait there, how many do not
        since a timer runs or they are worked on, and whether anything is under way to it."""
        running = [i for i in self.instances if i.timers or self._done_ps(i)]
        waiting = dict[str, int]()
        for one in self.instances:
            onward = {
                way.event.rpartition(".")[2]
                for way in self.machine.states[one.state]
                if way.target != one.state
            }
            if one.state != self.first and onward & set(self.machine.messages):
                waiting[one.state] = waiting.get(one.state, 0) + all(i is not one for i in running)
        return {n: many for n, many in waiting.items() if many}, len(running), moves

    def counts(self, *, comes: bool) -> dict[str, Any]:
        """Return what is observed of it, in the words of `catalogue.machine.Counts`.

        At the end something still `comes` to it, or not."""
        return {
            "rest": self._rest(moves=comes or bool(self.waiting)),
            "states": {
                name: (
                    self.inside[name],
                    self.most[name],
                    len(self.entered[name]),
                    len(stays),
                    sum(stays),
                    min(stays, default=0),
                    max(stays, default=0),
                    min(self.entered[name], default=0),
                    max(self.entered[name], default=0),
                )
                for name, stays in self.stays.items()
            },
            "counters": self.counters,
            "taken": tuple(self.taken.values()),
            "ignored": self.ignored,
            "refused": self.refused,
            "unheard": self.unheard,
            "incomplete": 0,
            "overflow": self.overflow,
            "log": b"",
        }


def observed(one: Machine, other: Machine, stop_ps: int) -> list[dict[str, Any]]:
    """Return what is observed of both until the end."""
    both = [_Running(one, other, "a"), _Running(other, one, "b")]
    flying: list[tuple[int, int, int, _Message]] = []
    numbers, clock_ps = itertools.count(), 0
    while True:
        ready = [(at, n) for n, machine in enumerate(both) if (at := machine.next_ps()) is not None]
        next_ps, which = min(ready, default=(stop_ps, 0))
        arrives = bool(flying) and flying[0][0] <= max(next_ps, clock_ps)
        clock_ps = max(clock_ps, flying[0][0] if arrives else next_ps)
        if clock_ps >= stop_ps:
            coming = {which for _, _, which, _ in flying}
            return [machine.counts(comes=n in coming) for n, machine in enumerate(both)]
        if arrives:
            _, _, which, message = heapq.heappop(flying)
            sent = both[which].arrive(message, clock_ps)
        else:
            sent = both[which].go_on(clock_ps)
        for at_ps, message in sent:
            heapq.heappush(flying, (at_ps, next(numbers), 1 - which, message))
