"""Proved bounds of delays and backlogs: network calculus along the paths of an experiment.

Curves are followed from the sources on: each element is given a bound of what arrives at each of
its inputs, and says what it guarantees. A flow's delay is at most the sum along its path, from
where its items are stamped, and less where a burst is paid only once: see `chains`. What
leaves together by a line is no denser than the line sends it.

On a cycle nothing is known at first of what comes round, and what is proved of it is used for what
follows: each round begins with what is true, so it ends with it.
"""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import proxy

from qospec.calculus.guarantee import (
    SILENCE,
    Arrival,
    Guarantee,
    Guarantees,
    bound_items,
    describe_unbounded,
)
from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.graph.components import find_components, is_cyclic
from qospec.engine.items.partition import MAX_OUTPUTS
from qospec.engine.line.guarantee import bound_sending_ps
from qospec.plan.forms import build_form
from qospec.plan.proofs.chains import Chains
from qospec.plan.proofs.places import Group, Key, Place, build_group, join_groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qospec.calculus.curve import Curve
    from qospec.catalogue.form import Form
    from qospec.engine.experiment import Experiment, Node, Source
    from qospec.plan.proofs.chains import Chain

ROUNDS = 3
"""How often a cycle is gone round: what is known of its lines after one is used in the next."""


NOTHING_KNOWN = "nothing is proved of {}"
NOTHING_PASSES = "none of it is sent"
OF_CELLS_ALONE = "what is proved is of cells, not of whole frames"


class Proof(NamedTuple):
    """What is proved of a delay.

    Attributes:
        most_ps: The longest; None if none is proved.
        why: The reason, then.
        path: The nodes of the path of that delay, each with the longest time through it.
    """

    most_ps: int | None
    why: str = ""
    path: tuple[tuple[str, int], ...] = ()


