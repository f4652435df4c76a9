"""`qos run --watch`: the same command in a process of its own whenever a file is saved."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING, NoReturn

from qospec.check.evaluate.context import CheckError
from qospec.check.modules import files
from qospec.cli import output

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

LOOKED_S = 0.3
"""How often it is looked whether a file has changed."""
WATCHED = (*files.SUFFIXES, ".pcap", ".pcapng", ".cap")
"""How names end of files that may be read: a capture with another name is not noticed."""


def watch(paths: Sequence[Path]) -> NoReturn:
    """Run what has changed, now and whenever a file changes, until Ctrl-C.

    A file that is broken meanwhile has its mistakes shown; the watch goes on.
    """
    given = [word for word in sys.argv[1:] if word != "--watch"]
    command = [sys.executable, "-m", "qospec", *given]
    while True:
        before = dict(_list_states(paths))
        subprocess.run(command, check=False)  # noqa: S603 -- this very command
        output.say("watching: save a file to run what has changed; Ctrl-C ends", err=True)
        while dict(_list_states(paths)) == before:
            time.sleep(LOOKED_S)


def _list_states(paths: Sequence[Path]) -> Iterator[tuple[Path, tuple[int, int]]]:
    """Yield the files that may be read, each with the time of its last change and its size."""
    from pathlib import Path

    for root in {
        files.find_root(path if path.is_file() else path / "any") for path in paths or [Path()]
    }:
        try:
            found = files.list_importable(root, suffixes=WATCHED)
        except CheckError:
            continue
        for path in (*found, root / "qos.toml", root / "qos.lock"):
            try:
                state = path.stat()
            except OSError:
                continue
            yield path, (state.st_mtime_ns, state.st_size)
