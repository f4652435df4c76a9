"""`qos judge`: newer criteria, what was measured then, and the record as it was."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from invoking import invoke
from narrow import NARROW

SPECIFICATION = (
    NARROW
    + """let most = 3 ms
test loads on bench {
  sweep load in [1 Mbit/s @ip, 20 Mbit/s @ip]
  flow ab = packets { rate = load, size = 500 B @ip, gaps = poisson } from a to b
  run { measure = 40 ms, repeat = 5, overload = true }
  expect whole: ab.loss <= 20 %
  expect soon: ab.delay.max <= most
  report ab.received
}
test most_of on bench {
  search load in 1 Mbit/s @ip .. 5 Mbit/s @ip { trial = 20 ms, goal ndr { loss = 0 } }
  flow ab = packets { rate = load, size = 500 B @ip } from a to b
  point latency { load = ndr.load, measure = 20 ms }
  expect fast: ndr.load >= 3 Mbit/s @ip
  expect short: latency.ab.delay.max <= 10 ms
}
"""
)
FAST = "loads:load=1Mbit_per_s-ip"
SLOW = "loads:load=20Mbit_per_s-ip"


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the record of the specification; not to be changed."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "bench.qos").write_text(SPECIFICATION)
    ran = invoke("run", folder / "bench.qos", "--record", folder / "kept", "--no-progress")
    assert ran.exit_code == 1, ran.output
    (found,) = (folder / "kept").iterdir()
    return found


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def judge(record: Path, *changes: tuple[str, str], options: tuple[str, ...] = ()) -> Result:
    """Judge a record by the specification with these changes, as `bench.qos` here."""
    text = SPECIFICATION
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    Path("bench.qos").write_text(text)
    return invoke("judge", record, *options)


def rerun() -> list[dict[str, object]]:
    """Return the cases of a run of the specification that is here now."""
    done = invoke("run", "bench.qos", "--json", "--no-progress", "--record", "again")
    found: list[dict[str, object]] = json.loads(done.stdout)["cases"]
    return found


def test_without_a_change_all_is_as_it_was_and_the_record_too(record: Path) -> None:
    before = {path: path.read_bytes() for path in record.rglob("*") if path.is_file()}
    done = judge(record, options=("--json",))
    assert done.exit_code == 1
    outcome, kept = json.loads(done.stdout), json.loads((record / "outcome.json").read_text())
    assert outcome["cases"] == kept["cases"]
    assert outcome["summary"] == kept["summary"]
    assert before == {path: path.read_bytes() for path in record.rglob("*") if path.is_file()}


def test_what_changed_is_judged_as_a_run_would(record: Path) -> None:
    changes = [
        ("expect whole: ab.loss <= 20 %", "require whole: ab.loss <= 10 %"),
        ("ab.delay.max <= most", "ab.delay.mean <= 1 ms and ab.sent > 0 pkt"),
        ("report ab.received", "report share: ab.received / ab.sent"),
        (">= 3 Mbit/s @ip", ">= 4.9 Mbit/s @ip"),
        ("latency.ab.delay.max <= 10 ms", "latency.ab.delay.max <= 100 us"),
    ]
    judged = json.loads(judge(record, *changes, options=("--json",)).stdout)["cases"]
    ran = invoke("run", "bench.qos", "--json", "--no-progress", "--record", "again")
    verdicts = []
    for case, again in zip(judged, json.loads(ran.stdout)["cases"], strict=True):
        assert case["verdict"] == again["verdict"]
        fields = ("label", "verdict", "measured", "bound", "comparison", "place")
        shown, expected = (
            [[statement[name] for name in fields] for statement in its["statements"]]
            for its in (case, again)
        )
        assert shown == expected
        verdicts += [statement["verdict"] for statement in case["statements"]]
    assert {"pass", "fail", "inconclusive"} <= set(verdicts)


def test_what_was_not_measured_is_said_with_its_place_and_what_measures_it(record: Path) -> None:
    done = judge(record, ("ab.delay.max <= most", "ab.delay.p99_99 <= 60 ms"), ("20 %", "90 %"))
    assert done.exit_code == 3
    assert "bench.qos:" in done.output
    assert "not measured: the record does not hold `ab.delay.p99_99`" in done.output
    assert f"qos run bench.qos::{FAST}" in done.output
    changes = [("20 %", "90 % with 95% confidence"), ("most = 3 ms", "most = 60 ms")]
    done = judge(record, *changes)
    assert done.exit_code == 3
    assert "not measured: a confidence needs more of each repeat than a record holds" in done.output


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("room = 4", "room = 5"), "its topology is not what the record was made of"),
        (("500 B @ip, gaps", "600 B @ip, gaps"), "its flows are not what the record was made of"),
        (("measure = 40 ms", "measure = 90 ms"), "its run is not what the record was made of"),
        (("goal ndr { loss = 0 }", "goal ndr { loss = 1% }"), "its searches and points are not"),
    ],
)
def test_another_experiment_is_not_what_was_measured(
    record: Path, change: tuple[str, str], why: str
) -> None:
    done = judge(record, change, ("<= 20 %", "<= 90 %"), ("most = 3 ms", "most = 60 ms"))
    assert done.exit_code == 3
    assert f"not measured: {why}" in done.output


def test_a_case_that_only_one_of_them_has_is_named(record: Path) -> None:
    done = judge(record, ("1 Mbit/s @ip, 20", "2 Mbit/s @ip, 20"), options=("bench.qos",))
    assert (done.exit_code, "the record has no such case" in done.output) == (1, True)
    done = judge(record, ("1 Mbit/s @ip, 20", "2 Mbit/s @ip, 20"))
    assert f"note: `{FAST}` is in the record only, and is not judged" in done.output
    assert invoke("judge", record, "none.qos").exit_code == 2
    assert invoke("judge", "nowhere").exit_code == 2
