"""Procedures of the library, run on devices whose answers are known."""

from collections.abc import Callable
from typing import Any

import pytest

from qospec.plan.plan import Bounds
from qospec.run.runner import run_alone

Documents = dict[str, dict[str, Any]]

BENCH = """
import std.procedures.{module}

device router {{
  port west, east: packet
  {device}
  east.rx -> west.tx
}}

topology bench {{
  a, b = host
  dut = router
  link a -- dut.west via {into}
  link dut.east -- b via {out}
}}

test t = {base} on bench {{
  flow user = packets {{ {sent} }} from a to b
  {criteria}
}}
"""
MEDIUM = "media.fast_ethernet"
RESTARTING = """core = processor {{ per_packet = 25 us, limit = 64 pkt, restart_time = {} }}
  queue = fifo {{ limit = 64 pkt }}
  west.rx -> core -> queue -> east.tx"""
DEVICES = {
    "processor": """core = processor { per_packet = 25 us, limit = 64 pkt }
  queue = fifo { limit = 64 pkt }
  west.rx -> core -> queue -> east.tx""",
    "restarting": RESTARTING.format("50 ms"),
    "slow to restart": RESTARTING.format("60 ms"),
    "two stages": """first = processor { per_packet = 25 us, limit = 10_000 pkt }
  second = processor { per_packet = 27 us, limit = 4 pkt }
  queue = fifo { limit = 64 pkt }
  west.rx -> first -> second -> queue -> east.tx""",
    "lossy": """core = processor { per_packet = 25 us, limit = 64 pkt }
  faulty = lose { probability = 0.5% }
  queue = fifo { limit = 64 pkt }
  west.rx -> faulty -> core -> queue -> east.tx""",
    "every 30th": """core = processor { per_packet = 25 us, limit = 64 pkt }
  faulty = lose { first = 30, every = 30 }
  queue = fifo { limit = 64 pkt }
  west.rx -> faulty -> core -> queue -> east.tx""",
    "queue": """queue = fifo { limit = 64 pkt }
  west.rx -> queue -> east.tx""",
    "policer": """meter = police { cir = 20 Mbit/s @frame, cbs = 50 kB }
  queue = fifo { limit = 64 pkt }
  west.rx -> meter -> queue -> east.tx""",
    "generous policer": """meter = police { cir = 20 Mbit/s @frame, cbs = 150 kB }
  queue = fifo { limit = 64 pkt }
  west.rx -> meter -> queue -> east.tx""",
    "tight policer": """meter = police { cir = 20 Mbit/s @frame, cbs = 5 kB }
  queue = fifo { limit = 64 pkt }
  west.rx -> meter -> queue -> east.tx""",
    "closed": """sort = classify { refused = pkt.dscp == 46, rest = otherwise }
  core = processor { per_packet = 25 us, limit = 64 pkt }
  faulty = lose { probability = 100% }
  queue = fifo { limit = 64 pkt }
  west.rx -> sort
  sort.refused -> faulty -> queue
  sort.rest -> core -> queue -> east.tx""",
    "hole": """meter = police { cir = 8 bit/s @ip, cbs = 400 B }
  queue = fifo { limit = 64 pkt }
  west.rx -> meter -> queue -> east.tx""",
}
"""One that serves 40,000 packets/s while 64 wait; one as fast as its lines; some that police or
refuse; one that loses frames at any load."""


@pytest.fixture
def carried_out(planned, problems) -> Callable[..., Documents]:
    """Return a function that runs a test of one flow, and gives its cases by their parameters."""

    def run(
        base: str, device: str, sent: str, criteria: str = "", out: str = MEDIUM, into: str = MEDIUM
    ) -> Documents:
        links = {"into": into, "out": out}
        its = {"module": base.partition(".")[0], "device": DEVICES[device], **links}
        plans = planned(BENCH.format(base=base, sent=sent, criteria=criteria, **its))
        assert not problems.errors
        ran = (run_alone(plan, Bounds(), lambda: None) for plan in plans)
        return {document["name"].partition(":")[2]: document for document in ran}

    return run
