"""`qos compare` and `qos show`: two runs of a project in which one device was changed."""

import json
from pathlib import Path

import pytest
from invoking import invoke
from narrow import NARROW

SPECIFICATION = (
    NARROW
    + """test loads on bench {
  sweep load in [1 Mbit/s @ip, 20 Mbit/s @ip]
  flow ab = packets { rate = load, size = 500 B @ip, gaps = poisson } from a to b
  run { measure = 100 ms, overload = true }
  expect whole: ab.loss <= 20 %
  expect soon: ab.delay.max <= 3 ms
  report ab.received
}
"""
)


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the records of a device with a small queue, and of one with a larger queue."""
    monkeypatch.chdir(tmp_path)
    found = []
    for name, limit in (("before", "4 pkt"), ("after", "9 pkt")):
        Path("bench.qos").write_text(SPECIFICATION.replace("4 pkt", limit))
        ran = invoke("run", "bench.qos", "--record", name, "--no-progress")
        assert ran.exit_code == 1, ran.output
        found += Path(name).iterdir()
    return found


def test_a_larger_queue_loses_less_and_takes_longer(records: list[Path]) -> None:
    done = invoke("compare", *records, "-o", "page.html")
    assert done.exit_code == 1
    assert "<ins>+let room = 9 pkt</ins>" in Path("page.html").read_text(encoding="utf-8")
    lines = done.output.splitlines()
    assert "worse: loads:load=20Mbit_per_s-ip, soon" in lines
    assert "better: loads:load=20Mbit_per_s-ip, whole" in lines
    assert "cannot tell: loads:load=20Mbit_per_s-ip, ab.received" in lines
    assert lines[-1] == "1 worse, 1 cannot tell, 1 better, 3 same; each repeat with its counterpart"
    document = json.loads(invoke("compare", *records, "--json").output)
    assert document["counts"] == {"worse": 1, "cannot tell": 1, "better": 1, "same": 3}


def test_a_run_is_the_same_as_itself(records: list[Path]) -> None:
    done = invoke("compare", records[0], records[0], "-v")
    assert done.exit_code == 0
    assert done.output.count("same: loads:load=") == 6


def test_two_back_ends_are_told_ahead_of_all_else(
    records: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "the first was measured on kernel-vt, the second by the emulation"
    first, second = (json.loads((one / "outcome.json").read_text("utf-8")) for one in records)
    first["provenance"]["backend"] = {"name": "kernel-vt"}
    outcomes = dict(zip(map(str, records), (first, second), strict=True))
    monkeypatch.setattr("qospec.cli.commands.compare._read_outcome", outcomes.__getitem__)
    assert invoke("compare", *records).output.splitlines()[0] == said
    assert json.loads(invoke("compare", *records, "--json").output)["backends"] == said
    outcomes[str(records[0])] = second
    assert "backends" not in json.loads(invoke("compare", *records, "--json").output)


def test_show_prints_a_case(records: list[Path]) -> None:
    done = invoke("show", records[0], "loads:load=1Mbit_per_s-ip")
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert lines[0] == "pass  loads:load=1Mbit_per_s-ip"
    assert lines[1:4] == ["  pass  whole", "    measured  0 %", "    needed    ≤ 20 %"]
    assert lines[-1].startswith("  rerun     qos run bench.qos::loads:load=1Mbit_per_s-ip")
    shown = json.loads(invoke("show", records[0], "loads:load=1Mbit_per_s-ip", "--json").output)
    assert shown["verdict"] == "pass"


def test_show_says_which_cases_there_are(records: list[Path]) -> None:
    done = invoke("show", records[0], "loads")
    assert (done.exit_code, "`loads` has 2 cases: name one of them" in done.output) == (2, True)
    done = invoke("show", records[0], "loads:load=2Mbit_per_s-ip")
    assert (done.exit_code, "did you mean `loads:load=" in done.output) == (2, True)
