"""The kernel compiler's cache: where it lies, and what happens when it cannot be written."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import platformdirs
import pytest

from qospec.engine import kernel

PROGRAM = """
import numpy as np
from qospec.engine import kernel

@kernel.kernel
def twice(x):
    return 2 * x

@kernel.kernel
def fourfold(x):
    return twice(twice(x))

kernel.notices.update({each: lambda each=each: print(each) for each in ("compiling", "uncached")})
"""


def run(folder: Path, more: str) -> list[str]:
    program = folder / "program.py"
    program.write_text(PROGRAM + more, encoding="utf-8")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    environment.pop("QOS_KERNELS", None)
    done = subprocess.run(
        [sys.executable, program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_a_kernel_is_compiled_once_below_the_folder_that_the_user_named(tmp_path: Path) -> None:
    assert run(tmp_path, "print(fourfold(2))") == ["compiling", "8"]
    (folder,) = (tmp_path / "cache").iterdir()
    assert len(folder.name) == 16
    assert len(list(folder.rglob("*.nbc"))) == 2
    assert run(tmp_path, "print(fourfold(2))") == ["8"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "trouble",
    [
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))",
        "kernel._cache_folder = lambda: '/proc/nowhere'",
    ],
)
def test_a_cache_that_cannot_be_written_is_told_once_and_the_kernel_runs(
    tmp_path: Path, trouble: str
) -> None:
    lines = run(tmp_path, f"{trouble}\nprint(fourfold(2), fourfold(2.0))")
    assert sorted(lines) == ["8 8.0", "compiling", "uncached"]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return what is used of the temporary folder; the user's cache is no folder."""
    (tmp_path / "file").write_text("")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: tmp_path / "file")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"qospec-{os.getuid()}"


def test_the_temporary_folder_is_made_for_us_alone(temporary: Path) -> None:
    folder = kernel._cache_folder()
    assert folder.is_relative_to(temporary)
    assert temporary.stat().st_mode & 0o777 == 0o700
    assert kernel._cache_folder() == folder


def test_a_temporary_folder_that_others_can_write_to_is_refused(temporary: Path) -> None:
    temporary.mkdir()
    temporary.chmod(0o777)
    folder = kernel._cache_folder()
    assert not folder.is_relative_to(temporary)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_link_in_the_place_of_the_temporary_folder_is_refused(
    temporary: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    temporary.symlink_to(tmp_path / "elsewhere")
    kernel._cache_folder()
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_temporary_folder_of_somebody_else_is_refused(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary.mkdir(mode=0o700)
    ours = os.getuid()
    calls = iter([ours, ours + 1])
    monkeypatch.setattr(os, "getuid", lambda: next(calls))
    assert not kernel._cache_folder().is_relative_to(temporary)


def test_a_system_without_user_ids_has_a_folder_too(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "getuid")
    folder = kernel._cache_folder()
    assert folder.is_dir()
    assert not folder.is_relative_to(temporary)
