"""Calls through an encryptor that agrees on a key for each, held and released: CPU of a process."""

from __future__ import annotations

import tempfile
from pathlib import Path

import figures
from figures import Figure

CALLS = {"calls.3998": 3_998, "calls.100000": 100_000}
MOST_S = {"calls.3998": 3.0, "calls.100000": 30.0}
REPEATS = 5
TINY = {"CALLS": {"calls.3998": 3_998}, "REPEATS": 1}
TEXT = """qos 1
import std.media, std.devices.key_agreement, std.devices.signalling

topology encrypted(calls: Int) {{
  a = signalling.caller(calls = calls, begin = calls * 1 ms, burst = 3, hold = 10 s)
  e = key_agreement.call_encryptor(calls = calls, agreement = 1 ms)
  s = signalling.exchange(processing = 0 s, calls = calls, capacity = calls * 1_000 cell/s)
  b = signalling.answerer(processing = 75 ms, calls = calls)
  link a.line -- e.red via media.stm1
  link e.black -- s.west via media.stm1
  link s.east -- b.line via media.stm1
}}

test all_released on encrypted(calls = {calls}) {{
  run {{ measure = {calls} * 1 ms + 20 s }}
  require a.call.over.count == {calls} and e.keys.agreements == {calls}
}}
"""


def measure() -> list[Figure]:
    """Return the time of a run for each number of calls, beside a Python that imports Numba."""
    commands = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, calls in CALLS.items():
            file = Path(folder) / f"{calls}.qos"
            file.write_text(TEXT.format(calls=calls), encoding="utf-8")
            commands[name] = [*figures.command(), "run", str(file), "--record", f"{folder}/records"]
        return figures.compare_processes(commands, "numba", MOST_S, REPEATS)
