"""`qos run --part` and `qos merge`: all parts together are one run, and what is not is refused."""

import contextlib
import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from invoking import invoke
from narrow import NARROW
from seals import seal

from qospec.record.outcome import conclude_outcome

# Five cases: one fails, one is skipped, one searches, so that parts are not alike.
SPECIFICATION = (
    NARROW
    + """test loads on bench {
  sweep load in [1 Mbit/s @ip, 5 Mbit/s @ip, 20 Mbit/s @ip]
  flow ab = packets { rate = load, size = 500 B @ip, gaps = poisson } from a to b
  run { measure = 100 ms, repeat = 2, overload = true }
  expect nothing_lost: ab.loss <= 20 %
  report ab.delay.max
}
test most on bench {
  search load in 1 Mbit/s @ip .. 5 Mbit/s @ip { trial = 100 ms, goal ndr { loss = 0 } }
  flow ab = packets { rate = load, size = 500 B @ip } from a to b
}
test again on bench {
  flow ab = packets { rate = 100 pkt/s, size = 100 B @ip } from a to b
  run { measure = 100 ms }
  expect ab.received == 10 pkt
}
"""
)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bench.qos").write_text(SPECIFICATION)


RunPart = Callable[..., Path]


@pytest.fixture(scope="module")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> RunPart:
    """Return what runs a part of a text in a folder of its own, once, and returns its records."""

    @cache
    def run(text: str, part: str, *options: str) -> Path:
        folder = tmp_path_factory.mktemp("part")
        (folder / "bench.qos").write_text(text)
        with contextlib.chdir(folder):
            to = ("--record", "records", "--no-progress")
            ran = invoke("run", "bench.qos", "--part", part, *to, *options)
        assert ran.exit_code in (0, 1), ran.output
        return folder / "records"

    return run


@pytest.fixture
def run_part(run_once: RunPart) -> RunPart:
    """Return what runs a part of the project here, as it is now, and returns its record."""

    def run(part: str, *options: str) -> Path:
        root = Path("records") / part.replace("/", "-of-") / "-".join(options)
        text = Path("bench.qos").read_text()
        shutil.copytree(run_once(text, part, *options), root, dirs_exist_ok=True)
        (record,) = (path for path in root.iterdir() if (path / "run.json").exists())
        return record

    return run


@pytest.fixture
def parts(run_part: RunPart) -> list[Path]:
    """Return the records of both halves of the project's cases."""
    return [run_part("1/2"), run_part("2/2")]


def test_all_parts_merged_are_one_run_byte_by_byte(run_part: RunPart) -> None:
    records = [run_part(f"{number}/4") for number in (3, 1, 4, 2)]
    whole = invoke("run", "bench.qos", "--record", "whole", "--no-progress")
    merged = invoke("merge", *records, "--record", "merged", "--report", "json")
    assert whole.exit_code == merged.exit_code == 1
    (one,), (other,) = Path("whole").iterdir(), Path("merged").iterdir()
    files = sorted(str(path.relative_to(one)) for path in one.rglob("*.json"))
    assert files == sorted(
        str(path.relative_to(other)) for path in other.rglob("*.json") if path.name != "report.json"
    )
    assert [file for file in files if (one / file).read_bytes() != (other / file).read_bytes()] == [
        "timing.json"
    ]
    assert json.loads((other / "report.json").read_text())["summary"]["fail"] == 1


def test_a_part_has_its_own_cases_and_says_which_part_it_is() -> None:
    ran = invoke("run", "bench.qos", "--part", "2/3", "--record", "records", "--no-progress")
    assert "part 2/3: 2 of 5 cases" in ran.output
    (record,) = Path("records").iterdir()
    names = [case["name"] for case in json.loads((record / "outcome.json").read_text())["cases"]]
    assert names == ["loads:load=5Mbit_per_s-ip", "again"]
    assert "Part 2 of 3 of a run. " in (record / "report.html").read_text()
    # A part that was killed shows its own cases only, too.
    (record / "outcome.json").unlink()
    (record / "cases" / "0005.json").unlink()
    again = invoke("report", record, "--format", "markdown")
    assert "1 of 2 cases ended" in again.output


