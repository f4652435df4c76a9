"""TCP beside smoltcp, which is given its clock, for some of V1 to V10.

Prints for windows, slow start, timers, a loss and a bottleneck what is known in closed form, ours,
and smoltcp's, and returns 1 where they are to be the same and are not. What differs, and why, is in
`docs/tcp.md`. smoltcp is built in a temporary folder, by Cargo.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from comparison import HERE, compare

PEER = HERE / "smoltcp"
UNLIKE = ("V8", "V10")


def build(folder: Path) -> Path | None:
    """Return the program, built in a folder; None without Cargo."""
    cargo = shutil.which("cargo")
    if cargo is None:
        return None
    shutil.copytree(PEER, folder / "peer")
    words = [cargo, "build", "--release", "--locked", "--quiet"]
    # Not where the user builds other things.
    environment = {**os.environ, "CARGO_TARGET_DIR": str(folder / "target")}
    subprocess.run(words, cwd=folder / "peer", check=True, env=environment)
    return folder / "target" / "release" / "peer"


def main() -> int:
    """Compare all; return 1 if something differs that is to be the same."""
    argparse.ArgumentParser(
        description="Compare TCP with smoltcp, which Cargo builds."
    ).parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build(folder)
        if program is None:
            print("cargo is not here, so TCP was compared with nothing", file=sys.stderr)
            return 1
        return 0 if compare("smoltcp", program, folder, UNLIKE) else 1


if __name__ == "__main__":
    sys.exit(main())
