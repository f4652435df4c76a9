"""What has not changed since it was run is kept; what a file that is saved changes is run."""

import hashlib
import json
import os
import re
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qospec import cli, resources
from qospec.cli import exits, reusing
from qospec.cli.reusing import _is_newer
from qospec.cli.watching import _list_states
from qospec.record.store import Record
from qospec.run import receipt, runner
from qospec.run.job import JobName
from qospec.run.workshop import Order, StaleError, Workshop, check_once, hash_sources

LIBRARY = (
    "qos 1\nimport std.media\n\ntopology wire {\n  a, b = host\n  link a -- b via media.stm1\n}\n"
)
TEST = """qos 1
import lib

test {name} on lib.wire {{
  sweep n in [1, 2]
  flow f = cbr {{ pcr = n * 1_000 cell/s, cdvt = 1 ms }} from a to b
  run {{ measure = 2 ms }}
  expect all: f.lost == 0
}}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qos.toml").write_text("")
    (tmp_path / "lib.qos").write_text(LIBRARY)
    for name in ("one", "two"):
        (tmp_path / f"{name}.qos").write_text(TEST.format(name=name))
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.qos, ["run", "--no-progress", *arguments])


def list_run(result: Result) -> list[str]:
    """Return the cases that were run: those with a time, in place of which others have a word."""
    assert result.exit_code in (exits.PASSED, exits.FAILED), result.output
    return re.findall(r"^[✓✗] \w+  (\S+:n=\d)  [\d.]+ s$", result.stdout, re.MULTILINE)


def add(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def test_what_has_not_changed_is_kept_and_a_record_is_that_of_a_whole_run(here: Path) -> None:
    every = ["one:n=1", "one:n=2", "two:n=1", "two:n=2"]
    first = run()
    assert list_run(first) == every
    again = run()
    assert list_run(again) == []
    (record,) = (here / "records").iterdir()
    line = f"4 of 4 cases unchanged since records/{record.name}; `--again` runs all\n"
    assert again.stderr == line
    assert again.stdout == re.sub(r"[\d.]+ s$", "unchanged", first.stdout, flags=re.MULTILINE)
    add(here / "two.qos", "# a comment\n")
    partly = run()
    assert list_run(partly) == every[2:]
    assert partly.stderr == line.replace("4 of 4", "2 of 4")
    add(here / "lib.qos", "# a comment\n")
    assert list_run(run()) == every, "both import it"
    assert list_run(run("--again")) == every
    assert len([*(here / "records").iterdir()]) == 4, "what a run would make once more is not made"
    assert CliRunner().invoke(cli.qos, ["verify", "last"]).exit_code == exits.PASSED


def test_a_record_says_of_each_case_when_it_was_run(here: Path) -> None:
    run("one.qos")
    (one,) = (here / "records").iterdir()
    began = json.loads((one / "timing.json").read_text())["started"]
    run()
    (both,) = {*(here / "records").iterdir()} - {one}
    timing = json.loads((both / "timing.json").read_text())
    run_before = {"record": one.name, "started": began, "cases": ["one:n=1", "one:n=2"]}
    assert timing["kept"] == [run_before]
    assert sorted(timing["cases"]) == ["one:n=1", "one:n=2", "two:n=1", "two:n=2"]
    page = (both / "report.html").read_text()
    assert f"<code>{one.name}</code>, started {began}" in page
    assert "one:n=1, one:n=2" in page
    add(here / "two.qos", "# a comment\n")
    assert f"2 of 4 cases unchanged since records/{one.name};" in run().stderr, "not the second"


def test_a_case_of_that_name_in_a_file_that_was_imported_is_another(here: Path) -> None:
    text = TEST.format(name="both")
    (here / "one.qos").write_text(text.replace("import lib", "import lib, two"))
    (here / "two.qos").write_text(text.replace("f.lost == 0", "f.sent == 0"))
    assert run("one.qos").exit_code == exits.PASSED
    assert run("two.qos").exit_code == exits.FAILED


def test_the_last_record_is_what_was_shown_last(here: Path) -> None:
    path = here / "two.qos"
    before = path.read_text()
    run("two.qos")
    path.write_text(before.replace("f.lost == 0", "f.sent == 0"))
    assert run("two.qos").exit_code == exits.FAILED
    path.write_text(before)
    assert list_run(run("two.qos")) == []
    assert (
        "2 pass" in CliRunner().invoke(cli.qos, ["report", "last", "--format", "markdown"]).stdout
    )


def test_what_did_not_pass_is_run_where_that_is_asked_for(here: Path) -> None:
    path = here / "one.qos"
    path.write_text(path.read_text().replace("f.lost == 0", "f.lost < n * 1 cell - 1 cell"))
    run()
    assert list_run(run("-x")) == ["one:n=1"]
    assert list_run(run("--failed")) == ["one:n=1"]
    assert list_run(run()) == []


def test_a_report_is_made_where_there_is_none(here: Path) -> None:
    run()
    (record,) = (here / "records").iterdir()
    (record / "report.html").write_text("edited")
    assert run("--report", "junit").stdout.count("report: ") == 2
    assert "<testsuites" in (record / "report.xml").read_text()
    assert "edited" not in (record / "report.html").read_text()


def test_a_record_of_somebody_else_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a repository that came with its records: they are sealed, and nobody here ran them."""
    run("one.qos")
    assert list_run(run("one.qos")) == []
    monkeypatch.setattr(receipt, "find_private_folder", lambda _name: tmp_path / "empty")
    assert list_run(run("one.qos")) == ["one:n=1", "one:n=2"]
    monkeypatch.setattr(receipt, "find_private_folder", lambda _name: None)
    assert list_run(run("one.qos")) == ["one:n=1", "one:n=2"], "nowhere to keep a receipt"


