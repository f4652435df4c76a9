"""A capture that is read, sent over a line and judged: CPU of a process."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

import figures
from figures import Figure

PACKETS = 1_000_000
MOST_S = 10.0
REPEATS = 3
TINY = {"PACKETS": 1_000, "REPEATS": 1}
TEXT = """qos 1
import std.media

topology wire {{
  a, b = host
  link a -- b via media.gigabit_ethernet
}}

test all_arrive on wire {{
  flow site = capture {{ file = "site.pcap" }} from a to b
  run {{ measure = {packets} * 5 us + 1 s }}
  expect whole: site.received == {packets} pkt
}}
"""
SNAP_BYTES, LENGTHS_BYTES = 42, (60, 300, 514, 60)
"""Headers of Ethernet, IP and UDP are kept, of frames of these lengths in turn."""


def measure() -> list[Figure]:
    """Return the time of a run, beside a Python that imports Numba."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "site.qos"
        file.write_text(TEXT.format(packets=PACKETS), encoding="utf-8")
        file.with_suffix(".pcap").write_bytes(build_capture(PACKETS))
        run = [*figures.command(), "run", str(file), "--again", "--record", f"{folder}/records"]
        commands = {"capture.million": run}
        return figures.compare_processes(commands, "numba", {"capture.million": MOST_S}, REPEATS)


def build_capture(packets: int) -> bytes:
    """Return a pcap file of packets of UDP, 5 us apart."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, SNAP_BYTES, 1)]
    for number in range(packets):
        length = LENGTHS_BYTES[number % len(LENGTHS_BYTES)]
        second, microsecond = divmod(5 * number, 1_000_000)
        parts.append(struct.pack("<IIII", second, microsecond, SNAP_BYTES, length))
        parts.append(bytes(12) + b"\x08\x00")
        parts.append(
            struct.pack(">BBHHHBBH8x", 0x45, 46 << 2, length - 14, 0, 0, 64, 17, 0)
            + struct.pack(">HHHH", 5_000, 5_001, length - 34, 0)
        )
    return b"".join(parts)
