"""The wheel is whole: what runs in the checkout runs where it is installed."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("setup.cfg", "pyproject.toml", "README.md", "LICENSE")
FOLDERS = ("interpreter", "spec", "stdlib")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.Path:
    """Build the wheel from a copy, so that no earlier build can fill a gap in this one."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "checkout"
    copy.mkdir()
    for name in SOURCES:
        shutil.copy(ROOT / name, copy)
    for name in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignored)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*command, "--wheel-dir", str(folder), str(copy)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return zipfile.Path(built)


def names(wheel: zipfile.Path) -> set[str]:
    return set(wheel.root.namelist())


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["spec", "stdlib"])
def test_the_wheel_holds_every_file_of_the_language_and_the_library(
    wheel: zipfile.Path, folder: str
) -> None:
    files = {
        f"qospec/{path.relative_to(ROOT).as_posix()}"
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    assert files
    assert files <= names(wheel), f"not in the wheel: {sorted(files - names(wheel))}"


@pytest.mark.slow
def test_the_wheel_holds_every_module_and_the_mark_of_types(wheel: zipfile.Path) -> None:
    package = ROOT / "interpreter"
    modules = {path.relative_to(package).as_posix() for path in package.rglob("*.py")}
    assert modules | {"qospec/py.typed"} <= names(wheel)


@pytest.mark.slow
def test_the_wheel_names_its_command_and_its_licence(wheel: zipfile.Path) -> None:
    (entry_points,) = (n for n in names(wheel) if n.endswith("entry_points.txt"))
    assert "qos = qospec.cli:main" in (wheel / entry_points).read_text()
    assert any(name.endswith("licenses/LICENSE") for name in names(wheel))