@dataclass
class _Routes:
    """Where items pass.

    Attributes:
        arriving: By input of a node, the forms of the items that may arrive, by key.
        onward: By input of a node and key, the outputs that they may take.
        begins: By key, where its items are first on the network.
        unknown: Of what elements insert of which they state no bound, or which has the stamps of
            the items that they cut, the path of the element.
    """

    arriving: dict[Place, dict[Key, set[Form]]] = field(default_factory=dict)
    onward: dict[tuple[Place, Key], tuple[int, ...]] = field(default_factory=dict)
    begins: dict[Key, set[Place]] = field(default_factory=dict)
    unknown: dict[Key, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Proofs:
    """What is proved of an experiment.

    Attributes:
        delays: By the first and the last connection index of what was followed.
        waiting: By the path of a queue, how many items may wait.
        why: Why nothing is proved, if so.
        unbounded: By the path of a queue without a bound, why it has none.
    """

    delays: Mapping[tuple[int, int], Proof]
    waiting: Mapping[str, int]
    why: str = ""
    unbounded: Mapping[str, str] = field(default_factory=dict)

    def explain_unbounded(self, path: str) -> str:
        """Return why no backlog is proved of a queue; "" if one is."""
        if path in self.waiting:
            return ""
        return self.why or self.unbounded.get(path) or NOTHING_KNOWN.format(path)

    def find_delay(self, first: int, stop: int) -> Proof:
        """Return the bound of the delay of some connections, by their indices."""
        begins, ends, order = self._intervals
        mine = sorted(order[bisect_right(ends, first) : bisect_left(begins, stop)])
        proofs = [proof for _, proof in mine]
        return _choose_longest(proofs) if proofs else Proof(None, self.why or NOTHING_PASSES)

    @cached_property
    def _intervals(self) -> tuple[list[int], list[int], list[tuple[int, Proof]]]:
        """Return where indices that were followed begin, where they end, and their proofs.

        They are in the order of indices, of which each is in one at most; beside each proof is its
        place among `delays`.
        """
        known = sorted((*indices, place) for place, indices in enumerate(self.delays))
        proofs = list(self.delays.values())
        order = [(place, proofs[place]) for _, _, place in known]
        return [begin for begin, _, _ in known], [end for _, end, _ in known], order


def prove(experiment: Experiment) -> Proofs:
    """Return what network calculus proves of an experiment."""
    if any(node.element.makes for node in experiment.nodes):
        return Proofs({}, {}, "endpoints send when something arrives")
    return _Analysis(experiment).prove()


class _Analysis:
    """The curves of one experiment."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._nodes = experiment.nodes
        self._wires: dict[tuple[int, int], list[Place]] = {}
        self._feeding: dict[Place, list[tuple[int, int]]] = {}
        for wire in experiment.wires:
            to = Place(wire.to, wire.input)
            self._wires.setdefault((wire.node, wire.output), []).append(to)
            self._feeding.setdefault(to, []).append((wire.node, wire.output))
        self._sources: dict[Place, list[int]] = {}
        for number, source in enumerate(experiment.sources):
            self._sources.setdefault(Place(source.node, source.input), []).append(number)
        self._routes = _Routes()
        for number in range(len(experiment.sources)):
            self._follow(number)
        self._leaving: dict[tuple[int, int], list[Group]] = {}
        self._found: dict[int, Guarantees | None] = {}
        self._sent = [
            _bound_sent(number, source) for number, source in enumerate(experiment.sources)
        ]
        self._chains = Chains(proxy(self))  # no cycle, so that all of it is freed at once

    def prove(self) -> Proofs:
        """Return what is proved."""
        onward: list[set[int]] = [set() for _ in self._nodes]
        for (number, _), ends in self._wires.items():
            onward[number] |= {to.node for to in ends if to.node >= 0}
        for component in find_components(onward):
            for _ in range(ROUNDS if is_cyclic(component, onward) else 1):
                for number in component:
                    self._pass(number)
        delays = {self._find_indices(key): self._bound_delay(key) for key in self._routes.begins}
        for source in self._experiment.sources:
            if source.framing is not None:
                first = source.framing.first
                delays[first, first + source.connections] = Proof(None, OF_CELLS_ALONE)
        queues = [*self._list_queues()]
        waiting = {
            path: guarantees.waiting
            for path, guarantees in queues
            if guarantees.waiting is not None
        }
        unbounded = {
            path: guarantees.why for path, guarantees in queues if guarantees.waiting is None
        }
        return Proofs(delays, waiting, unbounded=unbounded)

    # ---- where items pass

    def _follow(self, number: int) -> None:
        """Note where the items of a source pass, and in which forms."""
        source, routes = self._experiment.sources[number], self._routes
        key, start = Key(number, "user"), Place(source.node, source.input)
        carries = "cell" if source.encapsulation is None else "packet"
        routes.begins[key] = {start}
        sent = build_form(carries, source.sizes)._replace(is_tagged=source.is_tagged)
        waiting = deque([(key, start, sent)])
        while waiting:
            key, place, form = waiting.popleft()
            forms = routes.arriving.setdefault(place, {}).setdefault(key, set())
            if form in forms:
                continue
            forms.add(form)
            element = self._nodes[place.node].element
            outputs = routes.onward[place, key] = self._list_outputs(place, key)
            after = element.predict_form(form)
            for output in outputs:
                for to in self._wires.get((place.node, output), ()):
                    if to.node < 0:
                        continue
                    waiting.append((key, to, after))
                    for kind in element.inserts if key.kind == "user" else ():
                        made = Key(key.source, kind)
                        routes.begins.setdefault(made, set()).add(to)
                        bound = element.bound_inserted(describe_unbounded(_list_sizes({form})))
                        if element.cuts or bound is None:
                            routes.unknown[made] = self._nodes[place.node].path
                        waiting.append((made, to, after))

    def _list_outputs(self, place: Place, key: Key) -> tuple[int, ...]:
        """Return the outputs that items may take."""
        node = self._nodes[place.node]
        if key.kind in node.element.ends:
            return ()
        if node.outputs is None:
            return (node.element.predict_output(place.input, kind=key.kind),)
        first, stop = self._find_indices(key)
        found = set(node.outputs[first:stop].ravel().tolist())
        return tuple(sorted(found - {MAX_OUTPUTS}))

    def _find_indices(self, key: Key) -> tuple[int, int]:
        """Return the first connection index of items, and the one behind the last."""
        source = self._experiment.sources[key.source]
        first = self._experiment.streams.compute_index(source.first, key.kind)
        return first, first + source.connections

    # ---- curves

    def _pass(self, number: int) -> None:
        """Bound what leaves a node, given what arrives there."""
        node = self._nodes[number]
        inputs = [self.list_groups(Place(number, n)) for n in range(len(node.element.inputs))]
        arriving = tuple(
            functools.reduce(Arrival.add, (group.bound_all() for group in groups), SILENCE)
            for groups in inputs
        )
        limits = tuple(queue.limit for queue in node.queues)
        found = self._found[number] = node.element.guarantee_service(arriving, node.clock, limits)
        for output in range(len(node.element.outputs)):
            groups = [
                passed
                for n, groups in enumerate(inputs)
                for group in groups
                if (passed := self._bound_passed(group, Place(number, n), output, found)).parts
            ]
            if found is not None and found.leaves is not None and groups:
                groups = [join_groups(groups, found.leaves)]
            self._leaving[number, output] = groups

    def list_groups(self, place: Place) -> list[Group]:
        """Return what arrives at an input, by wire."""
        groups = [self._sent[number] for number in self._sources.get(place, ())]
        for wire in self._feeding.get(place, ()):
            if wire in self._leaving:
                groups += self._leaving[wire]
            else:  # it comes round
                known = self._routes.arriving.get(place, {})
                groups += [
                    build_group(key, describe_unbounded(_list_sizes(forms)))
                    for key, forms in known.items()
                ]
        return groups

    def _bound_passed(
        self, group: Group, place: Place, output: int, found: Guarantees | None
    ) -> Group:
        """Return what of a group leaves a node by an output."""
        node = self._nodes[place.node]
        guarantee = Guarantee(0, None) if found is None else found.inputs[place.input]
        parts: dict[Key, Arrival] = {}
        resized = False
        for key, arrival in group.parts.items():
            if output not in self._routes.onward.get((place, key), ()):
                continue
            coming = passing = self._delay_arrival(arrival, guarantee)
            if self.resizes(place, key):
                before = self._routes.arriving[place][key]
                after = {node.element.predict_form(form) for form in before}
                passing, resized = bound_items(coming.items, _list_sizes(after)), True
            passing = self._bound_admitted(passing, key, node)
            parts[key] = passing
            for kind in node.element.inserts if key.kind == "user" else ():
                made = node.element.bound_inserted(coming)
                parts[Key(key.source, kind)] = made or describe_unbounded(passing.sizes)
        sizes = tuple(sorted({size for part in parts.values() for size in part.sizes}))
        if node.element.inserts:
            return Group(parts, describe_unbounded(sizes))
        together = self._delay_arrival(group.together, guarantee)
        if resized:
            together = bound_items(together.items, sizes)
        return Group(parts, together._replace(sizes=sizes))

    def _delay_arrival(self, arrival: Arrival, guarantee: Guarantee) -> Arrival:
        if guarantee.most_ps is None:
            return describe_unbounded(arrival.sizes)
        return arrival.widen(guarantee.most_ps - guarantee.least_ps)

    def _bound_admitted(self, arrival: Arrival, key: Key, node: Node) -> Arrival:
        """Return a bound of what passes, where an element enforces contracts."""
        source = self._experiment.sources[key.source]
        contract = self._experiment.contracts[source.first]
        admitted: Curve | None = node.element.bound_passing(contract, key.kind)
        if admitted is None:
            return arrival
        return arrival.intersect(bound_items(admitted.scale_by(source.connections), arrival.sizes))

    # ---- what chains need, as `chains.Followed`

    def get_guarantee(self, place: Place) -> Guarantee | None:
        node, found = self._nodes[place.node], self._found.get(place.node)
        stamps = node.clock is not None and node.clock.stamps
        if found is None or stamps or not node.element.keeps_order:
            return None
        return found.inputs[place.input]

    def list_inputs(self, node: int) -> list[Place]:
        return [Place(node, n) for n in range(len(self._nodes[node].element.inputs))]

    def resizes(self, place: Place, key: Key) -> bool:
        element = self._nodes[place.node].element
        forms = self._routes.arriving[place][key]
        return any(element.predict_form(form).sizes != form.sizes for form in forms)

    def list_onward(self, place: Place, key: Key) -> list[tuple[tuple[int, int], Place]]:
        return [
            ((place.node, output), to)
            for output in self._routes.onward.get((place, key), ())
            for to in self._wires.get((place.node, output), ())
        ]

    def comes_only_by(self, wire: tuple[int, int], place: Place, key: Key) -> bool:
        others = [other for other in self._feeding.get(place, ()) if other != wire]
        apart = [self._sent[number] for number in self._sources.get(place, ())]
        apart += [group for other in others for group in self._leaving.get(other, ())]
        return not any(key in group.parts for group in apart)

    # ---- bounds

    def _bound_delay(self, key: Key) -> Proof:
        """Return the bound of the delay of items: the longest of their paths."""
        if key in self._routes.unknown:
            return Proof(None, NOTHING_KNOWN.format(self._routes.unknown[key]))
        places = sorted(place for place, keys in self._routes.arriving.items() if key in keys)
        number = {place: n for n, place in enumerate(places)}
        onward = [[number[to] for to in self._list_following(place, key)] for place in places]
        known: dict[int, Proof] = {}
        for component in reversed(find_components(onward)):
            first = component[0]
            if is_cyclic(component, onward):
                found = Proof(None, f"it may come round to {self._nodes[places[first].node].path}")
            else:
                here = self._bound_through(places[first], key)
                found = _sum(here, [known[to] for to in onward[first]])
                for chain in self._chains.list_from(places[first], key):
                    behind = self._list_following(chain.places[-1], key)
                    through = self._name_chain(chain)
                    found = _choose_least(
                        found, _sum(through, [known[number[to]] for to in behind])
                    )
            known.update(dict.fromkeys(component, found))
        return _choose_longest([known[number[place]] for place in sorted(self._routes.begins[key])])

    def _list_following(self, place: Place, key: Key) -> Iterator[Place]:
        for output in self._routes.onward.get((place, key), ()):
            yield from (to for to in self._wires[place.node, output] if to.node >= 0)

    def _bound_through(self, place: Place, key: Key) -> Proof:
        """Return the bound of the time through a node; from the first bit sent, where it stamps."""
        node, found = self._nodes[place.node], self._found.get(place.node)
        if node.clock is not None and node.clock.stamps:
            forms = self._routes.arriving[place][key]
            most_ps = bound_sending_ps(node.clock, describe_unbounded(_list_sizes(forms)))
            return Proof(most_ps, path=((node.path, most_ps),))
        if found is None:
            return Proof(None, NOTHING_KNOWN.format(node.path))
        guarantee = found.inputs[place.input]
        if guarantee.most_ps is None:
            return Proof(None, f"{node.path}: {guarantee.why}")
        return Proof(guarantee.most_ps, path=((node.path, guarantee.most_ps),))

    def _name_chain(self, chain: Chain) -> Proof:
        first, last = (self._nodes[chain.places[end].node].path for end in (0, -1))
        return Proof(chain.most_ps, path=((f"{first} to {last}", chain.most_ps),))

    def _list_queues(self) -> Iterator[tuple[str, Guarantee]]:
        """Yield the path of each queue, and what is guaranteed of what passes it."""
        for number, found in self._found.items():
            node = self._nodes[number]
            paths = [queue.element for queue in node.queues] or [node.path]
            yield from zip(paths, found.inputs if found else (), strict=False)


def _bound_sent(number: int, source: Source) -> Group:
    """Return what a source sends."""
    curve = source.arrivals.bound_items(source.connections, source.phases)
    return build_group(Key(number, "user"), bound_items(curve, set(source.sizes.size_bytes)))


def _list_sizes(forms: set[Form]) -> tuple[int, ...]:
    return tuple(sorted({size for form in forms for size, _ in form.sizes}))


def _sum(here: Proof, behind: Sequence[Proof]) -> Proof:
    """Return the bound of a path through a place and the longest of what follows."""
    rest = _choose_longest(behind)
    if here.most_ps is None or rest.most_ps is None:
        return here if here.most_ps is None else rest
    return Proof(here.most_ps + rest.most_ps, path=(*here.path, *rest.path))


def _choose_least(one: Proof, other: Proof) -> Proof:
    """Return the better of two bounds of the same delay."""
    return min(one, other, key=lambda proof: (proof.most_ps is None, proof.most_ps or 0))


def _choose_longest(proofs: Sequence[Proof]) -> Proof:
    """Return the longest of some paths; without any, no time."""
    return max(
        proofs, key=lambda proof: (proof.most_ps is None, proof.most_ps or 0), default=Proof(0)
    )
