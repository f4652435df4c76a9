"""Calls through an encryptor that agrees on a key for each, held and released: CPU of a process.

Those with cells are set up by their first cell and send 20 each, policed by a switch.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import figures
from figures import Figure

CALLS = {
    "calls.3998": 3_998,
    "calls.100000": 100_000,
    "calls.3998.cells": 3_998,
    "calls.100000.cells": 100_000,
}
MOST_S = {
    "calls.3998": 3.0,
    "calls.100000": 30.0,
    "calls.3998.cells": 3.0,
    "calls.100000.cells": 30.0,
}
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
WITH_CELLS = """qos 1
import std.media, std.devices.generic, std.devices.key_agreement, std.devices.signalling

topology encrypted {{
  a, b = host
  policer = generic.atm_switch(ports = 2)
  terminal = signalling.dialling_adapter(calls = 1_000)
  e = key_agreement.call_encryptor(agreement = 1 ms)
  s = signalling.exchange(processing = 0 s)
  far = key_agreement.called_encryptor()
  other = signalling.answering_adapter(processing = 75 ms)
  link a -- policer.p[0] via media.stm1
  link policer.p[1] -- terminal.user via media.stm1
  link terminal.line -- e.red via media.stm1
  link e.black -- s.west via media.stm1
  link s.east -- far.black via media.stm1
  link far.red -- other.line via media.stm1
  link other.user -- b via media.stm1
}}

test all_released on encrypted {{
  flow user = cbr {{
    pcr = 100 cell/s
    cdvt = 1 ms
    connections = 500
    source = calls {{
      rate = 500 call/s
      hold = 200 ms
      gaps = even
      count = {calls} call
      rest = 400 ms
    }}
  }} from a to b
  run {{ measure = {calls} * 2 ms + 2 s }}
  require user.sent == 20 * {calls} * 1 cell and user.lost == user.lost.blocked
  require terminal.call.over == {calls} and e.keys.agreements == {calls}
}}
"""


def measure() -> list[Figure]:
    """Return the time of a run for each number of calls, beside a Python that imports Numba."""
    commands = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, calls in CALLS.items():
            file = Path(folder) / f"{calls}.qos"
            text = WITH_CELLS if name.endswith("cells") else TEXT
            file.write_text(text.format(calls=calls), encoding="utf-8")
            run = [*figures.command(), "run", str(file), "--again"]
            commands[name] = [*run, "--record", f"{folder}/records"]
        return figures.compare_processes(commands, "numba", MOST_S, REPEATS)
