"""A specification from stdin, where the path is `-`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qospec.source import Source

STDIN = "-"


def read(suffix: str = "") -> Source:
    """Return what comes from stdin, in the form of files that end so; raises Refused."""
    from qospec.check.modules.files import MOST_BYTES, decoded

    return decoded(f"stdin{suffix}", sys.stdin.buffer.read(MOST_BYTES + 1), None)
