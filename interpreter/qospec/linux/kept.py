"""Where a kernel in virtual time is kept: in the user's cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.backend import BackendError
from qospec.cache import find_private_folder

if TYPE_CHECKING:
    from pathlib import Path

CACHE = "linux"
"""The folder in the cache."""
KERNEL, ABOUT = "linux", "about.json"
"""The files of a kernel: itself, and what `build` says of it."""
HOW = "`make kernel` builds it, once, in about ten minutes"


def find_folder() -> Path:
    """Return the private folder of kernels; raises BackendError if there can be none."""
    folder = find_private_folder(CACHE)
    if folder is None:
        raise BackendError("no folder for a kernel is private: see `qos doctor`")
    return folder


def find_kernel() -> Path:
    """Return the kernel; raises BackendError, which says how to build one."""
    kernel = find_folder() / KERNEL
    if not kernel.is_file():
        raise BackendError(f"there is no kernel in virtual time here: {HOW}")
    return kernel
