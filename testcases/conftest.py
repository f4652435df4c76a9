"""Published results as tests: each case of a .qos file in suites/ is a test item."""

import gc
import os
import signal
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

import kept_bytecode  # noqa: F401 -- before Hypothesis, which pytest rewrites, too
import pytest
from digests import digest, stored
from hypothesis import settings
from night import is_night, sample_cases, spread

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.document import Document
from qospec.judge import evidence
from qospec.model.checked import CheckedSuite
from qospec.model.suite import Suite
from qospec.plan.plan import Bounds, plan
from qospec.record.consistency import list_contradictions_of
from qospec.rendering import render_all
from qospec.run.runner import run_alone

# The number of examples of cheap tests, defined only here. A test whose examples take long uses a
# share of `settings().max_examples`. A change is judged by the same examples each time; at night
# others are drawn. `quick` is for use while you work and for coverage, where kernels are Python.
settings.register_profile("ordinary", max_examples=30, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=2_000, deadline=None)
settings.register_profile("quick", max_examples=10, deadline=None, derandomize=True)
settings.load_profile("ordinary")  # unless another is asked for

# A script that runs the tests in the background lets them ignore SIGINT, and nohup SIGHUP; so would
# all that they start, and some of it must heed both.
for number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

# As the command does: collecting garbage, most of all among what pytest has collected, takes a
# twentieth of the time of all tests.
gc.set_threshold(100_000)

os.environ.pop("GITHUB_ACTIONS", None)  # what tests run fail on purpose: not for the job's summary
os.environ.setdefault("QOS_CHECK", "plan")  # plans are held to `plan.legal` in all tests

CALM = ("", "pass", "not applicable")
"""Of statements: what nobody asks the reason of."""

HERE = Path(__file__).parent
SUITES = HERE / "suites"

DIGESTS = stored()


@lru_cache(maxsize=1)
def cases_of(path: Path) -> list[CheckedSuite]:
    """Return a suite of each case of a specification, in which there may be no mistake."""
    problems = Problems()
    checked = check([Path(os.path.relpath(path))], discover(), problems)
    assert not problems.all, render_all(problems.all)
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
    for warning in evidence.warn_of_evidence(plans):
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
    parser.addoption(
        "--most", type=int, help="Run at most so many of a test's parameters, spread evenly."
    )
    parser.addoption(
        "--part", default="1/1", help="Run the tests of each second file, from the first: 1/2."
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out by day what is for the night, and parameters beyond `--most`.

    Of these it is the same each time: the first and the last stay.
    """
    gc.freeze()
    if not is_night():
        select_items(
            config, items, [item for item in items if not item.get_closest_marker("nightly")]
        )
    most = config.getoption("--most")
    if most is None:
        return
    alike: dict[str, list[pytest.Item]] = {}
    for item in items:
        alike.setdefault(item.nodeid.partition("[")[0], []).append(item)
    select_items(config, items, [item for its in alike.values() for item in spread(its, most)])


def select_items(config: pytest.Config, items: list[pytest.Item], some: list[pytest.Item]) -> None:
    """Leave out all items but some."""
    kept = set(some)
    left_out = [item for item in items if item not in kept]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item in kept]


@cache
def files_of(part: str) -> frozenset[Path]:
    """Return the files of a part of the tests, `1/2`: those that follow it have another one."""
    number, parts = map(int, part.split("/"))
    return frozenset(sorted(HERE.rglob("test_*.py"))[number - 1 :: parts])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files of other parts, as each process has one; nothing of them is imported."""
    part = config.getoption("--part")
    is_test = collection_path.suffix == ".py" and collection_path.name.startswith("test_")
    return True if part != "1/1" and is_test and collection_path not in files_of(part) else None


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> pytest.Collector | None:
    if parent.config.pluginmanager.has_plugin("qospec.pytest_plugin"):
        return None
    if file_path.suffix == ".qos" and SUITES in file_path.parents:
        return SuiteFile.from_parent(parent, path=file_path)
    return None


@cache
def cases_by_name(path: Path) -> dict[str, CheckedSuite]:
    """Return the cases of a specification, which is checked once in each process."""
    return {name_of(case): case for case in cases_of(path)}


class SuiteFile(pytest.File):
    """A specification: its cases are those that have digests, which one more item makes sure of."""

    def collect(self) -> Iterator[pytest.Item]:
        digests = DIGESTS.get(self.path.relative_to(SUITES).as_posix(), {})
        yield CasesItem.from_parent(self, name="cases", names=set(digests))
        seeds = self.config.getoption("--seeds")
        for case in sample_cases(digests) if seeds == 1 else digests:
            for seed in range(seeds):
                name = case if seeds == 1 else f"{case}[seed={seed}]"
                yield CaseItem.from_parent(
                    self, name=name, case=case, seed=str(seed), expected=digests[case]
                )


class SuiteItem(pytest.Item):
    """What is tested of a specification; a failure says what, and not where in this file."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:
        return str(excinfo.value)


class CasesItem(SuiteItem):
    """Passes if the file has the cases of which there are digests."""

    def __init__(self, *, names: set[str], **rest: object) -> None:
        super().__init__(**rest)
        self._names = names

    def runtest(self) -> None:
        there = cases_by_name(self.path).keys()
        assert there == self._names, f"not both: {sorted(there ^ self._names)}; `make digests`?"


class CaseItem(SuiteItem):
    """A case at a seed: passes if its verdict is pass."""

    def __init__(self, *, case: str, seed: str, expected: str, **rest: object) -> None:
        super().__init__(**rest)
        self._case = case
        self._seed = seed
        self._expected = expected

    def runtest(self) -> None:
        case = outcome_of(cases_by_name(self.path)[self._case], self._seed)
        missed = [s for s in case["statements"] if s["verdict"] not in CALM]
        lines = [f"{s['place']}: {s['text']}: measured {s['measured']}" for s in missed]
        assert case["verdict"] == "pass", "\n".join([*lines, *case["why"], *case["errors"]])
        assert list(list_contradictions_of(case)) == [], "its record would be refused"
        if self._seed == "0":
            same = digest(case) == self._expected
            assert same, "what it gives is not what it gave; on purpose? then `make digests`"
