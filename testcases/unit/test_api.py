"""The Python interface: its signatures are frozen, and its page is run."""

import inspect
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from qospec import api
from qospec.run import runner
from qospec.run.workshop import StaleError

ROOT = Path(__file__).parents[2]
SPECIFICATION = """qos 1
let speed = 10 Mbit/s @line

topology wire {
  a, b = host
  link a -- b via line { rate = speed, carries = packet }
}

test whole on wire {
  sweep value in [1, 2]
  flow f = packets { rate = value * 100 pkt/s, size = 125 B @line } from a to b
  run { measure = 100 ms, repeat = 2 }
  expect soon: f.delay.max < 1 ms
}
"""
FROZEN = {
    "load": "(*paths: 'str | Path', settings: 'Sequence[str]' = ()) -> 'Specification'",
    "read_record": "(folder: 'str | Path' = 'last') -> 'RecordedRun'",
    "Specification.plan": (
        "(self, *, match: 'str' = '', seed: 'str' = '0') -> 'tuple[PlannedCase, ...]'"
    ),
    "Specification.run": (
        "(self, *, match: 'str' = '', seed: 'str' = '0', jobs: 'int' = 1,"
        " records: 'str | Path' = 'records', budget_s: 'float | None' = None) -> 'RecordedRun'"
    ),
    "RecordedRun.list_columns": "(self) -> 'dict[str, list[Any]]'",
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.qos").write_text(SPECIFICATION)
    return tmp_path


def test_what_is_offered_is_frozen() -> None:
    assert sorted(api.__all__) == [
        *("BudgetError", "MatchError", "PlannedCase", "RecordError", "RecordedRun"),
        *("Specification", "SpecificationError", "load", "read_record"),
    ]
    for name, signature in FROZEN.items():
        thing = api
        for part in name.split("."):
            thing = getattr(thing, part)
        assert str(inspect.signature(thing)) == signature, name
    assert api.PlannedCase._fields == ("name", "trials", "items", "emulated_s")


def test_a_specification_is_planned_run_and_read_back() -> None:
    specification = api.load("a.qos")
    assert specification.cases == ("whole:value=1", "whole:value=2")
    (planned,) = specification.plan(match="value=2")
    assert (planned.name, planned.trials, planned.items) == ("whole:value=2", 2, 20)
    assert planned.emulated_s == Fraction(1, 5)
    run = specification.run(match="value=2", seed="x")
    assert run.verdicts == {"whole:value=2": "pass"}
    read = api.read_record()
    assert (read.folder.name, read.outcome) == (run.folder.name, run.outcome)
    columns = read.list_columns()
    assert {len(column) for column in columns.values()} == {len(columns["value"])}
    # 125 bytes at 10 Mbit/s take 100 us.
    rows = zip(*(columns[n] for n in ("metric", "repeat", "exact", "unit", "value_")), strict=True)
    longest = [row[1:] for row in rows if row[0] == "transfer_delay.max"]
    assert longest == [(1, Fraction(1, 10_000), "s", "2"), (2, Fraction(1, 10_000), "s", "2")]


def test_a_run_beyond_its_budget_is_refused_before_anything_is_written(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each trial sends 10^8 packets or more, which takes seconds."""
    monkeypatch.setattr(runner, "execute", lambda *_: pytest.fail("it was run"))
    (here / "a.qos").write_text(SPECIFICATION.replace("measure = 100 ms", "measure = 1_000_000 s"))
    with pytest.raises(api.BudgetError, match=r"takes about .* s, and its budget is 1 s"):
        api.load("a.qos").run(budget_s=1)
    assert not (here / "records").exists()


def test_other_values_of_a_let_are_taken() -> None:
    slow = api.load("a.qos", settings=["speed=1 Mbit/s @line"])
    run = slow.run(match="value=1")
    assert run.verdict == "fail"
    assert "--set 'speed=1 Mbit/s @line'" in run.outcome["cases"][0]["again"]


def test_mistakes_are_exceptions(here: Path) -> None:
    with pytest.raises(api.SpecificationError, match="is called `sped`"):
        api.load("a.qos", settings=["sped=1 Mbit/s @line"])
    (here / "b.qos").write_text(SPECIFICATION.replace("100 pkt/s", "100 MHz"))
    with pytest.raises(api.SpecificationError) as wrong:
        api.load("b.qos")
    assert wrong.value.diagnostics[0].span.place.startswith("b.qos:11:")
    with pytest.raises(api.MatchError):
        api.load("a.qos").plan(match="and and")
    with pytest.raises(api.RecordError, match="no record yet"):
        api.read_record()
    with pytest.raises(api.RecordError):
        api.read_record("nowhere")


def test_files_that_were_changed_are_no_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise StaleError("files were changed while the run began: run it again")

    specification = api.load("a.qos")
    monkeypatch.setattr(runner, "execute", refuse)
    with pytest.raises(api.RecordError, match="files were changed"):
        specification.run(match="value=1")


def test_its_page_says_what_it_does(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "docs").symlink_to(ROOT / "docs")
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    notebook = json.loads((ROOT / "docs" / "python.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    assert "\n\n".join(cells) == program.rstrip("\n"), "the notebook has the program of the page"
    exec(program, {})  # noqa: S102 -- it is ours
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "('served_first:priority=0', 'served_first:priority=5')"
    assert printed[2].startswith("pass ")
    assert any(line.startswith("talk ") for line in printed[3:])
