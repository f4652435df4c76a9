"""For what machines wait, and where they ask in vain: nobody hears it, and nobody can answer.

What can happen is found from the beginning: a message comes if a machine that can come to a state
sends it there, and only what comes leads to another state. Conditions are taken to hold, timers to
expire and items to pass: what cannot happen then never does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.diagnostics import Diagnostic, Label
from qospec.plan.channels import list_programs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from qospec.catalogue.machine import Program, State, Transition
    from qospec.model.suite import Network
    from qospec.plan.tables import Member


class Vain(NamedTuple):
    """A state of a machine in which it asks in vain: nothing leads out of it.

    Attributes:
        state: The state.
        asked: The messages sent on the way to it or in it that nobody hears.
        awaited: Those that would lead out of it, which nobody sends.
    """

    state: str
    asked: tuple[str, ...]
    awaited: tuple[str, ...]


class Waits(NamedTuple):
    """For what the machines of a network wait.

    Attributes:
        programs: What they do, by their paths.
        unheard: What they may send that nobody waits for, likewise, as pairs of port and message.
        vain: The states in which they ask in vain, likewise.
        carried: How many connections flows have: references below are those of items, too.
    """

    programs: Mapping[str, Program] = {}
    unheard: Mapping[str, tuple[tuple[str, str], ...]] = {}
    vain: Mapping[str, tuple[Vain, ...]] = {}
    carried: int = 0


class _Place(NamedTuple):
    """Where a message comes: a machine, and its port."""

    element: int
    port: str


def find_waits(members: Sequence[Member], network: Network) -> Waits:
    """Return for what the machines of a network wait."""
    programs = list_programs(network)
    paths = {element: network.elements[element].path for element in programs}
    ways = _list_ways(members, programs)
    unheard = {
        element: {
            (port, name)
            for way in program.transitions
            for port, name in way.send
            if not any(_is_heard(programs, to, name) for to in ways.get(_Place(element, port), ()))
        }
        for element, program in programs.items()
    }
    may, vain = dict[str, tuple[tuple[str, str], ...]](), dict[str, tuple[Vain, ...]]()
    if any(unheard.values()):
        world = _World(programs, ways)
        for element, path in paths.items():
            may[path] = tuple(world.list_sent(element, unheard[element]))
            vain[path] = tuple(world.list_vain(element, unheard[element]))
    return Waits(
        {path: programs[element] for element, path in paths.items()},
        {path: messages for path, messages in may.items() if messages},
        {path: states for path, states in vain.items() if states},
        sum(member.stream.connections for member in members if member.stream.is_sent),
    )


def _list_ways(
    members: Iterable[Member], programs: Mapping[int, Program]
) -> dict[_Place, list[_Place]]:
    """Return where messages come that a machine sends by a port."""
    found: dict[_Place, list[_Place]] = {}
    for channel in (member.channel for member in members):
        if channel is not None and channel.origin in programs:
            port = programs[channel.origin].outputs[channel.output]
            to = _Place(channel.target, programs[channel.target].inputs[channel.input])
            found.setdefault(_Place(channel.origin, port), []).append(to)
    return found


def _is_heard(programs: Mapping[int, Program], to: _Place, name: str) -> bool:
    return programs[to.element].waits_for(to.port, name)


class _World:
    """What can happen: the states that machines come to, and the messages that come."""

    def __init__(
        self, programs: Mapping[int, Program], ways: Mapping[_Place, list[_Place]]
    ) -> None:
        self._programs = programs
        self._reached = {element: {p.states[0].name} for element, p in programs.items()}
        self._come = set[tuple[_Place, str]]()
        before = -1
        while before < (before := self._count()):
            for element, program in programs.items():
                for way in self._list_possible(element, program.states):
                    self._reached[element].add(way.target)
                    self._come.update(
                        (to, name)
                        for port, name in way.send
                        for to in ways.get(_Place(element, port), ())
                        if _is_heard(programs, to, name)
                    )

    def _count(self) -> int:
        return len(self._come) + sum(map(len, self._reached.values()))

    def _list_possible(self, element: int, states: Iterable[State]) -> Iterator[Transition]:
        """Yield the transitions that can be taken in those states that can be come to."""
        for state in states:
            if state.name in self._reached[element]:
                yield from (way for way in state.transitions if self._can_happen(element, way))

    def _can_happen(self, element: int, way: Transition) -> bool:
        program = self._programs[element]
        if program.find_message(way.event) is None:
            return True
        ports = (way.port,) if way.port else program.ports
        return any((_Place(element, port), way.event) in self._come for port in ports)

    def list_sent(self, element: int, among: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Yield what a machine may send of some messages, in the order of its transitions."""
        states = self._programs[element].states
        sent = (m for way in self._list_possible(element, states) for m in way.send)
        yield from (message for message in dict.fromkeys(sent) if message in among)

    def list_vain(self, element: int, unheard: set[tuple[str, str]]) -> Iterator[Vain]:
        """Yield the states of a machine in which it asks in vain, given what nobody hears."""
        program = self._programs[element]
        first = program.states[0].name
        onward = {
            state.name: self._find_onward(element, state.name)
            for state in program.states
            if state.name in self._reached[element]
        }
        for name, around in onward.items():
            if first in around or any(name not in onward[other] for other in around):
                continue  # it can begin anew, or is on its way
            asked = tuple(
                dict.fromkeys(
                    message
                    for way in self._list_possible(element, program.states)
                    if way.target in around
                    for port, message in way.send
                    if (port, message) in unheard
                )
            )
            awaited = tuple(
                dict.fromkeys(
                    way.event
                    for state in program.states
                    if state.name in around
                    for way in state.transitions
                    if way.target not in around
                )
            )
            if asked and awaited:
                yield Vain(name, asked, awaited)

    def _find_onward(self, element: int, name: str) -> set[str]:
        """Return a state, and all that can follow it."""
        states = {state.name: state for state in self._programs[element].states}
        found, waiting = {name}, [name]
        while waiting:
            for way in self._list_possible(element, [states[waiting.pop()]]):
                if way.target not in found:
                    found.add(way.target)
                    waiting.append(way.target)
        return found


def find_never_heard(network: Network, waits: Waits) -> Iterator[Diagnostic]:
    """Yield a warning for each port by which a machine may send what nobody waits for."""
    places = {element.path: element.places for element in network.elements}
    for path, messages in waits.unheard.items():
        for port in dict.fromkeys(port for port, _ in messages):
            names = [name for at, name in messages if at == port]
            first, *others = (places[path][f"{port}.{name}"] for name in names)
            listed = " and ".join(f"`{name}`" for name in names)
            note = "they are not sent: no machine that they can reach from there waits for them"
            hangs = _list_hangs(waits.vain.get(path, ()), names)
            yield Diagnostic(
                "W0626",
                f"nobody hears {listed} that `{path}` sends by `{port}`",
                first,
                secondary=tuple(Label(span) for span in others),
                notes=(note, f"counted in `{path}.unheard`", *hangs),
                help="let the machine at the other end wait for them, or do not send them",
            )


def _list_hangs(vain: Iterable[Vain], names: Sequence[str]) -> Iterator[str]:
    """Yield what a machine waits for in vain, once it has sent what nobody hears."""
    for state in vain:
        if set(state.asked) & set(names):
            awaited = " or ".join(f"`{name}`" for name in state.awaited)
            yield f"it then waits for ever in `{state.state}`: nobody sends {awaited}"
