"""Folders for caches that nobody else can write to: what is cached is run when it is loaded.

A kernel is unpickled, a template is bytecode, and the parse table decides what a text means.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

refused: dict[Path, str] = {}
"""Folders that would make a cache unsafe, with the reason in words for the user."""

_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def find_private_folder(name: str, *chosen: Path) -> Path | None:
    """Return the first folder of those that are chosen, or usual for a cache, that is private.

    Args:
        name: A path of the cache in the usual folders: the user's, then a temporary one.
        chosen: Folders to be preferred.
    """
    return next(filter(make_private, (*chosen, *_list_usual(name))), None)


def make_private(folder: Path) -> bool:
    """Create a folder unless it exists; return whether we, and nobody else, can write to it.

    That holds for all folders above it, too, since who can write to one of these can replace it.
    """
    folder = Path(os.path.realpath(folder))
    try:
        if not _is_safe(folder):
            return False
        for parent in reversed((folder, *folder.parents)):
            if not parent.exists():
                parent.mkdir(mode=stat.S_IRWXU, exist_ok=True)
        # Again, since somebody else may have been faster.
        return _is_safe(folder) and os.access(folder, os.W_OK)
    except OSError:
        return False


def _is_safe(folder: Path) -> bool:
    """Return whether nobody else can put anything into a folder, or into its place."""
    if not hasattr(os, "geteuid"):
        return True
    for parent in reversed((folder, *folder.parents)):  # the highest explains all below it
        if parent.exists() and (flaw := _find_flaw(parent, is_above=parent != folder)):
            refused[parent] = flaw
            return False
    return True


def _find_flaw(folder: Path, *, is_above: bool) -> str:
    """Return why others can write to a folder, or replace what is in one above; "" if they cannot.

    In one as /tmp each can replace only what is their own.
    """
    status = folder.stat()
    if status.st_uid not in (os.geteuid(), 0):
        return f"`{folder}` belongs to somebody else"
    if status.st_mode & _OTHERS and not (is_above and status.st_mode & stat.S_ISVTX):
        return f"others may write to `{folder}`"
    return ""


def _list_usual(name: str) -> Iterator[Path]:
    """Yield where a cache usually is: in the user's folder of caches, or in a temporary one."""
    import platformdirs

    yield platformdirs.user_cache_path("qospec") / name
    if hasattr(os, "geteuid"):
        import tempfile

        folder = Path(tempfile.gettempdir()) / f"qospec-{os.geteuid()}"
        if not folder.is_symlink():  # anybody can make one there
            yield folder / name
