"""Curves from beginning to end: sweeps that only report, and sweeps that mostly fail."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qospec.cli import exits, qos

BED = """qos 1
import std.media

device narrow {
  port west, east: cell
  q = fifo { limit = 4 cell }
  west.rx -> q -> east.tx
  east.rx -> discard
}
topology bed {
  a, b = host
  dut = narrow
  link a -- dut.west via media.stm1
  link dut.east -- b via media.e3
}
"""
SWEEP = """
test curve on bed {
  sweep senders in [1, 3]
  sweep load in 10% .. 90% step 10%
  let each = load * 300_000 cell/s / senders
  flow f = cbr { pcr = each, cdvt = 1 ms, connections = senders } from a to b
  run { measure = 1 ms, overload = true }
  STATEMENT
}
"""


def run(tmp_path: Path, statement: str, *options: str) -> Result:
    path = tmp_path / "t.qos"
    path.write_text(BED + SWEEP.replace("STATEMENT", statement), encoding="utf-8")
    folder = str(tmp_path / "records")
    return CliRunner().invoke(qos, ["run", str(path), "--record", folder, *options])


def test_a_sweep_that_only_reports_is_one_table_and_no_failure(tmp_path: Path) -> None:
    found = run(
        tmp_path, "report loss: f.cell_loss_ratio", "--report", "csv", "--report", "markdown"
    )
    assert found.exit_code == exits.PASSED
    assert "warning" not in found.stderr
    head, title, loads, *rows, _, counts, _, _, _ = found.stdout.splitlines()
    assert head.startswith("· measured  curve  18 cases  ")
    assert title.strip() == "loss over load (%)"
    assert loads.split() == ["senders", *(f"{load}0%" for load in range(1, 10))]
    assert [row.split()[:3] for row in rows] == [["1", "0", "0"], ["3", "0", "0"]]
    assert counts == "18 measured; seed 0"
    (page,) = tmp_path.glob("records/*/report.html")
    assert page.read_text(encoding="utf-8").count('<figure class="panel curves">') == 1
    (table,) = tmp_path.glob("records/*/report.csv")
    lines = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert [line["load"] for line in lines[:3]] == ["10%", "20%", "30%"]
    assert {line["senders"] for line in lines} == {"1", "3"}
    (comment,) = tmp_path.glob("records/*/report.md")
    assert "loss over load (%)" in comment.read_text(encoding="utf-8")


@pytest.mark.parametrize("options", [(), ("-v",)])
def test_a_sweep_that_mostly_fails_is_a_screenful(tmp_path: Path, options: tuple[str, ...]) -> None:
    found = run(tmp_path, "expect nothing_lost: f.lost == 0 cell", *options)
    assert found.exit_code == exits.FAILED
    (outcome,) = tmp_path.glob("records/*/outcome.json")
    cases = json.loads(outcome.read_text(encoding="utf-8"))["cases"]
    failed = sum(case["verdict"] == "fail" for case in cases)
    assert failed > len(cases) / 2
    lines = found.stdout.splitlines()
    told = [line for line in lines if line.startswith("FAIL")]
    if options:
        assert len(told) == failed
        assert len(lines) > 100
    else:
        assert told == [f"FAIL  {failed} cases of curve fail the same way"]
        assert len(lines) < 24
    assert f"{len(cases) - failed} pass, {failed} fail; seed 0" in lines
