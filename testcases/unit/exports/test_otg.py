"""`qos export --to otg`: what a generator is told, read back by the model's own library."""

import json
from pathlib import Path

import pytest
import snappi
import yaml
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from qospec import cli
from qospec.cli import exits

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "vlan_priority.qos"

BENCH = """qos 1
import std.media, std.devices.generic, std.traffic.imix, std.traffic.calls
topology bench {
  a, b = host
  dut = generic.ip_router(ports = 2)
  link a -- dut.p[0] via media.gigabit_ethernet
  link dut.p[1] -- b via media.gigabit_ethernet
}
"""


def run_qos(*arguments: str) -> Result:
    return CliRunner().invoke(cli.qos, list(arguments))


def write(tmp_path: Path, flow: str, rest: str = "expect f.lost == 0 pkt") -> str:
    path = tmp_path / "a.qos"
    run = "" if "run {" in rest or "search " in rest else "run { measure = 250 ms }\n"
    test = f"test t on bench {{\nflow f = {flow}\n{run}{rest}\n}}\n"
    path.write_text(BENCH + test, encoding="utf-8")
    return str(path)


def export(*arguments: str, code: int = exits.PASSED) -> snappi.Config:
    """Return what is written, as the library of the model reads it; it refuses what it has not."""
    done = run_qos("export", *arguments, "--to", "otg")
    assert done.exit_code == code, done.output
    configuration = snappi.Config()
    configuration.deserialize(done.stdout)
    assert yaml.safe_load(configuration.serialize("yaml")).keys() == {"ports", "layer1", "flows"}
    return configuration


def test_the_example_is_all_said():
    """By hand: 640 kbit/s of 200 B are 400 pkt/s; a tagged frame has 22 B around its packet."""
    said = export(str(EXAMPLE), "-k", "priority=5")
    assert [port.name for port in said.ports] == ["phone", "centre", "server"]
    (speed,) = said.layer1
    assert (speed.speed, list(speed.port_names)) == (
        "speed_100_fd_mbps",
        ["phone", "centre", "server"],
    )
    talk, backup = said.flows
    assert (talk.tx_rx.port.tx_name, list(talk.tx_rx.port.rx_names)) == ("phone", ["centre"])
    headers = [snappi.FlowEthernet, snappi.FlowVlan, snappi.FlowIpv4, snappi.FlowUdp]
    assert [type(header) for header in talk.packet] == headers
    assert talk.packet[1].priority.value == 5
    assert (talk.rate.choice, talk.rate.pps, talk.size.fixed) == ("pps", 400, 222)
    assert (backup.rate.choice, backup.rate.bps, backup.size.fixed) == ("bps", 99_500_000, 1_522)
    assert talk.duration.fixed_seconds.seconds == 0.5
    assert (talk.metrics.enable, talk.metrics.latency.mode) == (True, "cut_through")
    assert not backup.metrics.latency.enable


def test_headers_of_ipv6_and_a_mix_are_said(tmp_path):
    """EF is 46, ECT(0) is 2: together 186. The shares 7:4:1 have the frames."""
    sizes = "mix { 66 B: 14, 570 B: 8, 1_518 B: 2 } @frame"
    flow = (
        f"packets {{ rate = 1_000 pkt/s, size = {sizes}, dscp = 46, ecn = ect0, family = ipv6,"
        ' source_address = "2001:db8::1", source_port = 5_000, destination_port = 7 } from a to b'
    )
    path = write(tmp_path, flow, "report f.latency.max")
    (flow,) = export(path).flows
    ethernet, ipv6, udp = flow.packet
    assert isinstance(ethernet, snappi.FlowEthernet)
    assert (ipv6.traffic_class.value, ipv6.src.value) == (186, "2001:db8::1")
    assert (udp.src_port.value, udp.dst_port.value) == (5_000, 7)
    pairs = [(pair.size, pair.weight) for pair in flow.size.weight_pairs.custom]
    assert pairs == [(66, 7), (570, 4), (1_518, 1)]
    assert flow.metrics.latency.mode == "store_forward"


