"""The plugin of pytest: its verdicts are those of `qos run`, and pytest's own options work."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from junitparser import JUnitXml, Properties

from qospec import cli

pytest_plugins = ["pytester"]

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


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    (pytester.path / "a.qos").write_text(SPECIFICATION, encoding="utf-8")
    return pytester


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return project.runpytest_inprocess("-p", "qospec.pytest_plugin", *arguments)


def test_items_have_the_verdicts_of_qos_run_and_failures_their_places(
    project: pytest.Pytester,
) -> None:
    found = CliRunner().invoke(cli.qos, ["run", "--report", "csv", "--record", "records"])
    for name, verdict in VERDICTS.items():
        mark = {"skip": "- skip", "measured": "· measured"}.get(verdict, verdict)
        assert f"{mark}  {name}  " in found.stdout
    result = run(project, "-rA", "--junitxml=junit.xml")
    result.assert_outcomes(passed=2, failed=3, skipped=1)
    for name, verdict in VERDICTS.items():
        outcome = OUTCOMES.get(verdict, "failed")
        if outcome != "skipped":
            result.stdout.fnmatch_lines([f"{outcome.upper()} a.qos::{name}*"])
    result.stdout.fnmatch_lines(
        [
            "FAIL  prompt:limit=1us",
            "  a.qos:15:16: expect f.delay.mean < limit",
            "    measured  2.831 us",
            "    needed    < 1 us",
            "  rerun     qos run a.qos::prompt:limit=1us --seed 0",
        ],
        consecutive=False,
    )
    cases = {case.name: case for suite in JUnitXml.fromfile("junit.xml") for case in suite}
    assert {name: case.is_passed for name, case in cases.items()} == {
        name: verdict in ("pass", "measured") for name, verdict in VERDICTS.items()
    }
    (properties,) = cases["prompt:limit=3us"].iterchildren(Properties)
    measured = {each.name: each.value for each in properties}
    assert measured == {"soon": "2.831 us"}


def test_pytest_selects_and_stops(project: pytest.Pytester) -> None:
    run(project, "-x").assert_outcomes(failed=1)
    run(project, "-k", "3us or seen").assert_outcomes(passed=2, deselected=4)
    run(project, "--lf").assert_outcomes(failed=1)


def test_a_mistake_is_an_error_of_collection_with_its_place(project: pytest.Pytester) -> None:
    wrong = SPECIFICATION.replace("measure = 2 ms", "measure = 2 parsec", 1)
    (project.path / "a.qos").write_text(wrong, encoding="utf-8")
    result = run(project)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*--> a.qos:14:*", "*2 parsec*"])


def test_a_plan_that_is_refused_is_a_failure_and_yaml_is_collected_if_it_is_ours(
    project: pytest.Pytester,
) -> None:
    much = SPECIFICATION.replace("measure = 2 ms", "warmup = 1 s, measure = 1_000_000 s", 1)
    (project.path / "a.qos").write_text(much, encoding="utf-8")
    (project.path / "other.yaml").write_text("key: value\n", encoding="utf-8")
    arguments = ["convert", "a.qos", "--to", "yaml", "-o", "b.yaml"]
    assert CliRunner().invoke(cli.qos, arguments).exit_code == 0
    Path("a.qos").unlink()
    result = run(project, "-k", "1us")
    result.assert_outcomes(failed=1, deselected=5)
    result.stdout.fnmatch_lines(["*E0609*"])
