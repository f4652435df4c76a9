"""What a plan may be: a table of rules, each from the pass on that establishes it.

With `QOS_CHECK=1`, and in all tests, a plan is held to it after each pass. One that breaks a rule
is a defect of the planner, never of a specification; the message names the pass and the element.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from itertools import product
from typing import TYPE_CHECKING

from qospec.catalogue.form import Form
from qospec.dataclass import NamedTuple
from qospec.engine.line.relabel import Relabel
from qospec.plan.forms import build_sent_form
from qospec.plan.tables import NO_OUTPUT, ItemClass, list_marks_after
from qospec.protocol.marks import LEG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qospec.engine.experiment import Experiment, Node, Wire
    from qospec.model.suite import Network
    from qospec.plan.lowering import Lowered
    from qospec.plan.tables import Member
    from qospec.protocol.streams import Streams

PASSES = ("lowering", "endpoints", "machines", "pauses", "restarts", "measurement")
"""In order; each says what it adds to the elements that items can reach."""
CHECKED = ("1", "plan")
"""The values of `QOS_CHECK` with which plans are checked; of elements, only with the first."""


class IllegalPlanError(RuntimeError):
    """A pass of the planner broke a rule: a defect of qospec."""


class Subject(NamedTuple):
    """What is checked: a plan after some pass. Its experiment is known behind the last one."""

    network: Network
    members: tuple[Member, ...]
    streams: Streams
    lowered: Lowered
    experiment: Experiment | None = None


class Rule(NamedTuple):
    """What holds of a plan from some pass on.

    `find` yields what breaks it: an element's path, and what is wrong there.
    """

    says: str
    since: str
    find: Callable[[Subject], Iterator[tuple[str, str]]]


def verify(
    after: str,
    network: Network,
    members: tuple[Member, ...],
    streams: Streams,
    lowered: Lowered,
    experiment: Experiment | None = None,
) -> None:
    """Raise IllegalPlanError if a plan is checked and breaks a rule that holds after a pass."""
    if os.environ.get("QOS_CHECK") not in CHECKED:
        return
    subject = Subject(network, members, streams, lowered, experiment)
    for rule in RULES:
        if PASSES.index(rule.since) <= PASSES.index(after):
            for path, wrong in rule.find(subject):
                raise IllegalPlanError(f"after {after}, `{path}` {wrong}: {rule.says}")


# ---- the rules


def _find_misconnected(subject: Subject) -> Iterator[tuple[str, str]]:
    nodes, wires = subject.lowered.nodes, subject.lowered.wires
    for wire in wires:
        path, outputs = nodes[wire.node].path, nodes[wire.node].element.outputs
        if not 0 <= wire.output < len(outputs):
            yield path, f"has a wire from output {wire.output}, and {len(outputs)} outputs"
        elif wire.to >= len(nodes):
            yield path, f"has a wire to element {wire.to} of {len(nodes)}"
        elif wire.to >= 0 and not 0 <= wire.input < len(nodes[wire.to].element.inputs):
            yield nodes[wire.to].path, f"has a wire to input {wire.input} from `{path}`"
    for (node, output), count in Counter((w.node, w.output) for w in wires).items():
        if count > 1:
            yield nodes[node].path, f"has {count} wires from output {output}"


def _find_unfed(subject: Subject) -> Iterator[tuple[str, str]]:
    came: dict[str, set[int]] = {}  # by path: each input of a router is a node
    for number, member in enumerate(subject.members):
        if member.channel is not None:  # which its machine makes
            machine = subject.network.elements[member.channel.origin]
            came.setdefault(machine.path, set()).add(number)
    for number, items in _list_arriving(subject).items():
        path = subject.lowered.nodes[number].path
        came.setdefault(path, set()).update(item.member for item in items)
    for node, reach in zip(subject.lowered.nodes, subject.lowered.reach, strict=True):
        for missed in sorted(reach - came.get(node.path, set())):
            yield node.path, f"is fed nothing of `{subject.members[missed].name}`"


def _find_stranded(subject: Subject) -> Iterator[tuple[str, str]]:
    wired = {(wire.node, wire.output) for wire in subject.lowered.wires}
    for number, items in _list_arriving(subject).items():
        node = subject.lowered.nodes[number]
        for item in items:
            for output in _list_outputs(subject, node, item):
                if (number, output) not in wired:
                    name = subject.members[item.member].name
                    yield node.path, f"has no wire for `{name}` at output {output}"


def _find_disagreeing(subject: Subject) -> Iterator[tuple[str, str]]:
    for number, items in _list_arriving(subject).items():
        node = subject.lowered.nodes[number]
        for form in {item.form for item in items}:
            if node.clock is not None and (node.clock.encapsulation is None) != (
                form.carries == "cell"
            ):
                yield node.path, f"sends {form.carries}s as a line of others does"
            if form.carries not in node.element.accepts:
                yield node.path, f"is fed {form.carries}s"
            only = {node.size_bytes} if node.size_bytes else set[int]()
            if only and not {size for size, _ in form.sizes} <= only:
                yield node.path, f"is fed other sizes than {node.size_bytes} B"


def _find_unwritten(subject: Subject) -> Iterator[tuple[str, str]]:
    arriving = _list_arriving(subject)
    written: dict[str, set[int]] = {}
    for number, items in arriving.items():
        came = {item.item_class.marks for item in items}
        written.setdefault(subject.lowered.nodes[number].path, set()).update(came)
    for number, node in enumerate(subject.lowered.nodes):
        if node.outputs is None or number not in arriving:
            continue
        for marks in sorted({*node.columns} - written[node.path]):
            yield node.path, f"asks for marks {marks:#x}, which nothing on the way writes"
        came = {item.item_class.marks for item in arriving[number]}
        for marks in sorted(came - {*node.columns}):
            yield node.path, f"has no column for marks {marks:#x}, which are written on the way"


def _find_beyond(subject: Subject) -> Iterator[tuple[str, str]]:
    experiment, indices = subject.experiment, subject.streams.indices
    assert experiment is not None  # noqa: S101 -- the rule holds behind the last pass
    sent = {(stream.first, stream.stop) for stream in subject.streams.own if stream.is_sent}
    for source in experiment.sources:
        if (source.indices.start, source.indices.stop) not in sent:
            yield experiment.nodes[source.node].path, f"is fed by `{source.name}` beyond its stream"
    for node in experiment.nodes:
        if node.outputs is not None and node.outputs.shape != (indices, len(node.columns)):
            yield node.path, f"has a table of {node.outputs.shape[0]} rows for {indices} indices"
    measured = experiment.measurement
    some = [*((first, stop) for _, first, stop in measured.followed)]
    some += [(series.first, series.stop) for series in measured.series]
    for first, stop in some:
        if not 0 <= first < stop <= indices:
            yield "measurement", f"is of the indices {first} to {stop} of {indices}"
    for tap in measured.taps:
        if tap.output >= len(experiment.nodes[tap.node].element.outputs):
            yield experiment.nodes[tap.node].path, f"is measured at output {tap.output}"


RULES = (
    Rule(
        "a wire joins an output and an input, and an output has one", "lowering", _find_misconnected
    ),
    Rule("what may pass an element comes to it over wires", "lowering", _find_unfed),
    Rule("what leaves an element goes on over a wire", "lowering", _find_stranded),
    Rule(
        "an element is fed what it takes, of the size that it knows", "lowering", _find_disagreeing
    ),
    Rule("a table has the columns that are written ahead of it", "lowering", _find_unwritten),
    Rule("every index is within its stream", "measurement", _find_beyond),
)


# ---- items on their way, followed over the wires


class Arriving(NamedTuple):
    """Items of a member that arrive at an input."""

    member: int
    item_class: ItemClass
    input: int
    form: Form


def _list_arriving(subject: Subject) -> dict[int, set[Arriving]]:
    """Return what arrives at each node that something reaches."""
    nodes = subject.lowered.nodes
    to: dict[tuple[int, int], Wire] = {(w.node, w.output): w for w in subject.lowered.wires}
    found: dict[int, set[Arriving]] = {}
    waiting = deque(_list_begun(subject, to))
    while waiting:
        number, item = waiting.popleft()
        if item in found.setdefault(number, set()):
            continue
        found[number].add(item)
        for output in _list_outputs(subject, nodes[number], item):
            wire = to.get((number, output))
            if wire is not None and wire.to >= 0:
                waiting += (
                    (wire.to, after._replace(input=wire.input))
                    for after in _list_behind(subject, nodes[number], item)
                )
    return found


def _list_begun(
    subject: Subject, to: dict[tuple[int, int], Wire]
) -> Iterator[tuple[int, Arriving]]:
    """Yield the node at which each member's items are first, and these."""
    at = {node.path: number for number, node in enumerate(subject.lowered.nodes)}
    for number, member in enumerate(subject.members):
        for marks in member.all_marks:
            item = Arriving(number, ItemClass("user", marks), 0, build_sent_form(member))
            if member.channel is not None:
                machine = at[subject.network.elements[member.channel.origin].path]
                wire = to.get((machine, member.channel.output))
                if wire is not None and wire.to >= 0:
                    yield wire.to, item._replace(input=wire.input)
            elif member.stream.is_sent:
                yield subject.lowered.entry[member.origin], item


