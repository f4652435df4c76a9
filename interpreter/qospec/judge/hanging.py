"""What waits for ever at the end of a trial: instances of machines, and packets in queues.

What an instance waits for can never come.

Either nobody hears what it asks, and nobody sends what it waits for; or no timer runs of all
instances of its reference, and no message is under way, so that nothing will happen to it again.
Nothing is said of what items may still move, or where anything goes on that may concern it.

A packet waits in a queue that another has stopped, and that itself stops others, though nobody
sends any more: in a circle, each waits for the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.catalogue.machine import ANY, ITEM
from qospec.dataclass import NamedTuple
from qospec.model.expression import list_counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from qospec.catalogue.machine import Counts, Program
    from qospec.document import Document
    from qospec.model.suite import Statement
    from qospec.plan.waits import Waits

IN_QUEUE = ""
"""In place of the state of a machine: what waits is a packet, and that is never meant."""
OF_STATES = "machine.state."
"""How what statements ask of a state begins."""


STOPPED = "it was told to stop, it tells others to, and after the end of the trial nothing left it"
WAY_OUT = (
    "these are neither lost nor received: break the circle of queues that stop each other, by one"
    " without `xoff` or by another way of a flow"
)


class Hang(NamedTuple):
    """Instances of a machine that wait for ever in one of its states, or packets in a queue.

    Attributes:
        network: As of `Measured`.
        machine: Its path, or that of the queue.
        state: The state, or IN_QUEUE.
        instances: How many are in it.
        why: Why nothing leads out of it.
        trial: Of a search the load of the trial, such as `rate = 15 call/s`; else "".
    """

    network: str
    machine: str
    state: str
    instances: int
    why: str
    trial: str = ""

    @property
    def text(self) -> str:
        """Return what is wrong, and what to do about it."""
        if self.state == IN_QUEUE:
            at = f"in a trial that counts as good, `{self.trial}`, " if self.trial else ""
            return f"{at}{self.finding}; {WAY_OUT}"
        count = f"{self._place}.{self.state}.count"
        asked = f"expect {count} == {self.instances}"
        if self.trial:
            asked = f"require {count} <= {self.instances}"
        at = f"in a trial that counts as good, `{self.trial}`, " if self.trial else ""
        return f"{at}{self.finding}; if that is meant, say so: `{asked}`"

    @property
    def finding(self) -> str:
        """Return what is wrong."""
        if self.state == IN_QUEUE:
            many = "packet waits" if self.instances == 1 else "packets wait"
            return f"{self.instances:_} {many} for ever in {self._place}: {self.why}"
        many = "waits" if self.instances == 1 else f"({self.instances:_} instances) waits"
        return f"{self._place} {many} for ever in `{self.state}`: {self.why}"

    @property
    def _place(self) -> str:
        return f"{self.network}.{self.machine}" if self.network else self.machine


def merge_hangs(hangs: Iterable[Hang]) -> list[Hang]:
    """Return what waits for ever in any of several trials, with the most instances."""
    found: dict[tuple[str, str, str], Hang] = {}
    for hang in hangs:
        key = hang.network, hang.machine, hang.state
        if key not in found or found[key].instances < hang.instances:
            found[key] = hang
    return list(found.values())


def explain_hangs(hangs: Iterable[Hang], statements: Sequence[Statement]) -> list[str]:
    """Return in sentences what waits for ever though no statement asks for it."""
    return [hang.text for hang in hangs if not is_meant(hang, statements)]


def describe_hangs(hangs: Iterable[Hang], statements: Sequence[Statement]) -> Document:
    """Return the documents of hangs, each with whether a statement asks for it; {} if none."""
    found = [
        {
            **{name: value for name, value in hang._asdict().items() if name != "trial" or value},
            "meant": is_meant(hang, statements),
        }
        for hang in hangs
    ]
    return {"hangs": found} if found else {}


def read_hangs(case: Mapping[str, Any]) -> list[Hang]:
    """Return the hangs of a case in a record."""
    return [
        Hang(*(hang[name] for name in Hang._fields if name in hang))
        for hang in case.get("hangs", ())
    ]


def list_standing(network: str, standing: Mapping[str, int]) -> Iterator[Hang]:
    """Yield the queues that stood still at the end of a trial of a network."""
    for path, waiting in standing.items():
        yield Hang(network, path, IN_QUEUE, waiting, STOPPED)


def list_hangs(network: str, waits: Waits, machines: Mapping[str, Counts]) -> Iterator[Hang]:
    """Yield what waits for ever at the end of a trial of a network."""
    told = set[tuple[str, str]]()
    for path, counts in machines.items():
        for vain in waits.vain.get(path, ()):
            instances = counts.states[vain.state].instances
            if instances:
                told.add((path, vain.state))
                asked, awaited = _join(vain.asked, "and"), _join(vain.awaited, "or")
                why = f"nobody hears {asked}, and nobody sends {awaited}"
                yield Hang(network, path, vain.state, instances, why)
    rests = [counts.rest for counts in machines.values()]
    if any(rest.moves for rest in rests):
        return
    running = frozenset[int]().union(*(rest.running for rest in rests))
    moved = waits.carried if _may_items_move(waits.programs.values()) else ANY
    for path, counts in machines.items():
        for state, references in counts.rest.waiting.items():
            still = [one for one in references if _is_still(one, running, moved)]
            if still and (path, state) not in told:
                awaited = _join(_list_awaited(waits.programs[path], state), "or")
                why = f"{awaited} does not come, no timer runs, and no message is under way"
                yield Hang(network, path, state, len(still), why)


def _is_still(reference: int, running: frozenset[int], moved: int) -> bool:
    """Return whether nothing can happen again to the instances of a reference.

    References below `moved` are of items that may move a machine. A machine that takes every
    message may be concerned by each, and by what passes.
    """
    if reference == ANY:
        return not running and moved == ANY
    return reference >= moved and reference not in running and ANY not in running


def _may_items_move(programs: Iterable[Program]) -> bool:
    """Return whether items that pass may make a machine act."""
    return any(way.event == ITEM for program in programs for way in program.transitions)


def is_meant(hang: Hang, statements: Iterable[Statement]) -> bool:
    """Return whether a statement asks how many are in the state at the end: it may be meant.

    An invariant does not: it says what always holds. Nor does what asks how often the state was
    entered, or how long stays lasted: those that go on for ever are left out of these.
    """
    asked = f"{OF_STATES}{hang.state}.count"
    return any(
        counted.network == hang.network
        and counted.path == hang.machine
        and counted.observed == asked
        for statement in statements
        if statement.kind != "invariant"
        for counted in list_counted(statement.expression)
    )


def _join(names: Iterable[str], word: str) -> str:
    return f" {word} ".join(f"`{name}`" for name in names)


def _list_awaited(program: Program, name: str) -> list[str]:
    state = next(state for state in program.states if state.name == name)
    out = dict.fromkeys(way.event for way in state.transitions if way.target != name)
    return [event for event in out if program.find_message(event) is not None]
