"""What may happen in a device, and what did in the examples: what never does is not examined.

An aspect is what may happen of one sort. A name is that of an element, its output or its queue,
within the device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.machine import list_unreached
from qospec.check.device.observables import has_occupancy
from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from qospec.catalogue.machine import Program
    from qospec.check.device.ports import Part, Template
    from qospec.judge.readings import Readings
    from qospec.plan.plan import CasePlan

TESTED = ("dut", "peer")
"""The names of the devices under test in a scenario."""


class Aspect(NamedTuple):
    """What may happen of one sort.

    Attributes:
        what: In words, ahead of a name.
        may: Yields the names for which it may happen in a device.
        did: Yields those for which it did in the trial of an example, of all devices under test.
    """

    what: str
    may: Callable[[Template], Iterable[str]]
    did: Callable[[Template, CasePlan, Readings], Iterable[str]]


def list_reachable(template: Template) -> frozenset[str]:
    """Return all that may happen in a device."""
    return frozenset(
        f"{aspect.what}: {name}" for aspect in ASPECTS for name in aspect.may(template)
    )


def list_reached(template: Template, case: CasePlan, readings: Readings) -> frozenset[str]:
    """Return what did happen in the devices under test of an example, made from `template`."""
    return frozenset(
        f"{aspect.what}: {name}"
        for aspect in ASPECTS
        for name in aspect.did(template, case, readings)
    )


def _list_within(paths: Iterable[str]) -> Iterator[str]:
    """Yield the names within devices under test of what has these paths."""
    for path in paths:
        device, _, name = path.partition(".")
        if device in TESTED:
            yield name


def group_events(events: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of events by what happens of them, in order."""
    groups: dict[str, list[str]] = {}
    for event in sorted(events):
        what, _, name = event.partition(": ")
        groups.setdefault(what, []).append(name)
    return groups


# ---- losses


def _may_lose(template: Template) -> Iterator[str]:
    for part in template.parts:
        if part.element is not None:
            yield from (f"{part.path} ({cause})" for cause in part.element.discards_for)


def _list_lost(_: Template, __: CasePlan, readings: Readings) -> Iterator[str]:
    yield from _list_within(f"{loss.element} ({loss.cause})" for loss in readings.list_losses())


# ---- queues


def _may_fill(template: Template) -> Iterator[str]:
    for part in template.parts:
        if part.element is not None and has_occupancy(part.kind):
            yield from [part.path] * (part.element.buffer is not None)


def _list_filled(_: Template, case: CasePlan, readings: Readings) -> Iterator[str]:
    """Yield queues that were full: of one that is limited in bytes, only a loss shows that."""
    limits = {element.path: element.element.buffer for element in case.case.networks[""].elements}
    for path, most in readings.occupancies.items():
        buffer = limits[path]
        if buffer is not None and buffer.unit != "byte" and most >= buffer.amount:
            yield from _list_within([path])
    yield from _list_within(
        loss.element for loss in readings.list_losses() if loss.cause == "overflow"
    )


# ---- wires


def _may_carry(template: Template) -> Iterator[str]:
    for part in template.parts:
        if part.element is not None:
            yield from (_name_wire(part, name) for name in part.outputs or part.element.outputs)


def _list_carried(template: Template, case: CasePlan, readings: Readings) -> Iterator[str]:
    """Yield wires that carried something.

    The planner leaves out elements that do nothing to any item of a test, such as a classifier all
    of whose items are of one class: behind these are the wires that lead to what carried something.
    """
    passed = set(_list_within(path for path, count in readings.passed.items() if count))
    planned = {node.path.partition(".")[2] for node in case.networks[""].experiment.nodes}
    carried = passed | {name.rpartition(".")[0] for name in passed}
    entered, before = set[int](), -1
    while len(passed) + len(entered) > before:
        before = len(passed) + len(entered)
        for origin, end in template.wires.items():
            part = template.parts[origin.part] if origin.part >= 0 else None
            name = "" if part is None else _name_wire(part, origin.output)
            if part is not None and part.path not in planned and origin.part in entered:
                leads_on = end.kind != "element" or template.parts[end.part].path in carried
                passed |= {name} if leads_on else set()
            if part is None or name in passed:
                entered.add(end.part)
    yield from passed


def _name_wire(part: Part, output: str) -> str:
    return name_wire(part.path, output, part.outputs or part.element.outputs)


def name_wire(path: str, output: str, outputs: tuple[str, ...]) -> str:
    """Return the name of the wire behind an output: that of its element, if it has no other."""
    return path if len(outputs) == 1 else f"{path}.{output}"


# ---- machines


def _list_programs(template: Template) -> Iterator[tuple[str, Program]]:
    for part in template.parts:
        if part.kind.duty == "machine" and part.element is not None:
            yield part.path, part.element.program


def _may_be_in(template: Template) -> Iterator[str]:
    for path, program in _list_programs(template):
        yield from (f"{path}.{state.name}" for state in program.states)


def _may_take(template: Template) -> Iterator[str]:
    for path, program in _list_programs(template):
        for state in program.states:
            yield from (f"{path}.{state.name}: {way.text}" for way in state.transitions)


def _count_taken(
    template: Template, readings: Readings
) -> Iterator[tuple[str, Program, tuple[int, ...]]]:
    """Yield how often each machine of each device under test took its transitions."""
    programs = dict(_list_programs(template))
    for path, counts in readings.machines.items():
        for name in _list_within([path]):
            if name in programs:
                yield name, programs[name], counts.taken


def _list_entered(template: Template, _: CasePlan, readings: Readings) -> Iterator[str]:
    for path, program, taken in _count_taken(template, readings):
        never = list_unreached(program, taken).states
        yield from (f"{path}.{state.name}" for state in program.states if state.name not in never)


def _list_took(template: Template, _: CasePlan, readings: Readings) -> Iterator[str]:
    for path, program, taken in _count_taken(template, readings):
        never = {f"{path}.{way}" for way in list_unreached(program, taken).transitions}
        ways = (f"{path}.{s.name}: {way.text}" for s in program.states for way in s.transitions)
        yield from (way for way in ways if way not in never)


ASPECTS = (
    Aspect("loss", _may_lose, _list_lost),
    Aspect("full queue", _may_fill, _list_filled),
    Aspect("item behind", _may_carry, _list_carried),
    Aspect("state", _may_be_in, _list_entered),
    Aspect("transition", _may_take, _list_took),
)