def _list_outputs(subject: Subject, node: Node, item: Arriving) -> tuple[int, ...]:
    """Return the outputs that items may take."""
    if node.outputs is None:
        return node.element.predict_outputs(item.input, kind=item.item_class.kind)
    if item.item_class.marks not in node.columns:
        return ()
    row = subject.streams.follow(subject.members[item.member].stream, item.item_class.kind).first
    output = int(node.outputs[row, node.columns.index(item.item_class.marks)])
    return () if output == NO_OUTPUT else (output,)


def _list_behind(subject: Subject, node: Node, item: Arriving) -> Iterator[Arriving]:
    """Yield what items are behind a node, and what it inserts there."""
    element, (kind, marks) = node.element, item.item_class
    contract = subject.members[item.member].contract
    after = list_marks_after(element, node.queues, item.input, marks, contract)
    if node.clock is not None:
        after = tuple(marks & node.clock.carried_marks for marks in after)
    if isinstance(element, Relabel):
        first = subject.members[item.member].stream.first
        after = tuple(turned for marks in after for turned in element.turn_marks(first, marks))
    form = element.predict_form(item.form)
    inserted = element.inserts if kind == "user" else ()
    theirs = after if element.cuts else {marks & LEG.mask for marks in after}
    for kinds, some in [((kind,), after), (inserted, theirs)]:
        for inside, marked in product(kinds, some if after else ()):
            yield item._replace(item_class=ItemClass(inside, marked), form=form)
