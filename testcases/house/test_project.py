"""This checkout as one project: no problems; by day each of its files is checked alone."""

from pathlib import Path

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.rendering import render_all

ROOT = Path(__file__).parents[2]


@pytest.mark.nightly
def test_the_library_the_suites_and_what_is_accepted_check_clean(monkeypatch):
    monkeypatch.chdir(ROOT)
    problems = Problems()
    suite = check([], discover(), problems).suite
    assert not problems.all, render_all(problems.all)
    files = {Path(test.span.source.name).parts[:3] for test in suite.tests}
    assert files >= {("testcases", "suites", "eantc"), ("testcases", "language", "accept")}
    assert ("testcases", "language", "reject") not in files
