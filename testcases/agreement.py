"""`make test-kernel`: drawn specifications on the emulation and on a kernel, packet by packet.

Of each packet is compared whether it arrives, and when. Packets come to the device of the emulation
when the kernel saw them come to its own. Rates are such that a byte takes whole ns there, buckets
such that `tc` need not round them: 8 us are 125 of its ticks.

A line of the kernel may begin a packet 64 ns early, the least bucket that it takes, and what is due
while packets are looked at is done some hundred ns late. So a fate may be another at a near tie,
and with it all that follow. A packet with another fate differs unless the emulation itself decides
otherwise about it when it, those before and those that come as it leaves do so 1 us earlier or
later, at random: then the case is compared up to there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.engine.graph import emulation
from qospec.engine.random import Draws
from qospec.linux.guest import Guest
from qospec.linux.kept import find_kernel
from qospec.linux.observe import observe
from qospec.linux.parts import compile_program
from qospec.linux.traffic import PS_PER_NS
from qospec.linux.trial import measure
from qospec.plan.plan import Bounds, plan
from qospec.run.trial import seed_repeat
from qospec.traffic.replay import Replay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qospec.engine.arrays import Truths, Whole
    from qospec.engine.experiment import Experiment, Tap
    from qospec.engine.items.batch import Batch
    from qospec.linux.trial import Seen

PACKETS = 1_500
"""Of a case, about."""
MOST_NS = 1_000
"""How much earlier or later a packet may arrive."""
TIE_NS = MOST_NS
"""What is decided otherwise if packets come earlier or later by so much is a near tie."""
TIE_PACKETS = 64
"""How many packets before one may decide about it: more than most queues hold here."""
BESIDE = 8
"""How many that come as it leaves may decide about it, as those of a class that goes first."""
TIE_TRIES = 16
"""At how many random shifts it is looked whether there is a tie."""
LARGEST_BYTES = 1_500
TURNS_BYTES = 2 * (5 * LARGEST_BYTES + LARGEST_BYTES)
"""By how much what a class is given may differ: two turns of the largest quantum, and a packet."""
EARLY = 3
"""By how many early losses numbers may differ, if that is more than 5 %: the kernel approximates
the root by which controlled delay drops more and more often."""
RATES_MBPS = (1, 2, 4, 8, 10, 16, 20, 40)
"""A byte takes whole ns."""

MARKED = """qos 1
import std.media
device box {{
  port near, far: packet
{elements}
  far.rx -> discard
}}
topology bench {{
  a, b = host
  g = box
  link a -- g.near via media.gigabit_ethernet
  link g.far -- b via media.{medium}
}}
test t on bench {{
{flows}
  run {{ measure = {measure_us} us, overload = true }}
  report [{reported}]
}}
"""


class Compared(NamedTuple):
    """A case: its packets, and how the kernel differs.

    Attributes:
        packets: How many were compared: all, or those before the first near tie.
        lost: How many of them were lost in the emulation.
        differing: How many have another fate on the kernel, or arrive at another time.
        most_ns: By how much arrivals differ at most.
        share_bytes: By how much the bytes of a flow that arrived differ at most, of all packets.
        early: How many were lost early in the emulation, and on the kernel, of all packets.
        is_tied: Whether a near tie was found.
    """

    packets: int
    lost: int
    differing: int
    most_ns: int
    share_bytes: int
    early: tuple[int, int]
    is_tied: bool

    def is_alike(self, *, by_share: bool) -> bool:
        """Return whether both are alike: packet by packet, or in what each flow is given."""
        if not by_share:
            return not self.differing
        ours, theirs = self.early
        more = abs(ours - theirs)
        shared_bytes = TURNS_BYTES + more * LARGEST_BYTES
        return self.share_bytes <= shared_bytes and more <= max(EARLY, ours // 20)


class Dice:
    """Draws numbers, the same for a seed."""

    def __init__(self, seed: str) -> None:
        self._stream = Draws((seed,)).open_stream()

    def randrange(self, low: int, stop: int) -> int:
        """Return a number from `low` up to below `stop`."""
        return int(self._stream.integers(low, stop, 1)[0])

    def draw_all(self, low: int, stop: int, count: int) -> Whole:
        """Return so many numbers from `low` up to below `stop`."""
        return self._stream.integers(low, stop, count)

    def choice(self, values: Sequence[Any]) -> Any:
        """Return one of some values."""
        return values[self.randrange(0, len(values))]


def draw_policer(draw: Dice) -> str:
    """Return a policer on the way of one flow."""
    rate, size = draw.choice(RATES_MBPS), draw.randrange(60, 1_500)
    burst = _draw_burst(draw, rate, size)
    elements = (
        f"  meter = police {{ cir = {rate} Mbit/s @ip, cbs = {burst} B @ip }}\n"
        "  near.rx -> meter -> far.tx\n"
    )
    return _write(elements, [_draw_flow(draw, rate, size)], rate, size)


def draw_shaper(draw: Dice) -> str:
    """Return a shaper on the way of one flow, and a queue that it fills."""
    rate, size = draw.choice(RATES_MBPS), draw.randrange(60, 1_500)
    burst = _draw_burst(draw, rate, size)
    limit = draw.randrange(1, 40)
    elements = (
        f"  pace = shape {{ rate = {rate} Mbit/s @ip, burst = {burst} B @ip,"
        f" limit = {limit} pkt }}\n"
        "  near.rx -> pace -> far.tx\n"
    )
    return _write(elements, [_draw_flow(draw, rate, size)], rate, size)


def draw_queue(draw: Dice) -> str:
    """Return a queue before a line that is too slow."""
    size = draw.randrange(60, 1_500)
    amount = draw.randrange(1, 60)
    limit = draw.choice((f"{amount} pkt", f"{2_000 + amount * 700} B"))
    elements = f"  q = fifo {{ limit = {limit} }}\n  near.rx -> q -> far.tx\n"
    return _write(elements, [_draw_flow(draw, 10, size)], 10, size, "ethernet")


def draw_priorities(draw: Dice) -> str:
    """Return two classes in strict order, with queues of their own."""
    return _draw_classes(draw, "strict { order = [high, low] }")


def draw_deficits(draw: Dice) -> str:
    """Return two classes that share a line by quanta, and are not empty but in the beginning.

    Then the kernel takes a class off the round when its last packet begins, the model when it has
    ended: so turns begin elsewhere, and only what each class is given is compared.
    """
    weight = draw.randrange(1, 6)
    scheduler = f"drr {{ weights = {{ high: {weight}, low: 2 }} }}"
    return _draw_classes(draw, scheduler, backlogged=True)


def draw_controlled_delay(draw: Dice) -> str:
    """Return a queue that drops at its head before a line that is too slow.

    The kernel's time of the next drop is another, so only how many there are is compared.
    """
    size = draw.randrange(60, 1_500)
    interval_us = draw.randrange(5_000, 20_000)
    elements = (
        f"  q = codel {{ limit = {draw.randrange(20, 400)} pkt, mtu = 1_500 B,"
        f" interval = {interval_us} us, target = {interval_us // 10} us }}\n"
        "  near.rx -> q -> far.tx\n"
    )
    return _write(elements, [_draw_flow(draw, 10, size)], 10, size, "ethernet")


def _draw_classes(draw: Dice, scheduler: str, *, backlogged: bool = False) -> str:
    limits = [draw.randrange(40, 60) if backlogged else draw.randrange(2, 60) for _ in range(2)]
    elements = (
        "  sort = classify { high = pkt.dscp == 46, low = otherwise }\n"
        f"  high = fifo {{ limit = {limits[0]} pkt }}\n"
        f"  low = fifo {{ limit = {limits[1]} pkt }}\n"
        f"  out = {scheduler}\n"
        "  near.rx -> sort\n  sort.high -> high -> out.high\n  sort.low -> low -> out.low\n"
        "  out -> far.tx\n"
    )
    sizes = [draw.randrange(60, 1_500) for _ in range(2)]
    flows = [
        _draw_flow(draw, 6, size, name, dscp, backlogged=backlogged)
        for name, size, dscp in zip("fh", sizes, (46, 0), strict=True)
    ]
    return _write(elements, flows, 12, sum(sizes) // 2, "ethernet")


def _draw_burst(draw: Dice, rate_mbps: int, size: int) -> int:
    """Return a burst that takes a multiple of 8 us, and holds a packet."""
    return draw.randrange(-(-size // rate_mbps), 20_000 // rate_mbps + size) * rate_mbps


def _draw_flow(
    draw: Dice,
    rate_mbps: int,
    size: int,
    name: str = "f",
    dscp: int = 0,
    *,
    backlogged: bool = False,
) -> str:
    """Return a flow at 60 to 300 % of a rate; packets come evenly, at random, or in bursts.

    If it keeps a class `backlogged`, evenly at 200 to 300 %.
    """
    offered = rate_mbps * draw.randrange(2_000_001 if backlogged else 600_001, 3_000_000)
    bursts = f", source = burst {{ size = {draw.randrange(2, 30)} pkt }}"
    gaps = "" if backlogged else draw.choice(("", ", gaps = poisson", bursts))
    return (
        f"  flow {name} = packets {{ rate = {offered} bit/s @ip, size = {size} B @ip,"
        f" dscp = {dscp}{gaps} }} from a to b"
    )


def _write(
    elements: str, flows: list[str], rate_mbps: int, size: int, medium: str = "fast_ethernet"
) -> str:
    return MARKED.format(
        elements=elements,
        medium=medium,
        flows="\n".join(flows),
        measure_us=PACKETS * size * 8 // (2 * rate_mbps),
        reported=", ".join(f"{flow.split()[1]}.sent" for flow in flows),
    )


DRAWN: tuple[Callable[[Dice], str], ...] = (
    *(draw_policer, draw_shaper, draw_queue, draw_priorities, draw_deficits),
    draw_controlled_delay,
)
BY_SHARE = (draw_deficits, draw_controlled_delay)
"""Those that do not agree packet by packet, as their texts say."""


class Arrivals:
    """Notes when packets arrive in the emulation: an `Observer`."""

    taps: tuple[Tap, ...] = ()

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int]] = []
        self.early = 0

    def note_start(self, batch: Batch) -> None:
        """Take no note: all packets are known."""

    def note_passage(self, place: str, batch: Batch) -> None:
        """Take no note."""

    def advance(self) -> None:
        """Take no note."""

    def note_end(self, batch: Batch, how: str) -> None:
        """Note when each was sent, and when it arrived; -1: it was lost."""
        self.early += batch.count if "(early)" in how else 0
        at_ps = [-1] * batch.count if how else batch.at_ps.tolist()
        self.rows += zip(batch.connection.tolist(), batch.sent_ps.tolist(), at_ps, strict=True)


class Device:
    """What a trial on a kernel saw of a device: packets that came to it, and what it made of them.

    Attributes:
        connection: (packets,) Of each packet, in order of arrival at the device.
        size_bytes: (packets,) Likewise.
        came_ns: (packets,) When.
        left_ns: (packets,) When it arrived at its receiver; -1: it did not.
    """

    def __init__(self, experiment: Experiment, seen: Seen) -> None:
        """Take a trial in which each flow is sent over a line of one device."""
        batches = seen.planned.batches
        connection = np.concatenate([batch.connection for batch in batches])
        sizes = np.concatenate([batch.size_bytes for batch in batches])
        came_ns, left_ns = (np.full(len(connection), -1) for _ in range(2))
        for way in seen.layout.ways:
            mine = (connection >= way.first) & (connection < way.stop)
            for times_ns, step in ((came_ns, way.steps[0]), (left_ns, way.steps[-1])):
                times_ns[mine] = seen.sightings.at_ns[seen.layout.far[step.node]][mine]
        if (came_ns < 0).any():
            raise ValueError("a packet was lost on the line of its source")
        order = np.argsort(came_ns, kind="stable")
        self.connection, self.size_bytes = connection[order], sizes[order]
        self.came_ns, self.left_ns = came_ns[order], left_ns[order]
        self._experiment = experiment
        losses = observe(experiment, seen.layout, seen.planned, seen.sightings).losses
        self.early = sum(int(lost.sum()) for (_, cause), lost in losses.items() if cause == "early")

    def emulate(self, came_ns: Whole) -> tuple[Whole, int]:
        """Return when packets that come at these times arrive, in ns, and how many are lost early.

        -1: it does not arrive.
        """
        arrivals = Arrivals()
        emulation.run(self._build(came_ns), observer=arrivals)
        rows = np.array(sorted(arrivals.rows))
        left_ns = np.full(len(came_ns), -1.0)
        for number in np.unique(self.connection):
            times_ps = rows[rows[:, 0] == number, 2]
            left_ns[self.connection == number] = np.where(times_ps < 0, -1, times_ps / PS_PER_NS)
        return left_ns, arrivals.early

    def _build(self, came_ns: Whole) -> Experiment:
        """Return a trial in which packets come to the device at these times."""
        sources, lines = [], set()
        for source in self._experiment.sources:
            (wire,) = (wire for wire in self._experiment.wires if wire.node == source.node)
            lines.add(source.node)
            at_ps = np.sort(came_ns[self.connection == source.first]) * PS_PER_NS
            replay = Replay(tuple(at_ps.tolist()))
            sources.append(source._replace(arrivals=replay, node=wire.to, input=wire.input))
        wires = tuple(wire for wire in self._experiment.wires if wire.node not in lines)
        stop_ps = int(came_ns.max()) * PS_PER_NS + 1
        measurement = self._experiment.measurement._replace(stop_ps=stop_ps)
        return self._experiment._replace(
            sources=tuple(sources), wires=wires, measurement=measurement
        )

    def is_tie(self, packet: int, left_ns: Whole, draw: Dice) -> bool:
        """Return whether the emulation decides otherwise about a packet at a few ns more or less.

        `left_ns` is what it decides as packets came.
        """
        before = np.arange(max(0, packet - TIE_PACKETS), packet + 1)
        leaves = int(self.came_ns.searchsorted(max(left_ns[packet], self.left_ns[packet])))
        beside = np.arange(max(packet + 1, leaves - BESIDE), min(leaves + 1, len(left_ns)))
        which = np.concatenate([before, beside])
        for _ in range(TIE_TRIES):
            shifted_ns = self.came_ns.copy()
            shifted_ns[which] += (2 * draw.draw_all(0, 2, len(which)) - 1) * TIE_NS
            other_ns, _ = self.emulate(np.maximum(shifted_ns, 0))
            if are_apart(other_ns, left_ns)[packet]:
                return True
        return False


def are_apart(one_ns: Whole, other_ns: Whole) -> Truths:
    """Return by packet whether it has another fate, or arrives at another time."""
    return ((one_ns < 0) != (other_ns < 0)) | (np.abs(one_ns - other_ns) > MOST_NS)


def compare(experiment: Experiment, guest: Guest, draw: Dice) -> Compared:
    """Return how a trial on the emulation and on a kernel differ."""
    device = Device(experiment, measure(experiment, guest))
    (ours_ns, early), theirs_ns = device.emulate(device.came_ns), device.left_ns
    apart = are_apart(ours_ns, theirs_ns)
    count = len(apart)
    is_tied = bool(apart.any()) and device.is_tie(int(apart.argmax()), ours_ns, draw)
    if is_tied:
        count = int(apart.argmax())
    both = (ours_ns >= 0) & (theirs_ns >= 0)
    more = device.size_bytes * ((ours_ns >= 0).astype(int) - (theirs_ns >= 0))
    numbers = np.unique(device.connection)
    return Compared(
        packets=count,
        lost=int((ours_ns[:count] < 0).sum()),
        differing=int(apart[:count].sum()),
        most_ns=round(np.abs(ours_ns - theirs_ns)[:count][both[:count]].max(initial=0)),
        share_bytes=max(abs(int(more[device.connection == number].sum())) for number in numbers),
        early=(early, device.early),
        is_tied=is_tied,
    )


def plan_text(text: str, folder: Path) -> Experiment:
    """Return the trial of the only case of a specification."""
    path = folder / "drawn.qos"
    path.write_text(text, "utf-8")
    problems = Problems()
    checked = check((path,), discover(), problems)
    planned = plan(checked, "0", Bounds(), problems) if not problems.errors else ()
    if problems.errors:
        raise ValueError(f"{problems.errors[0].message}\n{text}")
    (case,) = planned
    return seed_repeat(case.networks[""].experiment, 0)


def main(cases: int, seed: int) -> int:
    """Compare cases, print what differs, and return the exit code."""
    started_s, bad, packets, lost, tied, most_ns = time.monotonic(), 0, 0, 0, 0, 0
    guest = Guest(find_kernel(), compile_program())
    try:
        with tempfile.TemporaryDirectory() as name:
            for number in range(cases):
                draw, dice = DRAWN[number % len(DRAWN)], Dice(f"{seed} {number}")
                text = draw(dice)
                found = compare(plan_text(text, Path(name)), guest, dice)
                by_share = draw in BY_SHARE
                if not by_share:
                    packets, lost = packets + found.packets, lost + found.lost
                    tied, most_ns = tied + found.is_tied, max(most_ns, found.most_ns)
                if not found.is_alike(by_share=by_share):
                    bad += 1
                    print(f"case {number} of seed {seed}: {found}\n{text}")
    finally:
        guest.end()
    took = f"{time.monotonic() - started_s:.0f} s"
    print(
        f"{cases} cases of seed {seed} compared in {took}: {packets} packets, {lost} lost,"
        f" {bad} cases differ, arrivals at most {most_ns} ns apart; {tied} up to a near tie"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare the emulation with a kernel.")
    parser.add_argument("cases", type=int, nargs="?", default=40)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    asked = parser.parse_args()
    sys.exit(main(asked.cases, asked.seed))
