"""`make kernel`: builds a kernel in virtual time from Debian's source package, into the cache.

Nothing is installed and no privilege is needed: the package is fetched and unpacked into a folder
of its own. Two changes are made, each of one line or two, which `CHANGES` lists with the reason.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.backend import BackendError
from qospec.dataclass import NamedTuple
from qospec.linux.kept import ABOUT, KERNEL, find_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

PACKAGE = "linux-source-6.1"
CONFIGURATION = Path(__file__).with_name("kernel.config")
TOOLS = {
    "apt-get": "apt",
    "bc": "bc",
    "bison": "bison",
    "dpkg-deb": "dpkg",
    "flex": "flex",
    "gcc": "gcc",
    "make": "make",
    "tar": "tar",
    "xz": "xz-utils",
}
"""What it takes, and the package of Debian that has it."""
ALWAYS = "Thu Jan  1 00:00:00 UTC 1970"
"""When a kernel says that it was built, so that the same source gives the same kernel."""


class Change(NamedTuple):
    """A change of the source: a pattern that must be found in a file, and what takes its place."""

    file: str
    pattern: str
    text: str
    reason: str


CHANGES = (
    Change(
        "arch/x86/um/user-offsets.c",
        r"DEFINE_LONGS\(HOST_FP_SIZE, 2696\)",
        "DEFINE_LONGS(HOST_FP_SIZE, 11264)",
        "the extended registers of processors with AMX are larger than 6.1 expects",
    ),
    Change(
        "arch/um/include/linux/time-internal.h",
        r"#define TIMER_MULTIPLIER 256",
        "#define TIMER_MULTIPLIER 1",
        "virtual time is told to the ns, and not in steps of 256 ns",
    ),
    Change(
        "arch/um/include/linux/time-internal.h",
        r"#define TIMER_MIN_DELTA +500",
        "#define TIMER_MIN_DELTA 1",
        "a timer may be due in a ns, and not in 500 ns at the earliest",
    ),
)


def build(jobs: int) -> Path:
    """Return the kernel, built with so many processes.

    Raises:
        BackendError: Something is missing, or a step failed.
    """
    lacking = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if lacking:
        raise BackendError(f"to build a kernel, install {' '.join(lacking)}")
    kept = find_folder()
    with tempfile.TemporaryDirectory(prefix="qospec-build-") as name:
        folder = Path(name)
        source, version = _load_source(folder)
        for change in CHANGES:
            _apply(change, source)
        _make(source, f"KCONFIG_ALLCONFIG={CONFIGURATION}", "allnoconfig")
        _verify_configuration(source / ".config")
        _make(source, f"-j{jobs}", "linux")
        _run(["strip", "linux"], source)
        about = {
            "release": version,
            "package": PACKAGE,
            "changes": [f"{change.file}: {change.reason}" for change in CHANGES],
            "recipe": hash_recipe(),
            "sha256": hashlib.sha256((source / KERNEL).read_bytes()).hexdigest(),
        }
        (kept / ABOUT).write_text(json.dumps(about, indent=1) + "\n", "utf-8")
        shutil.copy2(source / KERNEL, kept / f"{KERNEL}.part")
        (kept / f"{KERNEL}.part").replace(kept / KERNEL)  # at once: to remove the source takes long
    return kept / KERNEL


def hash_recipe() -> str:
    """Return the SHA-256 of all that this file decides about a kernel."""
    recipe = (PACKAGE, CHANGES, CONFIGURATION.read_text("utf-8"))
    return hashlib.sha256(repr(recipe).encode()).hexdigest()


def is_built() -> bool:
    """Return whether there is a kernel that was built as this file would."""
    about = find_folder() / ABOUT
    try:
        recipe: object = json.loads(about.read_text("utf-8")).get("recipe")
    except (OSError, ValueError, AttributeError):
        return False
    return recipe == hash_recipe() and about.with_name(KERNEL).is_file()


def _load_source(folder: Path) -> tuple[Path, str]:
    """Return the folder of the source, unpacked, and the version of its package."""
    _run(["apt-get", "-q", "download", PACKAGE], folder)
    (package,) = folder.glob("*.deb")
    _run(["dpkg-deb", "-x", package.name, "package"], folder)
    (archive,) = folder.glob("package/usr/src/*.tar.xz")
    (folder / "source").mkdir()
    _run(["tar", "-xf", str(archive), "-C", "source", "--strip-components=1"], folder)
    version = package.name.split("_")[1]
    return folder / "source", version


def _apply(change: Change, source: Path) -> None:
    path = source / change.file
    text, count = re.subn(change.pattern, change.text, path.read_text("utf-8"))
    if count != 1:
        raise BackendError(f"{change.file} of this source is not as expected: {change.reason}")
    path.write_text(text, "utf-8")


def _verify_configuration(written: Path) -> None:
    """Raise BackendError if an option was not taken."""
    taken = set(written.read_text("utf-8").splitlines())
    asked = [line for line in CONFIGURATION.read_text("utf-8").splitlines() if line.endswith("=y")]
    if lacking := [line for line in asked if line not in taken]:
        raise BackendError(f"this source has not the options {' '.join(lacking)}")


def _make(source: Path, *arguments: str) -> None:
    stamps = {f"KBUILD_BUILD_{name}": "qospec" for name in ("USER", "HOST")}
    stamps |= {"KBUILD_BUILD_TIMESTAMP": ALWAYS, "KBUILD_BUILD_VERSION": "1"}
    _run(["make", "ARCH=um", *arguments], source, stamps)


def _run(command: list[str], folder: Path, more: dict[str, str] | None = None) -> None:
    environment = {**os.environ, "LC_ALL": "C", **(more or {})}
    done = subprocess.run(  # noqa: S603 -- fixed commands
        command, cwd=folder, env=environment, check=False, capture_output=True, text=True
    )
    if done.returncode:
        last = "\n".join((done.stderr or done.stdout).strip().splitlines()[-5:])
        raise BackendError(f"`{' '.join(command[:3])}` failed:\n{last}")


def main(arguments: Sequence[str]) -> int:
    """Build a kernel and say where it is; return the exit code.

    The first argument is the number of processes; with `--once` a kernel that is there stays.
    """
    jobs = int(arguments[0]) if arguments else os.cpu_count() or 1
    started_s = time.monotonic()
    try:
        if "--once" in arguments and is_built():
            return 0
        kernel = build(jobs)
    except BackendError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201 -- it is a program
        return 1
    took = f"{time.monotonic() - started_s:.0f} s"
    print(f"built {kernel} in {took}: `qos run --on kernel-vt` uses it")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
