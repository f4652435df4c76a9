"""A plugin of pytest: each case of a specification is an item, `pytest -p qospec.pytest_plugin`.

A case passes where `qos run` gives it a verdict that exits with 0, and is skipped where that skips
it; anything else is a failure, with what `qos run` prints of it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.cli import loading, options
from qospec.cli.terminal import LocalNames, explain
from qospec.diagnostics import Problems
from qospec.judge.verdict import PROBLEMS
from qospec.plan.plan import Bounds, plan
from qospec.rendering import render_all
from qospec.report.words import describe_measured
from qospec.run.runner import run_alone
from qospec.yaml_twin.form import TEXT_SUFFIX, is_specification, is_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.model.checked import CheckedSuite
    from qospec.model.suite import Case, Test


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of the seed."""
    parser.getgroup("qospec").addoption(
        "--qos-seed", default="0", help="Seed of the random numbers of .qos files, as of `qos run`."
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return a collector of the cases of a specification in either form."""
    name = file_path.name
    if name.endswith(TEXT_SUFFIX) or (is_yaml(name) and _is_ours(file_path)):
        collector: pytest.Collector = SpecificationFile.from_parent(parent, path=file_path)
        return collector
    return None


def _is_ours(path: Path) -> bool:
    return is_specification(path.read_bytes().decode("utf-8", "replace"))


class SpecificationError(Exception):
    """A case did not pass; the message is for the user."""


class SpecificationFile(pytest.File):
    """A specification; mistakes in it are errors of collection, with their places."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the cases."""
        problems = Problems()
        checked = check([self.path], discover(), problems)
        if problems.errors:
            raise self.CollectError(render_all(problems.all))
        for test in checked.suite.tests:
            for case in test.cases:
                chosen = checked.select([replace(test, cases=(case,))])
                yield CaseItem.from_parent(self, name=case.name, checked=chosen)


class CaseItem(pytest.Item):
    """A case."""

    def __init__(self, *, checked: CheckedSuite, **rest: Any) -> None:
        super().__init__(**rest)
        self._checked = checked
        self._test: Test = checked.suite.tests[0]
        self._case: Case = self._test.cases[0]

    def runtest(self) -> None:
        """Plan, run and judge the case."""
        seed = self.config.getoption("--qos-seed")
        problems = Problems()
        plans = plan(self._checked, seed, Bounds(options.MAX_CELLS), problems)
        if problems.errors:
            raise SpecificationError(render_all(problems.all))
        (planned,) = plans
        document = run_alone(planned, Bounds(options.MAX_CELLS), lambda: None, explains=True)
        for statement in document["statements"]:
            if statement["measured"]:
                self.user_properties.append((statement["label"], describe_measured(statement)))
        if document["verdict"] == "skip":
            pytest.skip(document["why"][0])
        if document["verdict"] in PROBLEMS:
            request = loading.Request((), "", seed, options.MAX_CELLS, as_json=False)
            place = self._test.span.source
            again = request.write_rerun_command(place.name, self._case.name)
            names = {source.recorded_name: source.name for source in self._checked.suite.sources}
            here = LocalNames(names, tests={self._case.name: self._test.span.recorded_place})
            raise SpecificationError("\n".join(explain([{**document, "again": again}], here)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *rest: Any) -> Any:
        """Return what `qos run` says of the case."""
        if isinstance(excinfo.value, SpecificationError):
            return click.unstyle(str(excinfo.value))
        return super().repr_failure(excinfo, *rest)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the test is."""
        line, _ = self._test.span.source.find_position(self._test.span.start)
        return self.path, line - 1, self.name
