"""The locks meet `setup.cfg`, agree with each other, and hold hashes; the demo needs no tools."""

import configparser
import re
import subprocess
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = {
    "requirements-users.lock": ("build",),
    "requirements.lock": ("build", "fuzz", "site", "dev"),
}
"""Each lock, and the extras that it has beside what qospec needs."""


def locked(name: str) -> dict[str, tuple[str, int]]:
    """Return the version of each package of a lock, and how many hashes it has."""
    text = (ROOT / name).read_text(encoding="utf-8")
    entry = r"^([\w.-]+)==([^ ;]+)[^\\\n]*((?:\\\n +--hash=sha256:\w{64} ?)*)$"
    entries = re.findall(entry, text, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^[^#\s]", text, re.MULTILINE))
    return {package: (version, hashes.count("sha256:")) for package, version, hashes in entries}


def declared(*extras: str) -> list[Requirement]:
    """Return what extras name in `setup.cfg`; "" is what qospec itself needs."""
    known = configparser.ConfigParser()
    known.read(ROOT / "setup.cfg", encoding="utf-8")
    lists = {"": known["options"]["install_requires"], **known["options.extras_require"]}
    lines = [line for extra in extras for line in lists[extra].split("\n")]
    return [Requirement(line) for line in lines if line]


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_meets_what_is_declared_and_has_hashes(name: str) -> None:
    packages = locked(name)
    for requirement in declared("", *LOCKS[name]):
        version, _ = packages[canonicalize_name(requirement.name)]
        assert version in requirement.specifier, requirement
    assert not [package for package, (_, hashes) in packages.items() if not hashes]


@pytest.mark.parametrize("name", ["numpy", "numba", "llvmlite", "cryptography", "pyyaml"])
def test_what_is_compiled_has_the_hashes_of_several_systems(name: str) -> None:
    """Linux, macOS and Windows, each for two processors and for some releases of Python."""
    assert locked("requirements-users.lock")[name][1] >= 10


def test_users_get_what_developers_test_with_and_no_tools() -> None:
    users, developers = map(locked, LOCKS)
    assert users.items() <= developers.items()
    tools = {canonicalize_name(requirement.name) for requirement in declared("dev", "fuzz")}
    assert "mypy" in tools & developers.keys()
    assert not tools & users.keys()


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_place_to_fetch_from(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not re.search(r"://|index-url|find-links|trusted-host", text)


@pytest.mark.parametrize(
    ("target", "locks"),
    [
        ("demo", ["requirements-users.lock"]),
        ("setup", ["requirements-users.lock", "requirements.lock"]),
    ],
)
def test_a_target_installs_only_what_is_locked(target: str, locks: list[str]) -> None:
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", target],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    installs = [line for line in done.stdout.splitlines() if "pip install" in line]
    locking = [line for line in installs if "--require-hashes" in line]
    assert [re.findall(r"--requirement (\S+)", line) for line in locking] == [
        [lock] for lock in locks
    ]
    assert all("--no-deps" in line for line in installs if line not in locking)
