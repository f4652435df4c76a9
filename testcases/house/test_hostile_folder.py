"""Nothing that lies in the current folder runs, whatever the command and the environment are.

A project of somebody else is the current folder of whoever tries it.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SPECIFICATION = """qos 1
import std.media

topology wire {
  a, b = host
  link a -- b via media.stm1
}

traffic steady = cbr { pcr = 10_000 cell/s, cdvt = 1 ms }

test fails on wire {
  flow f = steady from a to b
  run { measure = 10 ms }
  expect too_much: f.lost > 5 cell
}

test draws on wire {
  forall n: Int in 1 .. 9
  flow f = steady from a to b
  run { measure = n * 1 ms }
  expect too_much: f.lost > 5 cell
}
"""
PACKAGES = "click cryptography hypothesis jinja2 lark llvmlite numba numpy platformdirs qospec yaml"
MODULE = "import os\nos.makedirs(os.path.join({folder!r}, 'ran', __name__), exist_ok=True)\n"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A project with a module in place of each of Python's and of each that we use."""
    for name in (*sys.stdlib_module_names, *PACKAGES.split()):
        (tmp_path / f"{name}.py").write_text(MODULE.format(folder=str(tmp_path)), encoding="utf-8")
    (tmp_path / ".numba_config.yaml").write_text("disable_jit: 1\n", encoding="utf-8")
    (tmp_path / "a.qos").write_text(SPECIFICATION, encoding="utf-8")
    return tmp_path


def ended(folder: Path, *arguments: str, options: tuple[str, ...] = ()) -> tuple[int, str]:
    """Run the command as installed; return its exit code and what it printed."""
    command = [sys.executable, *options, Path(sys.executable).with_name("qos"), *arguments]
    known = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    known["QOS_KERNELS"] = "compiled"  # though there is little to run
    done = subprocess.run(
        command, cwd=folder, env=known, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code", "options"),
    [
        ("check a.qos", 0, ()),
        ("plan a.qos::fails", 0, ()),
        ("run a.qos::fails -j 2", 1, ()),
        ("run a.qos::fails -j 2", 1, ("-E",)),
        ("warm a.qos -j 2", 0, ()),
        ("fuzz a.qos::draws -j 2 --examples 4", 1, ()),
        ("shrink a.qos::fails", 1, ()),
    ],
)
def test_no_module_of_the_current_folder_runs(
    hostile: Path, command: str, code: int, options: tuple[str, ...]
) -> None:
    ended_with, printed = ended(hostile, *command.split(), options=options)
    assert not (hostile / "ran").exists(), sorted((hostile / "ran").iterdir())
    assert ended_with == code, printed


@pytest.mark.slow
def test_settings_of_the_compiler_in_the_current_folder_do_not_count(hostile: Path) -> None:
    """Of a file in the YAML form, since the compiler reads its settings by the same package."""
    ended(hostile, "convert", "a.qos", "--to", "yaml", "-o", "a.yaml")
    code, printed = ended(hostile, "run", "a.yaml::fails")
    assert (code, "Numba" in printed) == (1, False), printed


@pytest.mark.slow
def test_no_module_of_the_current_folder_runs_when_a_record_is_read(hostile: Path) -> None:
    ended(hostile, "run", "a.qos::fails", "--record", "kept")
    (record,) = (hostile / "kept").iterdir()
    for command in (["report", f"{record}"], ["pcap", f"{record}", "fails", "a -> b"]):
        code, printed = ended(hostile, *command)
        assert (code, (hostile / "ran").exists()) == (0, False), printed
