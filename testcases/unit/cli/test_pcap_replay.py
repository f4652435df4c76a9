"""A capture as traffic: what `qos pcap` wrote is sent again with the same gaps."""

import io
import itertools
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapNgReader

from qospec import cli
from qospec.cli import exits

SPEC = """qos 1
import std.media
topology wire {{
  a, b = host
  link a -- b via media.{medium}
}}
test recorded on wire {{
  flow user = {flow} from a to b
  run {{ measure = 1 ms }}
  expect user.lost == 0 pkt
}}
"""
SENT = "size = mix [60 B, 1_500 B, 28 B] @ip, source = pattern { intervals = [30 us, 40 us] }"


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
    *_, run = sorted(record.iterdir())
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


@pytest.mark.parametrize("medium", ["gigabit_ethernet", "tagged_gigabit_ethernet"])
def test_a_capture_is_sent_again_with_the_same_gaps_and_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, medium: str
) -> None:
    """Twice, since an error of one packet's time on the line would add up.

    Packets of 1,500 B take 11.52 us longer than those of 60 B, and one of 28 B is filled up.
    """
    monkeypatch.chdir(tmp_path)
    first = captured(tmp_path, SPEC.format(medium=medium, flow=f"packets {{ {SENT} }}"))
    gaps_ps = [later - earlier for (earlier, _), (later, _) in itertools.pairwise(first)]
    assert set(gaps_ps) == {30_000_000, 40_000_000}
    assert len(first) > 20
    again = SPEC.format(medium=medium, flow='capture { file = "y.pcapng" }')
    for _ in range(2):
        (tmp_path / "x.pcapng").rename(tmp_path / "y.pcapng")
        assert captured(tmp_path, again) == first
