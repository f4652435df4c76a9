"""Each benchmark runs, with little work, and gives the same results as its peer in C."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
SHARED = {"event_loops", "figures", "ratios", "run"}
NAMES = sorted({path.stem for path in FOLDER.glob("*.py")} - SHARED)
WITH_C = {path.stem for path in FOLDER.glob("*.c")}


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Return what a run of benchmarks said."""
    command = [sys.executable, "run.py", *words]
    return subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)


def test_there_are_benchmarks_with_a_peer_in_c():
    assert WITH_C
    assert set(NAMES) >= WITH_C


@pytest.mark.slow
@pytest.mark.untraced
@pytest.mark.parametrize("names", [NAMES[first::3] for first in range(3)], ids=" ".join)
def test_benchmarks_run(names):
    """Several run in one process, since each would load the engine anew."""
    done = run(*names, "--tiny", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout)["figures"]
    assert {figure["benchmark"] for figure in figures} == set(names)
    assert [figure for figure in figures if figure["value"] <= 0] == []
    # The peers are compiled where there is a compiler, and compared before they are measured.
    in_c = {figure["benchmark"] for figure in figures if figure["peer_name"].startswith("C")}
    assert in_c == (WITH_C & set(names) if shutil.which("gcc") else set())
