"""A search that is interrupted keeps its finished trials; cases that had ended are kept whole."""

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.plan.plan import Bounds, plan
from qospec.record import store
from qospec.report.headline import write_headline
from qospec.report.render import render
from qospec.run import runner

TEXT = """qos 1
import std.media

topology wire {
  a, b = host
  link a -- b via line { rate = 150 Mbit/s @cell }
}
test knee on wire {
  search rate in 1_000 cell/s .. 20_000 cell/s step 1_000 cell/s {
    goal ndr { loss = 0 }
    method = step
    confirm = 8
    trial = 2 ms, total = 2 ms
  }
  flow f = ubr { pcr = rate } from a to b
  report ndr.rate
}
test before on wire {
  flow f = ubr { pcr = 1_000 cell/s } from a to b
  run { measure = 10 ms }
  expect f.lost == 0 cell
}
"""


class Impatient:
    """Interrupts the run in the search that is to run last, at this share of it."""

    def __init__(self, share) -> None:
        self.ended_names = []
        self.share = share

    def note_progress(self, case, share):
        if case == "knee" and share >= self.share:
            raise KeyboardInterrupt

    def note_waiting(self):
        """Nothing runs elsewhere."""

    def note_ended(self, case, _seconds):
        self.ended_names.append(case["name"])


def interrupted(tmp_path, listener):
    """Return the outcome of a run that a listener interrupts, which is also that of its record."""
    path = tmp_path / "a.qos"
    path.write_text(TEXT, encoding="utf-8")
    problems = Problems()
    suite = check([path], discover(), problems)
    plans = plan(suite, "0", Bounds(), problems)
    assert not problems.errors
    request = runner.RunRequest(
        suite=suite.suite,
        plans=plans[::-1],
        seed="0",
        jobs=1,
        commands={planned.case.name: "" for planned in plans},
        bounds=Bounds(),
    )
    kept = store.create(tmp_path / "records", "0")
    outcome = runner.execute(request, kept, listener)
    assert kept.read_outcome() == outcome
    assert outcome["state"] == "interrupted"
    assert outcome["verdict"] == "inconclusive"
    return outcome


def test_a_search_without_a_finished_trial_is_not_run(tmp_path) -> None:
    listener = Impatient(0)
    outcome = interrupted(tmp_path, listener)
    assert listener.ended_names == ["before"]
    assert [(c["name"], c["ran"], c["verdict"]) for c in outcome["cases"]] == [
        ("before", True, "pass"),
        ("knee", False, "inconclusive"),
    ]
    assert outcome["cases"][1]["errors"] == ["not run: the run was interrupted"]
    summary = outcome["summary"]
    assert (summary["pass"], summary["inconclusive"], summary["not run"]) == (1, 0, 1)


def test_a_search_that_is_interrupted_keeps_its_finished_trials(tmp_path) -> None:
    """Eight loads without loss end it; it is interrupted as soon as one of them is known."""
    listener = Impatient(0.01)
    outcome = interrupted(tmp_path, listener)
    assert listener.ended_names == ["before", "knee"]
    whole, part = outcome["cases"]
    assert (whole["ran"], part["ran"], part["verdict"]) == (True, False, "inconclusive")
    assert part["errors"] == ["interrupted: only trials that had ended are counted"]
    (search,) = part["phases"]
    assert [trial["load"]["text"] for trial in search["trials"]] == ["20_000 cell/s"]
    (goal,) = search["goals"]
    assert (goal["lower"]["value"], goal["upper"]) == ("20000", None)
    assert write_headline(outcome).startswith("1 of 2 cases ended; the run was interrupted. ")
    for name in ("html", "markdown", "csv", "junit"):
        assert "knee" in render(outcome, {}, name)