def test_it_does_not_matter_how_many_workers_a_part_has(run_part: RunPart) -> None:
    one, two = run_part("1/2"), run_part("1/2", "-j", "2")
    assert (one / "outcome.json").read_bytes() == (two / "outcome.json").read_bytes()


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("9/8", "there is no part 9/8: write `1/8` to `8/8`"),
        ("0/8", "there is no part 0/8: write `1/8` to `8/8`"),
        ("1/0", "a run has at least one part: write `1/1`"),
        ("3", "`3` is not a part: write `3/8` for the third of eight"),
        ("-1/2", "`-1/2` is not a part"),
        ("1/99999999999", "`1/99999999999` is too large: a run has at most 999_999 parts"),
    ],
)
def test_a_part_that_cannot_be(part: str, message: str) -> None:
    refused = invoke("run", "bench.qos", f"--part={part}")
    assert (refused.exit_code, message in refused.output) == (2, True), refused.output
    assert not Path("records").exists()


def test_more_parts_than_cases_leave_parts_without_a_case(run_part: RunPart) -> None:
    """A matrix of parts is written before anybody counts the cases: that is no failure."""
    empty = invoke("run", "bench.qos", "-k", "again", "--part", "3/3", "--record", "empty")
    assert empty.exit_code == 0
    assert "no case; seed 0" in empty.output
    assert "part 3/3: 0 of 1 case; `qos merge` makes one record of all parts" in empty.output
    records = [*Path("empty").iterdir()]
    assert "Part 3 of 3 of a run. No case was run." in (records[0] / "report.html").read_text()
    records += [run_part(f"{number}/3", "-k", "again") for number in (1, 2)]
    merged = invoke("merge", *records, "--record", "merged")
    assert (merged.exit_code, "1 pass; seed 0" in merged.output) == (0, True)


def test_a_record_without_a_case_says_so_whoever_asks_for_its_cases(run_part: RunPart) -> None:
    """It was an internal error, and `inconclusive` where the run had exited with 0."""
    empty = run_part("7/7")
    for more in ([], ["--part", "1/2"]):
        failed = invoke("run", "bench.qos", "--failed", "--record", empty.parent, *more)
        assert failed.exit_code == 5
        way_out = "`qos run` without `--failed` runs all"
        said = f"nothing selected: the last record, {empty}, has no case: {way_out}\n"
        assert failed.output == said
    judged = invoke("judge", empty)
    nothing = f"{empty} has no case: there is nothing to judge\n"
    assert (judged.exit_code, judged.output) == (0, nothing)
    verified = invoke("verify", empty)
    assert verified.exit_code == 0
    assert f"{empty}: all files are as they were written; it has no case\n" in verified.output


def refusal(*records: Path, code: int = 2) -> str:
    """Return why records cannot be merged; with `code` 4, why one cannot be read."""
    refused = invoke("merge", *records, "--record", "merged")
    assert refused.exit_code == code, refused.output
    assert not Path("merged").exists()
    return refused.output


def test_a_part_that_is_missing(parts: list[Path], run_part: RunPart) -> None:
    assert "1 part is missing: 1/2" in refusal(parts[1])
    eight = [run_part("1/4")]
    assert "3 parts are missing: 2/4, 3/4, 4/4" in refusal(*eight)


def test_a_part_that_is_there_twice(parts: list[Path]) -> None:
    assert f"part 1/2 is there 2 times: `{parts[0]}`, `{parts[0]}`" in refusal(*parts, parts[0])


def test_parts_of_different_seeds(parts: list[Path], run_part: RunPart) -> None:
    said = refusal(parts[0], run_part("2/2", "--seed", "7"))
    assert "are not parts of one run: the seed is `7` here and `0` there" in said


def test_parts_of_different_divisions(parts: list[Path], run_part: RunPart) -> None:
    assert "the number of parts is `3` here and `2` there" in refusal(parts[0], run_part("2/3"))


