"""Published results as tests: each case of a .qos file in suites/ is a test item."""

import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from digests import digest, stored
from hypothesis import settings

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.document import Document
from qospec.judge import evidence
from qospec.model.checked import CheckedSuite
from qospec.model.suite import Suite
from qospec.plan.plan import Bounds, plan
from qospec.rendering import render_all
from qospec.run.runner import run_alone

# The number of examples of cheap tests, defined only here. A test whose examples take long uses a
# share of `settings().max_examples`. A change is judged by the same examples each time; at night
# others are drawn. `quick` is for use while you work and for coverage, where kernels are Python.
settings.register_profile("ordinary", max_examples=200, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=2_000, deadline=None)
settings.register_profile("quick", max_examples=20, deadline=None, derandomize=True)
settings.load_profile("ordinary")  # unless another is asked for

CALM = ("", "pass", "not applicable")
"""Of statements: what nobody asks the reason of."""

SUITES = Path(__file__).parent / "suites"

DIGESTS = stored()


def cases_of(path: Path) -> list[CheckedSuite]:
    """Return a suite of each case of a specification; raises CollectError."""
    problems = Problems()
    checked = check([Path(os.path.relpath(path))], discover(), problems)
    if problems.all:
        raise pytest.Collector.CollectError(render_all(problems.all))
    return [
        checked.select([replace(test, cases=(case,))])
        for test in checked.suite.tests
        for case in test.cases
    ]


def name_of(case: CheckedSuite) -> str:
    return case.suite.tests[0].cases[0].name


def outcome_of(case: CheckedSuite, seed: str = "0") -> Document:
    """Plan and run a case; return its outcome. Any diagnostic of planning is a failure."""
    problems = Problems()
    plans = plan(case, seed, Bounds(), problems)
    for warning in evidence.warnings(plans):
        problems.add(warning)
    assert not problems.all, render_all(problems.all)
    (planned,) = plans
    return run_alone(planned, Bounds(), lambda: None)


def outcomes_of(path: Path, names: Collection[str]) -> list[Document]:
    """Run the cases of a specification with these names; return their outcomes."""
    cases = {name_of(case): case for case in cases_of(path)}
    return [outcome_of(cases[name]) for name in names]


@pytest.fixture
def read_cases() -> Callable[[Path], list[Suite]]:
    """Return what reads the cases of a specification, each as a suite of its own."""
    return lambda path: [case.suite for case in cases_of(path)]


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
        for case in cases_of(self.path):
            for seed in range(seeds):
                name = name_of(case) if seeds == 1 else f"{name_of(case)}[seed={seed}]"
                yield CaseItem.from_parent(self, name=name, case=case, seed=str(seed))


class CaseItem(pytest.Item):
    """A case at a seed: passes if its verdict is pass."""

    def __init__(self, *, case: CheckedSuite, seed: str, **rest: object) -> None:
        super().__init__(**rest)
        self._case = case
        self._seed = seed

    def runtest(self) -> None:
        case = outcome_of(self._case, self._seed)
        missed = [s for s in case["statements"] if s["verdict"] not in CALM]
        lines = [f"{s['place']}: {s['text']}: measured {s['measured']}" for s in missed]
        assert case["verdict"] == "pass", "\n".join([*lines, *case["why"], *case["errors"]])
        if self._seed == "0":
            same = digest(case) == DIGESTS.get(case["name"])
            assert same, "what it gives is not what it gave; on purpose? then `make digests`"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:
        return str(excinfo.value)
