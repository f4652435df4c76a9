"""What is released is complete: what runs in the checkout also runs when installed.

The wheel is built from the source distribution, so that what lacks there lacks in it.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("setup.cfg", "setup.py", "pyproject.toml", "README.md", "LICENSE")
FOLDERS = ("interpreter", "spec", "stdlib")
IDENTITY = ("-c", "user.name=Nobody", "-c", "user.email=nobody@localhost")
TAG = "v12.3.4"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.Path:
    """Build both from a tagged copy, so that no earlier build can fill a gap in this one."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "checkout"
    copy.mkdir()
    for name in SOURCES:
        shutil.copy(ROOT / name, copy)
    for name in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignored)
    call("git", "init", "--quiet", cwd=copy)
    call("git", "add", ".", cwd=copy)
    call("git", *IDENTITY, "commit", "--quiet", "--message", "all", cwd=copy)
    call("git", "tag", TAG, cwd=copy)
    pack = f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})"
    call(sys.executable, "-c", pack, cwd=copy)
    (packed,) = folder.glob("*.tar.gz")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    call(*command, "--wheel-dir", str(folder), str(packed), cwd=folder)
    (built,) = folder.glob("*.whl")
    return zipfile.Path(built)


def call(*command: str, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


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


VERSION = Path("qospec", "version.py")


@pytest.mark.slow
def test_the_wheel_has_the_version_of_the_tag(wheel: zipfile.Path) -> None:
    assert wheel.root.filename is not None
    assert "-12.3.4-" in wheel.root.filename
    assert 'VERSION = "12.3.4"\n' in (wheel / VERSION.as_posix()).read_text()
    assert "12.3.4" not in (ROOT / "interpreter" / VERSION).read_text(encoding="utf-8")


TEST = """qos 1
import std.media
import parts.sender

topology direct {
  a, b = host
  link a -- b via media.stm1
}

## The library, a file of the project and a criterion.
test short on direct {
  flow calls = sender.steady from a to b
  run { measure = 10 ms }
  expect nothing_lost: calls.lost == 0
  report delay: calls.delay.max
}
"""
SENDER = "qos 1\n\ntraffic steady = cbr { pcr = 1_000 cell/s, cdvt = 10 us }\n"


def project(folder: Path) -> Path:
    (folder / "parts").mkdir(parents=True)
    (folder / "qos.toml").write_text('[project]\nname = "one"\n')
    (folder / "short.qos").write_text(TEST)
    (folder / "parts" / "sender.qos").write_text(SENDER)
    return folder


def outcome(path: str, cwd: Path, package: Path, **variables: str) -> bytes:
    """Return `outcome.json` of a run in which the package of that folder is imported."""
    code = (
        "import sys, qospec; from qospec.cli import main; "
        f"sys.exit(main() if qospec.__file__.startswith({str(package)!r}) else qospec.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "run", path, "--record", "kept", "--no-progress"],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(package), "QOS_KERNELS": "python", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (record,) = (cwd / "kept").iterdir()
    return (record / "outcome.json").read_bytes()


@pytest.mark.slow
def test_the_digest_of_a_version_is_the_same_wherever_qospec_and_the_project_are(
    wheel: zipfile.Path, tmp_path: Path
) -> None:
    checkout, installed = ROOT / "interpreter", tmp_path / "site-packages"
    wheel.root.extractall(installed)
    shutil.copy(checkout / VERSION, installed / VERSION)
    here = project(tmp_path / "here")
    there = project(tmp_path / "elsewhere" / "deeper" / "there")

    first = outcome("short.qos", here, checkout)

    assert outcome(str(there / "short.qos"), there, checkout) == first
    assert outcome("../short.qos", there / "parts", checkout) == first
    assert outcome("../here/short.qos", installed, installed) == first
    assert outcome("there/short.qos", there.parent, installed, PYTHONOPTIMIZE="2") == first
    names = [source["name"] for source in json.loads(first)["provenance"]["sources"]]
    assert names == ["std/media.qos", "parts/sender.qos", "short.qos"]
    assert str(tmp_path).encode() not in first
    assert str(ROOT).encode() not in first