@pytest.mark.parametrize(
    ("rate", "choice", "value"),
    [
        ("1_000 pkt/s", "pps", 1_000),
        ("400 Mbit/s @line", "bps", 400_000_000),
        ("1/3 * 1 Gbit/s @line", "percentage", 100 / 3),
    ],
)
def test_a_rate_is_exact_where_the_model_can_say_it(tmp_path, rate, choice, value):
    path = write(tmp_path, f"packets {{ rate = {rate}, size = 700 B @ip }} from a to b")
    (flow,) = export(path).flows
    assert flow.rate.choice == choice
    assert getattr(flow.rate, choice) == pytest.approx(value, rel=1e-7)


def test_connections_are_one_stream_or_one_each(tmp_path):
    flow = "packets { rate = 100 pkt/s, size = 700 B @ip, connections = 3, phases = P } from a to b"
    (even,) = export(write(tmp_path, flow.replace("P", "even"))).flows
    assert even.rate.pps == 300
    flows = export(write(tmp_path, flow.replace("P", "random"))).flows
    assert [flow.rate.pps for flow in flows] == [100] * 3
    assert len({flow.name for flow in flows}) == 3


PLAIN = "packets { rate = 100 pkt/s, size = 700 B @ip } from a to b"
HEAVY = "packets { rate = 600 Mbit/s @line, size = 700 B @ip }"
SENT = [
    ("packets { rate = 1 pkt/s, size = 700 B @ip, gaps = poisson } from a to b", "", "random gaps"),
    ("tcp from a to b", "run { measure = 1 s }\nreport f.sent", "depends on what arrives"),
    ("calls.g711(calls = 5) from a to b", "", "size = 200 B @ip"),
    ("packets { rate = 1 pkt/s, size = 700 B @ip, offset = 1 ms } from a to b", "", "offset"),
    ("packets { rate = 1 pkt/s, size = imix.abcdefg } from a to b", "", "by weight"),
    (
        f"{HEAVY} from a to b\nflow g = {HEAVY} from a to b",
        "run { measure = 1 ms, overload = true }\nexpect f.lost == 0 pkt",
        "1.2 Gbit/s",
    ),
    (
        "packets { rate = load, size = 700 B @ip } from a to b",
        "search load in 1 Mbit/s @line .. 9 Mbit/s @line { goal ndr { loss = 0 } }",
        "search `load`",
    ),
    ("packets { rate = 1 pkt/s, size = 700 B @ip, connections = 257 } from a to b", "", "256"),
]


@pytest.mark.parametrize(("flow", "rest", "words"), SENT)
def test_what_cannot_be_sent_is_refused_where_it_is_written(tmp_path, flow, rest, words):
    path = write(tmp_path, flow, rest or "expect f.lost == 0 pkt")
    done = run_qos("export", path, "--to", "otg", "-o", str(tmp_path / "a.yaml"))
    assert done.exit_code == exits.WRONG, done.output
    assert "error[E0701]" in done.stderr
    assert words in done.stderr
    assert "a.qos:" in done.stderr
    assert not (tmp_path / "a.yaml").exists()


def test_a_change_and_what_a_library_asks_for_are_refused_where_the_user_wrote(tmp_path):
    """The search of a procedure is in the library, so the test that uses it is the place."""
    for name in ("restart", "rfc2544_throughput"):
        done = run_qos(
            "export", str(EXAMPLE.with_name(f"{name}.qos")), "--to", "otg", "-o", str(tmp_path)
        )
        assert done.exit_code == exits.WRONG
        assert f"{name}.qos:" in done.stderr.partition("E0701")[2].partition("\n   |")[0]
        assert not list(tmp_path.iterdir())


