"""`--on kernel-rt`: what is refused where, and a trial on this machine's own kernel."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qospec import cli
from qospec.backend import BackendError, is_same_backend
from qospec.backends.emulate import Emulate
from qospec.cli import exits
from qospec.engine import kernel
from qospec.engine.experiment import Experiment
from qospec.engine.measure.observation import Observation
from qospec.linux import machine, modules
from qospec.linux.disciplines import OR_VIRTUAL
from qospec.linux.room import ALLOW

ROOT = Path(__file__).parents[3]
DIFFSERV = ROOT / "docs" / "examples" / "diffserv_edge.qos"
HERE = {"sch_ingress", "cls_u32", "act_mirred", "sch_fifo", "sch_htb", "sch_tbf"}
"""What a kernel for small virtual machines has, without `netem` and schedulers."""

BENCH = """qos 1
import std.media
device gate {
  port near, far: packet
  pace = shape { rate = 4 Mbit/s @ip, burst = 3_000 B, limit = 10 pkt }
  q = fifo { limit = 10 pkt }
  near.rx -> pace -> q -> far.tx
  far.rx -> discard
}
topology bench {
  a, b = host
  g = gate
  link a -- g.near via media.gigabit_ethernet
  link g.far -- b via media.ethernet
}
test t on bench {
  flow f = packets { rate = 8 Mbit/s @ip, size = 1_000 B @ip } from a to b
  run { measure = 100 ms, overload = true }
  expect many: f.lost > 5 pkt
  expect some: f.received > 30 pkt
  expect soon: f.delay.max < 1 s
  expect exactly: f.delay.max within 1 us of 20.829 ms
}
"""
"""Of 100 packets in 100 ms, half come through the shaper, and ten more wait: 20 ms, and 829 us
on two lines, which no machine measures to 1 us."""
DELAY_MAX_S = Fraction("0.020829")


def run_qos(*arguments: str) -> Result:
    return CliRunner().invoke(cli.qos, list(arguments))


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    path = tmp_path / "a.qos"
    path.write_text(BENCH, encoding="utf-8")
    return path


def test_what_no_kernel_can_carry_out_is_refused_by_a_check(bench: Path) -> None:
    bench.write_text(BENCH.replace("q = fifo {", "q = pie {"), encoding="utf-8")
    done = run_qos("check", "--on", "kernel-rt", str(bench))
    assert done.exit_code == exits.WRONG
    assert "`g.q` has no counterpart on the kernel: `pie`" in done.stderr
    assert run_qos("check", "--on", "kernel-rt", str(DIFFSERV)).exit_code == exits.PASSED


@pytest.mark.parametrize(
    ("old", "new", "line", "module"),
    [
        ("", "", 5, "sch_tbf"),
        ("shape {", "police { cir = 1 Mbit/s @ip, cbs = 3_000 B }\n # ", 5, "act_police"),
        ("via media.ethernet", "via media.ethernet { length = 1 km }", 14, "sch_netem"),
    ],
)
def test_what_this_machine_lacks_is_refused_when_it_is_to_run(
    bench: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, line: int, module: str
) -> None:
    monkeypatch.setattr(modules, "list_modules", lambda: HERE - {"sch_tbf"} if not old else HERE)
    bench.write_text(BENCH.replace(old, new), encoding="utf-8")
    assert run_qos("check", "--on", "kernel-rt", str(bench)).exit_code == exits.PASSED
    done = run_qos("run", "--on", "kernel-rt", str(bench), "--record", str(bench.parent))
    assert done.exit_code == exits.WRONG
    assert re.search(rf"E0702\]: .* by `{module}`, which the kernel of this machine", done.stderr)
    assert f"a.qos:{line}:" in done.stderr
    assert f"= help: {OR_VIRTUAL}" in done.stderr
    assert [path.name for path in bench.parent.iterdir()] == ["a.qos"]


def test_a_diffserv_edge_takes_a_scheduler_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "list_modules", lambda: HERE)
    done = run_qos("run", "--on", "kernel-rt", str(DIFFSERV))
    assert done.exit_code == exits.WRONG
    for words in ("schedules by `sch_prio`", "is told the class of packets by `act_skbedit`"):
        assert f"`router.out` {words}, which the kernel of this machine, " in done.stderr


def test_without_namespaces_it_is_said_how_to_allow_them(
    bench: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise BackendError(f"no namespaces can be made here (Operation not permitted): {ALLOW}")

    monkeypatch.setattr(modules, "list_modules", refuse)
    monkeypatch.setattr(machine, "list_modules", refuse)
    done = run_qos("run", "--on", "kernel-rt", str(bench), "--record", str(bench.parent))
    assert done.exit_code == exits.ERROR
    assert "--on kernel-rt: no namespaces can be made here (Operation not perm" in done.stderr
    assert "sysctl user.max_user_namespaces" in done.stderr


def test_a_trial_runs_on_this_machine_or_it_is_said_what_it_lacks(bench: Path) -> None:
    """What follows whatever the machine is passes, and what it cannot tell is inconclusive."""
    done = run_qos("run", "--on", "kernel-rt", str(bench), "--record", str(bench.parent / "r"))
    if done.exit_code in {exits.WRONG, exits.ERROR} and not (bench.parent / "r").exists():
        assert re.search("no namespaces can|is needed|which the kernel of this", done.stderr)
        return
    (path,) = (bench.parent / "r").rglob("outcome.json")
    outcome = json.loads(path.read_text("utf-8"))
    (case,) = outcome["cases"]
    if case["errors"]:
        assert "this machine sent packets" in case["errors"][0]
        return
    found = {statement["label"]: statement for statement in case["statements"]}
    assert [found[name]["verdict"] for name in ("many", "some", "soon")] == ["pass"] * 3
    exactly = found["exactly"]
    least, most = (Fraction(exactly["measured_limits"][end]["value"]) for end in ("lower", "upper"))
    may_be = least <= DELAY_MAX_S <= most  # if not, the kernel was faster, or slower
    assert exactly["verdict"] == ("inconclusive" if may_be else "fail")
    told = "on this machine, by which the value could be" in exactly.get("note", "")
    assert told == may_be
    assert case["precision"]["unit"] == "s"
    counted = {(entry["element"], entry["name"]): entry for entry in case["disciplines"]}
    assert counted["g.pace", "pfifo"]["dropped"] > 5
    backend = outcome["provenance"]["backend"]
    assert backend["name"] == "kernel-rt"
    assert backend["precision"].endswith("s")
    assert "sch_htb" in backend["modules"].split()


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this machine have what each trial takes, whatever it has."""
    monkeypatch.setattr(modules, "list_modules", lambda: HERE)
    monkeypatch.setattr(machine, "list_modules", lambda: HERE)
    monkeypatch.setattr(machine, "describe_program", dict)
    monkeypatch.setattr(machine, "describe_precision", lambda: "1 ms")


