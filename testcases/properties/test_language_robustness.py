"""Whatever a file contains, it is parsed, checked, planned and rewritten without harm.

The inputs are those of `make fuzz-language`, here a fixed number of them from a fixed seed. The
detection of harm is tested by inputs that do go wrong.
"""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from night import is_night

FUZZ = Path(__file__).parents[1] / "fuzz"
SEED = 4
INPUTS = 150 if is_night() else 40


@pytest.fixture
def language(monkeypatch):
    """Return the driver as a module."""
    monkeypatch.syspath_prepend(str(FUZZ))
    return importlib.import_module("language")


def driven(found: Path, *words: str) -> str:
    """Run the driver, and return what it printed; a finding fails the test, which shows it."""
    command = [sys.executable, str(FUZZ / "language.py"), "--found", str(found), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    kept = [path.read_text(errors="replace") for path in found.glob("*/traceback.txt")]
    assert done.returncode == 0, "\n".join([done.stdout, done.stderr, *kept])
    return done.stdout


@pytest.mark.slow
def test_no_input_does_harm(tmp_path) -> None:
    printed = driven(tmp_path, "--seed", str(SEED), "--inputs", str(INPUTS), "--seconds", "600")
    assert f"{INPUTS} inputs" in printed
    assert "0 tracebacks, 0 timeouts" in printed
    for stage in ("refused", "checked", "planned"):
        assert re.search(rf"\d {stage}", printed), "the inputs do not reach that far"


@pytest.mark.slow
def test_the_time_is_kept(tmp_path) -> None:
    assert "inputs" in driven(tmp_path, "--seed", "2", "--seconds", "1")


def test_the_same_seed_gives_the_same_inputs(language) -> None:
    one, two = language.inputs(5), language.inputs(5)
    assert [next(one) for _ in range(20)] == [next(two) for _ in range(20)]


@pytest.mark.parametrize(
    ("harm", "stage", "words"),
    [
        ("raise KeyError('x')", "traceback", "KeyError"),
        ("while True: pass", "timeout", "TooSlow"),
        ("bytearray(10**10)", "traceback", "MemoryError"),
    ],
)
def test_harm_is_seen_and_kept(tmp_path, harm, stage, words) -> None:
    done = child(tmp_path, harm)
    assert done.returncode == 0
    assert f'"{stage}": 1' in done.stdout
    assert words in done.stdout
    assert list((tmp_path / "found" / f"{stage}-1").glob("main.*"))


def test_a_child_that_hears_nothing_is_ended(tmp_path) -> None:
    done = child(tmp_path, "import time; time.sleep(60)", wall_s=1)
    assert done.returncode != 0
    assert "Timeout" in done.stderr


def child(folder: Path, harm: str, *, wall_s: int = 10) -> subprocess.CompletedProcess[str]:
    """Try one input with another `attempt`, in a process of its own for its bound on memory."""
    (folder / "project").mkdir()
    program = f"""
import sys
sys.path.insert(0, {str(FUZZ)!r})
import language
from pathlib import Path
class reading:
    def attempt(path):
        {harm}
sys.modules["reading"] = reading
language.LIMIT_S, language.WALL_S = 0.5, {wall_s}
language.inputs = lambda seed: iter([("plain", "main.qos", b"qos 1")])
folder = Path({str(folder)!r})
language.child(1, 60, 1, folder / "project", folder / "found")
"""
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
