"""What build servers read: annotations of lines, and the summary of a job."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from qospec import cli
from qospec.report.render import render

PLACE = ("testcases/suites/eantc/traffic_management.qos", 3)
LOST = "1320 cell measured, = 0 cell needed"


def test_a_criterion_that_is_not_met_is_a_result_of_sarif_at_its_place(document):
    (run,) = json.loads(render(document, {}, "sarif"))["runs"]
    assert run["tool"]["driver"]["semanticVersion"] == document["qospec"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    found = run["results"]
    assert {result["ruleId"] for result in found} == rules == {"fail", "inconclusive", "error"}
    for result in found:
        assert result["level"] == ("warning" if result["ruleId"] == "inconclusive" else "error")
    (lost,) = [result for result in found if "no_loss: " in result["message"]["text"]]
    assert LOST in lost["message"]["text"]
    at = lost["locations"][0]["physicalLocation"]
    assert (at["artifactLocation"]["uri"], at["region"]["startLine"]) == PLACE
    keys = [result["partialFingerprints"]["qospec/v1"] for result in found]
    assert len(set(keys)) == len(keys)


def test_a_code_quality_report_has_the_same_lines(document):
    issues = json.loads(render(document, {}, "codequality"))
    (lost,) = [issue for issue in issues if "no_loss: " in issue["description"]]
    assert (lost["location"]["path"], lost["location"]["lines"]["begin"]) == PLACE
    assert (lost["check_name"], lost["severity"]) == ("fail", "critical")
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)


def test_an_annotation_cannot_be_ended_or_forged_by_a_text(document):
    case = next(case for case in document["cases"] if case["verdict"] == "error")
    case["name"] = "t:load=1%,n=2"
    case["errors"] = ["50 % of it\n::stop-commands::x\r\n::error::y"]
    case["statements"] = []
    lines = render(document, {}, "github").splitlines()
    assert all(line.startswith(("::error file=", "::warning file=")) for line in lines)
    (crash,) = [line for line in lines if "stop-commands" in line]
    assert ",title=error t%3Aload=1%25%2Cn=2::" in crash
    assert crash.endswith("::50 %25 of it%0A::stop-commands::x%0D%0A::error::y")
    (lost,) = [line for line in lines if "no_loss" in line]
    path, line = PLACE
    assert lost.startswith(f"::error file={path},line={line},title=fail 2 cases of cdvt fail")
    assert LOST in lost


SPECIFICATION = """qos 1
import std.media
topology wire {
  a, b = host
  link a -- b via media.stm1
}
test slow on wire {
  flow f = cbr { pcr = 1_000 cell/s, cdvt = 1 ms } from a to b
  run { measure = 2 ms }
  expect soon: f.delay.mean < 1 us
}
"""


def test_where_github_runs_it_lines_are_annotated_and_the_job_has_a_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.qos").write_text(SPECIFICATION, encoding="utf-8")
    (tmp_path / "summary.md").write_text("before\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    result = CliRunner().invoke(cli.qos, ["run", "a.qos", "--json"])
    assert (result.exit_code, json.loads(result.stdout)["verdict"]) == (1, "fail")
    assert "::error file=a.qos,line=10,title=fail slow::soon: 2.831 us measured" in result.stderr
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("before\n# ")
    assert "soon" in summary
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "a.qos/below")
    result = CliRunner().invoke(cli.qos, ["run", "a.qos"])
    assert (result.exit_code, "no summary of the job: not a directory" in result.stderr) == (
        1,
        True,
    )
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert "::error" not in CliRunner().invoke(cli.qos, ["run", "a.qos"]).output
