"""What `qos check` accepts with searches and points, `qos run` carries out."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from night import is_night, spread

from qospec.cli import exits, qos

ACCEPTED = Path(__file__).parents[2] / "language" / "accept"
PHASES = re.compile(r"^\s*(search|point) \w+ ", re.MULTILINE)
FILES = [
    path
    for path in sorted(ACCEPTED.glob("*.qos"))
    if PHASES.search(path.read_text(encoding="utf-8"))
]
RUN = FILES if is_night() else spread(FILES, 2)
"""`testcases/language/test_run.py` carries out the phases of each, without the command."""


def test_there_are_files_with_phases() -> None:
    assert len(FILES) > 3


@pytest.mark.slow
@pytest.mark.parametrize("path", RUN, ids=lambda path: path.stem)
def test_an_accepted_file_with_phases_runs(path: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(qos, ["run", str(path), "--record", str(tmp_path)])
    assert result.exit_code in {exits.PASSED, exits.FAILED, exits.INCONCLUSIVE}, result.output
    (outcome,) = tmp_path.glob("*/outcome.json")
    cases = json.loads(outcome.read_text(encoding="utf-8"))["cases"]
    assert all(case["errors"] == [] for case in cases if case["ran"])
    assert any(case.get("phases") for case in cases)
