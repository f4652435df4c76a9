"""Searches for the greatest load that meets a condition, on a network whose delays are known."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from qospec import cli

SPEC = """qos 1
import std.media

device router {
  port west, east: packet
  q = fifo { limit = 100 pkt }
  west.rx -> q -> east.tx
  east.rx -> discard
}

topology narrow {
  a, b = host
  r = router
  link a -- r.west via media.gigabit_ethernet
  link r.east -- b via media.ethernet
}

test bursts on narrow {
  search n in 1 pkt .. 40 pkt {
    goal quick { meets = delay.max < 5 ms }
    goal both { meets = f.delay.max < 10 ms and loss == 0 }
    goal other { meets = steady.delay.max < 7 ms }
    method = METHOD
    trial = 50 ms
  }
  flow f = packets {
    rate = 100 pkt/s
    size = 1_000 B @ip
    source = burst { size = n }
    phases = even
  } from a to b
  flow steady = packets { rate = 40 pkt/s, size = 1_000 B @ip, phases = even } from a to b
  report quick.n
}
"""


def run(folder: Path, method: str, *more: str) -> str:
    path = folder / "a.qos"
    path.write_text(SPEC.replace("METHOD", method), encoding="utf-8")
    words = ["run", str(path), "--json", "--record", str(folder / "records"), *more]
    return CliRunner().invoke(cli.qos, words).stdout


@pytest.mark.slow
@pytest.mark.parametrize("method", ["binary", "mlrsearch"])
def test_the_greatest_burst_that_is_in_time_is_found(tmp_path: Path, method: str) -> None:
    """A frame takes 8.144 us to arrive on the fast link and 820.8 us on the slow one.

    With preamble and gap it keeps that busy for 830.4 us, and the fast one for 8.304 us. So the
    last of n that come at once takes 828.944 + (n - 1) * 822.096 us: 6 are below 5 ms, 12 below
    10 ms. The other flow is the background, of which no packet counts unless it is named. It sends
    behind the burst: its packet is the (n + 1)-th, so 7 of the burst leave it below 7 ms.
    """
    document = json.loads(run(tmp_path, method))
    (phase,) = document["cases"][0]["phases"]
    quick, both, other = phase["goals"]
    assert (quick["lower"]["value"], quick["upper"]["value"]) == ("6", "7")
    assert (both["lower"]["value"], both["upper"]["value"]) == ("12", "13")
    assert (other["lower"]["value"], other["upper"]["value"]) == ("7", "8")
    assert (quick["loss"], quick["meets"]) == (None, "delay.max < 5 ms")
    assert quick["why"] == ["delay.max < 5 ms of f: 5.762 ms measured"]
    assert all(goal["regular"] for goal in phase["goals"])
    if method == "binary":
        assert json.loads(run(tmp_path, method, "-j", "2", "--again")) == document
