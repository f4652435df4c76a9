"""`--on kernel-vt` without a kernel: what has no counterpart there, and what is said of it."""

import re
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from qospec import cli
from qospec.cli import exits
from qospec.linux import kept, parts

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "docs" / "examples"

BENCH = """qos 1
import std.media
device gate {
  port near, far: packet
  meter = police { cir = 1 Mbit/s @ip, cbs = 10_000 B }
  pace = shape { rate = 2 Mbit/s @ip, burst = 3_000 B, limit = 10 pkt }
  q = fifo { limit = 10 pkt }
  near.rx -> meter -> pace -> q -> far.tx
  far.rx -> discard
}
topology bench {
  a, b = host
  g = gate
  link a -- g.near via media.fast_ethernet
  link g.far -- b via media.ethernet
}
test t on bench {
  flow f = packets { rate = 2 Mbit/s @ip, size = 500 B @ip } from a to b
  run { measure = 100 ms, overload = true }
  expect f.lost >= 0 pkt
}
"""

BY_SIZE = """c = classify { short = pkt.size <= 99 B @ip, long = otherwise }
  near.rx -> c
  c.short -> meter
  c.long -> meter
  meter ->"""
NESTED = """inner, outer = strict { order = [first, second] }
  c = classify { expedited = pkt.dscp == 46, assured = pkt.dscp == 10, others = otherwise }
  one, two = fifo { limit = 9 pkt }
  near.rx -> meter -> pace -> c
  c.expedited -> one -> inner.first
  c.assured -> two -> inner.second
  c.others -> q -> outer.second
  inner -> outer.first
  outer -> far.tx"""
CHAIN = "near.rx -> meter -> pace -> q -> far.tx"


def build_bands(count: int) -> str:
    """Return a scheduler of so many classes, by DSCP, in place of the chain."""
    names = [f"c{number}" for number in range(count)]
    conditions = "".join(f"{name} = pkt.dscp == {name[1:]}, " for name in names[1:])
    return "\n  ".join(
        (
            f"all = strict {{ order = [{', '.join(names)}] }}",
            f"c = classify {{ {conditions}{names[0]} = otherwise }}",
            "near.rx -> meter -> pace -> c",
            "c.c0 -> q -> all.c0",
            *(f"c.{name} -> all.{name}" for name in names[1:]),
            "all -> far.tx",
        )
    )


def run_qos(*arguments: str) -> Result:
    return CliRunner().invoke(cli.qos, list(arguments))


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "a.qos"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("q = fifo {", "q = pie {", 7, "`g.q` has no counterpart on the kernel: `pie`"),
        ("q = fifo { limit = 10 pkt", "q = codel { limit = 9_000 B", 7, "`g.q`, limit: "),
        ("q = fifo {", "q = codel { mtu = 80 B,", 7, "`g.q`, mtu: "),
        ("q = fifo {", "q = codel { target = 100 ns,", 7, "`g.q`, target: "),
        ("limit = 10 pkt }\n  near", "limit = 1_000 B }\n  near", 7, "`g.q`, limit: "),
        ("cbs = 10_000 B }", "cbs = 10_000 B, exceed = mark }", 5, "`g.meter`, exceed: "),
        ("cir = 1 Mbit/s", "cir = 1_000_001 bit/s", 5, "`g.meter`, cir: "),
        ("burst = 3_000 B,", "burst = 3_000 B, refill = 8 ms,", 6, "`g.pace`, refill: "),
        ("rate = 2 Mbit/s @ip, burst = 3_000 B", "rate = 500 pkt/s, burst = 3 pkt", 6, "rate: "),
        ("via media.ethernet", "via media.ethernet { labels = 1 }", 15, "labels: "),
        (
            "near.rx -> meter ->",
            BY_SIZE,
            8,
            "`g.c`, pkt.size: ",
        ),
        (CHAIN, NESTED, 8, "`g.inner` chooses for another scheduler"),
        (CHAIN, build_bands(17), 8, "`g.all`, order: the kernel has at most 16 priorities"),
        (
            "near.rx ->",
            "tag = remark { colour = red }\n  near.rx -> tag ->",
            8,
            "`g.tag`, colour: ",
        ),
        (
            "near.rx ->",
            "tag = remark { dscp = { red: 10 } }\n  near.rx -> tag ->",
            8,
            "`g.tag`, dscp: the kernel knows of `colour` nothing",
        ),
        ("size = 500 B @ip", "size = 30 B @ip", 18, "do not fill a frame"),
        (
            "expect f.lost",
            "expect occupancy: g.q.occupancy.max < 5 pkt\n  expect f.lost",
            20,
            "ends",
        ),
    ],
)
def test_what_has_no_counterpart_is_refused_where_it_is_written(
    tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    assert old in BENCH
    path = write(tmp_path, BENCH.replace(old, new))
    if run_qos("check", path).exit_code != exits.PASSED:
        pytest.fail(run_qos("check", path).output)
    done = run_qos("check", "--on", "kernel-vt", path)
    assert done.exit_code == exits.WRONG
    assert re.search(rf"E0702\]: [^\n]*{re.escape(message)}", done.stderr), done.stderr
    assert f"a.qos:{line}:" in done.stderr
    assert "= help: " in done.stderr


def test_it_is_refused_to_run_too(tmp_path: Path) -> None:
    """Both directions of a link are written once, and so reported once."""
    done = run_qos("run", "--on", "kernel-vt", str(EXAMPLES / "atm_policing.qos"))
    assert done.exit_code == exits.WRONG
    assert done.stderr.count("the kernel sends frames, and no cells") == 4
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("workers", [(), ("-j", "2")])
def test_without_a_kernel_it_is_said_how_to_build_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    monkeypatch.setattr(kept, "find_private_folder", lambda _name: tmp_path)
    parts.describe_parts.cache_clear()
    path = write(tmp_path, BENCH)
    done = run_qos("run", "--on", "kernel-vt", path, "--record", str(tmp_path), *workers)
    assert done.exit_code == exits.ERROR
    assert "there is no kernel in virtual time here: `make kernel` builds it" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.qos"]


def test_a_name_that_is_no_back_end_is_explained(tmp_path: Path) -> None:
    path = write(tmp_path, BENCH)
    for command in ("check", "run"):
        done = run_qos(command, "--on", "kernel-v", path)
        assert done.exit_code == exits.WRONG
        assert "`kernel-v` is no back end: did you mean `kernel-vt`?" in done.stderr
    twice = run_qos("run", "--on", "kernel-vt", "--on", "emulate", path)
    assert "one place and one back end may be given" in twice.stderr


def test_a_shell_completes_the_name() -> None:
    asked = ShellComplete(cli.qos, {}, "qos", "_QOS_COMPLETE")
    found = [item.value for item in asked.get_completions(["run", "--on"], "ker")]
    assert found == ["kernel-rt", "kernel-vt"]
