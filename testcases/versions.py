"""Runs a short suite with the lowest versions that `setup.cfg` allows, and with the newest.

Each has an environment of its own, which is removed again: the lowest one with the oldest Python
of this machine, the newest one with the newest Python; with `--all`, the newest also with each
Python between, and each has all cases of its tests. Two are tried side by side, each on one
processor. Which they were is printed, and that there is no other.

python testcases/versions.py
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV = (sys.executable, "-m", "uv", "--quiet")
MINORS = range(11, 20)
"""Of Python 3, as in `python_requires`; those that there are not yet are not found."""
RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}

SUITE = {
    "qos run {suites} -j 1 --no-progress --record {folder}/records": 0,
    "qos fuzz stdlib/devices/broken/meters.qos::deep_bucket --examples 60 -j 2 --no-progress"
    " --no-database --save {folder}": 1,
    "python -m pytest -q {sample} testcases/house/test_hostile_folder.py"
    " testcases/unit/language_server/test_server.py": 0,
    "python -m pytest -q -m 'not slow' {sample} testcases/unit/ciphers"
    " testcases/unit/cli/test_output.py testcases/unit/cli/test_pcap.py testcases/unit/report"
    " testcases/unit/fuzz/test_explore.py testcases/unit/syntax testcases/unit/test_cache.py"
    " testcases/unit/yaml_twin": 0,
}
"""Commands with the exit code that is right: the broken device is found."""
EANTC = "testcases/suites/eantc"
FEW = f"{EANTC}/traffic_management.qos -k cdvt_6_us"
"""Others of its cases compile more kernels for each version, and need no other parts of packages:
`--all` runs them."""
SAMPLE = "--hypothesis-profile quick --most 1"
"""Likewise of the cases of each test, which differ in what they say to the same packages."""


def interpreters() -> dict[str, str]:
    """Return the Pythons of this machine by version, of each minor one the first that is found."""
    found: dict[int, tuple[str, str]] = {}
    for minor, candidate in _candidates():
        program = "import platform, venv; print(platform.python_version())"
        code, printed = answer(candidate, "-c", program)
        if code == 0:
            found.setdefault(minor, (printed.strip(), candidate))
    return dict(found[minor] for minor in sorted(found))


def _candidates() -> Iterator[tuple[int, str]]:
    """Yield programs that may be a Python: on the path, or those that pyenv keeps aside."""
    yield from ((minor, path) for minor in MINORS if (path := shutil.which(f"python3.{minor}")))
    if pyenv := shutil.which("pyenv"):
        _, root = answer(pyenv, "root")
        for minor in MINORS:
            found = Path(root.strip(), "versions").glob(f"3.{minor}.*/bin/python")
            yield from ((minor, str(path)) for path in sorted(found))


FORBIDS = "PYTHONDONTWRITEBYTECODE"
"""By which an environment forbids Python to keep what it compiles."""
PREPARING = threading.Lock()
"""One after the other: both install the same checkout, whose metadata are written beside it."""


def run(*command: object, text: str = "", expected: int = 0) -> str:
    """Run a command; return what it printed, or exit with that if it failed."""
    words = [str(word) for word in command]
    code, printed = answer(*words, text=text)
    if code != expected:
        sys.exit(f"{printed}{shlex.join(words)}: exit code {code}")
    return printed


def answer(*words: str, text: str = "") -> tuple[int, str]:
    """Run a command in the project; return its exit code and what it printed.

    What Python compiles of the packages is kept, so that each command need not do it again.
    """
    kept = {name: value for name, value in os.environ.items() if name != FORBIDS}
    done = subprocess.run(
        words,
        cwd=ROOT,
        env=kept,
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def declared(pins: Iterable[str]) -> str:
    """Return the versions of what `setup.cfg` names itself."""
    text = (ROOT / "setup.cfg").read_text(encoding="utf-8").lower()
    named = [pin.split("==") for pin in pins]
    return ", ".join(f"{name} {at}" for name, at in named if f"\n    {name} >=" in text)


def try_out(which: str, version: str, python: str, *, whole: bool) -> None:
    """Run the suite in an environment of its own; exits if anything there fails."""
    began_s = time.monotonic()
    named = f"Python {version}, {which} versions"
    with tempfile.TemporaryDirectory(prefix="qospec-") as name:
        folder = Path(name)
        with PREPARING:
            print(f"{named}: {prepare(which, python, folder)}", flush=True)
        suites, sample = (EANTC, "") if whole else (FEW, SAMPLE)
        for command, code in SUITE.items():
            words = command.format(folder=folder, suites=suites, sample=sample)
            program, *arguments = shlex.split(words)
            printed = run(folder / "bin" / program, *arguments, expected=code)
            last = printed.strip().splitlines()[-1]
            print(f"{named}: {program} {arguments[0]}: {last}", flush=True)
    print(f"{named}: {time.monotonic() - began_s:.0f} s", flush=True)


def prepare(which: str, python: str, folder: Path) -> str:
    """Make an environment; return the versions there. Exits if that fails."""
    how = ("--resolution", RESOLUTIONS[which], "--python", python)
    extras = (f"--extra={extra}" for extra in ("build", "fuzz", "dev"))
    pins = run(*UV, "pip", "compile", "setup.cfg", *extras, *how, "--no-header", "--no-annotate")
    run(*UV, "venv", "--python", python, folder)
    install = (*UV, "pip", "install", "--python", folder)
    run(*install, "--requirement", "-", text=pins)
    run(*install, "--no-deps", "--no-build-isolation", "--editable", ".")
    return declared(pins.split())


def main() -> None:
    """Try out the environments, and say of which Pythons there were any."""
    parser = argparse.ArgumentParser(description="Run a short suite with several versions.")
    parser.add_argument("--all", action="store_true", help="also with each Python between")
    asked = parser.parse_args()
    found = interpreters()
    print(f"Python 3.{MINORS[0]} or later on this machine: {', '.join(found)}")
    oldest, *_, newest = [*found] * 2
    newest_in = [version for version in found if version != oldest] if asked.all else [newest]
    tried = [("lowest", oldest), *(("newest", version) for version in newest_in)]
    with ThreadPoolExecutor(2) as pool:
        ways = [
            pool.submit(try_out, which, version, found[version], whole=asked.all)
            for which, version in tried
        ]
    for way in ways:
        way.result()


if __name__ == "__main__":
    main()
