"""Published results as tests: each case of a .qos file under suites/ is an item of its own."""

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from qospec.catalogue import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.document import Document
from qospec.rendering import render_all
from qospec.run import outcome, trial
from qospec.run.plan import Bounds, CasePlan, plan

# Of a hundred, as is usual; comparisons with a book draw twice as many, slow properties fewer.
settings.register_profile("nightly", max_examples=1_000, deadline=None)
# Where kernels run as Python, to see which of their lines are reached.
settings.register_profile("coverage", max_examples=20, deadline=None)

SUITES = Path(__file__).parent / "suites"


def plans_of(path: Path, seed: str = "0") -> tuple[CasePlan, ...]:
    """Return the plans of all cases of a specification; raises CollectError."""
    problems = Problems()
    suite = check([Path(os.path.relpath(path))], discover(), problems)
    plans = plan(suite, seed, Bounds(), problems) if not problems.errors else ()
    if problems.all:
        raise pytest.Collector.CollectError(render_all(problems.all))
    return plans


def outcome_of(case: CasePlan) -> Document:
    """Run a case; return what it gave."""
    result = trial.run(case, discover(), lambda _: None)
    return outcome.case_document(case, result, "")


def outcomes_of(path: Path, names: Collection[str]) -> list[Document]:
    """Run the cases of these names of a specification; return what each gave."""
    plans = {case.case.name: case for case in plans_of(path)}
    return [outcome_of(plans[name]) for name in names]


@pytest.fixture
def run_cases() -> Callable[[Path, Collection[str]], list[Document]]:
    """Return what runs cases as the items of a suite are run."""
    return outcomes_of


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--seeds", type=int, default=1, help="Run each case of the suites at so many seeds, from 0."
    )


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> pytest.Collector | None:
    if file_path.suffix == ".qos" and SUITES in file_path.parents:
        return SuiteFile.from_parent(parent, path=file_path)
    return None


class SuiteFile(pytest.File):
    """A specification."""

    def collect(self) -> Iterator[pytest.Item]:
        seeds = self.config.getoption("--seeds")
        for seed in range(seeds):
            for case in plans_of(self.path, str(seed)):
                name = case.case.name if seeds == 1 else f"{case.case.name}[seed={seed}]"
                yield CaseItem.from_parent(self, name=name, plan=case)


class CaseItem(pytest.Item):
    """A case: passes if its verdict is pass."""

    def __init__(self, *, plan: CasePlan, **rest: object) -> None:
        super().__init__(**rest)
        self._plan = plan

    def runtest(self) -> None:
        case = outcome_of(self._plan)
        missed = [s for s in case["statements"] if s["verdict"] not in ("", "pass")]
        lines = [f"{s['place']}: {s['text']}: measured {s['measured']}" for s in missed]
        assert case["verdict"] == "pass", "\n".join([*lines, *case["why"], *case["errors"]])

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:
        return str(excinfo.value)
