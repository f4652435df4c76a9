"""A capture as a source: what `docs/captures.md` tells is run, and gives the same gaps again."""

import io
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapNgReader

from qospec import cli
from qospec.cli import exits

DOCS = Path(__file__).parents[3] / "docs" / "captures.md"
SPEC = """qos 1
import std.media{also}
topology wire {{
  a, b = host
  link a -- b via media.gigabit_ethernet
}}
test recorded on wire {{
  flow user = packets {{ {flow} }} from a to b
  run {{ measure = {measure} }}
  expect user.lost == 0 pkt
}}
"""
SENT = "size = mix [60 B, 1_500 B, 28 B] @ip, source = pattern { intervals = [30 us, 40 us] }"
REPLAYED = "size = captured.sizes, source = replay { at = captured.at }"
READER = """#!{python}
# Prints what `tshark -T fields -e frame.time_relative -e ip.len` does, as Scapy reads it.
import sys
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapNgReader
first = None
for data, meta in RawPcapNgReader(sys.argv[2]):
    at = (meta.tshigh << 32) + meta.tslow
    first = at if first is None else first
    print(f"{{(at - first) // 10**9}}.{{(at - first) % 10**9:09}}\\t{{Ether(data)[IP].len}}")
"""


def recipe() -> str:
    (found,) = re.findall(r"```sh\n(tshark .*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    return str(found)


def captured(folder: Path, specification: str) -> list[tuple[int, int]]:
    """Run a specification and capture its link; return when packets were sent, and their sizes.

    Times are in ps and exact, from the comments, since the first packet was sent.
    """
    path, capture = folder / "a.qos", folder / "x.pcapng"
    path.write_text(specification, "utf-8")
    record = folder / "record"
    run_it = ["run", str(path), "--record", str(record), "--no-progress"]
    done = CliRunner().invoke(cli.qos, run_it)
    assert done.exit_code == exits.PASSED, done.output
    (run,) = record.iterdir()
    capture_it = ["pcap", str(run), "recorded", "-o", str(capture), "--force"]
    done = CliRunner().invoke(cli.qos, capture_it)
    assert done.exit_code == 0, done.output
    found: list[tuple[int, int]] = []
    first_ps = 0
    for data, meta in RawPcapNgReader(io.BytesIO(capture.read_bytes())):
        (sent,) = re.findall(rb"sent at (\d+) ps", meta.comments[0])
        first_ps = int(sent) if not found else first_ps
        found.append((int(sent) - first_ps, Ether(data)[IP].len))
    return found


def replay(folder: Path, script: str, previous: Path) -> None:
    """Make `captured.qos` in a folder of the capture in another."""
    folder.mkdir()
    tools = folder / "tools"
    tools.mkdir()
    tshark = tools / "tshark"
    tshark.write_text(READER.format(python=sys.executable), "utf-8")
    tshark.chmod(0o755)
    (folder / "x.pcapng").write_bytes((previous / "x.pcapng").read_bytes())
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["/bin/sh", "-c", script], cwd=folder, env={"PATH": path}, check=True)


@pytest.mark.parametrize("most", [10_000, 4])
def test_a_capture_is_sent_again_with_the_same_gaps_and_sizes(tmp_path: Path, most: int) -> None:
    """Twice, since an error of one packet's time on the line would add up; also in parts of 4.

    Packets of 1,500 B take 11.52 us longer than those of 60 B, and one of 28 B is filled up.
    """
    script = recipe().replace("most=10000", f"most={most}")
    assert f"most={most} " in script
    (tmp_path / "0").mkdir()
    first = captured(tmp_path / "0", SPEC.format(also="", flow=SENT, measure="1 ms"))
    gaps_ps = [later - earlier for (earlier, _), (later, _) in itertools.pairwise(first)]
    assert set(gaps_ps) == {30_000_000, 40_000_000}
    assert len(first) > 20
    for generation in (1, 2):
        folder = tmp_path / str(generation)
        replay(folder, script, tmp_path / str(generation - 1))
        assert (folder / "captured_2.qos").exists() == (most < len(first))
        text = SPEC.format(also=", captured", flow=REPLAYED, measure="1 ms")
        assert captured(folder, text) == first
