"""TCP beside ns-3, for some of V1 to V10.

Prints for windows, slow start, timers, losses and a bottleneck what is known in closed form, ours,
and ns-3's, and returns 1 where they are to be the same and are not. What differs, and why, is in
`docs/tcp.md`. Its libraries come from its wheel, which pip downloads into a temporary folder; the
Python of the wheel is not used, so a compiler of C++ is needed in its place.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from comparison import HERE, compare

PEER = HERE / "ns3" / "path.cc"
WHEEL, VERSION = "ns3==3.44.post0", "3.44"
PARTS = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")
UNLIKE = ("V3", "V8 one of 96 ", "V10 room 1,")


def build(folder: Path, compiler: str) -> Path:
    """Return the program, built in a folder.

    Raises:
        subprocess.CalledProcessError: The wheel cannot be had, or used.
    """
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*pip, "--dest", str(folder), WHEEL], check=True)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder)
    include, libraries = folder / "ns3" / "include", folder / "ns3" / "lib64"
    linked = [f"-lns{VERSION}-{part}" for part in PARTS]
    how = ["-std=c++20", "-O1", f"-I{include}", str(PEER), f"-L{libraries}", *linked]
    found = [f"-Wl,-rpath,{libraries}", "-Wl,--allow-shlib-undefined"]
    program = folder / "path"
    subprocess.run([compiler, *how, *found, "-o", str(program)], check=True)
    return program


def main() -> int:
    """Compare all; return 1 if something differs that is to be the same."""
    argparse.ArgumentParser(
        description="Compare TCP with ns-3, whose wheel pip downloads."
    ).parse_args()
    compiler = shutil.which("c++")
    if compiler is None:
        print("no compiler of C++ is here, so TCP was compared with nothing", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            program = build(folder, compiler)
        except subprocess.CalledProcessError as error:
            print(f"{error}: TCP was compared with nothing", file=sys.stderr)
            return 1
        return 0 if compare("ns-3", program, folder, UNLIKE) else 1


if __name__ == "__main__":
    sys.exit(main())