def test_only_so_many_receipts_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "receipts"
    folder.mkdir()
    monkeypatch.setattr(receipt, "find_private_folder", lambda _name: folder)
    monkeypatch.setattr(receipt, "MOST", 2)
    for seed in range(3):
        run("one.qos", "--seed", str(seed))
    assert len(list(folder.iterdir())) == 2
    assert list_run(run("one.qos", "--seed", "2")) == []


def test_another_seed_limit_or_selection_runs_what_it_concerns() -> None:
    assert len(list_run(run("one.qos"))) == 2
    assert list_run(run()) == ["two:n=1", "two:n=2"]
    assert len(list_run(run("--seed", "1"))) == 4
    assert list_run(run()) == [], "earlier records are of that seed"
    assert len(list_run(run("--max-cells", "5000"))) == 4
    assert list_run(run("--max-cells", "5000", "-k", "n=1")) == []


def test_what_is_to_be_computed_in_another_way_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    run("one.qos")
    monkeypatch.setenv("QOS_CHUNK", "7")
    assert len(list_run(run("one.qos"))) == 2
    monkeypatch.delenv("QOS_CHUNK")
    assert list_run(run("one.qos")) == []


def test_runs_that_differ_by_how_they_were_computed_have_a_receipt_each(here: Path) -> None:
    """Two short runs within a second may have taken the same milliseconds."""
    run("one.qos")
    (folder,) = (here / "records").iterdir()
    receipt.write_receipt(Record(folder), receipt.Receipt("in another way", {}))
    assert list_run(run("one.qos")) == []


def test_a_failure_is_kept_with_its_words(here: Path) -> None:
    path = here / "one.qos"
    path.write_text(path.read_text().replace("f.lost == 0", "f.lost == 1 cell"))
    run()
    kept = run()
    assert list_run(kept) == []
    assert kept.exit_code == exits.FAILED
    assert "one.qos:8:15: expect f.lost == 1 cell" in kept.stdout


def test_what_has_a_key_is_run_whatever_it_is(here: Path) -> None:
    add(here / "one.qos", 'let secret = "c0ffee0badf00dc0ffee0badf00d123456789012"\n')
    run()
    assert list_run(run()) == ["one:n=1", "one:n=2"]


def test_a_record_that_was_changed_is_not_believed(here: Path) -> None:
    run()
    (outcome,) = here.glob("records/*/outcome.json")
    outcome.write_text(outcome.read_text().replace('"pass"', '"fail"'))
    result = run()
    assert len(list_run(result)) == 4
    assert "is damaged" in result.stderr


