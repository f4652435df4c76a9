"""This machine as one that carries trials out in real time, and how late its timers are then."""

from __future__ import annotations

import functools
import itertools
import os
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.backend import BackendError
from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.linux.disciplines import INSTALL, NS_PER_S, Manner
from qospec.linux.guest import GuestError, Job
from qospec.linux.layout import count_timers
from qospec.linux.modules import ALWAYS, PAIR, list_modules
from qospec.linux.parts import compile_program, describe_program
from qospec.linux.room import Room
from qospec.linux.traffic import HEAD, NAME_BYTES, PACKET, PS_PER_NS, SEEN
from qospec.linux.trial import conclude, measure
from qospec.units import TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.document import Document
    from qospec.engine.experiment import Experiment
    from qospec.engine.measure.observation import Observation
    from qospec.linux.trial import Seen

PACKETS, EVERY_NS = 400, 250_000
"""By which it is measured how late the machine is: for 100 ms."""
PACKET_BYTES = 200
IDLE_NS = 50 * 10**6
LONGEST_S = 30
MARGIN = 2
"""By how much later than those that were tried others may be: a trial sends many more."""
USUAL_TRIES = 5
"""How many trials may be spoilt by a machine that sends too late."""


class Precision(NamedTuple):
    """How late this machine was, in ns: at most, of all packets that were tried.

    Attributes:
        sleep_ns: From when a timer was due to when the program that waited for it went on.
        way_ns: From then on, until a packet had come out of a pair of interfaces.
    """

    sleep_ns: int
    way_ns: int

    @property
    def slack_ns(self) -> int:
        """Return how late a packet may be behind each timer."""
        return MARGIN * (self.sleep_ns + self.way_ns)


def describe_machine() -> Document:
    """Return the kernel, what it has, and the program that sends, for the record.

    Raises:
        BackendError: Something is missing that each trial takes.
    """
    program, there = describe_program(), list_modules()
    if lacking := [name for name in ALWAYS if name not in there]:
        named = " and ".join(f"`{name}`" for name in lacking)
        raise BackendError(f"the kernel of this machine has no {named}: {INSTALL}")
    return {"kernel": os.uname().release, "modules": " ".join(sorted(there)), **program}


def describe_precision() -> str:
    """Return how late this machine may be behind each timer, in words; raises BackendError."""
    return _write_ns(find_precision().slack_ns)


@functools.cache
def find_precision() -> Precision:
    """Return how late this machine is, measured once in each process; raises BackendError."""
    return measure_precision(Room(compile_program(), Manner()))


def measure_precision(room: Room) -> Precision:
    """Return how late timers and packets are in a room; raises BackendError."""
    packets = np.zeros(PACKETS, PACKET)
    packets["number"], packets["size"] = np.arange(PACKETS), PACKET_BYTES
    packets["at_ns"] = np.arange(PACKETS) * EVERY_NS
    head = np.array((PACKETS, IDLE_NS, 1, 1), HEAD)
    names = b"".join(name.ljust(NAME_BYTES, b"\0") for name in (b"n0", b"f0"))
    plan = head.tobytes() + names + packets.tobytes()
    try:
        answer = room.execute(Job(PAIR, "", plan), LONGEST_S)
    except GuestError as error:
        raise BackendError(str(error)) from None
    late_ns = np.frombuffer(answer.late, np.int64)[1:]
    seen = np.frombuffer(answer.seen, SEEN)
    if len(seen) != PACKETS:
        raise BackendError(f"of {PACKETS} packets over a pair of interfaces, {len(seen)} arrived")
    sent_ns = packets["at_ns"][seen["number"]].astype(np.int64) + late_ns[seen["number"]]
    return Precision(int(late_ns.max()), int((seen["at_ns"] - sent_ns).max()))


def run_trial(experiment: Experiment, on_wait: Callable[[], None]) -> Observation:
    """Return what a trial observes in namespaces of this machine.

    If the machine sent too late, how late it is now is measured again, and the trial done again.

    Raises:
        BackendError: The machine could not do it, or not in time.
    """
    precision, latest_ns = find_precision(), []
    try:
        for tries in range(USUAL_TRIES):
            if tries:
                again = measure_precision(Room(compile_program(), Manner()))
                precision = max(precision, again, key=lambda its: its.slack_ns)
            manner = Manner("sch_netem" in list_modules(), precision.slack_ns)
            seen = measure(experiment, Room(compile_program(), manner), on_wait)
            latest_ns.append(find_lateness(seen))
            if latest_ns[-1] <= precision.slack_ns:
                bound_ps = bound_error_ps(experiment, seen, precision)
                return conclude(experiment, seen)._replace(precision_ps=bound_ps)
    except GuestError as error:
        raise BackendError(str(error)) from None
    late, precise = (_write_ns(time_ns) for time_ns in (min(latest_ns), precision.slack_ns))
    raise BackendError(
        f"this machine sent packets at least {late} late in each of {USUAL_TRIES} trials, and its"
        f" precision is {precise}: send less, leave the machine alone, or use `--on kernel-vt`"
    )


def find_lateness(seen: Seen) -> int:
    """Return by how many ns the latest packet was late, or the clock was set meanwhile."""
    late_ns = np.frombuffer(seen.late, np.int64)
    return int(max(abs(late_ns[0]), late_ns.max()))


def bound_error_ps(experiment: Experiment, seen: Seen, precision: Precision) -> int:
    """Return how far off the time of a packet may be: each place with a timer adds to it.

    So does a line along which packets do not travel on the kernel, if another element is behind it:
    those of different sizes come there too early by different times.
    """
    layout = seen.layout
    sizes = [batch.size_bytes for batch in seen.planned.batches if batch.count]
    spread = max(map(np.max, sizes)) - min(map(np.min, sizes)) if sizes else 0
    largest_ps = 0
    for way in layout.ways:
        nodes = [step.node for step in way.steps]
        timers = sum(count_timers(layout, experiment, node) for node in nodes)
        error_ps = timers * precision.slack_ns * PS_PER_NS
        for node, _ in itertools.pairwise(nodes):
            clock = layout.travel.get(node)
            error_ps += int(int(spread) * clock.byte_time_ps) if clock else 0
        largest_ps = max(largest_ps, error_ps)
    return largest_ps


def _write_ns(time_ns: int) -> str:
    return format_value(Fraction(time_ns, NS_PER_S), TIME, digits=2)
