"""`qos baseline`: records that later runs are compared with, by name."""

from pathlib import Path

import pytest
from invoking import invoke
from narrow import NARROW

SPECIFICATION = (
    NARROW
    + """test loads on bench {
  sweep load in [1 Mbit/s @ip, 20 Mbit/s @ip]
  flow ab = packets { rate = load, size = 500 B @ip } from a to b
  run { measure = 20 ms, overload = true }
  expect whole: ab.loss <= 60 %
}
"""
)


def write_and_run(text: str, *options: str) -> Path:
    """Run a specification, and return its record."""
    Path("bench.qos").write_text(text)
    ran = invoke("run", "bench.qos", "--no-progress", *options)
    assert ran.exit_code in (0, 1), ran.output
    return Path(ran.output.rpartition("report: ")[2].strip()).parent


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qos.toml").touch()


def test_a_baseline_outlives_the_record_it_was_made_of() -> None:
    record = write_and_run(SPECIFICATION)
    assert "no baseline yet" in invoke("baseline", "list").output
    done = invoke("baseline", "set", "main")
    assert done.output == f"baseline main is {record}: 2 cases, pass\n"
    for path in (record / "cases").iterdir():
        path.unlink()
    assert invoke("verify", record).exit_code == 4
    assert invoke("verify", "baseline:main").exit_code == 0
    assert invoke("baseline", "list").output.startswith("main: 2 cases, pass; seed 0, 20")
    write_and_run(SPECIFICATION.replace("room = 4", "room = 2"))
    done = invoke("compare", "baseline:main", "last")
    assert (done.exit_code, "worse: loads:load=20Mbit_per_s-ip, whole" in done.output) == (1, True)
    assert "baseline main is replaced by" in invoke("baseline", "set", "main", "last").output
    assert invoke("compare", "baseline:main", "last").exit_code == 0
    assert [path.name for path in Path("baselines").iterdir()] == ["main"]


def test_a_case_that_a_baseline_lacks_cannot_be_told() -> None:
    write_and_run(SPECIFICATION, "-k", "load=1Mbit_per_s-ip")
    invoke("baseline", "set", "small")
    write_and_run(SPECIFICATION)
    done = invoke("compare", "baseline:small", "last")
    assert done.exit_code == 3
    assert "cannot tell: loads:load=20Mbit_per_s-ip" in done.output
    assert "the baseline lacks 1 case: `qos baseline set small` makes the last" in done.output


def test_what_is_no_baseline_is_refused_by_name() -> None:
    assert "holds no record yet" in invoke("baseline", "set", "main").output
    record = write_and_run(SPECIFICATION)
    invoke("baseline", "set", "main")
    done = invoke("compare", "baseline:mian", "last")
    assert (done.exit_code, "`qos baseline list` lists baselines" in done.output) == (2, True)
    done = invoke("baseline", "rm", "mian")
    assert (done.exit_code, "did you mean `main`?" in done.output) == (2, True)
    assert invoke("baseline", "set", "../main").exit_code == 2
    (record / "outcome.json").unlink()
    done = invoke("baseline", "set", "cut", record)
    assert (done.exit_code, "has not ended" in done.output) == (2, True)
    assert invoke("baseline", "rm", "main").output == "baseline main is removed\n"
    assert not Path("baselines/main").exists()