def test_results_of_another_program_are_not_kept() -> None:
    assert _is_newer({"started": "2001-01-01T00:00:00Z"})
    assert not _is_newer({"started": "2999-01-01T00:00:00Z"})


def test_results_are_kept_from_several_records_each_of_which_is_named(here: Path) -> None:
    run("one.qos")
    run("two.qos")
    (one, two) = sorted((here / "records").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    kept = run()
    assert list_run(kept) == []
    since = ", ".join(f"records/{path.name} (2)" for path in sorted((one, two), reverse=True))
    assert kept.stderr == f"4 of 4 cases unchanged since {since}; `--again` runs all\n"
    (joined,) = {*(here / "records").iterdir()} - {one, two}
    assert len(list_run(run("--record", "anew"))) == 4
    (anew,) = (here / "anew").iterdir()
    files = {path.relative_to(anew) for path in anew.rglob("*") if path.is_file()}
    assert files == {path.relative_to(joined) for path in joined.rglob("*") if path.is_file()}
    timed = {"timing.json", "SHA256SUMS", "report.html"}
    compared = [file for file in files if file.name not in timed]
    assert len(compared) == 6
    assert [f for f in compared if (anew / f).read_bytes() != (joined / f).read_bytes()] == []


def test_a_damaged_record_is_passed_over_for_an_older_one(here: Path) -> None:
    run("one.qos")
    run()
    newest = max((here / "records").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    (newest / "outcome.json").write_text("{}")
    result = run()
    assert list_run(result) == ["two:n=1", "two:n=2"]
    assert "is damaged" in result.stderr


def test_a_file_of_the_package_that_is_older_than_a_record_is_another_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As of another checkout of the same version, all of whose files are older."""
    run("one.qos")
    for module in (reusing, runner):
        monkeypatch.setattr(module, "hash_program", lambda: 64 * "0")
    ran = run("one.qos")
    assert list_run(ran) == ["one:n=1", "one:n=2"]
    assert ran.stderr == ""
    assert list_run(run("one.qos")) == []


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder in place of that of the package."""
    folder = tmp_path / "package"
    folder.mkdir()
    monkeypatch.setattr(resources, "_PACKAGE", folder)
    resources.hash_program.cache_clear()
    yield folder
    resources.hash_program.cache_clear()


def test_a_program_is_known_by_the_names_and_bytes_of_its_files(package: Path) -> None:
    found = set()
    for name, text in (("a.py", "1"), ("a.py", "2"), ("b.py", "2"), ("c/d.qos", "2")):
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_text(text)
        os.utime(package / name, (0, 0))
        resources.hash_program.cache_clear()
        found.add(resources.hash_program())
    assert len(found - {""}) == 4


def test_nothing_is_kept_of_a_program_that_was_changed_after_the_start(package: Path) -> None:
    """A run that has loaded one text of an element must not vouch for another."""
    every = ["one:n=1", "one:n=2"]
    (package / "saved.py").write_text("")
    assert list_run(run("one.qos")) == every
    (record,) = Path("records").iterdir()
    assert "program" not in json.loads((record / "timing.json").read_text())
    assert list_run(run("one.qos")) == every
    os.utime(package / "saved.py", (0, 0))
    resources.hash_program.cache_clear()
    assert list_run(run("one.qos")) == every, "no run before has a receipt"
    assert list_run(run("one.qos")) == []


def test_a_time_in_the_future_does_not_hinder(package: Path) -> None:
    """It is that of another clock, and each run would find the file changed."""
    (package / "ahead.py").write_text("")
    os.utime(package / "ahead.py", (2**32, 2**32))
    assert list_run(run("one.qos")) == ["one:n=1", "one:n=2"]
    assert list_run(run("one.qos")) == []


def test_a_run_that_goes_on_keeps_what_it_has_anyway() -> None:
    result = CliRunner().invoke(cli.qos, ["run", "--resume", "last", "--again"])
    assert result.exit_code == exits.WRONG
    assert "--resume and --again exclude each other" in result.stderr


SENDS = """qos 1
import std.media

topology wire {
  a, b = host
  link a -- b via media.gigabit_ethernet
}

test sent on wire {
  sweep n in [1]
  flow f = capture { file = "site.pcap", speed = n } from a to b
  run { measure = 2 ms }
  expect few: f.sent <= 3 pkt
}
"""


def write_capture(folder: Path, packets: int) -> None:
    """Write packets of 28 B, 10 us apart. draft-ietf-opsawg-pcap; RFC 791, 3.1; RFC 768."""
    data = struct.pack(">BBHHHBBH", 0x45, 0, 28, 0, 0, 64, 17, 0) + bytes(16)
    frames = (struct.pack("<IIII", 0, 10 * n, 28, 28) + data for n in range(packets))
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)
    (folder / "site.pcap").write_bytes(head + b"".join(frames))


def test_a_capture_is_a_file_that_results_depend_on(here: Path) -> None:
    """The 3 packets are replaced by 20: nothing may take the results for those of the new file."""
    path = Path("one.qos")
    path.write_text(SENDS)
    write_capture(here, 3)
    assert list_run(run("one.qos")) == ["sent:n=1"]
    (record,) = (here / "records").iterdir()
    source = json.loads((record / "run.json").read_text())["provenance"]["sources"][-1]
    digest = hashlib.sha256((here / "site.pcap").read_bytes()).hexdigest()
    assert source == {"name": "site.pcap", "sha256": digest}
    assert list_run(run("one.qos")) == []
    assert CliRunner().invoke(cli.qos, ["judge", "last"]).exit_code == exits.PASSED
    (record / "outcome.json").unlink()  # as if it was killed
    order = Order((path,), hash_sources(check_once((path,)).suite.sources))
    seen = dict(_list_states([path]))

    write_capture(here, 20)
    assert dict(_list_states([path])) != seen
    check_once.cache_clear()
    with pytest.raises(StaleError):
        Workshop(order).plan(JobName("sent:n=1"))
    resumed = CliRunner().invoke(cli.qos, ["run", "--resume", str(record)])
    assert resumed.exit_code == exits.WRONG
    assert "`site.pcap` is not what it was when the run began; put it back" in resumed.output
    for comment in ("", "# a comment\n"):  # also where the record's texts are no longer at hand
        add(path, comment)
        judged = CliRunner().invoke(cli.qos, ["judge", "last"])
        assert judged.exit_code == exits.INCONCLUSIVE, judged.output
        assert "not measured: the capture `site.pcap` is not what the record" in judged.output
    path.write_text(SENDS)
    ran = run("one.qos")
    assert (list_run(ran), ran.exit_code) == (["sent:n=1"], exits.FAILED)


def test_criteria_of_a_capture_that_is_as_it_was_are_judged_again(here: Path) -> None:
    """Its texts are no longer at hand, so they are checked elsewhere; it is the same file there."""
    path = Path("one.qos")
    path.write_text(SENDS)
    write_capture(here, 3)
    assert run("one.qos").exit_code == exits.PASSED
    path.write_text(path.read_text().replace("<= 3", "<= 2"))
    judged = CliRunner().invoke(cli.qos, ["judge", "last"])
    assert judged.exit_code == exits.FAILED, judged.output


@pytest.mark.slow
def test_a_watch_outlives_a_broken_file(here: Path) -> None:
    command = [sys.executable, "-m", "qospec", "run", "one.qos", "--watch", "--no-progress"]
    path = here / "one.qos"
    sound = path.read_text()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=here
    ) as process:
        assert process.stdout is not None

        def read() -> str:
            lines: list[str] = []
            while not lines or not lines[-1].startswith("watching"):
                line = process.stdout.readline() if process.stdout else ""
                assert line, "it ended:\n" + "".join(lines)
                lines.append(line)
            return "".join(lines)

        try:
            assert "2 pass" in read()
            path.write_text(sound.replace("expect", "exepct"))
            assert "error" in read()
            path.write_text(sound.replace("f.lost == 0", "f.lost == 1 cell"))
            assert "2 fail" in read()
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == exits.INTERRUPTED
        finally:
            process.kill()
