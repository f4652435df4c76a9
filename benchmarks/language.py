"""Time of `qos check` on a project of some thousand lines: CPU time of whole processes.

Twice the text should take twice the time, whatever the project's size.
A project is made of sites. A site is two files of some 125 lines each: a laboratory (a device, a
topology, traffic) and a suite of tests on it, with sweeps.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import figures
from figures import Figure

LINES = 3_000
MOST_S = {"language.file": 0.25, "language.project": 1.5}
MOST_GROWTH = 1.3
"""How much longer each line may take in a project of four times the size."""
REPEATS = 3
TINY = {"LINES": 300, "REPEATS": 1}

LABORATORY = """\
qos 1
import std.media, std.devices.sitline, std.devices.atm_switches as switches

## The rate of the lines of this site, and the time of a cell on them.
let line_rate = media.stm1.rate
let slot = 53 B / line_rate

## A multiplexer of this site: so many lines into one, real-time cells first.
device multiplexer(lines: Int = 3, buffer: Count = 512 cell, transit: Time = 4 us) {
  port low[lines], high: cell
  fabric = vc_switch { ports = lines + 1, latency = transit }

  for i in 0 .. lines - 1 {
    real_time = fifo { limit = buffer }
    other = fifo { limit = buffer }
    sort = classify { real_time = vc.category in [cbr, vbr_rt], other = otherwise }
    out = strict { order = [real_time, other] }

    low[i].rx -> fabric.entry[i]
    fabric.exit[i] -> sort
    sort.real_time -> real_time -> out.real_time
    sort.other -> other -> out.other
    out -> low[i].tx
  }
  trunk = fifo { limit = 4 * buffer }
  high.rx -> fabric.entry[lines]
  fabric.exit[lines] -> trunk -> high.tx
}

## Constant bit rate, so many connections of equal rate.
traffic leased(rate: CellRate, tolerance: Time = 2 * slot, pvcs: Int = 1) = cbr {
  pcr = rate / pvcs
  cdvt = tolerance
  connections = pvcs
  phases = even
}

## What is left for everything else.
traffic rest(rate: CellRate, pvcs: Int = 1) = ubr { pcr = rate / pvcs, connections = pvcs }
"""

TOPOLOGY = """
## {ports} ports on either side, {encrypted} of them encrypted, two multiplexers between.
topology sites_{number}(
  ports: Int = {ports}, encrypted: Int = {encrypted}, buffer: Count = 512 cell
) {{
  a, b = host(count = ports)
  left, right = sitline.encryptor(count = encrypted)
  left_plain, right_plain = sitline.bypass(count = ports - encrypted)
  west = multiplexer(lines = ports, buffer = buffer)
  middle = switches.tnx(ports = 2)
  east = multiplexer(lines = ports, buffer = buffer)

  for i in 0 .. encrypted - 1 {{
    link a[i] -- left[i].red via media.stm1
    link left[i].black -- west.low[i] via media.stm1
    link east.low[i] -- right[i].black via media.stm1
    link right[i].red -- b[i] via media.stm1
  }}
  for i in encrypted .. ports - 1 {{
    link a[i] -- left_plain[i - encrypted].red via media.stm1
    link left_plain[i - encrypted].black -- west.low[i] via media.stm1
    link east.low[i] -- right_plain[i - encrypted].black via media.stm1
    link right_plain[i - encrypted].red -- b[i] via media.stm1
  }}
  link west.high -- middle.p[0] via media.stm1
  link middle.p[1] -- east.high via media.stm1 {{ length = {length} km }}
}}
"""

TEST = """
## Real-time cells come through whatever the rest sends; the rest loses only above the line's rate.
test load_{number} on laboratory_{site}.sites_{topology}(encrypted = encrypted) {{
  sweep load in [40%, 60%, 80%]
  sweep encrypted in [0, 2]

  let slowest = 1_000 cell/s + {number} cell/s
  let wanted = load * (laboratory_{site}.line_rate / (53 B/cell @cell))
  flow phones = laboratory_{site}.leased(rate = slowest, pvcs = 3) from a to b
  flow bulk = laboratory_{site}.rest(rate = wanted - 2 * slowest, pvcs = 6) from a to b
  flow back = laboratory_{site}.rest(rate = wanted / 2, pvcs = 3) from b to a
  run {{ measure = 2 s, overload = true }}

  require offered: bulk.sent within 1% of (wanted - 2 * slowest) * 2 s
  expect phones_arrive: phones.lost == 0
  expect bulk_arrives: bulk.lost == 0 and back.lost == 0
  expect all_up: phones.connections_up == 3
  expect soon: phones.delay.mean <= 200 us + {number} us
  report at_worst: phones.delay.max
}}
"""


def project(folder: Path, lines: int) -> int:
    """Write a project of at least this many lines; return how many it has."""
    written, site = 0, 0
    while written < lines:
        laboratory = LABORATORY + "".join(
            TOPOLOGY.format(number=each, ports=3, encrypted=each, length=10 + each)
            for each in (1, 2, 3)
        )
        tests = f"qos 1\nimport laboratory_{site}\n" + "".join(
            TEST.format(number=10 * site + i, site=site, topology=1 + i % 3) for i in range(6)
        )
        for name, text in ((f"laboratory_{site}", laboratory), (f"suite_{site}", tests)):
            (folder / f"{name}.qos").write_text(text, encoding="utf-8")
            written += text.count("\n")
        site += 1
    return written


def measure() -> list[Figure]:
    """Return the CPU time of a file and of projects of one, two and four times the size."""
    sizes: dict[str, int] = {}
    commands: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for name, factor in {"project": 1, "twice": 2, "four_times": 4}.items():
            folder = Path(temporary) / name
            folder.mkdir()
            sizes[name] = project(folder, factor * LINES)
            commands[f"language.{name}"] = [*figures.command(), "check", str(folder)]
        file = Path(temporary) / "project" / "suite_0.qos"
        commands["language.file"] = [*figures.command(), "check", str(file)]
        compared = figures.compare_processes(commands, "numba", MOST_S, REPEATS)
    once, _, four_times, _ = compared
    growth = (four_times.value / sizes["four_times"]) / (once.value / sizes["project"])
    print(" and ".join(f"{size:_} lines" for size in sizes.values()), file=sys.stderr)
    target = f"<= {MOST_GROWTH}"
    return [*compared, Figure("language.growth", growth, "times a line", target=target)]
