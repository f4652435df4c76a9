"""What `qos check` calls clean, `qos run` carries out: each file of `accept` that has a test."""

from pathlib import Path

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.document import Document
from qospec.plan.plan import Bounds, plan
from qospec.record import store
from qospec.record.schema import CASE, list_violations
from qospec.run import runner

ACCEPT = Path(__file__).parent / "accept"
LONG = {"search", "search_with_goals", "phases", "schedulers"}
"""What takes minutes as plain Python."""
RUN = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.untraced] if path.stem in LONG else [])
    for path in sorted(ACCEPT.glob("*.qos"))
    if "\ntest " in path.read_text("utf-8")
]


class Silent:
    """Hears of a run, and keeps quiet."""

    def note_progress(self, case: str, share: float) -> None:
        pass

    def note_waiting(self) -> None:
        pass

    def note_ended(self, case: Document, seconds: float) -> None:
        pass


def ran(path: Path, records: Path) -> tuple[Document, dict[str, list[str]]]:
    """Run all tests of a file, as `qos run --keep-going` does in one process.

    Returns the outcome, and of each case the names of the phases that it is to carry out.
    """
    problems = Problems()
    suite = check([path], discover(), problems)
    assert not problems.all
    plans = plan(suite, "0", Bounds(), problems)
    assert not problems.errors
    request = runner.RunRequest(
        suite=suite.suite,
        plans=plans,
        seed="0",
        jobs=1,
        commands={planned.case.name: "" for planned in plans},
        bounds=Bounds(),
        keep_going=True,
    )
    phases = {
        planned.case.name: planned.case.run.repeat * [phase.name for phase in planned.case.phases]
        for planned in plans
    }
    return runner.execute(request, store.create(records, "0"), Silent()), phases


@pytest.mark.parametrize("path", RUN)
def test_what_is_clean_is_carried_out(path: Path, tmp_path: Path) -> None:
    """Whatever the verdict is, no case is an error of the tester, and no phase is left out."""
    outcome, phases = ran(path, tmp_path)
    assert outcome["state"] == "complete"
    for case in outcome["cases"]:
        assert (case["errors"], case["verdict"] == "error") == ([], False), case["name"]
        assert case["ran"] or case["skipped"], case["name"]
        assert not list(list_violations(case, CASE))
        _carries_out_phases(case, phases[case["name"]])


def _carries_out_phases(case: Document, names: list[str]) -> None:
    phases = case.get("phases", ())
    assert [phase["name"] for phase in phases] == names
    for phase in phases:
        if phase["kind"] == "search":
            assert phase["trials"], phase["name"]
        else:
            assert phase["ran"], phase["note"]
