"""The seal of a record: what was changed is refused, and so is what contradicts itself."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random  # noqa: TID251 -- bits are drawn, not results
from typing import Any

import pytest
from invoking import invoke
from seals import seal

from qospec.record import store

FILES = ("run.json", "cases/0001.json", "outcome.json", "timing.json", "report.html", "SHA256SUMS")


@pytest.fixture
def kept(tmp_path: Path, recorded: Any) -> store.Record:
    """Return the record that the recorded run left, with a report."""
    record = store.create(tmp_path, "7")
    frame = dict(recorded.planned)
    record.begin(frame, frame.pop("planned"))
    for number, case in enumerate(recorded.outcome["cases"], 1):
        record.add(number, case)
    record.end(recorded.outcome, recorded.timing)
    record.add_report("report.html", "<h1>FAIL</h1>\n")
    return record


def test_the_seal_is_that_of_sha256sum(kept: store.Record) -> None:
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    done = subprocess.run(command, cwd=kept.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    files = {
        str(path.relative_to(kept.folder)) for path in kept.folder.rglob("*") if path.is_file()
    }
    assert {line.rpartition(": ")[0] for line in done.stdout.splitlines()} | {"SHA256SUMS"} == files


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["verify", "report", "merge", "pcap"])
def test_whatever_was_changed_is_refused_by_name_with_a_way_out(
    kept: store.Record, command: str, name: str
) -> None:
    path = kept.folder / name
    text = path.read_text(encoding="utf-8")
    found = re.search("[0-9]", text)
    assert found is not None
    digit = str((int(found[0]) + 1) % 10)
    path.write_text(text[: found.start()] + digit + text[found.end() :], encoding="utf-8")
    done = invoke(command, kept.folder, *(["x"] if command == "pcap" else []))
    assert done.exit_code == 4
    remedy = "`qos report` makes it again" if name == "report.html" else store.REMEDY
    first = "cases/0001.json" if name == "SHA256SUMS" else name
    assert f"error: `{kept.folder / first}` is damaged: it was changed since" in done.output
    assert remedy in done.output


@pytest.mark.parametrize("name", FILES)
def test_of_what_is_missing_only_a_report_can_be_made_again(kept: store.Record, name: str) -> None:
    (kept.folder / name).unlink()
    done = invoke("report", kept.folder, "-o", kept.folder / "report.html")
    if name == "report.html":
        assert done.exit_code == 0
        assert invoke("verify", kept.folder).exit_code == 0
    elif name == "outcome.json":  # as of a run that was killed when all had ended
        assert done.exit_code == 0
    else:
        assert (done.exit_code, f"{name}" in done.output) == (4, True)


def test_a_file_that_the_seal_does_not_name_is_refused(kept: store.Record) -> None:
    (kept.folder / "cases" / "0009.json").write_text("{}")
    done = invoke("verify", kept.folder)
    assert (
        done.exit_code,
        "0009.json` is damaged: SHA256SUMS does not name it" in done.output,
    ) == (
        4,
        True,
    )


def test_no_flipped_bit_is_overlooked(kept: store.Record) -> None:
    draw = Random(37)  # noqa: S311
    files = [path for path in kept.folder.rglob("*") if path.is_file()]
    for _ in range(200):
        path = draw.choice(files)
        data = path.read_bytes()
        at, bit = draw.randrange(len(data)), draw.randrange(8)
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
        with pytest.raises(store.RecordError):
            kept.verify()
        path.write_bytes(data)
    kept.verify()


def test_an_earlier_record_without_a_seal_is_told_so(kept: store.Record) -> None:
    (kept.folder / "SHA256SUMS").unlink()
    done = invoke("report", kept.folder)
    assert done.exit_code == 4
    assert "holds no SHA256SUMS, the checksums of its files: an earlier version" in done.output


def test_the_fingerprint_of_a_report_is_that_of_the_file(kept: store.Record) -> None:
    """It was computed of what was read, in whatever form that had been written."""
    path = kept.folder / "outcome.json"
    path.write_text(json.dumps(kept.read_outcome()), encoding="utf-8")
    seal(kept.folder)
    sums = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True).stdout
    assert sums.split()[0] in invoke("report", kept.folder).output


def change(record: store.Record, edit: Callable[[Any], None]) -> str:
    """Change what a record says, seal it again, and return why it is refused."""
    outcome = record.read_outcome()
    edit(outcome)
    (record.folder / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")
    seal(record.folder)
    done = invoke("report", record.folder)
    assert done.exit_code == 4, done.output
    return done.output


def pass_case(outcome: Any) -> None:
    failed = next(case for case in outcome["cases"] if case["verdict"] == "fail")
    failed["verdict"] = "pass"


def pass_statement(outcome: Any) -> None:
    pass_case(outcome)
    for case in outcome["cases"]:
        for statement in case["statements"]:
            if statement["verdict"] == "fail":
                statement["verdict"] = "pass"


def pass_all(outcome: Any) -> None:
    outcome["verdict"] = "pass"


def count_otherwise(outcome: Any) -> None:
    outcome["summary"]["pass"] += outcome["summary"]["fail"]
    outcome["summary"]["fail"] = 0


def complete(outcome: Any) -> None:
    outcome["cases"][0]["errors"] = ["not run: the run was interrupted"]


def change_text(outcome: Any) -> None:
    outcome["provenance"]["sources"][0]["text"] += "# later\n"


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (pass_case, "is `pass`, which its statements do not bear"),
        (pass_statement, "is `pass`, which what was measured does not bear"),
        (pass_all, "its verdict is `pass`, which its cases do not bear"),
        (count_otherwise, "its summary counts `pass` otherwise than its cases"),
        (complete, "which its statements do not bear"),
        (change_text, "was changed"),
    ],
)
def test_what_contradicts_itself_is_refused_though_it_is_sealed(
    kept: store.Record, edit: Callable[[Any], None], why: str
) -> None:
    assert why in change(kept, edit)


def test_an_outcome_of_other_cases_than_the_record_s_is_refused(kept: store.Record) -> None:
    outcome = kept.read_outcome()
    outcome["cases"][0]["why"] = ["nothing"]
    (kept.folder / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")
    seal(kept.folder)
    done = invoke("verify", kept.folder)
    assert (done.exit_code, "is not what its run.json and cases come to" in done.output) == (
        4,
        True,
    )
