"""What this machine can do for qospec, and what to install: the findings of `qos doctor`.

What is asked of the machine is asked of a `Machine`, so that tests can put another in its place.
Neither NumPy nor Numba is imported: versions are those of installed distributions.
"""

from __future__ import annotations

import os
import re
import sys
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

State = Literal["present", "absent", "missing"]
"""Absent is what some command would use, missing what each run needs."""

EXTRAS = {
    "cluster": "runs on workers of Dask",
    "fuzz": "draws for `qos fuzz`",
    "lsp": "serves editors by `qos lsp`",
    "pytest": "runs cases as tests of pytest",
    "sql": "asks records by `qos sql`, and writes Parquet",
}
"""The extras that users install, and what each does."""
ON_MACHINE = "for `qos run --on kernel-rt`"
ON_KERNEL = "for `qos run --on kernel-vt`"
ON_KERNELS = "for `qos run --on kernel-vt` and `kernel-rt`"
BY_HTTP = "for `qos run --on otg://SERVER:PORT`, by HTTP or HTTPS; nothing is needed here"

_REQUIREMENT = re.compile(r"([\w.-]+)([^;]*)(?:; *extra == \"(\w+)\")?")
_BOUND = re.compile(r"(>=|<)\s*([\w.]+)")


class Finding(NamedTuple):
    """One thing that was looked for.

    Attributes:
        name: What it is.
        state: Whether it is there.
        found: What was found, in words.
        remedy: What to do if it is not there; "" if nothing helps, or nothing need be done.
    """

    name: str
    state: State
    found: str
    remedy: str = ""


class Cache(NamedTuple):
    """The folder of compiled kernels, whether it stays, and of how many functions it holds some."""

    path: str
    stays: bool
    kernels: int


class Machine:
    """Answers what is asked of this machine."""

    configuration = Path("/proc/config.gz")
    """Where a kernel may say what it was configured with."""

    @property
    def python(self) -> str:
        """Return the version of Python."""
        return ".".join(map(str, sys.version_info[:3]))

    def list_requirements(self) -> tuple[str, list[str]]:
        """Return the range of Python, and the requirements, as the package declares them."""
        from importlib.metadata import metadata, requires

        return metadata("qospec")["Requires-Python"], requires("qospec") or []

    def find_version(self, package: str) -> str | None:
        """Return the version of a package that is installed; None if it is not."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version(package)
        except PackageNotFoundError:
            return None

    def find_cache(self) -> Cache:
        """Return the folder of compiled kernels of this version."""
        from qospec.engine.kernel import find_cache_folder

        folder = find_cache_folder()
        # In no private folder a kernel is kept: the folder is then one that was made just now.
        stays = not folder.name.startswith("qospec-")
        return Cache(str(folder), stays, sum(1 for _ in folder.rglob("*.nbi")))

    def read_variable(self, name: str) -> str:
        """Return a variable of the environment; "" if it is not set."""
        return os.environ.get(name, "")

    def count_processors(self) -> int:
        """Return how many processors this process may use."""
        usable = getattr(os, "sched_getaffinity", None)
        return len(usable(0)) if usable else os.cpu_count() or 1

    def find_program(self, name: str) -> str | None:
        """Return the path of a program; None if there is none."""
        import shutil

        return shutil.which(name)

    def find_kernel(self) -> str | None:
        """Return the path of the kernel in virtual time; None if none was built."""
        from qospec.backend import BackendError
        from qospec.linux.kept import find_kernel

        try:
            return str(find_kernel())
        except BackendError:
            return None

    def list_modules(self) -> str | None:
        """Return the list of the kernel's modules, built in or to be loaded; None if unknown."""
        if not hasattr(os, "uname"):
            return None
        folder = Path("/lib/modules") / os.uname().release
        try:
            names = ("modules.builtin", "modules.dep")
            return "".join((folder / name).read_text(encoding="utf-8") for name in names)
        except OSError:
            return self._list_configured()

    def _list_configured(self) -> str | None:
        """Return what controls traffic in the kernel's configuration, as files of modules."""
        import gzip

        try:
            written = gzip.decompress(self.configuration.read_bytes()).decode()
        except (OSError, EOFError, ValueError):
            return None
        names = re.findall(r"^CONFIG_NET_((?:SCH|CLS|ACT)_\w+)=[ym]$", written, re.MULTILINE)
        return "".join(f"{name.lower()}.ko\n" for name in names)

    def can_unshare(self) -> bool:
        """Return whether a network namespace can be made without privileges."""
        import subprocess

        program = self.find_program("unshare")
        if program is None:
            return False
        command = [program, "--user", "--map-root-user", "--net", "true"]
        try:
            done = subprocess.run(command, check=False, capture_output=True, timeout=5)  # noqa: S603 -- a fixed command
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0


def examine(machine: Machine) -> list[Finding]:
    """Return what a machine has of what qospec needs, and of what some commands use."""
    return [
        *_examine_packages(machine),
        _examine_kernels(machine),
        Finding("processors", "present", f"{machine.count_processors()}, used by `-j auto`"),
        _examine_program(machine, "tshark", "reads captures of `qos pcap`", "tshark"),
        *_examine_linux(machine),
        Finding("traffic generators", "present", BY_HTTP),
    ]


