"""Small texts, checked."""

from collections.abc import Callable
from pathlib import Path

import pytest

from qospec.catalogue.kinds import Catalogue, discover
from qospec.check import Limits, check
from qospec.diagnostics import Diagnostic, Problems
from qospec.model.suite import Suite

BENCH = """
topology bench {
  a, b = host
  link a -- b via line { rate = 149.76 Mbit/s @cell }
}
traffic load(rate: CellRate = 1_000 cell/s) = ubr { pcr = rate }
"""

Checked = tuple[Suite, tuple[Diagnostic, ...]]


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return discover()


@pytest.fixture
def checked(tmp_path: Path, catalogue: Catalogue) -> Callable[..., Checked]:
    """Return a function that checks a text, beside files of other names."""

    def run(text: str, *, limits: Limits | None = None, **others: str) -> Checked:
        for name, other in others.items():
            (tmp_path / f"{name}.qos").write_text(f"qos 1\n{other}", encoding="utf-8")
        (tmp_path / "main.qos").write_text(f"qos 1\n{text}", encoding="utf-8")
        problems = Problems()
        suite = check([tmp_path / "main.qos"], catalogue, problems, limits=limits or Limits()).suite
        return suite, problems.all

    return run


@pytest.fixture
def codes(checked: Callable[..., Checked]) -> Callable[..., list[str]]:
    """Return a function that checks a text and gives the codes of its mistakes."""

    def run(text: str, *, limits: Limits | None = None, **others: str) -> list[str]:
        return [diagnostic.code for diagnostic in checked(text, limits=limits, **others)[1]]

    return run


@pytest.fixture
def small(checked: Callable[..., Checked]) -> Callable[..., Suite]:
    """Return a function that checks a test's statements; none may be wrong."""

    def run(*statements: str, before: str = "") -> Suite:
        body = "\n  ".join(statements)
        suite, problems = checked(f"{BENCH}{before}\ntest small on bench {{\n  {body}\n}}\n")
        assert {problem.code for problem in problems} <= {"W0602", "W0620", "W0623"}
        return suite

    return run
