"""What `qos check` says at its end."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from qospec.cli import qos

PROPERTY = "property p{} {{ forall n: Int in 1 .. 5\n expect n * n > n }}\n"


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 tests, 0 cases: no problems found\n"),
        (1, "0 tests, 0 cases, 1 property: no problems found\n"),
        (2, "0 tests, 0 cases, 2 properties: no problems found\n"),
    ],
)
def test_properties_are_counted(tmp_path: Path, count: int, said: str) -> None:
    path = tmp_path / "drawn.qos"
    path.write_text("qos 1\n" + "".join(PROPERTY.format(n) for n in range(count)), encoding="utf-8")
    result = CliRunner().invoke(qos, ["check", str(path)])
    assert (result.exit_code, result.output) == (0, said)


def test_with_a_warning_there_is_something_to_complain_of(tmp_path: Path) -> None:
    path = tmp_path / "unused.qos"
    path.write_text("qos 1\ntraffic f(_a: Int = 1, b: Int = 2) = ubr { pcr = 1 cell/s }\n")
    result = CliRunner().invoke(qos, ["check", str(path)])
    assert result.exit_code == 0
    assert result.stdout == "0 tests, 0 cases: no errors\n"
    assert "warning[W0621]" in result.stderr
