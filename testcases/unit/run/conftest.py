"""Specifications of a few lines, planned and run."""

from collections.abc import Callable
from pathlib import Path

import pytest

from qospec.catalogue import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.run.plan import Bounds, CasePlan, plan

Plan = Callable[..., tuple[CasePlan, ...]]


@pytest.fixture
def problems() -> Problems:
    return Problems()


@pytest.fixture
def planned(tmp_path: Path, problems: Problems) -> Plan:
    """Return the plan of a text; its mistakes go to `problems`."""

    def make(text: str, seed: str = "0", most_cells: int = 10**9) -> tuple[CasePlan, ...]:
        path = tmp_path / "a.qos"
        path.write_text("qos 1\nimport std.media\n" + text, encoding="utf-8")
        suite = check([path], discover(), problems)
        return () if problems.errors else plan(suite, seed, Bounds(most_cells), problems)

    return make
