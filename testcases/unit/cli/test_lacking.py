"""Without the packages of the engine files are checked, and what runs says which one it lacks."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "diffserv_edge.qos"
WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(["numpy", "numba", "llvmlite", "cryptography"]))
sys.argv = ["qos", *sys.argv[1:]]
from qospec.cli import main
main()
"""


def run(*words, folder):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("check", EXAMPLE), 0, ""),
        (
            ("run", EXAMPLE),
            4,
            "error: this needs the package numpy, which is not installed\n  = help:",
        ),
    ],
    ids=["check", "run"],
)
def test_what_lacks_a_package_of_the_engine_says_which(tmp_path, words, code, said):
    done = run(*words, folder=tmp_path)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "internal error" not in done.stderr
