"""The plugin of pytest: its verdicts are those of `qos run`, and pytest's own options work."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from junitparser import JUnitXml, Properties

from qospec import cli

SPECIFICATION = """qos 1
import std.media

topology wire {
  a, b = host
  link a -- b via media.stm1
}

traffic steady = cbr { pcr = 1_000 cell/s, cdvt = 1 ms }

test prompt on wire {
  sweep limit in [1 us, 2 us, 3 us]
  flow f = steady from a to b
  run { measure = 2 ms }
  expect soon: f.delay.mean < limit
}

test much on wire {
  flow f = steady from a to b
  run { measure = 2 ms }
  require many: f.sent > 1_000 cell
}

test seen on wire {
  flow f = steady from a to b
  run { measure = 2 ms }
  report f.delay.mean
}

test never on wire {
  skip unless 1 s > 2 s "for good reason"
  flow f = steady from a to b
  run { measure = 2 ms }
  expect f.lost == 0
}
"""
VERDICTS = {
    "prompt:limit=1us": "fail",
    "prompt:limit=2us": "fail",
    "prompt:limit=3us": "pass",
    "much": "inconclusive",
    "seen": "measured",
    "never": "skip",
}
OUTCOMES = {"pass": "passed", "measured": "passed", "skip": "skipped"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.qos").write_text(SPECIFICATION, encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> tuple[dict[str, int], str]:
    """Run pytest in a process of its own; return the counts of its last line, and what it says."""
    command = [sys.executable, "-m", "pytest", "-p", "qospec.pytest_plugin", *arguments]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    counts = re.findall(r"(\d+) ([a-z]+)", said.splitlines()[-1].partition(" in ")[0])
    return {what: int(count) for count, what in counts}, said


@pytest.mark.slow
def test_items_have_the_verdicts_of_qos_run_and_failures_their_places() -> None:
    found = CliRunner().invoke(cli.qos, ["run", "--record", "records"])
    for name, verdict in VERDICTS.items():
        mark = {"skip": "- skip", "measured": "· measured"}.get(verdict, verdict)
        assert f"{mark}  {name}  " in found.stdout
    counts, said = run("-rA", "--junitxml=junit.xml", "-n", "1")
    assert "1 worker [6 items]" in said, "pytest-xdist has run them"
    assert counts == {"passed": 2, "failed": 3, "skipped": 1}
    for name, verdict in VERDICTS.items():
        outcome = OUTCOMES.get(verdict, "failed")
        assert outcome == "skipped" or f"{outcome.upper()} a.qos::{name}" in said
    for line in (
        "FAIL  prompt:limit=1us",
        "  a.qos:15:16: expect f.delay.mean < limit",
        "    measured  2.831 us",
        "  rerun     qos run a.qos::prompt:limit=1us --seed 0",
    ):
        assert f"\n{line}\n" in said
    cases = {case.name: case for suite in JUnitXml.fromfile("junit.xml") for case in suite}
    assert {name: case.is_passed for name, case in cases.items()} == {
        name: verdict in ("pass", "measured") for name, verdict in VERDICTS.items()
    }
    (properties,) = cases["prompt:limit=3us"].iterchildren(Properties)
    assert {measured.name: measured.value for measured in properties} == {"soon": "2.831 us"}
    assert run("--lf", "-x", "-k", "2us or much")[0] == {"failed": 1, "deselected": 1}


@pytest.mark.slow
def test_a_mistake_is_an_error_of_collection_with_its_place_and_other_yaml_is_left_alone() -> None:
    wrong = SPECIFICATION.replace("measure = 2 ms", "measure = 2 parsec", 1)
    Path("a.qos").write_text(wrong, encoding="utf-8")
    Path("other.yaml").write_text("key: value\n", encoding="utf-8")
    counts, said = run()
    assert counts == {"error": 1}
    assert "--> a.qos:14:" in said


@pytest.mark.slow
def test_a_plan_that_is_refused_is_a_failure_in_yaml_too() -> None:
    much = SPECIFICATION.replace("measure = 2 ms", "warmup = 1 s, measure = 1_000_000 s", 1)
    Path("a.qos").write_text(much, encoding="utf-8")
    CliRunner().invoke(cli.qos, ["convert", "a.qos", "--to", "yaml", "-o", "b.yaml"])
    Path("a.qos").unlink()
    counts, said = run("-k", "1us")
    assert counts == {"failed": 1, "deselected": 5}
    assert "E0609" in said
