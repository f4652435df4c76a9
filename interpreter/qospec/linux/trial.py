"""A trial on a kernel, in virtual time or in real time: from an experiment to its observation."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.measure.ledger import Discipline
from qospec.linux.caught import add_caught
from qospec.linux.disciplines import BITS_PER_BYTE, LARGEST_BYTES, NS_PER_S, PS_PER_NS
from qospec.linux.guest import GuestError, Job
from qospec.linux.layout import lay_out
from qospec.linux.observe import observe
from qospec.linux.programs import (
    connect_programs,
    explain_hang,
    find_most_packets,
    place_programs,
    read_runs,
    write_programs,
)
from qospec.linux.traffic import plan_packets, read_seen, write_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qospec.engine.experiment import Experiment, Node
    from qospec.engine.measure.observation import Observation
    from qospec.engine.source.launched import ProgramRun
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
    And of programs what came of each, and how many packets were lost that they sent ahead of it.
    """

    layout: Layout
    planned: Planned
    sightings: Sightings
    disciplines: dict[str, tuple[Discipline, ...]]
    late: bytes = b""
    programs: tuple[ProgramRun, ...] = ()
    lost_ahead: Mapping[str, int] = {}


def carry_out(
    experiment: Experiment, guest: Laboratory, on_wait: Callable[[], None] = lambda: None
) -> Observation:
    """Return what a trial observes on a kernel; raises as `measure`."""
    return conclude(experiment, measure(experiment, guest, on_wait))


def conclude(experiment: Experiment, seen: Seen) -> Observation:
    """Return what follows from what was seen; raises ValueError as `measure`."""
    observation = observe(experiment, seen.layout, seen.planned, seen.sightings)
    _compare_losses(observation, seen.disciplines, seen.lost_ahead)
    return observation._replace(disciplines=seen.disciplines, programs=seen.programs)


def measure(
    experiment: Experiment, guest: Laboratory, on_wait: Callable[[], None] = lambda: None
) -> Seen:
    """Return what is seen of a trial on a kernel.

    Raises:
        GuestError: The kernel failed.
        ValueError: What was seen cannot be.
    """
    layout, planned = lay_out(experiment, guest.manner), plan_packets(experiment)
    placed = place_programs(experiment, layout)
    layout = connect_programs(layout, placed)
    watched = (*dict.fromkeys((*_list_watched(experiment, layout), *(one.end for one in placed))),)
    stop_ns = experiment.measurement.stop_ps // PS_PER_NS
    idle_ns = _find_longest_silence_ns(experiment, layout)
    plan = write_plan(planned, layout.ways, watched, idle_ns)
    links, commands = ("\n".join((*its, "")) for its in (layout.links, layout.commands))
    job = Job(links, commands, plan, write_programs(placed, stop_ns, guest.manner))
    packets = planned.packets + find_most_packets(placed, stop_ns)
    longest_s = guest.bound_time_s(packets * len(watched), experiment.measurement.stop_ps)
    try:
        answer = guest.execute(job, longest_s, on_wait)
    except GuestError as error:
        raise explain_hang(error, placed) from None
    if placed:
        read_runs(answer.files, placed, {})  # raises if there was no trial
    sizes = np.concatenate([np.empty(0, np.int32), *(one.size_bytes for one in planned.batches)])
    sightings = read_seen(answer.seen, planned, watched, sizes)
    counters = read_counters(answer.counters, experiment, layout)
    if not placed:
        return Seen(layout, planned, sightings, counters, answer.late)
    seen = add_caught(answer.caught, (planned, sightings), placed, watched, experiment, layout)
    runs = read_runs(answer.files, placed, seen.sent)
    return Seen(layout, seen.planned, seen.sightings, counters, answer.late, runs, seen.lost_ahead)


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
    observation: Observation,
    disciplines: dict[str, tuple[Discipline, ...]],
    lost_ahead: Mapping[str, int],
) -> None:
    """Raise ValueError if a kernel counts other losses than were found by what was not seen."""
    for path, its in disciplines.items():
        counted = max((discipline.dropped for discipline in its), default=0)
        found = observation.ledger.sum_items(path).lost + lost_ahead.get(path, 0)
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
