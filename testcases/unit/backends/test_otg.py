"""`--on otg://…` against a server of the model: what it is told, what follows, what goes wrong.

The server is ours (`testcases/generators.py`); what it is sent is read by the model's own library.
"""

import json
import re
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from generators import Mock, serve
from invoking import invoke

from qospec.backend import BackendError, find_backend
from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.cli import exits
from qospec.diagnostics import Problems
from qospec.engine.measure.observation import Observation
from qospec.generator import client, counters, trial
from qospec.generator.observe import Trial, observe
from qospec.plan.plan import Bounds, CasePlan, plan

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"

BENCH = """qos 1
import std.media, std.devices.generic
topology bench {
  a, b = host
  dut = generic.ip_router(ports = 2)
  link a -- dut.p[0] via media.gigabit_ethernet
  link dut.p[1] -- b via media.gigabit_ethernet
}
test t on bench {
  flow f = packets { rate = 10_000 pkt/s, size = 1_000 B @frame } from a to b
  run { measure = 20 ms }
  expect whole: f.lost == 0 pkt
}
"""
RUN = "run { measure = 20 ms }"
FLOW = "rate = 10_000 pkt/s, size = 1_000 B @frame"
SEARCH = """test t on bench {
  flow f = packets { rate = load, size = 1_000 B @frame, phases = even } from a to b
  search load in 100 Mbit/s @line .. 1 Gbit/s @line step 100 Mbit/s @line {
    goal ndr { loss = 0 }
    method = step
    trial = 10 ms
  }
  expect found: ndr.load > 600 Mbit/s @line
}
"""
PAIRS = """qos 1
import std.media
topology wires {
  src, snk = host(count = 2)
  for i in 0 .. 1 {
    link src[i] -- snk[i] via media.gigabit_ethernet
  }
}
test t on wires {
  flow f = packets { rate = 20_000 pkt/s, size = 1_000 B @frame, connections = 2 } from src to snk
  run { measure = 20 ms }
  report [f[0].lost, f[1].lost]
  expect whole: f.lost == 0 pkt
}
"""


