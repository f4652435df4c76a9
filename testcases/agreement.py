"""`make test-kernel`: drawn specifications on the emulation and on a kernel, packet by packet.

Of each packet is compared whether it arrives, and when. Rates are such that a byte takes whole ns
there, buckets such that `tc` need not round them: 8 us are 125 of its ticks. What is left is that
the kernel has times in whole ns: a line rounds the time of each packet down.
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
from qospec.linux.parts import compile_program
from qospec.linux.trial import measure
from qospec.plan.plan import Bounds, plan
from qospec.run.trial import seed_repeat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qospec.engine.experiment import Experiment, Tap
    from qospec.engine.items.batch import Batch

PACKETS = 1_500
"""Of a case, about."""
MOST_NS = 1_000
"""How much earlier or later a packet may arrive."""
TURNS_BYTES = 2 * (5 * 1_500 + 1_500)
"""By how much what a class is given may differ: two turns of the largest quantum, and a packet."""
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
        packets: How many were sent.
        lost: How many of them were lost in the emulation.
        differing: How many have another fate on the kernel.
        most_ns: By how much arrivals differ at most.
        share_bytes: By how much the bytes of a flow that arrived differ at most.
    """

    packets: int
    lost: int
    differing: int
    most_ns: int
    share_bytes: int

    def is_alike(self, *, by_share: bool) -> bool:
        """Return whether both are alike: packet by packet, or in what each flow is given."""
        if by_share:
            return self.share_bytes <= TURNS_BYTES
        return not self.differing and self.most_ns <= MOST_NS


class Dice:
    """Draws numbers, the same for a seed."""

    def __init__(self, seed: str) -> None:
        self._stream = Draws((seed,)).stream()

    def randrange(self, low: int, stop: int) -> int:
        """Return a number from `low` up to below `stop`."""
        return int(self._stream.integers(low, stop, 1)[0])

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
)


class Arrivals:
    """Notes when packets arrive in the emulation: an `Observer`."""

    taps: tuple[Tap, ...] = ()

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int]] = []

    def began(self, batch: Batch) -> None:
        """Take no note: all packets are known."""

    def passed(self, place: str, batch: Batch) -> None:
        """Take no note."""

    def advanced(self) -> None:
        """Take no note."""

    def ended(self, batch: Batch, how: str) -> None:
        """Note when each was sent, and when it arrived; -1: it was lost."""
        at_ps = [-1] * batch.count if how else batch.at_ps.tolist()
        self.rows += zip(batch.connection.tolist(), batch.sent_ps.tolist(), at_ps, strict=True)


def compare(experiment: Experiment, guest: Guest) -> Compared:
    """Return how a trial on the emulation and on a kernel differ."""
    arrivals = Arrivals()
    emulation.run(experiment, observer=arrivals)
    seen = measure(experiment, guest)
    connection = np.concatenate([batch.connection for batch in seen.planned.batches])
    theirs = np.full(len(connection), -1)
    for way in seen.layout.ways:
        mine = (connection >= way.first) & (connection < way.stop)
        theirs[mine] = seen.sightings.at_ns[seen.layout.far[way.steps[-1].node]][mine]
    rows = np.array(sorted(arrivals.rows))
    ours = np.full(len(connection), -1)
    for number in np.unique(connection):
        ours[connection == number] = rows[rows[:, 0] == number, 2]
    both = (ours >= 0) & (theirs >= 0)
    apart_ns = np.abs(ours[both] / 1_000 - theirs[both])
    sizes = np.concatenate([batch.size_bytes for batch in seen.planned.batches])
    more = sizes * ((ours >= 0).astype(int) - (theirs >= 0))
    shares = [abs(int(more[connection == number].sum())) for number in np.unique(connection)]
    return Compared(
        len(ours),
        int((ours < 0).sum()),
        int(((ours < 0) != (theirs < 0)).sum()),
        round(apart_ns.max(initial=0)),
        max(shares),
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
    started_s, bad, packets, lost, most_ns = time.monotonic(), 0, 0, 0, 0
    guest = Guest(find_kernel(), compile_program())
    try:
        with tempfile.TemporaryDirectory() as name:
            for number in range(cases):
                draw = DRAWN[number % len(DRAWN)]
                text = draw(Dice(f"{seed} {number}"))
                found = compare(plan_text(text, Path(name)), guest)
                by_share = draw is draw_deficits
                packets, lost = packets + found.packets, lost + found.lost
                most_ns = max(most_ns, 0 if by_share else found.most_ns)
                if not found.is_alike(by_share=by_share):
                    bad += 1
                    print(f"case {number} of seed {seed}: {found}\n{text}")
    finally:
        guest.end()
    took = f"{time.monotonic() - started_s:.0f} s"
    print(
        f"{cases} cases of seed {seed} compared in {took}: {packets} packets, {lost} lost,"
        f" {bad} cases differ, arrivals at most {most_ns} ns apart"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare the emulation with a kernel.")
    parser.add_argument("cases", type=int, nargs="?", default=40)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    asked = parser.parse_args()
    sys.exit(main(asked.cases, asked.seed))
