"""Applies the fixes that are certain to be right, each file entirely or not at all.

Only files that were named are changed, never those of the library or of a package, which are
pinned. A fix may uncover another error with a fix, so checking and fixing alternate a few times.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.check.modules.files import find_root, is_folder, resolve_links
from qospec.check.modules.project import is_pinned
from qospec.dataclass import NamedTuple
from qospec.resources import STDLIB
from qospec.writing import WriteError, write_whole
from qospec.yaml_twin.form import is_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qospec.diagnostics import Diagnostic, Edit, Problems
    from qospec.source import Source

ROUNDS = 10
"""The most passes of checking and fixing."""


class RepairError(Exception):
    """A file cannot be changed; the message is for the user."""


class Repaired(NamedTuple):
    """The result: how many problems were fixed, in which files, and what is left.

    `failed` says which files could not be changed, and why.
    """

    fixed: int
    files: tuple[str, ...]
    problems: Problems
    failed: tuple[str, ...]


def repair(check: Callable[[], Problems], paths: Sequence[Path]) -> Repaired:
    """Apply all fixes in the files named, and in the folders named.

    Args:
        check: Checks everything again.
        paths: What was named; empty for the project of the current folder.
    """
    fixed, files, failed = 0, dict[str, None](), dict[str, str]()
    problems = check()
    for _ in range(ROUNDS):
        found = _list_changes(problems, paths)
        changes = {source: fixes for source, fixes in found.items() if source.name not in failed}
        if not changes:
            break
        for source, fixes in changes.items():
            text, count = apply_fixes(source.text, fixes)
            try:
                rewrite(source, text)
            except RepairError as error:
                failed[source.name] = str(error)
                continue
            fixed += count
            files[source.name] = None
        problems = check()
    return Repaired(fixed, tuple(files), problems, tuple(failed.values()))


def count_fixable(problems: Problems, paths: Sequence[Path]) -> int:
    """Return how many errors `repair` would fix in its first pass."""
    return sum(len(fixes) for fixes in _list_changes(problems, paths).values())


def _list_changes(
    problems: Problems, paths: Sequence[Path]
) -> dict[Source, list[tuple[Edit, ...]]]:
    found: dict[Source, list[tuple[Edit, ...]]] = {}
    for diagnostic in problems.all:
        source, fix = diagnostic.span.source, find_edits(diagnostic)
        fixes = found.get(source, [])
        if fix and fix not in fixes and _may_change(source, paths):
            found[source] = [*fixes, fix]
    return found


def find_edits(diagnostic: Diagnostic) -> tuple[Edit, ...]:
    """Return the edits of a fix in the file itself.

    A fix is written for the text form. In YAML it is applied only if it replaces a word by a word.
    """
    source, fix = diagnostic.span.source, diagnostic.fix
    if any(edit.span.source is not source for edit in fix):
        return ()
    here = [source.text[edit.span.start : edit.span.end] for edit in fix]
    same = all(text and text == edit.span.text for text, edit in zip(here, fix, strict=True))
    return fix if same or not is_yaml(source.name) else ()


def _may_change(source: Source, paths: Sequence[Path]) -> bool:
    file = resolve_links(Path(source.name))
    if file.is_relative_to(resolve_links(STDLIB)) or is_pinned(file):
        return False
    return any(
        file.is_relative_to(resolve_links(path)) if is_folder(path) else file == resolve_links(path)
        for path in paths or [find_root(Path("any"))]
    )


def apply_fixes(text: str, fixes: Iterable[tuple[Edit, ...]]) -> tuple[str, int]:
    """Return the text with the fixes applied, and how many were.

    A fix is applied entirely or not at all; of two that overlap or touch, only the first.
    """
    chosen: list[Edit] = []
    count = 0
    for fix in sorted(fixes, key=lambda fix: fix[0].span.start):
        if any(_has_ties(edit, other) for edit in fix for other in chosen):
            continue
        chosen += fix
        count += 1
    for edit in sorted(chosen, key=lambda edit: edit.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text, count


def _has_ties(one: Edit, other: Edit) -> bool:
    return one.span.start <= other.span.end and other.span.start <= one.span.end


def rewrite(source: Source, text: str) -> None:
    """Replace the text of a file that was read; raises RepairError."""
    path = resolve_links(Path(source.name))
    if not os.access(path, os.W_OK):
        raise RepairError(f"cannot change {source.name}: it is not writable")
    try:
        if path.read_bytes() != source.text.encode("utf-8"):
            raise RepairError(f"{source.name} changed while it was being checked: check it again")
        write_whole(path, text)
    except OSError as error:
        raise RepairError(f"cannot change {source.name}: {error.strerror or error}") from error
    except WriteError as error:
        raise RepairError(str(error)) from error