@pytest.fixture(autouse=True)
def in_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no residual frames: what the mock counts does not change."""
    monkeypatch.setattr(trial, "SETTLED_S", 0)
    monkeypatch.setattr(trial, "POLL_S", 0.005)


@pytest.fixture
def mock() -> Iterator[Mock]:
    mocked = Mock()
    with serve(mocked):
        yield mocked


def write(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    text = BENCH
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "a.qos"
    path.write_text(text, encoding="utf-8")
    return path


def run(path: Path, at: str, *options: str, ports: str = "?a=eth1&b=eth2") -> Result:
    records = path.parent / "records"
    return invoke("run", path, "--on", f"otg://{at}{ports}", "--record", records, *options)


def read_outcome(folder: Path) -> dict[str, Any]:
    outcome = max(
        (folder / "records").rglob("outcome.json"), key=lambda found: found.stat().st_mtime_ns
    )
    document: dict[str, Any] = json.loads(outcome.read_text(encoding="utf-8"))
    return document


def test_a_trial_is_configured_started_stopped_and_judged(tmp_path: Path, mock: Mock) -> None:
    """By hand: 972 B of IP and 1,020 B of line in 1,000 B; each frame takes 8 us on each link."""
    asked = "report [f.latency.min, f.delay.mean, f.delay.max, f.throughput, f.bit_rate.line]"
    done = run(write(tmp_path, ("expect whole", f"{asked}\n  expect whole")), mock.url)
    assert done.exit_code == exits.PASSED, done.output
    (told,) = mock.configurations
    assert [(port.name, port.location) for port in told.ports] == [("a", "eth1"), ("b", "eth2")]
    assert (told.flows[0].rate.pps, told.flows[0].metrics.latency.mode) == (10_000, "store_forward")
    assert told.flows[0].duration.fixed_seconds.seconds == pytest.approx(0.02)
    assert mock.states == ["start", "stop"]
    (case,) = read_outcome(tmp_path)["cases"]
    found = {name: value["text"] for name, value in case["metrics"]["f"].items() if value}
    assert found["sent"] == found["received"] == "200 pkt"
    assert (found["latency.min"], found["transfer_delay.mean"]) == ("18 us", "36 us")
    assert (found["transfer_delay.max"], found["throughput"]) == ("56 us", "10_000 pkt/s")
    assert found["bit_rate.line"] == "81.6 Mbit/s"
    assert not {"planned", "transfer_delay.std", "latency.p50"} & found.keys()


def test_delays_alone_are_measured_from_the_first_bit(tmp_path: Path, mock: Mock) -> None:
    path = write(
        tmp_path, ("expect whole: f.lost == 0 pkt", "expect f.delay.max within 0.1% of 48 us")
    )
    assert run(path, mock.url).exit_code == exits.PASSED
    assert mock.configurations[0].flows[0].metrics.latency.mode == "cut_through"


def test_a_loss_fails_and_has_no_place_in_the_specification(tmp_path: Path, mock: Mock) -> None:
    mock.lose = lambda _flow, _sent: 3
    done = run(write(tmp_path), mock.url)
    assert done.exit_code == exits.FAILED
    assert "3 packets of f: between the ports (cause unknown)" in done.stdout
    assert f"--on 'otg://{mock.url}?a=eth1&b=eth2'" in done.stdout
    outcome = read_outcome(tmp_path)
    (case,) = outcome["cases"]
    assert (case["metrics"]["f"]["policed"], case["bounds"]) == (None, [])
    assert outcome["provenance"]["backend"] == {
        "name": f"otg://{mock.url}?a=eth1&b=eth2",
        "API": "1.40.0",
        "program": "mock 0.1",
        "device": "is real: of the specification only the hosts and their links were used",
    }
    (page,) = (tmp_path / "records").rglob("report.html")
    text = page.read_text(encoding="utf-8")
    assert "A real device was measured, by the traffic generator" in text
    assert "was emulated, not measured" not in text


def test_without_a_loss_a_failure_does_not_blame_elements(tmp_path: Path, mock: Mock) -> None:
    path = write(tmp_path, ("expect whole: f.lost == 0 pkt", "expect f.latency.max < 1 us"))
    done = run(path, mock.url)
    assert done.exit_code == exits.FAILED
    assert "all that was sent arrived; the elements of the specification" in done.stdout
    assert "dut" not in done.stdout


def test_a_delay_that_is_not_told_is_inconclusive(tmp_path: Path, mock: Mock) -> None:
    """More than the model of the device can take is no error: it is not what was measured."""
    path = write(tmp_path, ("expect whole: f.lost == 0 pkt", "expect f.latency.max < 10 s"))
    mock.latency_ns = None
    assert run(path, mock.url).exit_code == exits.INCONCLUSIVE
    mock.latency_ns = (1e9, 2e9, 3e9)
    assert run(path, mock.url).exit_code == exits.PASSED


def test_nothing_is_kept_from_an_earlier_run(tmp_path: Path, mock: Mock) -> None:
    path = write(tmp_path)
    assert run(path, mock.url).exit_code == exits.PASSED
    mock.lose = lambda _flow, _sent: 1
    assert run(path, mock.url).exit_code == exits.FAILED


def test_a_search_and_repeats_are_trials_one_by_one(tmp_path: Path, mock: Mock) -> None:
    """A device that passes 700 Mbit/s: at more, the 15 frames of 8.16 us in 125 us are too many."""
    mock.lose = lambda _flow, sent: max(0, sent - int(0.7e9 / 8_160 * 0.01 + 1))
    path = write(tmp_path, (BENCH[BENCH.index("test t") :], SEARCH))
    done = run(path, mock.url)
    assert done.exit_code == exits.PASSED, done.output
    assert mock.states == ["start", "stop"] * len(mock.configurations)
    assert len(mock.configurations) >= 3
    mock.configurations.clear()
    path = write(tmp_path, (RUN, "run { measure = 20 ms, repeat = 3 }"))
    mock.lose = lambda _flow, _sent: 0
    assert run(path, mock.url).exit_code == exits.PASSED
    assert len(mock.configurations) == 3


def test_a_run_that_takes_longer_than_its_budget_is_refused(tmp_path: Path, mock: Mock) -> None:
    """Three trials of 10 min, rounded to two digits; the emulation of as few packets takes less."""
    path = write(
        tmp_path, (RUN, "run { measure = 10 min, repeat = 3 }"), ("10_000 pkt/s", "1 pkt/s")
    )
    done = run(path, mock.url, "--budget", "30min")
    assert done.exit_code == exits.WRONG
    assert "the run takes about 30 min 0 s" in done.stderr
    assert mock.asked == ["/capabilities/version"]


def test_members_and_connections_are_counted_each(tmp_path: Path, mock: Mock) -> None:
    path = tmp_path / "a.qos"
    path.write_text(PAIRS, encoding="utf-8")
    mock.lose = lambda flow, _sent: 5 if flow.name == "f[1] connection 0" else 0
    ports = "?src[0]=1&src[1]=2&snk[0]=3&snk[1]=4"
    assert run(path, mock.url, ports=ports).exit_code == exits.FAILED
    metrics = read_outcome(tmp_path)["cases"][0]["metrics"]
    counts = [metrics[name]["lost"]["value"] for name in ("f", "f[0]", "f[1]")]
    assert (counts, metrics["f"]["sent"]["value"]) == (["5", "0", "5"], "1600")


def test_frames_of_a_mix_are_counted_by_their_bytes(tmp_path: Path, mock: Mock) -> None:
    """A frame has 18 B around its packet, and 20 B around itself: of 500 B on average."""
    sizes = "size = mix { 200 B: 1, 800 B: 1 } @frame"
    path = write(
        tmp_path, ("size = 1_000 B @frame", sizes), (RUN, f"{RUN}\n  report f.bit_rate.line")
    )
    assert run(path, mock.url).exit_code == exits.PASSED
    metrics = read_outcome(tmp_path)["cases"][0]["metrics"]["f"]
    assert (metrics["bit_rate.line"]["value"], metrics["bit_rate.ip"]["value"]) == (
        str(520 * 8 * 10_000),
        str(482 * 8 * 10_000),
    )
    assert not {"latency.mean", "transfer_delay.mean"} & metrics.keys()


def test_the_addresses_of_macs_are_told(tmp_path: Path, mock: Mock) -> None:
    ports = "?a=10.0.0.1;1;2&b=eth%26&a.mac=02:00:00:00:00:01&a.next_mac=02:00:00:00:00:02"
    assert run(write(tmp_path), mock.url, ports=ports).exit_code == exits.PASSED
    (told,) = mock.configurations
    assert [port.location for port in told.ports] == ["10.0.0.1;1;2", "eth&"]
    (ethernet, *_) = told.flows[0].packet
    assert (ethernet.src.value, ethernet.dst.value) == ("02:00:00:00:00:01", "02:00:00:00:00:02")


MIX = "size = mix { 200 B: 1, 800 B: 1 } @frame"
REFUSED = [
    ("f.lost == 0 pkt", "f.delay.p99 < 1 ms", 12, "does not tell `f.delay.p99`"),
    ("f.lost == 0 pkt", "dut.queue[1].occupancy.max < 5 pkt", 12, "does not tell"),
    (RUN, "run { measure = 20 ms, warmup = 1 s }", 9, "no `warmup`"),
    (RUN, "run { measure = 20 ms, payload = true }", 9, "`payload = true` is of the emulation"),
    (RUN, f"{RUN}\n  report f.lost every 10 ms", 12, "nothing by interval"),
    ("10_000 pkt/s, size", "10_000 pkt/s, gaps = poisson, size", 10, "random gaps"),
    (
        "size = 1_000 B @frame",
        f"{MIX} }} from a to b\n  report f.latency.max\n  flow g = packets {{ {FLOW}",
        10,
        "several sizes",
    ),
    ("from a to b", "from a to c", 10, "on no port"),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), REFUSED)
def test_what_it_cannot_carry_out_is_refused_where_it_is_written(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    """No generator is asked."""
    third = (
        "dut.p[1] -- b via",
        "dut.p[2] -- c via media.gigabit_ethernet\n  link dut.p[1] -- b via",
    )
    changes = [(old, new)]
    if "to c" in new:
        changes += [("a, b = host", "a, b, c = host"), ("ports = 2", "ports = 3"), third]
        line += 1
    path = write(tmp_path, *changes)
    done = invoke("check", path, "--on", "otg://127.0.0.1:9?a=eth1&b=eth2")
    assert done.exit_code == exits.WRONG, done.output
    assert re.search(rf"E0702\]: [^\n]*{re.escape(words)}", done.stderr), done.stderr
    assert f"a.qos:{line}:" in done.stderr
    assert "= help: " in done.stderr


def test_a_check_by_name_asks_for_no_ports(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert invoke("check", path, "--on", "otg").exit_code == exits.PASSED
    done = invoke("check", path, "--on", "otg://g:1?a=eth1")
    assert "of the flow `f` `b` is on no port of the generator" in done.stderr
    assert "`--on 'otg://g:1?a=eth1&b=LOCATION'`" in done.stderr
    assert (
        invoke("check", EXAMPLES / "rfc2544_throughput.qos", "--on", "otg").exit_code
        == exits.PASSED
    )


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("otg", "`otg` needs an address: write it, such as `otg://SERVER:PORT?HOST=LOCATION`"),
        ("otg://server", "is no address of a traffic generator"),
        ("otg://server:99999", "is no address of a traffic generator"),
        ("otg://server:1?a", "`a` of `otg://server:1?a` names no port"),
        ("otg://server:1?a=x&a=y", "names `a` twice"),
        ("otg://server:1?a.mac=02:00:00:00:00:01", "give its location, too, `a=LOCATION`"),
        ("otg://server:1?a=x&a.mac=02", "is no address of a MAC"),
        ("gto://server:1", "is no back end: "),
    ],
)
def test_an_address_that_is_none_is_explained(tmp_path: Path, written: str, words: str) -> None:
    done = invoke("run", write(tmp_path), "--on", written)
    assert done.exit_code == exits.WRONG
    assert words in " ".join(done.stderr.split())


@pytest.mark.parametrize("others", [("-j", "2"), ("--on", "dask://127.0.0.1:9")])
def test_one_generator_carries_out_one_trial_at_a_time(
    tmp_path: Path, others: tuple[str, ...]
) -> None:
    done = run(write(tmp_path), "127.0.0.1:9", *others)
    assert done.exit_code == exits.WRONG
    assert "a generator carries out one trial at a time" in done.stderr


def test_where_no_server_is_it_is_said(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{free.getsockname()[1]}"
        done = run(write(tmp_path), at)
    assert done.exit_code == exits.ERROR
    assert (
        f"no generator answers at http://{at} (Connection refused): start its server" in done.stderr
    )
    assert not (tmp_path / "records").exists()


@pytest.mark.parametrize(
    ("code", "answer", "words"),
    [
        (200, b'{"api_spec_version": "2.0.0"}', "speaks version 2.0.0 of its API"),
        (200, b"{}", "speaks version nothing of its API"),
        (200, b"<html>router</html>", "is another program there? It says <html>router</html>"),
        (404, b"not found", "with code 404 otherwise than the Open Traffic Generator API does"),
        (302, b"moved", "with code 302 otherwise than the Open Traffic Generator API does"),
        (400, b"Client sent an HTTP request to an HTTPS server.", "write `otg+https://…`"),
        (200, b"[" * 100_000, "is another program there?"),
    ],
)
def test_another_version_or_program_is_told_before_anything_runs(
    tmp_path: Path, mock: Mock, code: int, answer: bytes, words: str
) -> None:
    mock.answers["/capabilities/version"] = code, answer
    done = run(write(tmp_path), mock.url)
    assert done.exit_code == exits.ERROR
    assert words in " ".join(done.stderr.split())
    assert mock.asked == ["/capabilities/version"]


def list_errors(folder: Path) -> str:
    return " ".join(read_outcome(folder)["cases"][0]["errors"])


def test_what_the_generator_refuses_is_told_with_the_place(tmp_path: Path, mock: Mock) -> None:
    refusal = {"code": 400, "kind": "validation", "errors": ["flow f: rate is too high"]}
    mock.answers["/config"] = 400, json.dumps(refusal).encode()
    done = run(write(tmp_path), mock.url)
    assert done.exit_code == exits.ERROR
    assert list_errors(tmp_path) == (
        "BackendError: the generator refuses POST /config: flow f: rate is too high (`f` is at"
        " a.qos:10:3)"
    )
    assert mock.states == []


RUBBISH = [
    (lambda entry: entry.pop("frames_rx"), "does not tell `frames_rx` of the flow `f`"),
    (lambda entry: entry.update(frames_rx="many"), "tells `frames_rx` = 'many'"),
    (lambda entry: entry.update(frames_rx=-1), "tells `frames_rx` = -1"),
    (lambda entry: entry.update(frames_rx=201), "201 frames arrived, and 200 were sent"),
    (lambda entry: entry.update(frames_tx=150, frames_rx=150), "sent 150 frames of the flow `f`"),
    (
        lambda entry: entry.update(frames_tx=204, frames_rx=204),
        "sent 204 frames of the flow `f`, and was to send 200: it sends another load",
    ),
    (lambda entry: entry.update(frames_tx=2**47, frames_rx=2**47), "tells `frames_tx` = 14073"),
    (lambda entry: entry["latency"].update(maximum_ns=2e11), "tells `maximum_ns` = 200000000000"),
    (lambda entry: entry["latency"].update(average_ns=1e9), "which cannot be"),
    (lambda entry: entry["latency"].update(minimum_ns="soon"), "tells `minimum_ns` = 'soon'"),
    (lambda entry: entry["latency"].update(minimum_ns=-1e9), "below 0 by more than a frame"),
    (lambda entry: entry.update(latency=7), "tells `latency` = 7"),
    (lambda entry: entry.update(name="g"), "counts nothing of the flow `f`: it tells of `g`"),
]


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> CasePlan:
    """Return a case whose latency is judged, too."""
    change = "expect whole", "expect f.latency.max < 1 s\n  expect whole"
    path = write(tmp_path_factory.mktemp("otg"), change)
    (found,) = plan(check((path,), discover(), Problems()), "0", Bounds(), Problems())
    return found


def carry_out(planned: CasePlan, at: str, scheme: str = "otg") -> Observation:
    otg = find_backend(f"{scheme}://{at}?a=eth1&b=eth2")
    assert otg is not None
    experiment = planned.networks[""].experiment
    return otg.adapt(planned.case).carry_out(experiment, lambda _now, _stop: None)


@pytest.mark.parametrize(("edit", "words"), RUBBISH)
def test_counters_that_cannot_be_are_no_result(
    planned: CasePlan, mock: Mock, edit: Any, words: str
) -> None:
    mock.edit = edit
    with pytest.raises(BackendError, match=re.escape(words)):
        carry_out(planned, mock.url)
    assert mock.states == ["start", "stop"]


def test_the_largest_counters_fit(planned: CasePlan) -> None:
    """They are sums in 64 bits: bytes of frames, and delays in two words."""
    most, longest_ns = counters.MOST_FRAMES - 1, counters.LONGEST_NS
    latency = dict.fromkeys(("minimum_ns", "average_ns", "maximum_ns"), longest_ns)
    told = {"frames_tx": most, "frames_rx": str(most), "latency": latency}
    of_trial = Trial(planned.case, planned.networks[""].experiment, {"f": "store_forward"})
    observation = observe(of_trial, {"f": counters.read_counters("f", told)})
    assert observation.received.tolist() == [most]
    assert observation.pool(0, 1).delays.sum_ps == most * (longest_ns * 1_000 + 16_000_000)


@pytest.mark.parametrize(("field", "size_bytes"), [("bytes_tx", 1_000), ("bytes_rx", 100)])
def test_bytes_of_a_mix_are_between_those_of_its_sizes(
    tmp_path: Path, mock: Mock, field: str, size_bytes: int
) -> None:
    mock.edit = lambda entry: entry.update({field: 200 * size_bytes})
    assert run(write(tmp_path, ("size = 1_000 B @frame", MIX)), mock.url).exit_code == exits.ERROR
    assert f"tells `{field}` = {200 * size_bytes:_} of 200 frames of" in list_errors(tmp_path)


def test_a_clock_that_is_a_little_off_is_no_other_load(planned: CasePlan, mock: Mock) -> None:
    """Of 200 frames, 197 to 203 are taken: 1 % apart, and one frame more."""
    for count in (197, 203):
        mock.edit = lambda entry, count=count: entry.update(frames_tx=count, frames_rx=count)
        assert carry_out(planned, mock.url).sent.tolist() == [count]


@pytest.mark.parametrize("answer", [b"", b"null", b"\xff", b'{"flow_metrics": 1}'])
def test_an_answer_without_counters_is_no_result(
    planned: CasePlan, mock: Mock, answer: bytes
) -> None:
    mock.answers["/monitor/metrics"] = 200, answer
    with pytest.raises(BackendError, match="otherwise than the Open Traffic Generator API does"):
        carry_out(planned, mock.url)


def test_flows_that_never_end_are_stopped(
    planned: CasePlan, mock: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "LATE_S", 0)
    mock.sends_for_ever = True
    with pytest.raises(BackendError, match="the flow `f` still sends 0 s after its end"):
        carry_out(planned, mock.url)
    assert mock.states == ["start", "stop"]


def test_flows_whose_start_is_answered_by_an_error_are_stopped(
    planned: CasePlan, mock: Mock
) -> None:
    """It may have started them, and failed only then."""
    mock.answers["/control/state"] = 500, b"gateway timed out"
    with pytest.raises(BackendError, match="POST /control/state with code 500"):
        carry_out(planned, mock.url)
    assert mock.asked[-2:] == ["/control/state", "/control/state"]


def test_counters_that_never_rest_are_no_result(
    planned: CasePlan, mock: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "SETTLED_S", 60)
    monkeypatch.setattr(trial, "LATE_S", 0)
    mock.edit = lambda entry: entry.update(frames_rx=mock.readings, transmit="stopped")
    with pytest.raises(BackendError, match="the counters of the generator still change"):
        carry_out(planned, mock.url)


def test_a_trial_ends_only_when_nothing_more_arrives(
    planned: CasePlan, mock: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last of 200 frames arrives with the tenth reading, long after the last was sent."""
    monkeypatch.setattr(trial, "SETTLED_S", 0.05)
    mock.edit = lambda entry: entry.update(frames_rx=min(200, 190 + mock.readings))
    assert carry_out(planned, mock.url).received.tolist() == [200]


