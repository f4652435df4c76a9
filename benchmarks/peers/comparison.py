"""TCP beside another implementation: the same connection on the same line, queue and losses.

A peer is a program that takes the numbers of a `Trial` and prints what has arrived, as JSON.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.api import load

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
OURS = HERE / "beside.qos"
NO_LIMIT = 1_000_000
LINE, FAST_ETHERNET = 1_000, 100
"""In Mbit/s."""
PATIENCE_US = 200_000
"""Of a delayed acknowledgement."""
MSS = 1_460


@dataclass(frozen=True)
class Trial:
    """What a peer is run with, in the order of its arguments."""

    mbit: int = LINE
    delay_us: int = 100_000
    room: int = NO_LIMIT
    mtu: int = 1_064
    buffer_bytes: int = 4_000_000
    ack_delay_us: int = 0
    transfer_bytes: int = 0
    first_lost: int = 0
    every: int = 0
    stop_ms: int = 20_000
    interval_ms: int = 2_000

    def run(self, program: Path) -> dict[str, list[int] | int]:
        """Return what it prints."""
        words = [str(program), *(str(vars(self)[name]) for name in self.__annotations__)]
        found = subprocess.run(words, check=True, capture_output=True, text=True)
        return dict(json.loads(found.stdout))


@dataclass(frozen=True)
class Comparison:
    """One line of the table.

    Attributes:
        name: Of V1 to V10, and what is compared.
        known: In closed form.
        case: Ours.
        metric: Of the case, as `report` names it.
        peer: The peer's trial.
        read: Given what the peer printed, returns the same as the metric, in base units.
        tolerance: By what share the two may differ.
    """

    name: str
    known: str
    case: str
    metric: tuple[str, str]
    peer: Trial
    read: Callable[[dict[str, list[int] | int]], float]
    tolerance: float = 0.0005


def goodput(found: dict[str, list[int] | int]) -> float:
    """Return the full segments/s of the whole intervals, of 2 s, behind the first two."""
    read = found["read"]
    assert isinstance(read, list)
    whole = read[2:-1]
    return sum(whole) / (2 * len(whole)) / MSS


def bit_rate(found: dict[str, list[int] | int]) -> float:
    """Return the same in bit/s."""
    return 8 * MSS * goodput(found)


def arrived(found: dict[str, list[int] | int]) -> float:
    """Return how many segments have arrived, with the SYN and what completes the handshake."""
    segments = found["arrived"]
    assert isinstance(segments, list)
    return 2 + sum(segments)


def took(found: dict[str, list[int] | int]) -> float:
    """Return the seconds from the SYN until all was acknowledged."""
    acknowledged_us = found["acknowledged_us"]
    assert isinstance(acknowledged_us, int)
    return acknowledged_us / 1e6


def slow_starts() -> list[Comparison]:
    """Return what has arrived after so many round trips of slow start, from two segments on."""
    found = []
    for number, acknowledged, delay_us, last in ((2, 1, 0, 9), (3, 2, PATIENCE_US, 14)):
        for round_trips in range(1, last + 1):
            known = f"{2 * (2**round_trips - 1) + 2}" if acknowledged == 1 else "x 1.5 at last"
            found.append(
                Comparison(
                    f"V{number} packets after {round_trips} round trips",
                    known,
                    f"v{number}:round_trips={round_trips}",
                    ("copy", "received"),
                    Trial(ack_delay_us=delay_us, stop_ms=200 * round_trips + 300),
                    arrived,
                )
            )
    return found


def repairs() -> list[Comparison]:
    """Return how long transfers take of which one packet is lost, all in round trips of 0.2 s."""
    cases = (
        ("V4 SYN lost", "1 + 2 x 0.2 s", "1_024B", 1_024, 1),
        ("V5 last segment lost", "4 x 0.2 + 1 s", "4_096B", 4_096, 6),
        ("V6 one of 100 lost", "no timeout", "102_400B", 102_400, 40),
    )
    return [
        Comparison(
            name,
            known,
            f"v4_to_v6:size={size}",
            ("copy.exchanges", "transfer_delay.max"),
            Trial(transfer_bytes=transfer, first_lost=first),
            took,
        )
        for name, known, size, transfer, first in cases
    ]


def windows() -> list[Comparison]:
    """Return bit/s by a window, and segments/s by losses at intervals, and by a queue."""
    by_buffer = [
        Comparison(
            f"V1 {buffer} bytes in 0.2 s",
            f"{8 * buffer / 0.2:_.0f}",
            f"v1:buffer={buffer:_}B",
            ("copy", "bit_rate.payload"),
            Trial(mtu=1_500, buffer_bytes=buffer),
            bit_rate,
            MSS / buffer,
        )
        for buffer in (65_535, 16_384)
    ]
    by_losses = [
        Comparison(
            f"V8 one of {every} lost, 0.02 s",
            f"{0.75 * (8 * every / 3) ** 0.5 / 0.02:.6g}",
            f"v8:period={every:_}",
            ("copy.exchanges", "throughput"),
            Trial(delay_us=10_000, mtu=1_500, first_lost=1_000, every=every),
            goodput,
            0.01,
        )
        for every in (96, 2_400)
    ]
    by_room = [
        Comparison(
            f"V10 room {room}, {acknowledged} acknowledged at once",
            known,
            f"v10:room={room},acknowledged={acknowledged}",
            ("copy.exchanges", "throughput"),
            Trial(FAST_ETHERNET, 1_000, room, 1_500, ack_delay_us=PATIENCE_US * (acknowledged - 1)),
            goodput,
            0.005,
        )
        for room, acknowledged, known in (
            (20, 1, "8127"),
            (20, 2, "8127"),
            (1, 1, "6095"),
            (1, 2, ""),
        )
    ]
    return by_buffer + by_losses + by_room


def read_ours(folder: Path) -> dict[tuple[str, str, str], float]:
    """Return the metrics of all cases, by case, flow and metric."""
    run = load(str(OURS)).run(records=str(folder / "records"))
    columns = run.list_columns()
    names = zip(columns["case"], columns["flow"], columns["metric"], strict=True)
    return dict(zip(names, columns["value"], strict=True))


def compare(name: str, program: Path, folder: Path, unlike: tuple[str, ...]) -> bool:
    """Print the table beside a peer; return whether all is the same.

    Args:
        name: Of the peer.
        program: The peer.
        folder: For records.
        unlike: With what the names of comparisons begin that differ for reasons that are known.
    """
    metrics, is_same = read_ours(folder), True
    print(f"{'':<40} {'closed form':>16} {'ours':>16} {name:>16}")
    for line in slow_starts() + repairs() + windows():
        ours, its = metrics[(line.case, *line.metric)], line.read(line.peer.run(program))
        mark = ""
        if line.name.startswith(unlike):
            mark = "  (not compared)"
        elif abs(ours - its) > line.tolerance * its:
            mark, is_same = "  DIFFERENT", False
        print(f"{line.name:<40} {line.known:>16} {ours:>16_.7g} {its:>16_.7g}{mark}")
    return is_same
