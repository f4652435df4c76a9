"""A run whose jobs are done by workers of a Dask scheduler, here in threads of this process."""

import json
import logging
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import distributed
import pytest
from click.testing import Result
from distributed import LocalCluster
from invoking import qos
from narrow import NARROW

from qospec.backend import BackendError
from qospec.backends.emulate import Emulate
from qospec.backends.kernel_vt import KernelVt
from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.cli import exits
from qospec.diagnostics import Problems
from qospec.engine import kernel
from qospec.run.crews import cluster, remote
from qospec.run.crews.shipment import pack
from qospec.run.workshop import Order, StaleError, Workshop, hash_sources

KEY, OWN_KEY = "c0ffee0badf00d5ac0ffee0badf00d5b", "feedbeef" * 8
TIMES = ("timing.json", "report.html", "SHA256SUMS")
"""Files of a record that depend on times."""
LOADS = (
    NARROW
    + """test loads on bench {
  sweep load in 2 Mbit/s @ip .. 6 Mbit/s @ip step 4 Mbit/s @ip
  flow ab = packets { rate = load, size = 500 B @ip, gaps = poisson } from a to b
  run { measure = 50 ms }
  expect nothing_lost: ab.loss <= 20 %
}
test most on bench {
  search load in 1 Mbit/s @ip .. 9 Mbit/s @ip {
    trial = 20 ms, total = 60 ms
    goal ndr { loss = 0, width = 5% }
  }
  flow ab = packets { rate = load, size = 500 B @ip } from a to b
}
"""
)
TUNNEL = f"""qos 1
import std.media

device sealing {{
  port lan, wan: packet
  seal = esp_encrypt {{
    encryption = aes_128_cbc, key = "{KEY}"
    integrity = hmac_sha2_256_128, integrity_key = "file:own.key"
  }}
  out, back = fifo {{ limit = 4 pkt }}
  lan.rx -> seal -> out -> wan.tx
  wan.rx -> back -> lan.tx
}}
topology vpn {{
  a, b = host
  near = sealing
  link a -- near.lan via media.fast_ethernet
  link near.wan -- b via media.fast_ethernet
}}
test counted on vpn {{
  flow f = packets {{ rate = 1_000 pkt/s, size = 500 B @ip }} from a to b
  run {{ measure = 2 ms }}
  expect received: f.lost == 0 pkt
}}
test compared on vpn {{
  flow f = packets {{ rate = 1_000 pkt/s, size = 500 B @ip }} from a to b
  run {{ measure = 2 ms, payload = true }}
  report f.errored
}}
"""


@pytest.fixture(scope="module")
def scheduler() -> Iterator[LocalCluster]:
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as local:
        yield local


@pytest.fixture
def place(scheduler: LocalCluster) -> str:
    return str(scheduler.scheduler_address).replace("tcp://", "dask://")


def run(path: Path, records: Path, *words: str) -> Result:
    return qos("run", path, "--record", records, "--no-progress", *words)


def read_all(records: Path) -> dict[str, bytes]:
    """Return the files of the only record that do not depend on times."""
    (record,) = records.iterdir()
    files = (path for path in record.rglob("*") if path.is_file() and path.name not in TIMES)
    return {str(path.relative_to(record)): path.read_bytes() for path in files}


@pytest.mark.slow
def test_the_record_is_that_of_one_process(tmp_path: Path, place: str) -> None:
    path = tmp_path / "bench.qos"
    path.write_text(LOADS)
    alone, spread = run(path, tmp_path / "1"), run(path, tmp_path / "2", "--on", place)
    assert (alone.exit_code, spread.exit_code) == (exits.PASSED, exits.PASSED), spread.output
    assert read_all(tmp_path / "1") == read_all(tmp_path / "2")
    assert any("outcome" in name for name in read_all(tmp_path / "2"))