def is_ready(findings: Iterable[Finding]) -> bool:
    """Return whether nothing is missing that each run needs."""
    return all(finding.state != "missing" for finding in findings)


def _examine_packages(machine: Machine) -> Iterator[Finding]:
    """Yield Python, the packages that are needed, and the extras of users."""
    pythons, requirements = machine.list_requirements()
    newer = f"install a Python {pythons}, and make the environment with it"
    yield _compare("python", "missing", machine.python, pythons, newer)
    extras: dict[str, list[Finding]] = {}
    for requirement in requirements:
        found = _REQUIREMENT.match(requirement)
        name, bounds, extra = found.groups() if found else ("", "", "")
        if extra and extra not in EXTRAS:
            continue
        state: State = "absent" if extra else "missing"
        remedy = f"pip install '{name}{bounds.strip()}'"
        compared = _compare(name, state, machine.find_version(name), bounds.strip(), remedy)
        if extra:
            extras.setdefault(extra, []).append(compared)
        else:
            yield compared
    for extra, packages in extras.items():
        lacking = [package for package in packages if package.state != "present"]
        words = "; ".join(f"{package.name} {package.found}" for package in lacking or packages)
        remedy = f"pip install 'qospec[{extra}]'" if lacking else ""
        yield Finding(
            f"extra {extra}",
            "absent" if lacking else "present",
            f"{words}; {EXTRAS[extra]}",
            remedy,
        )


def _compare(name: str, otherwise: State, version: str | None, bounds: str, remedy: str) -> Finding:
    """Return whether a version is within bounds as `>=3.1,<4`; `otherwise` is the state if not."""
    if version is None:
        return Finding(name, otherwise, f"is not installed; {bounds} is needed", remedy)
    for operator, bound in _BOUND.findall(bounds):
        below = _is_below(version, bound)
        if below == (operator == ">="):
            return Finding(name, otherwise, f"{version}; {bounds} is needed", remedy)
    return Finding(name, "present", version)


def _is_below(version: str, bound: str) -> bool:
    """Return whether a version is lower than another, by the numbers of both."""
    numbers = (map(int, re.findall(r"\d+", text)) for text in (version, bound))
    for one, other in zip_longest(*numbers, fillvalue=0):
        if one != other:
            return one < other
    return False


def _examine_kernels(machine: Machine) -> Finding:
    """Return whether compiled kernels are there, and stay."""
    name = "compiled kernels"
    if machine.read_variable("QOS_KERNELS") == "python":
        return Finding(name, "absent", "kernels run as Python, slowly", "unset QOS_KERNELS")
    cache = machine.find_cache()
    if not cache.stays:
        return Finding(
            name,
            "absent",
            "no folder is private, so each command compiles again",
            "set NUMBA_CACHE_DIR to a folder that only you can write to, and nobody above it",
        )
    if not cache.kernels:
        return Finding(name, "absent", f"none yet in {cache.path}", "qos warm FILE.qos")
    return Finding(name, "present", f"{cache.kernels} in {cache.path}")


def _examine_program(machine: Machine, program: str, use: str, package: str) -> Finding:
    path = machine.find_program(program)
    if path is None:
        return Finding(program, "absent", use, f"install the package {package}")
    return Finding(program, "present", f"{path}; {use}")


def _examine_linux(machine: Machine) -> Iterator[Finding]:
    """Yield what there is for tests on a kernel of Linux."""
    kernel, name = machine.find_kernel(), "kernel in virtual time"
    if kernel is None:
        yield Finding(name, "absent", f"none was built; {ON_KERNEL}", "make kernel, in a checkout")
    else:
        yield Finding(name, "present", f"{kernel}; {ON_KERNEL}")
    yield _examine_program(machine, "gcc", ON_KERNELS, "gcc")
    yield _examine_program(machine, "tc", ON_KERNELS, "iproute2")
    if machine.can_unshare():
        yield Finding("network namespaces", "present", f"without privileges; {ON_MACHINE}")
    else:
        yield Finding(
            "network namespaces",
            "absent",
            f"none can be made without privileges; {ON_MACHINE}",
            "install util-linux, and allow user namespaces: sysctl user.max_user_namespaces",
        )
    yield _examine_modules(machine)


def _examine_modules(machine: Machine) -> Finding:
    """Return whether the kernel has what elements are made of on it."""
    from qospec.linux.disciplines import BUILT_IN, MODULES, OR_VIRTUAL

    modules, name = machine.list_modules(), "control of traffic"
    if modules is None:
        return Finding(name, "absent", f"the kernel does not tell; {ON_MACHINE}")
    needed = [module for module in MODULES if module != BUILT_IN]
    lacking = [module for module in needed if not re.search(rf"\b{module}\.ko", modules)]
    if not lacking:
        return Finding(name, "present", f"{' '.join(needed)}; {ON_MACHINE}")
    found = f"{' '.join(lacking)} are not there: elements made of them are refused; {ON_MACHINE}"
    return Finding(name, "absent", found, OR_VIRTUAL)
