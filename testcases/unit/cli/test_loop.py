"""The loop of every day: a new project, what failed, the first failure, other values."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from invoking import qos
from seals import seal

from qospec.cli import exits, options
from qospec.diagnostics import Problems
from qospec.formatting import format_text
from qospec.record.store import find_last
from qospec.source import Source

SPECIFICATION = """qos 1
import std.media

let limit = 1 us
let haul: Length = 1 km
let many = [1, 2, 3]
let line = 100 Mbit/s @line
let secret = "c0ffee0badf00dc0ffee0badf00d123456789012"

topology wire {
  a, b = host
  link a -- b via media.stm1 { length = haul }
}

device gateway {
  port inner, outer: packet
  seal = esp_encrypt { encryption = aes_128_gcm, key = secret }
  out, back = fifo { limit = 1 pkt }
  inner.rx -> seal -> out -> outer.tx
  outer.rx -> back -> inner.tx
}

test prompt on wire {
  sweep n in many
  flow f = cbr { pcr = n * 1_000 cell/s, cdvt = 1 ms } from a to b
  run { measure = 2 ms }
  expect soon: f.delay.mean < n * limit
}

test whole on wire {
  flow f = cbr { pcr = 1_000 cell/s, cdvt = 1 ms } from a to b
  run { measure = 2 ms }
  expect all: f.lost == 0
}
"""
# One cell over one kilometre takes 2.83 us to send and 5 us to arrive: 7.83 us.


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.qos").write_text(SPECIFICATION, encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> tuple[int, dict[str, str]]:
    """Run, and return the exit code and the verdict of each case; "" of one that was not run."""
    result = qos("run", "--json", *arguments)
    cases = json.loads(result.stdout)["cases"]
    return result.exit_code, {case["name"]: case["verdict"] * case["ran"] for case in cases}


def test_a_new_project_passes_and_a_criterion_that_is_broken_is_all_that_failed_runs(
    here: Path,
) -> None:
    made = qos("init", "demo")
    assert made.exit_code == exits.PASSED
    assert made.stdout.splitlines()[-1] == "next: cd demo && qos run"
    os.chdir(here / "demo")
    for path in Path().rglob("*.qos"):
        text = path.read_text(encoding="utf-8")
        assert format_text(Source(path.name, text), Problems()) == text
    code, verdicts = run()
    assert (code, set(verdicts.values())) == (exits.PASSED, {"pass"})
    suite = Path("tests/calls.qos")
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace("max < 5 ms", "max < 20 ms * (load - 50%)"), encoding="utf-8")
    code, verdicts = run()
    assert [name for name, verdict in verdicts.items() if verdict == "fail"] == [
        "calls_survive:load=50%"
    ]
    assert run("--failed") == (exits.FAILED, {"calls_survive:load=50%": "fail"})
    suite.write_text(text, encoding="utf-8")
    assert run("--failed") == (exits.PASSED, {"calls_survive:load=50%": "pass"})
    nothing = qos("run", "--failed")
    assert nothing.exit_code == exits.NOTHING
    assert "0 of 1 case did not pass in records/" in nothing.stderr
    assert "`qos run` without `--failed` runs all" in nothing.stderr


@pytest.mark.parametrize(("name", "why"), [("taken", "is not empty"), ("a.qos", "is a file")])
def test_no_project_is_made_where_something_is(here: Path, name: str, why: str) -> None:
    (here / "taken").mkdir()
    (here / "taken" / "note").touch()
    made = qos("init", name)
    assert made.exit_code == exits.WRONG
    assert f"`{name}` {why}: name a folder that does not exist yet" in made.stderr
    assert [path.name for path in (here / "taken").iterdir()] == ["note"]


@pytest.mark.parametrize("name", ["\U0001f600", 'a"b\\c'])
def test_a_project_has_the_name_of_its_folder_whatever_that_is(name: str) -> None:
    assert qos("init", name).exit_code == exits.PASSED
    os.chdir(name)
    checked = qos("check")
    assert (checked.exit_code, checked.stderr) == (exits.PASSED, "")


def test_a_project_is_made_in_a_new_repository(here: Path) -> None:
    (here / "new" / ".git").mkdir(parents=True)
    assert qos("init", "new").exit_code == exits.PASSED


def test_no_project_is_made_where_none_can_be() -> None:
    assert qos("init", "").exit_code == exits.WRONG
    made = qos("init", "a.qos/below")
    assert (made.exit_code, "cannot make `a.qos/below`" in made.stderr) == (exits.ERROR, True)


def test_the_first_case_that_does_not_pass_ends_the_run_and_failed_goes_on() -> None:
    result = qos("run", "-x")
    assert result.exit_code == exits.FAILED
    assert "1 fail, 3 not run; seed 0" in result.stdout
    assert "stopped: 3 of 4 cases did not finish" in result.stderr
    last = find_last(Path("records"))
    assert last is not None
    assert last.read_outcome()["state"] == "stopped"
    assert last.read_outcome()["cases"][3]["errors"] == [
        "not run: the run was stopped by a case that did not pass"
    ]
    page = qos("report", "last", "--format", "markdown").stdout
    assert "1 of 4 cases ended; the run was stopped." in page
    code, verdicts = run("--failed", "--set", "limit=8us")
    assert (code, list(verdicts.values())) == (exits.PASSED, ["pass"] * 4)


def test_failed_repeats_what_the_results_depend_on_unless_that_is_given() -> None:
    assert (
        qos("run", "--seed", "7", "--max-cells", "5000", "--keep-going").exit_code == exits.FAILED
    )
    again = json.loads(qos("run", "--failed", "--json").stdout)
    assert again["seed"] == "7"
    assert again["provenance"]["limits"]["cells per trial"] == 5000
    assert again["provenance"]["policy"]["a failed require"] == "goes on"
    assert json.loads(qos("run", "--failed", "--json", "--seed", "8").stdout)["seed"] == "8"


def test_failed_repeats_what_was_set_unless_something_is(here: Path) -> None:
    easy = SPECIFICATION.replace("let limit = 1 us", "let limit = 8 us")
    (here / "a.qos").write_text(easy, encoding="utf-8")
    failed = {f"prompt:n={n}": "fail" for n in (1, 2, 3)}
    run("a.qos::prompt", "--set", "limit=1us")
    again = qos("run", "--failed")
    assert "3 of 3 cases did not pass in records/" in again.stderr
    assert "with `--set limit=1us`" in again.stderr
    assert run("--failed") == (exits.FAILED, failed)
    assert run("--failed", "--set", "limit=9us")[0] == exits.PASSED


def test_failed_without_a_record_of_its_own_is_an_error_that_says_so() -> None:
    none = qos("run", "--failed")
    assert none.exit_code == exits.WRONG
    assert "`records` holds no record yet: `qos run` makes one" in none.stderr
    run("-k", "whole")
    run()
    kept = find_last(Path("records"))
    assert kept is not None
    other = qos("run", "--failed", "-k", "whole")
    assert (other.exit_code, "no case here is among those" in other.stderr) == (exits.NOTHING, True)
    outcome = kept.folder / "outcome.json"
    outcome.write_text(
        outcome.read_text(encoding="utf-8").replace('"schema": 1', '"schema": 99', 1),
        encoding="utf-8",
    )
    changed = qos("run", "--failed")
    assert (changed.exit_code, "has schema 99" in changed.stderr) == (exits.ERROR, False)
    seal(kept.folder)
    newer = qos("run", "--failed")
    assert (newer.exit_code, "has schema 99" in newer.stderr) == (exits.ERROR, True)


def test_last_is_the_newest_record_and_no_other_folder(here: Path) -> None:
    for name in ("2031-01-01T00-00-00Z-0", "2030-12-31T23-59-59Z-0-2", "zzz"):
        (here / "records" / name).mkdir(parents=True)
        (here / "records" / name / "run.json").touch()
    (here / "records" / "2032-01-01T00-00-00Z-0").mkdir()
    last = find_last(here / "records")
    assert last is not None
    assert last.folder.name == "2031-01-01T00-00-00Z-0"
    assert find_last(here / "nowhere") is None


def test_quiet_prints_what_did_not_pass_and_the_summary() -> None:
    lines = qos("run", "-q", "--set", "limit=3us").stdout.splitlines()
    assert not any(line.startswith(("✓", "✗")) for line in lines)
    assert [line for line in lines if line.startswith("FAIL")]
    assert "2 pass, 2 fail; seed 0" in lines
    assert qos("run", "-q", "-v").exit_code == exits.WRONG


def test_a_value_that_is_set_is_what_is_run_recorded_and_repeated() -> None:
    result = qos("run", "--json", "--set", "limit = 8 us", "--set", "many=[1]")
    document = json.loads(result.stdout)
    (source,) = [
        source for source in document["provenance"]["sources"] if source["name"] == "a.qos"
    ]
    assert "let limit = 8 us\n" in source["text"]
    assert "let many = [1]\n" in source["text"]
    assert document["provenance"]["policy"]["set"] == "limit = 8 us, many=[1]"
    assert [case["verdict"] for case in document["cases"]] == ["pass", "pass"]
    assert "--set 'limit = 8 us' --set 'many=[1]'" in document["cases"][0]["again"]
    assert "let limit = 1 us\n" in Path("a.qos").read_text(encoding="utf-8")
    by_workers = qos("run", "--json", "--set", "limit=8us", "-j", "2")
    assert by_workers.exit_code == exits.PASSED, by_workers.stderr
    assert [case["verdict"] for case in json.loads(by_workers.stdout)["cases"]] == ["pass"] * 4
    assert "prompt:n=2" not in qos("plan", "--set", "many=[1]").stdout


def test_a_value_is_set_in_yaml_too(here: Path) -> None:
    qos("convert", "a.qos", "--to", "yaml", "-o", "b.yaml")
    (here / "a.qos").unlink()
    code, verdicts = run("b.yaml", "--set", "limit=8 us", "--set", "many=[2]")
    assert (code, verdicts) == (exits.PASSED, {"prompt:n=2": "pass", "whole": "pass"})


@pytest.mark.parametrize(
    ("setting", "code", "said"),
    [
        ("limti=8us", "E0101", "no `let` of these files is called `limti`"),
        ("limit=8", "E0204", "`limit` is a time, not a number"),
        ("limit=8 km", "E0204", "`limit` is a time, not a length"),
        ("haul=8 us", "E0204", "`haul` is a length, not a time"),
        ("many=[1 us]", "E0204", "not a time"),
        ("many=3", "E0204", "not"),
        ("line=8 Mbit/s @ip", "E0212", "`line` is counted @line, and this counts bits @ip"),
        ("limit=8 parsec", "E0201", "parsec"),
        ("limit=8 us us", "E00", ""),
        ('secret="c0ffee0badf00dc0ffee0badf00d5678"', "E0214", "`secret` is a key"),
    ],
)
def test_a_value_that_does_not_fit_is_a_mistake_with_its_place(
    here: Path, setting: str, code: str, said: str
) -> None:
    result = qos("run", "--set", setting)
    assert result.exit_code == exits.WRONG
    assert f"error[{code}" in result.stderr
    assert "--> --set:2:" in result.stderr
    assert said in result.stderr
    assert "c0ffee" not in result.output
    assert not (here / "records").exists()


@pytest.mark.parametrize("setting", ["limit", "=8us", "limit=", "a b=1", "limit=1 us\nlet x = 1"])
def test_what_sets_nothing_is_refused_with_an_example(setting: str) -> None:
    result = qos("plan", "--set", setting)
    assert result.exit_code == exits.WRONG
    assert "write a name and a value" in result.stderr


def test_a_value_set_twice_is_a_mistake() -> None:
    result = qos("plan", "--set", "limit=1us", "--set", "limit=2us")
    assert (result.exit_code, "`limit` is set twice" in result.stderr) == (exits.WRONG, True)


def test_jobs_auto_is_a_process_for_each_processor_that_may_be_used() -> None:
    kind = options.jobs(lambda: None).__click_params__[0].type
    assert kind.convert("auto", None, None) == len(os.sched_getaffinity(0))
    assert qos("run", "-j", "many").exit_code == exits.WRONG
    assert qos("run", "-j", "0").exit_code == exits.WRONG


def test_python_runs_the_package_as_the_command() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "qospec", "--version"], capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith("qos, version ")
