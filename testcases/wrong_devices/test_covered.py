"""What the page on publications says is what suites claim."""

from collections.abc import Callable
from pathlib import Path

import pytest
from replacing import SUITES
from testcases.wrong_devices.covered import PAGE, list_numbering, write_page

from qospec.model.suite import Suite


@pytest.mark.slow
def test_the_page_says_what_suites_cover(read_cases: Callable[[Path], list[Suite]]) -> None:
    files = list_numbering(SUITES)
    found = ((path.parent.name, suite) for path in files for suite in read_cases(path))
    assert write_page(found) == PAGE.read_text(encoding="utf-8"), "make nothing"
