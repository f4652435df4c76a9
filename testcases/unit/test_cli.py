"""The command: what it prints where, and its exit codes, which never change."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import Result
from invoking import qos
from seals import seal

from qospec.cli import exits

BENCH = """qos 1
import std.media

topology wire {
  a, b = host
  link a -- b via media.stm1
}

traffic steady(rate: CellRate) = cbr { pcr = rate, cdvt = 1 ms }
"""
PASSES = """
test passes on wire {
  flow f = steady(rate = 10_000 cell/s) from a to b
  run { measure = 10 ms }
  expect whole: f.lost == 0
}
"""
FAILS = """
test fails on wire {
  flow f = steady(rate = 10_000 cell/s) from a to b
  run { measure = 10 ms }
  expect fast: f.delay.mean < 1 us
}
"""
UNDECIDED = """
test undecided on wire {
  flow f = steady(rate = 10_000 cell/s) from a to b
  run { measure = 10 ms }
  require much: f.sent > 1_000 cell
}
"""


def spec(folder: Path, *tests: str) -> Path:
    path = folder / "a.qos"
    path.write_text(BENCH + "".join(tests), encoding="utf-8")
    return path


def run(folder: Path, *tests: str, more: tuple[str, ...] = ()) -> Result:
    return qos("run", spec(folder, *tests), "--record", folder / "records", *more)


def test_exit_codes_are_frozen() -> None:
    codes = (
        exits.PASSED,
        exits.FAILED,
        exits.WRONG,
        exits.INCONCLUSIVE,
        exits.ERROR,
        exits.NOTHING,
        exits.INTERRUPTED,
    )
    assert codes == (0, 1, 2, 3, 4, 5, 130)


@pytest.mark.parametrize(
    ("tests", "code"),
    [
        ((PASSES,), 0),
        ((PASSES, FAILS), 1),
        ((PASSES, UNDECIDED), 3),
        ((FAILS, UNDECIDED), 1),
    ],
)
def test_the_exit_code_is_that_of_the_worst_verdict(
    tmp_path: Path, tests: tuple[str, ...], code: int
) -> None:
    assert run(tmp_path, *tests).exit_code == code


@pytest.mark.parametrize(
    ("summary", "state", "code"),
    [
        ({"error": 1, "fail": 1, "inconclusive": 1}, "complete", 4),
        ({"error": 0, "fail": 1, "inconclusive": 1}, "complete", 1),
        ({"error": 0, "fail": 0, "inconclusive": 1}, "complete", 3),
        ({"error": 0, "fail": 0, "inconclusive": 0}, "complete", 0),
        ({"error": 0, "fail": 1, "inconclusive": 0}, "interrupted", 130),
    ],
)
def test_an_error_outweighs_a_fail_outweighs_undecided(
    summary: dict[str, int], state: str, code: int
) -> None:
    assert exits.choose_exit_code({"summary": summary, "state": state}) == code


def test_a_run_ends_with_the_path_of_a_report_that_is_there(tmp_path: Path) -> None:
    last = run(tmp_path, PASSES).stdout.splitlines()[-1]
    assert last.startswith("report: ")
    assert "passes" in Path(last.removeprefix("report: ")).read_text(encoding="utf-8")


def test_a_failure_names_place_measured_bound_and_way_to_repeat(tmp_path: Path) -> None:
    out = run(tmp_path, FAILS).stdout
    place = f"{tmp_path / 'a.qos'}:{BENCH.count(chr(10)) + 5}:"
    for piece in (
        place,
        "measured  2.83",
        "needed    < 1 us",
        "rerun     qos run",
        "no cell was discarded",
    ):
        assert piece in out


def test_json_is_one_document_on_stdout(tmp_path: Path) -> None:
    document = json.loads(run(tmp_path, PASSES, FAILS, more=("--json",)).stdout)
    assert document["schema"] == 1
    summary = document["summary"]
    claims = dict.fromkeys(("exact", "range", "shape", "calibrated", "consistent"), 0)
    assert summary.pop("criteria") == {**claims, "none": 2, "not applicable": 0}
    assert summary.pop("statements") == {**claims, "none": 0}
    assert summary == {
        "skip": 0,
        "measured": 0,
        "pass": 1,
        "inconclusive": 0,
        "fail": 1,
        "error": 0,
    }
    (statement,) = document["cases"][1]["statements"]
    assert statement["label"] == "fast"
    assert (statement["kind"], statement["verdict"], statement["comparison"]) == (
        "expect",
        "fail",
        "<",
    )
    assert statement["bound"] == {"value": "1/1000000", "unit": "s", "text": "1 us"}
    assert document["cases"][0]["metrics"]["f"]["sent"]["value"] == "100"


@pytest.mark.slow
def test_the_record_is_the_same_whatever_the_chunk_and_the_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def record(name: str, chunk: str, jobs: str) -> dict[str, str]:
        monkeypatch.setenv("QOS_CHUNK", chunk)
        path = spec(tmp_path, PASSES, FAILS)
        assert qos("run", path, "--record", tmp_path / name, "-j", jobs).exit_code == exits.FAILED
        (folder,) = (tmp_path / name).iterdir()
        return {
            str(file.relative_to(folder)): file.read_text(encoding="utf-8")
            for file in sorted(folder.rglob("*.json"))
            if file.name != "timing.json"
        }

    first = record("first", "7", "1")
    assert set(first) == {"run.json", "outcome.json", "cases/0001.json", "cases/0002.json"}
    assert record("second", "200000", "2") == first


def test_a_wrong_specification_runs_nothing(tmp_path: Path) -> None:
    result = run(tmp_path, PASSES.replace("10 ms", "10 parsec"))
    assert result.exit_code == exits.WRONG
    assert "parsec" in result.stderr
    assert not (tmp_path / "records").exists()


def test_a_trial_beyond_the_limit_is_refused_with_the_flag_that_allows_it(tmp_path: Path) -> None:
    result = run(tmp_path, PASSES.replace("10 ms", "1_000_000 s"))
    assert result.exit_code == exits.WRONG
    assert "E0609" in result.stderr
    assert "--max-cells 10000000000" in result.stderr


def test_more_than_a_line_carries_is_refused_unless_meant(tmp_path: Path) -> None:
    much = PASSES.replace("10_000 cell/s", "400_000 cell/s")
    assert "E0305" in run(tmp_path, much).stderr
    meant = much.replace("measure = 10 ms", "measure = 10 ms, overload = true")
    assert run(tmp_path, meant).exit_code == exits.PASSED


def test_nothing_selected_is_not_green(tmp_path: Path) -> None:
    result = run(tmp_path, PASSES, more=("-k", "typo"))
    assert result.exit_code == exits.NOTHING
    assert result.stderr == "nothing selected: no case matches `typo`\n"


def test_a_test_that_only_reports_is_measured_and_nothing_is_wrong(tmp_path: Path) -> None:
    shows = PASSES.replace("expect whole: f.lost == 0", "report f.lost")
    result = run(tmp_path, shows, more=("--report", "junit", "--report", "markdown"))
    assert result.exit_code == exits.PASSED
    assert "measured  passes" in result.stdout
    assert "\n1 measured; seed 0\n" in result.stdout
    (record,) = (tmp_path / "records").iterdir()
    assert 'skipped="0"' in (record / "report.xml").read_text(encoding="utf-8")
    said = "Nothing was judged: 1 case was only measured."
    assert said in (record / "report.md").read_text(encoding="utf-8")
    assert said in (record / "report.html").read_text(encoding="utf-8")


def test_a_name_that_is_nearly_right_is_pointed_to(tmp_path: Path) -> None:
    path = spec(tmp_path, PASSES)
    result = qos("run", f"{path}::pases")
    assert result.exit_code == exits.NOTHING
    assert result.stderr.endswith(" is named `pases`: did you mean `passes`?\n")


def test_a_condition_that_is_none_is_refused(tmp_path: Path) -> None:
    result = run(tmp_path, PASSES, more=("-k", "passes and"))
    assert result.exit_code == exits.WRONG
    assert result.stderr == "error: -k `passes and`: expected a word at the end\n"


def test_an_empty_path_is_refused() -> None:
    result = qos("check", "")
    assert result.exit_code == exits.WRONG
    assert "a path cannot be empty: write `.` for this folder" in result.stderr


@pytest.mark.parametrize(
    ("seed", "message"), [("", "a seed cannot be empty"), ("\udcff", "this is not UTF-8")]
)
def test_a_seed_that_no_record_could_hold_is_refused(
    tmp_path: Path, seed: str, message: str
) -> None:
    result = run(tmp_path, PASSES, more=(f"--seed={seed}",))
    assert result.exit_code == exits.WRONG
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "records").exists()


def test_a_record_that_is_not_there_is_a_mistake_of_who_asks(tmp_path: Path) -> None:
    result = qos("report", tmp_path / "nowhere")
    assert result.exit_code == exits.WRONG
    assert result.stderr == f"error: no record found at `{tmp_path / 'nowhere'}`\n"


def test_records_are_kept_below_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "qos.toml").write_text('[project]\nname = "p"\nedition = 1\n')
    (tmp_path / "tests").mkdir()
    path = spec(tmp_path / "tests", PASSES)
    monkeypatch.chdir(path.parent)
    assert qos("run", path.name).exit_code == exits.PASSED
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert (tmp_path / "records").is_dir()


@pytest.mark.parametrize(
    ("words", "coloured"),
    [
        (("--color", "always", "run"), True),
        (("run", "--color", "always"), True),
        (("--color", "always", "run", "--color", "never"), False),
        (("run",), False),
    ],
)
def test_colour_is_asked_for_ahead_of_the_command_or_behind(
    tmp_path: Path, words: tuple[str, ...], *, coloured: bool
) -> None:
    path = spec(tmp_path, PASSES.replace("10 ms", "10 parsec"))
    stderr = qos(*words, path).stderr
    assert stderr.startswith("\x1b[1;31merror[E0201]\x1b[0m" if coloured else "error[E0201]")


def test_a_file_without_tests_says_that_it_has_none(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result.exit_code == exits.NOTHING
    assert result.stderr == "nothing selected: there are no tests\n"


def test_a_template_is_run_by_the_tests_that_are_built_on_it(tmp_path: Path) -> None:
    path = spec(tmp_path, "test steps { run { measure = 1 s } }")
    assert qos("check", path).stdout == "0 tests, 0 cases, 1 template: no problems found\n"
    for named, why in (
        (path, "there are only templates (steps)"),
        (f"{path}::steps", "`steps` is a template"),
    ):
        result = qos("run", named)
        assert result.exit_code == exits.NOTHING
        assert result.stderr.startswith(f"nothing selected: {why}, run by tests that are built on")


def test_a_case_can_be_named_behind_its_file(tmp_path: Path) -> None:
    path = spec(tmp_path, PASSES, FAILS)
    result = qos("run", f"{path}::passes", "--record", tmp_path / "records")
    assert (result.exit_code, "fails" in result.stdout) == (exits.PASSED, False)


def test_an_unwritable_record_directory_is_the_environment_s_fault(tmp_path: Path) -> None:
    (tmp_path / "records").write_text("a file")
    result = run(tmp_path, PASSES)
    assert result.exit_code == exits.ERROR
    assert "records" in result.stderr
    assert "Traceback" not in result.output


def test_plan_counts_trials_and_cells_and_runs_nothing(tmp_path: Path) -> None:
    result = qos("plan", spec(tmp_path, PASSES), "--json")
    (case,) = json.loads(result.stdout)["cases"]
    assert (case["name"], case["trials"], case["cells"]) == ("passes", 1, 100)


def test_a_report_can_be_made_again_from_the_record(tmp_path: Path) -> None:
    run(tmp_path, PASSES)
    (folder,) = (tmp_path / "records").iterdir()
    for name, piece in (
        ("markdown", "passes"),
        ("junit", "<testsuite"),
        ("json", '"schema"'),
        ("html", "<html"),
    ):
        result = qos("report", folder, "--format", name)
        assert (result.exit_code, piece in result.stdout) == (exits.PASSED, True)


def test_html_is_always_written_and_others_where_they_are_asked_for(tmp_path: Path) -> None:
    assert "html is always written" in " ".join(qos("run", "--help").stdout.split())
    result = run(tmp_path, PASSES, more=("--report", "html", "--report", "junit"))
    written = [line for line in result.stdout.splitlines() if line.startswith("report: ")]
    assert [Path(line).suffix for line in written] == [".html", ".xml"]


def test_an_unknown_report_format_lists_what_there_is(tmp_path: Path) -> None:
    result = run(tmp_path, PASSES, more=("--report", "pdf"))
    assert result.exit_code == exits.WRONG
    assert "html" in result.stderr


@pytest.mark.slow
def test_ctrl_c_leaves_a_readable_record_and_exits_130(tmp_path: Path) -> None:
    long = PASSES.replace("passes", "long").replace("10 ms", "100_000 s")
    path = spec(tmp_path, PASSES, long)
    command = [sys.executable, "-c", "from qospec.cli import main; main()"]
    arguments = ["run", str(path), "--record", str(tmp_path / "records")]
    process = subprocess.Popen([*command, *arguments], env=os.environ, stdout=subprocess.PIPE)
    deadline_s = time.monotonic() + 60
    while not list(tmp_path.glob("records/*/cases/0001.json")) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == exits.INTERRUPTED
    (folder,) = (tmp_path / "records").iterdir()
    outcome = json.loads((folder / "outcome.json").read_text(encoding="utf-8"))
    assert outcome["state"] == "interrupted"
    assert [(c["name"], c["verdict"]) for c in outcome["cases"]] == [
        ("passes", "pass"),
        ("long", "inconclusive"),
    ]


def renamed(test: str, name: str) -> str:
    (old,) = (word for word in ("passes", "fails", "undecided") if f"test {word} " in test)
    return test.replace(f"test {old} ", f"test {name} ")


def two_files(folder: Path) -> tuple[Path, Path]:
    (folder / "below").mkdir()
    first, second = folder / "a.qos", folder / "below" / "t.qos"
    first.write_text(BENCH + renamed(PASSES, "one") + renamed(FAILS, "two"), encoding="utf-8")
    second.write_text(BENCH + renamed(PASSES, "three"), encoding="utf-8")
    return first, second


def planned_names(*selections: object) -> list[str]:
    result = qos("plan", "--json", *selections)
    assert result.exit_code == exits.PASSED, result.stderr
    return [case["name"] for case in json.loads(result.stdout)["cases"]]


def test_a_name_selects_in_its_own_path_only(tmp_path: Path) -> None:
    first, second = two_files(tmp_path)
    assert planned_names(f"{first}::one", second) == ["one", "three"]
    assert planned_names(f"{first}::one", first) == ["one", "two"]
    assert planned_names(f"{tmp_path}::three", f"{first}::two") == ["two", "three"]


def test_a_name_that_matches_nothing_is_reported_and_nothing_runs(tmp_path: Path) -> None:
    first, second = two_files(tmp_path)
    result = qos("run", first, f"{second}::one", "--record", tmp_path / "records")
    assert result.exit_code == exits.NOTHING
    assert f"no test, case or property of {second} is named `one`" in result.stderr
    assert not (tmp_path / "records").exists()


def test_the_way_to_repeat_a_case_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my tests"
    folder.mkdir()
    (folder / "qos.toml").touch()
    monkeypatch.chdir(folder)
    _, second = two_files(folder)
    second.write_text(BENCH + renamed(FAILS, "three"), encoding="utf-8")
    more = ("--seed", "a 'b'", "--max-cells", "1000", "--record", tmp_path / "records")
    document = json.loads(qos("run", folder, "--json", *more).stdout)
    (again,) = (case["again"] for case in document["cases"] if case["name"] == "three")
    program, *words = shlex.split(again)
    assert (program, words[1]) == ("qos", "below/t.qos::three")
    repeated = json.loads(qos(*words, "--json", "--record", tmp_path / "records").stdout)
    assert [case["name"] for case in repeated["cases"]] == ["three"]
    assert repeated["cases"][0]["again"] == again
    assert repeated["seed"] == "a 'b'"
    assert repeated["provenance"]["limits"] == document["provenance"]["limits"]


def test_defaults_are_left_out_of_the_way_to_repeat(tmp_path: Path) -> None:
    assert "--max-cells" not in run(tmp_path, FAILS).stdout


@pytest.mark.parametrize("chunk", ["abc", "0", "-1", ""])
def test_a_senseless_chunk_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: str
) -> None:
    monkeypatch.setenv("QOS_CHUNK", chunk)
    result = run(tmp_path, PASSES)
    assert result.exit_code == exits.WRONG
    assert f"it is `{chunk}`" in result.stderr
    assert not (tmp_path / "records").exists()


def test_a_record_that_holds_something_else_is_the_environment_s_fault(tmp_path: Path) -> None:
    (tmp_path / "outcome.json").write_text("[]")
    seal(tmp_path)
    result = qos("report", tmp_path)
    assert result.exit_code == exits.ERROR
    assert "outcome.json" in result.stderr


def test_a_record_that_lacks_a_field_is_reported_with_its_file(tmp_path: Path) -> None:
    """It was a template's line and a KeyError."""
    run(tmp_path, PASSES)
    (kept,) = (tmp_path / "records").glob("*/outcome.json")
    outcome = json.loads(kept.read_text(encoding="utf-8"))
    del outcome["cases"][0]["statements"][0]["kind"]
    kept.write_text(json.dumps(outcome), encoding="utf-8")
    seal(kept.parent)
    result = qos("report", kept.parent)
    assert result.exit_code == exits.ERROR
    assert f"`{kept}` is damaged: `cases[0].statements[0]` has no `kind`; copy" in result.stderr