def test_cells_and_odd_links_are_refused(tmp_path):
    text = """qos 1
import std.media
topology wire {
  a, b, c, d, e, g = host
  link a -- b via media.stm1
  link c -- d via media.ethernet { rate = 2 Mbit/s @line }
  link e -- g via media.ppp_e1
}
test t on wire {
  flow cells = cbr { pcr = 1_000 cell/s, cdvt = 1 us } from a to b
  flow slow = packets { rate = 10 pkt/s, size = 700 B @ip } from c to d
  flow serial = packets { rate = 10 pkt/s, size = 700 B @ip } from e to g
  run { measure = 1 s }
  expect cells.lost == 0 cell
}
"""
    path = tmp_path / "a.qos"
    path.write_text(text, encoding="utf-8")
    done = run_qos("export", str(path), "--to", "otg", "--json")
    assert done.exit_code == exits.WRONG
    found = json.loads(done.stdout)["diagnostics"]
    assert [(diagnostic["code"], diagnostic["line"]) for diagnostic in found] == [
        ("E0701", 10),
        ("E0701", 11),
        ("E0701", 12),
    ]


@pytest.mark.parametrize(
    ("size", "rest", "words"),
    [
        ("700 B @ip", "report f.delay.p99", "`f.delay.p99`"),
        ("700 B @ip", "report f.jitter.mean", "`f.jitter.mean`"),
        ("700 B @ip", "report f.lost every 10 ms", "nothing by interval"),
        ("700 B @ip", "report dut.queue[1].occupancy.max", "occupancy"),
        ("700 B @ip", "report [f.delay.max, f.latency.max]", "one sort of latency"),
        ("700 B @ip", "run { measure = 1 s, warmup = 1 s }\nreport f.lost", "warmup of 1 s"),
        ("700 B @ip", "run { measure = 1 s, repeat = 5 }\nreport f.lost", "5 times"),
        ("40 B @ip", "report f.lost", "the packet has 46 B"),
    ],
)
def test_what_is_left_out_is_reported_and_the_trial_is_written(tmp_path, size, rest, words):
    path = write(tmp_path, f"packets {{ rate = 100 pkt/s, size = {size} }} from a to b", rest)
    done = run_qos("export", path, "--to", "otg", "-o", str(tmp_path / "a.json"))
    assert done.exit_code == exits.INCONCLUSIVE, done.output
    assert "warning[W0701]" in done.stderr
    assert words in done.stderr
    written = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert json.loads(written)["flows"][0]["rate"] == {"choice": "pps", "pps": 100}
    snappi.Config().deserialize(written)


def test_of_several_cases_each_has_a_file(tmp_path):
    done = run_qos("export", str(EXAMPLE), "--to", "otg")
    assert done.exit_code == exits.WRONG
    assert "served_first:priority=0" in done.stderr
    done = run_qos("export", str(EXAMPLE), "--to", "otg", "-o", str(tmp_path))
    assert done.exit_code == exits.PASSED, done.output
    assert {path.name for path in tmp_path.iterdir()} == {
        "served_first_priority=0.yaml",
        "served_first_priority=5.yaml",
    }


def test_a_wrong_format_path_or_case_is_told(tmp_path):
    path = write(tmp_path, PLAIN)
    wrong = run_qos("export", path, "--to", "otgg")
    assert (wrong.exit_code, "did you mean `otg`?" in wrong.stderr) == (exits.WRONG, True)
    nowhere = run_qos("export", path, "--to", "otg", "-o", str(tmp_path / "none" / "a.yaml"))
    assert nowhere.exit_code == exits.ERROR
    assert run_qos("export", f"{path}::u", "--to", "otg").exit_code == exits.NOTHING
    assert run_qos("export", str(tmp_path / "b.qos"), "--to", "otg").exit_code == exits.WRONG


def test_formats_are_completed():
    asked = ShellComplete(cli.qos, {}, "qos", "_QOS_COMPLETE")
    assert [item.value for item in asked.get_completions(["export", "--to"], "o")] == ["otg"]