@pytest.mark.slow
def test_a_notice_of_a_worker_is_given_and_none_stays_bound_to_its_task(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    do = Workshop.do

    def compile_and_do(workshop: Workshop, *asked: Any) -> object:
        kernel.notices.pop("compiling")()  # as the kernel does that is not cached
        return do(workshop, *asked)

    monkeypatch.setattr(kernel, "notices", {})
    monkeypatch.setattr(Workshop, "do", compile_and_do)
    path = tmp_path / "bench.qos"
    path.write_text(LOADS)
    done = run(Path(f"{path}::loads"), tmp_path / "records", "--on", place)
    assert done.exit_code == exits.PASSED, done.output
    assert done.stderr.count("compiling") == 1
    assert not kernel.notices


@pytest.mark.slow
def test_a_run_that_ends_during_a_job_is_forgotten_after_it(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    do = Workshop.do

    def end_and_do(workshop: Workshop, *asked: Any) -> object:
        (name,) = {name for name, _ in remote._workshops}
        remote._ended.append(name)
        return do(workshop, *asked)

    monkeypatch.setattr(Workshop, "do", end_and_do)
    monkeypatch.setattr(cluster, "forget", len)  # so that only the end of the job forgets
    path = tmp_path / "bench.qos"
    path.write_text(LOADS)
    done = run(Path(f"{path}::loads"), tmp_path / "records", "--on", place)
    assert done.exit_code == exits.PASSED, done.output
    assert not remote._workshops


def test_an_answer_that_no_worker_gives_is_refused(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "work", lambda *_: ("another", "answer"))
    path = tmp_path / "bench.qos"
    path.write_text(LOADS)
    done = run(path, tmp_path / "records", "--on", place)
    assert done.exit_code == exits.ERROR
    assert re.search(
        r"error: the worker at tcp://127.0.0.1:\d+ says what no worker of qospec \S+ says"
        r" \(a value of type tuple\): start it anew\n",
        done.stderr,
    )
    assert remote.read_told("share", "half") is None


@pytest.fixture
def tunnel(tmp_path: Path) -> Path:
    path = tmp_path / "tunnel.qos"
    path.write_text(TUNNEL)
    (tmp_path / "own.key").write_text(OWN_KEY)
    return path


def shows_key(text: str) -> bool:
    return KEY in text or OWN_KEY in text


@pytest.mark.slow
def test_keys_travel_only_to_workers_that_need_them_and_are_in_no_log(
    tunnel: Path,
    tmp_path: Path,
    scheduler: LocalCluster,
    place: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held: list[tuple[str, bool]] = []
    find = remote._find_workshop

    def find_and_note(*asked: Any) -> object:
        found = find(*asked)
        held.extend(remote._workshops)
        return found

    monkeypatch.setattr(remote, "_find_workshop", find_and_note)
    logging.getLogger("distributed").setLevel(logging.DEBUG)
    for test, has_keys in (("counted", {False}), ("compared", {True})):
        held.clear()
        one = run(Path(f"{tunnel}::{test}"), tmp_path / f"{test}-1")
        other = run(Path(f"{tunnel}::{test}"), tmp_path / f"{test}-2", "--on", place)
        assert (one.exit_code, other.exit_code) == (exits.PASSED, exits.PASSED), other.output
        assert read_all(tmp_path / f"{test}-1") == read_all(tmp_path / f"{test}-2")
        assert {keyed for _, keyed in held} == has_keys
        assert not remote._workshops, "a worker keeps what it was sent after the run"
    core = scheduler.scheduler
    assert core.get_logs(), "nothing was logged"
    logged = [core.get_logs(), dict(core.get_events()), core.transition_log]
    logged += [worker.get_logs() for worker in scheduler.workers.values()]
    assert not shows_key(repr(logged))


def test_a_shipment_has_keys_only_if_they_are_asked_for_and_shows_none(tunnel: Path) -> None:
    sources = check([tunnel], discover(), Problems()).suite.sources
    without, with_keys = (pack(sources, Order((tunnel,)), keyed=keyed) for keyed in (False, True))
    assert not shows_key(pickle.dumps(without).decode("latin-1"))
    held = pickle.dumps(with_keys).decode("latin-1")
    assert KEY in held
    assert OWN_KEY in held
    assert not shows_key(repr(with_keys))


def test_nothing_with_keys_stays_where_a_shipment_was_opened(tunnel: Path, tmp_path: Path) -> None:
    sources = check([tunnel], discover(), Problems()).suite.sources
    shipment = pack(sources, Order((tunnel,)), keyed=True)
    folder = tmp_path / "worker"
    folder.mkdir()
    shipment.open(folder)
    assert not list(folder.iterdir())
    damaged = shipment._replace(order=shipment.order._replace(digest="0"))
    with pytest.raises(StaleError, match="files were changed"):
        damaged.open(folder)
    assert not list(folder.iterdir())


def test_a_scheduler_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 0.2)
    path = tmp_path / "bench.qos"
    path.write_text(LOADS)
    done = run(path, tmp_path / "records", "--on", "dask://127.0.0.1:1")
    assert done.exit_code == exits.ERROR
    assert done.stderr.startswith(
        "error: no Dask scheduler answers at 127.0.0.1:1: start one, as by `qos cluster`; if it has"
        " TLS, configure Dask for that here, too ("
    )
    assert not (tmp_path / "records").exists()


@pytest.fixture
def tls_required(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the configuration of Dask ask for TLS."""
    monkeypatch.setitem(distributed.config["distributed"]["comm"], "require-encryption", value=True)


@pytest.mark.usefixtures("tls_required")
def test_a_scheduler_without_tls_where_that_is_required(tmp_path: Path, place: str) -> None:
    path = tmp_path / "bench.qos"
    path.write_text(LOADS)
    done = run(path, tmp_path / "records", "--on", place)
    assert done.exit_code == exits.ERROR
    assert "configure Dask for that here, too (RuntimeError: encryption required" in done.stderr


def test_workers_of_another_version_are_refused_before_anything_runs(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {**remote.describe_installation(), "numpy": "1.0.0"}
    monkeypatch.setattr(cluster.Cluster, "_describe_own", lambda _: own)
    path = tmp_path / "bench.qos"
    path.write_text(LOADS)
    done = run(path, tmp_path / "records", "--on", place)
    assert done.exit_code == exits.ERROR
    assert re.fullmatch(
        r"error: the worker at tcp://127.0.0.1:\d+ has numpy [\d.]+, and this is 1.0.0:"
        r" let all have the same\n",
        done.stderr,
    )
    assert not (tmp_path / "records").exists()


@pytest.mark.parametrize(
    ("its", "words"),
    [
        (ModuleNotFoundError("No module named 'qospec'"), "has no qospec "),
        ({"qospec": "0.1.dev", "python": "3.11.7"}, "has qospec 0.1.dev, and this is "),
    ],
)
def test_what_a_worker_lacks_is_said(its: object, words: str) -> None:
    own = remote.describe_installation()
    assert cluster.explain_difference(own, its).startswith(words)
    assert cluster.explain_difference(own, {**own, "qospec's files": "0"}).startswith(
        "has other files of qospec "
    )
    assert not cluster.explain_difference(own, own)


def test_a_scheduler_that_goes_away_ends_the_run_and_a_record_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bench.qos"
    path.write_text(LOADS)
    with LocalCluster(
        n_workers=1, processes=False, protocol="tcp://", dashboard_address="127.0.0.1:0"
    ) as local:
        choose = cluster.ClusterCrew.choose

        def choose_and_close(crew: cluster.ClusterCrew, *, fresh: bool) -> object:
            local.close()
            until_s = time.monotonic() + 10
            while crew._client.status == "running" and time.monotonic() < until_s:
                time.sleep(0.01)
            return choose(crew, fresh=fresh)

        monkeypatch.setattr(cluster.ClusterCrew, "choose", choose_and_close)
        address = str(local.scheduler_address).replace("tcp://", "")
        done = run(path, tmp_path / "records", "--on", f"dask://{address}")
    assert done.exit_code == exits.ERROR, done.output
    (record,) = (tmp_path / "records").iterdir()
    assert done.stderr.splitlines()[-2:] == [
        f"error: the Dask scheduler at {address} went away",
        f"go on: qos run --resume {record} --on dask://{address}",
    ]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What a back end tells of itself that does as the emulation does."""
    told = {"name": "kernel-vt", "kernel": "1"}
    monkeypatch.setattr(KernelVt, "verify", lambda *_: None)
    monkeypatch.setattr(KernelVt, "describe", lambda _: {**told})
    monkeypatch.setattr(KernelVt, "carry_out", lambda _, *given: Emulate().carry_out(*given))
    return told


@pytest.mark.usefixtures("told")
def test_workers_carry_trials_out_on_a_back_end(tmp_path: Path, place: str) -> None:
    path = tmp_path / "bench.qos"
    path.write_text(LOADS)
    done = run(path, tmp_path / "1", "-k", "loads", "--on", "kernel-vt", "--on", place)
    assert done.exit_code == exits.PASSED, done.output
    outcome = json.loads(read_all(tmp_path / "1")["outcome.json"])
    assert outcome["provenance"]["backend"] == {"name": "kernel-vt", "kernel": "1"}


def test_a_worker_that_has_another_kernel_does_nothing(
    tmp_path: Path, told: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bench.qos"
    path.write_text(TUNNEL)
    digest = hash_sources(check((path,), discover(), Problems()).suite.sources)
    workshop = Workshop(Order((path,), digest, backend={"name": "kernel-vt", "kernel": "1"}))
    workshop.check()
    told["kernel"] = "2"
    with pytest.raises(StaleError, match="a worker has another kernel than this machine"):
        workshop.check()

    def lack(_: KernelVt) -> dict[str, str]:
        raise BackendError("there is no kernel")

    monkeypatch.setattr(KernelVt, "describe", lack)
    with pytest.raises(StaleError, match="a worker cannot carry trials out: there is no kernel"):
        workshop.check()


@pytest.mark.parametrize("written", ["dask://here", "dask://h:0", "dask://h:99999"])
def test_a_place_that_cannot_be_is_refused(tmp_path: Path, written: str) -> None:
    done = run(tmp_path, tmp_path, "--on", written)
    assert done.exit_code == exits.WRONG
    assert f"`{written}` is not where jobs can be done: write `dask://HOST:PORT`" in done.stderr


def test_one_place_is_chosen(tmp_path: Path) -> None:
    done = run(tmp_path, tmp_path, "--on", "dask://h:8786", "-j", "2")
    assert done.exit_code == exits.WRONG
    assert "-j and --on exclude each other" in done.stderr


def test_a_port_that_is_taken(place: str) -> None:
    port = place.rpartition(":")[2]
    done = qos("cluster", "-n", "1", "--port", port)
    assert done.exit_code == exits.ERROR
    assert f"port {port} of 127.0.0.1 cannot be used" in done.stderr


@pytest.mark.usefixtures("tls_required")
def test_a_cluster_that_lacks_the_certificates_it_must_have() -> None:
    done = qos("cluster", "-n", "1", "--port", "0")
    assert done.exit_code == exits.ERROR
    assert done.stderr.startswith(
        "error: Dask starts no cluster here: look for a mistake in its configuration ("
    )


def test_a_cluster_of_this_machine_says_how_to_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("qospec.cli.commands.cluster.time.sleep", interrupt)
    monkeypatch.setattr(cluster, "start_local", lambda *_: nullcontext("127.0.0.1:8786"))
    done = qos("cluster", "-n", "3")
    assert done.exit_code == exits.PASSED, done.output
    assert done.stdout == "3 workers: qos run --on dask://127.0.0.1:8786\n"


@pytest.mark.slow
def test_a_cluster_of_this_machine_writes_the_record_of_one_process(tmp_path: Path) -> None:
    path = tmp_path / "bench.qos"
    path.write_text(LOADS)
    program = "from qospec.cli import main; main()"
    command = [sys.executable, "-c", program, "cluster", "-n", "1", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            *_, option, address = process.stdout.readline().split()
            spread = run(path, tmp_path / "2", option, address)
        finally:
            process.send_signal(signal.SIGINT)
    assert process.returncode == exits.PASSED
    assert spread.exit_code == exits.PASSED, spread.output
    alone = run(path, tmp_path / "1", "-j", "1")
    assert alone.exit_code == exits.PASSED, alone.output
    assert read_all(tmp_path / "2") == read_all(tmp_path / "1")
    assert any(name.startswith("outcome") for name in read_all(tmp_path / "1"))


def test_without_dask_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qospec.cli.joining.find_spec", lambda _: None)
    for words in (("cluster",), ("run", tmp_path, "--on", "dask://h:8786")):
        done = qos(*words)
        assert done.exit_code == exits.WRONG
        assert "needs Dask: install it with `pip install 'qospec[cluster]'`" in done.stderr