@pytest.mark.slow
def test_a_report_that_fails_hides_no_verdict(tmp_path: Path) -> None:
    """It ended the run with 2 before anything was printed; the other reports are written, too."""
    declared = "{#- report: media_type: text/plain; extension: txt; summary: Broken. -#}"
    broken = f"{declared}\n{{{{ document.cases[0].nothing }}}}"
    (tmp_path / "broken.j2").write_text(broken, encoding="utf-8")
    more = ("--report", str(tmp_path / "broken.j2"), "--report", "markdown")
    result = run(tmp_path, PASSES, more=more)
    assert result.exit_code == exits.ERROR
    assert "1 pass" in result.stdout
    assert "broken.j2:2: there is no `nothing` here" in result.stderr
    assert len([*tmp_path.glob("records/*/report.md")]) == 1
    result = run(tmp_path, FAILS, more=(*more, "--json"))
    assert result.exit_code == exits.ERROR
    assert json.loads(result.stdout)["verdict"] == "fail"


def test_delay_variation_that_varies_is_reported(tmp_path: Path) -> None:
    """Half of the differences are negative: the page ended in `math domain error`."""
    varies = """
topology network {
  a, b = host
  link a -- b via media.fast_ethernet
}
test varies on network {
  flow f = packets { rate = 8_000 pkt/s, size = 1_000 B @ip, gaps = poisson } from a to b
  run { measure = 10 ms }
  expect f.ipdv.p90 < 1 ms
}
"""
    result = run(tmp_path, varies)
    told = [line for line in result.stderr.splitlines() if not line.startswith("compiling kernels")]
    assert (result.exit_code, told) == (exits.PASSED, [])
    (page,) = tmp_path.glob("records/*/report.html")
    assert "<svg" in page.read_text(encoding="utf-8")
