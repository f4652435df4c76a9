"""A trial on a kernel in virtual time: from an experiment to its observation."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.measure.ledger import Discipline
from qospec.linux.disciplines import BITS_PER_BYTE, LARGEST_BYTES, NS_PER_S, PS_PER_NS
from qospec.linux.guest import Job
from qospec.linux.layout import lay_out
from qospec.linux.observe import observe
from qospec.linux.traffic import plan_packets, read_seen, write_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.engine.experiment import Experiment, Node
    from qospec.engine.measure.observation import Observation
    from qospec.linux.disciplines import Manner
    from qospec.linux.guest import Answer
    from qospec.linux.layout import Layout
    from qospec.linux.traffic import Planned, Sightings

MARGIN_NS = 10 * 10**6


class Laboratory(Protocol):
    """A kernel that does jobs."""

    @property
    def manner(self) -> Manner:
        """Return how it keeps time."""

    def bound_time_s(self, passages: int, stop_ps: int) -> float:
        """Return how long a job may take at most: of so many passages of interfaces, up to then."""

    def execute(
        self, job: Job, longest_s: float, on_wait: Callable[[], None] = lambda: None
    ) -> Answer:
        """Return what came of a job; raises GuestError."""


class Seen(NamedTuple):
    """What was seen of a trial: its layout, its packets, when each was where, and counters.

    In real time, too, how late each packet was sent, in ns, after how far clocks moved apart.
    """

    layout: Layout
    planned: Planned
    sightings: Sightings
    disciplines: dict[str, tuple[Discipline, ...]]
    late: bytes = b""


def carry_out(
    experiment: Experiment, guest: Laboratory, on_wait: Callable[[], None] = lambda: None
) -> Observation:
    """Return what a trial observes on a kernel; raises as `measure`."""
    return conclude(experiment, measure(experiment, guest, on_wait))


def conclude(experiment: Experiment, seen: Seen) -> Observation:
    """Return what follows from what was seen; raises ValueError as `measure`."""
    observation = observe(experiment, seen.layout, seen.planned, seen.sightings)
    _compare_losses(observation, seen.disciplines)
    return observation._replace(disciplines=seen.disciplines)


def measure(
    experiment: Experiment, guest: Laboratory, on_wait: Callable[[], None] = lambda: None
) -> Seen:
    """Return what is seen of a trial on a kernel.

    Raises:
        GuestError: The kernel failed.
        ValueError: What was seen cannot be.
    """
    layout, planned = lay_out(experiment, guest.manner), plan_packets(experiment)
    watched = (*dict.fromkeys(_list_watched(experiment, layout)),)
    plan = write_plan(planned, layout.ways, watched, _find_longest_silence_ns(experiment, layout))
    job = Job("\n".join((*layout.links, "")), "\n".join((*layout.commands, "")), plan)
    passages = planned.packets * len(watched)
    longest_s = guest.bound_time_s(passages, experiment.measurement.stop_ps)
    answer = guest.execute(job, longest_s, on_wait)
    sizes = np.concatenate([np.empty(0, np.int32), *(one.size_bytes for one in planned.batches)])
    sightings = read_seen(answer.seen, planned, watched, sizes)
    counters = read_counters(answer.counters, experiment, layout)
    return Seen(layout, planned, sightings, counters, answer.late)


def read_counters(
    written: str, experiment: Experiment, layout: Layout
) -> dict[str, tuple[Discipline, ...]]:
    """Return by path of an element the counters of its disciplines, as `tc -j` prints them.

    First those of queueing disciplines, then those of actions, of which policers are.
    """
    decoder = json.JSONDecoder()
    disciplines, end = decoder.raw_decode(written)
    rest = written[end:].lstrip()
    actions = decoder.raw_decode(rest)[0] if rest else ()
    found: dict[str, tuple[Discipline, ...]] = {}
    for number in layout.near:
        path = experiment.nodes[number].path
        found[path] = tuple(
            Discipline(entry["kind"], entry["packets"], entry["drops"])
            for entry in disciplines
            if entry["dev"].startswith(f"n{number}.") and entry["kind"] != "noqueue"
        )
    for entry in (action for part in actions for action in part.get("actions", ())):
        path, stats = experiment.nodes[entry["index"] - 1].path, entry["stats"]
        passed = stats["packets"] - stats["drops"]
        found[path] = (Discipline(entry["kind"], passed, stats["drops"]),)
    return found


def _compare_losses(
    observation: Observation, disciplines: dict[str, tuple[Discipline, ...]]
) -> None:
    """Raise ValueError if a kernel counts other losses than were found by what was not seen."""
    for path, its in disciplines.items():
        counted = max((discipline.dropped for discipline in its), default=0)
        found = observation.ledger.sum_items(path).lost
        if counted != found:
            raise ValueError(
                f"the kernel says that `{path}` dropped {counted} packets, and {found} were missing"
            )


def _list_watched(experiment: Experiment, layout: Layout) -> list[str]:
    """Return where packets are looked at: as sources' lines send them, and behind each element."""
    sending = [layout.near[source.node] for source in experiment.sources]
    return [*sending, *layout.far.values(), *layout.begun.values()]


def _find_longest_silence_ns(experiment: Experiment, layout: Layout) -> int:
    """Return the longest time for which nothing may be seen while packets are on their way."""
    return MARGIN_NS + 2 * sum(_find_silence_ns(experiment.nodes[node]) for node in layout.far)


def _find_silence_ns(node: Node) -> int:
    """Return the time that the largest packet takes at a node once it is served."""
    element: Any = node.element
    time_ps = Fraction(getattr(element, "time", 0) or getattr(element, "latency", 0) or 0)
    rates = [bucket.rate.amount for bucket in getattr(element, "buckets", ())]
    if node.clock is not None:
        time_ps += node.clock.propagation_ps
        rates.append(node.clock.bit_rate)
    bits = 2 * LARGEST_BYTES * BITS_PER_BYTE
    return int(time_ps / PS_PER_NS + sum(bits * NS_PER_S / Fraction(rate) for rate in rates))