@pytest.mark.usefixtures("complete")
def test_a_run_that_takes_longer_than_its_budget_is_refused(bench: Path) -> None:
    """Three trials of 10 min, rounded to two digits; the emulation of as few packets takes less."""
    text = BENCH.replace("measure = 100 ms", "measure = 10 min, repeat = 3")
    bench.write_text(text.replace("8 Mbit/s @ip, size", "1 pkt/s, size"), encoding="utf-8")
    done = run_qos("run", "--on", "kernel-rt", str(bench), "--budget", "30min")
    assert done.exit_code == exits.WRONG
    assert "the run takes about 30 min 0 s" in done.stderr


@pytest.mark.usefixtures("complete")
def test_a_case_is_run_anew_even_if_nothing_has_changed(
    bench: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In real time it may come out otherwise; here the emulation stands for the machine."""
    asked = []

    def run_trial(experiment: Experiment, _on_wait: object) -> Observation:
        asked.append(1)
        return Emulate().carry_out(experiment, lambda _done_ps, _stop_ps: None)

    monkeypatch.setattr(machine, "run_trial", run_trial)
    for count in (1, 2):
        run_qos("run", "--on", "kernel-rt", str(bench), "--record", str(bench.parent / "r"))
        assert len(asked) == count


@pytest.mark.usefixtures("complete")
def test_waiting_for_another_run_is_told_ahead_of_a_run_too(
    bench: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait() -> str:
        kernel.notices.pop("waiting")()
        raise BackendError("it was only to wait")

    monkeypatch.setattr(machine, "describe_precision", wait)
    done = run_qos("run", "--on", "kernel-rt", str(bench), "--record", str(bench.parent / "r"))
    assert "waiting for another trial: one at a time is carried out on a machine" in done.stderr


def test_another_precision_is_no_other_back_end() -> None:
    one = {"name": "kernel-rt", "kernel": "6.1", "precision": "100 us"}
    assert is_same_backend(one, {**one, "precision": "90 us"})
    assert not is_same_backend(one, {**one, "kernel": "6.2"})
    assert not is_same_backend(one, None)
    assert is_same_backend(None, None)
