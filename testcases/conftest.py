"""Published results as tests: each case of a .qos file under suites/ is an item of its own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from qospec.catalogue import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.rendering import render_all
from qospec.run import outcome, trial
from qospec.run.plan import Bounds, CasePlan, plan

# How many examples are drawn of what is cheap: said here and nowhere else. Where one takes long, a
# test takes a share of `settings().max_examples`. A change is judged by the same examples each
# time; at night others are drawn. Under coverage kernels run as Python, to see their lines.
settings.register_profile("ordinary", max_examples=200, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=2_000, deadline=None)
settings.register_profile("coverage", max_examples=40, deadline=None, derandomize=True)
settings.load_profile("ordinary")  # unless another is asked for

CALM = ("", "pass", "not applicable")
"""Of statements: what nobody asks the reason of."""

SUITES = Path(__file__).parent / "suites"


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> pytest.Collector | None:
    if file_path.suffix == ".qos" and SUITES in file_path.parents:
        return SuiteFile.from_parent(parent, path=file_path)
    return None


class SuiteFile(pytest.File):
    """A specification."""

    def collect(self) -> Iterator[pytest.Item]:
        problems = Problems()
        path = Path(os.path.relpath(self.path))
        suite = check([path], discover(), problems)
        plans = plan(suite, "0", Bounds(), problems) if not problems.errors else ()
        if problems.all:
            raise self.CollectError(render_all(problems.all))
        for case in plans:
            yield CaseItem.from_parent(self, name=case.case.name, plan=case)


class CaseItem(pytest.Item):
    """A case: passes if its verdict is pass."""

    def __init__(self, *, plan: CasePlan, **rest: object) -> None:
        super().__init__(**rest)
        self._plan = plan

    def runtest(self) -> None:
        result = trial.run(self._plan, discover(), lambda _: None)
        case = outcome.case_document(self._plan, result, "")
        missed = [s for s in case["statements"] if s["verdict"] not in CALM]
        lines = [f"{s['place']}: {s['text']}: measured {s['measured']}" for s in missed]
        assert case["verdict"] == "pass", "\n".join([*lines, *case["why"], *case["errors"]])

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:
        return str(excinfo.value)