def test_a_generator_that_goes_away_is_told_and_stopped(planned: CasePlan, mock: Mock) -> None:
    """It may still hear: what is reported is the first failure, not that of its stop."""
    mock.gone_after, mock.sends_for_ever = 1, True
    with pytest.raises(BackendError, match=f"no generator answers at http://{mock.url}"):
        carry_out(planned, mock.url)
    assert mock.states == ["start", "stop"]


def test_a_server_that_is_silent_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "ANSWER_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server:
        silent = client.Client(f"http://127.0.0.1:{server.getsockname()[1]}")
        with pytest.raises(BackendError, match=r"has not answered for 0.05 s"):
            silent.get_version()


def make_certificate(folder: Path) -> Path:
    """Return a file with a key and its own certificate, of 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "generator")])
    here = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1).add_extension(here, False)  # noqa: FBT003
    signed = (
        builder.not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "generator.pem"
    path.write_bytes(private + signed.public_bytes(pem))
    return path


def test_https_is_spoken_with_a_server_that_is_trusted(
    tmp_path: Path, planned: CasePlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = make_certificate(tmp_path)
    with serve(Mock(), certificate) as at:
        with pytest.raises(
            BackendError, match=r"not trusted .*: name a file with .* SSL_CERT_FILE"
        ):
            client.Client(f"https://{at}").get_version()
        with pytest.raises(BackendError, match=r"no generator answers at http://"):
            client.Client(f"http://{at}").get_version()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert client.Client(f"https://{at}").get_version()["API"] == "1.40.0"
        assert carry_out(planned, at, "otg+https").received.tolist() == [200]


def test_tls_is_not_asked_of_a_server_without_it(mock: Mock) -> None:
    with pytest.raises(BackendError, match=r"speaks no TLS .*: write `otg://…`"):
        client.Client(f"https://{mock.url}").get_version()
