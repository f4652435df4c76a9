"""Calls through an encryptor that agrees on a key for each, held and released: CPU of a process."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

import figures
from figures import Figure

MOST_S = {3_998: 3, 100_000: 30}
"""The most CPU seconds of so many calls."""
REPEATS = 5
TINY = {"MOST_S": {3_998: 3}, "REPEATS": 1}
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
    """Return the median CPU seconds of a run with a warm cache, for each number of calls."""
    found = []
    for calls, most_s in MOST_S.items():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "calls.qos"
            file.write_text(TEXT.format(calls=calls), encoding="utf-8")
            command = [*figures.command(), "run", str(file), "--record", f"{folder}/records"]
            seconds = [figures.children(command)[1] for _ in range(REPEATS + 1)]
        name, target = f"calls.{calls}", f"<= {most_s} s"
        found.append(Figure(name, statistics.median(seconds[1:]), "s of CPU", target=target))
    return found
