"""A search that is interrupted is not run; the cases that had ended are kept."""

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.plan.plan import Bounds, plan
from qospec.record import store
from qospec.run import runner

TEXT = """qos 1
import std.media

topology wire {
  a, b = host
  link a -- b via line { rate = 150 Mbit/s @cell }
}
test knee on wire {
  search rate in 1_000 cell/s .. 20_000 cell/s {
    goal ndr { loss = 0 }
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
    """Interrupts the run in the middle of the search that is to run last."""

    def __init__(self) -> None:
        self.ended_names = []
        self.heard = 0

    def progressed(self, case, _share):
        self.heard += case == "knee"
        if self.heard == 1:
            raise KeyboardInterrupt

    def waited(self):
        """Nothing runs elsewhere."""

    def ended(self, case, _seconds):
        self.ended_names.append(case["name"])


def test_a_search_that_is_interrupted_is_not_run(tmp_path) -> None:
    path = tmp_path / "a.qos"
    path.write_text(TEXT, encoding="utf-8")
    problems = Problems()
    suite = check([path], discover(), problems)
    plans = plan(suite, "0", Bounds(), problems)
    assert not problems.errors
    listener = Impatient()
    request = runner.RunRequest(
        suite=suite,
        plans=plans[::-1],
        seed="0",
        jobs=1,
        commands={each.case.name: "" for each in plans},
        bounds=Bounds(),
        version="0",
    )
    kept = store.create(tmp_path / "records", "0")
    outcome = runner.execute(request, kept, listener)
    assert outcome["state"] == "interrupted"
    assert listener.ended_names == ["before"]
    assert [(c["name"], c["ran"], c["verdict"]) for c in outcome["cases"]] == [
        ("before", True, "pass"),
        ("knee", False, "inconclusive"),
    ]
    assert kept.outcome() == outcome