def test_parts_of_different_options(parts: list[Path], run_part: RunPart) -> None:
    assert "they were run with different options" in refusal(
        parts[0], run_part("2/2", "--keep-going")
    )
    limited = run_part("2/2", "--max-cells", "1000000")
    assert "the limit of cells per trial is `1000000` here" in refusal(parts[0], limited)


def test_parts_of_different_selections(parts: list[Path], run_part: RunPart) -> None:
    assert "different cases were selected" in refusal(parts[0], run_part("2/2", "-k", "loads"))


def test_parts_of_different_texts(parts: list[Path], run_part: RunPart) -> None:
    Path("bench.qos").write_text(SPECIFICATION.replace("room = 4", "room = 5"))
    assert "`bench.qos` differs" in refusal(parts[0], run_part("2/2", "-v"))


def test_parts_of_different_versions(parts: list[Path]) -> None:
    for name in ("run.json", "outcome.json"):
        document = json.loads((parts[1] / name).read_text())
        document["provenance"]["numpy"] = "1.99"
        (parts[1] / name).write_text(json.dumps(document))
    seal(parts[1])
    assert "the version of numpy is `1.99` here" in refusal(*parts)


def test_a_part_that_was_interrupted(parts: list[Path]) -> None:
    (parts[0] / "outcome.json").unlink()
    (parts[0] / "cases" / "0003.json").unlink()
    assert "part 1/2 was interrupted" in refusal(*parts)
    assert f"go on with it by `qos run --resume {parts[0]}`" in refusal(*parts)


def test_a_record_that_is_no_part() -> None:
    invoke("run", "bench.qos", "--record", "whole", "--no-progress")
    (whole,) = Path("whole").iterdir()
    assert "is not of a part of a run: `qos run --part 1/8` makes such a record" in refusal(whole)


def test_a_folder_that_is_no_record(parts: list[Path]) -> None:
    missing = invoke("merge", "nowhere")
    assert (missing.exit_code, missing.output) == (2, "error: no record found at `nowhere`\n")
    assert "holds no run.json" in refusal(parts[0].parent, code=4)


def test_a_part_whose_number_is_not_possible(parts: list[Path]) -> None:
    document = json.loads((parts[0] / "run.json").read_text())
    document["part"]["number"] = 3
    (parts[0] / "run.json").write_text(json.dumps(document))
    seal(parts[0])
    assert "`part` is not a part, such as number 3 of 8" in refusal(*parts, code=4)


def test_a_copy_of_a_part_is_as_good(parts: list[Path]) -> None:
    shutil.copytree(parts[1], "elsewhere")
    assert invoke("merge", parts[0], "elsewhere", "--record", "merged").exit_code == 1


def test_a_part_without_its_times_is_refused(parts: list[Path]) -> None:
    (parts[0] / "timing.json").unlink()
    assert f"`{parts[0]}/timing.json` is missing: copy the record again" in refusal(*parts, code=4)


def test_a_source_that_leads_out_of_the_project_is_refused(parts: list[Path]) -> None:
    plan = json.loads((parts[1] / "run.json").read_text())
    plan["provenance"]["sources"][0]["name"] = "std/../../a.qos"
    (parts[1] / "run.json").write_text(json.dumps(plan))
    seal(parts[1])
    assert "`provenance.sources[0].name` is not a path of the library" in refusal(*parts, code=4)


def test_a_part_with_a_case_of_another_part_is_refused(parts: list[Path]) -> None:
    first, second = (json.loads((part / "outcome.json").read_text()) for part in parts)
    cases = [*first["cases"], second["cases"][0]]
    forged = {**first, **conclude_outcome(first, cases), "cases": cases}
    (parts[0] / "outcome.json").write_text(json.dumps(forged))
    seal(parts[0])
    for given in (parts, parts[::-1]):
        assert f"`{parts[0]}` holds other cases than those of part 1/2" in refusal(*given, code=4)
