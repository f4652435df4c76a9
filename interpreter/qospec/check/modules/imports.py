"""Finds the file of an import: in the library, in a package, in the project, or beside the file."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.modules import files
from qospec.dataclass import NamedTuple
from qospec.diagnostics import suggest_name
from qospec.resources import STDLIB

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from pathlib import Path

    from qospec.check.modules.project import Project
    from qospec.syntax import ast


_DEVICES = {"switch": "ethernet_switch", "bridge": "ethernet_switch"}
"""Common names for devices of `devices/generic.qos`; a `router` is an element."""
_DECLARED = re.compile(r"^(?:device|let|traffic) (\w+)(\(ports:)?", re.MULTILINE)
"""What a file of the library declares that others may write, and whether it has ports to choose."""
_BROKEN = "broken"
"""The folder of devices that are wrong on purpose, which nobody means."""


class Place(NamedTuple):
    """Where the imports of a file are searched: below a root, and in a project's packages."""

    root: Path
    project: Project


class _Candidate(NamedTuple):
    """A file that an import may mean: a folder, the parts below it, and its root."""

    folder: Path
    root: Path
    parts: Sequence[str]

    @property
    def file(self) -> Path:
        return self.files[0]

    @property
    def files(self) -> tuple[Path, ...]:
        """Return its possible names: the language has two forms."""
        *before, last = self.parts
        folder = self.folder.joinpath(*before)
        return tuple(folder / f"{last}{suffix}" for suffix in files.SUFFIXES)


class NoFileError(CheckError):
    """No file for an import; `near` is the name that may have been meant."""

    def __init__(self, mistake: CheckError, near: str) -> None:
        self.near = near
        super().__init__(mistake.diagnostic)


def find(node: ast.Import, importing: Path, where: Place, most: int) -> tuple[Path, Place]:
    """Return the file of an import, and where its own imports are searched.

    Args:
        node: The import.
        importing: The file that holds it.
        where: Where that file's imports are searched.
        most: How many files a package may have.

    Raises:
        NoFileError: If there is none.
        CheckError: If there are two, or it leads out of the project, or is not what was pinned.
    """
    candidates = _list_candidates(node, importing, where, most)
    found = {
        files.resolve_links(file): (candidate, file)
        for candidate in candidates
        for file in candidate.files
        if files.is_there(file) and _is_spelt_so(file, len(candidate.parts))
    }
    if not found:
        raise _explain_missing(node, candidates, list(where.project.packages), importing.name)
    if len(found) > 1:
        one, two, *_ = (files.shorten_path(file) for file in found)
        raise make_error(
            "E0111",
            f"two files match this import: {one} and {two}",
            node.span,
            help="rename one of them",
        )
    ((resolved, (candidate, file)),) = found.items()
    _verify(node, resolved, candidate.root, where)
    return file, Place(candidate.root, where.project)


def _list_candidates(
    node: ast.Import, importing: Path, where: Place, most: int
) -> list[_Candidate]:
    first, *rest = (name.text for name in node.path)
    package = where.project.find_package(first, node.span, most)
    inner = STDLIB if first == "std" else package.folder if package else None
    candidates = [_Candidate(inner, inner, rest)] if inner is not None and rest else []
    if first != "std":
        folders = dict.fromkeys([where.root, importing.parent])
        candidates += [_Candidate(folder, where.root, [first, *rest]) for folder in folders]
    return candidates


def _is_spelt_so(file: Path, depth: int) -> bool:
    """Return whether folders and file are spelt exactly so; some systems ignore case."""
    for path in [file, *file.parents][:depth]:
        beside = files.list_neighbours(path.parent)
        if path.name not in beside and path.name.lower() in map(str.lower, beside):
            return False
    return True


def _verify(node: ast.Import, resolved: Path, root: Path, where: Place) -> None:
    """Refuse a file outside its root, or one of a package imported by another path."""
    if not resolved.is_relative_to(files.resolve_links(root)):
        raise make_error(
            "E0110",
            f"this import leads out of the project, to {resolved}",
            node.span,
            note=files.describe_root(root),
            help="copy the file into the project: links may not lead out of it",
        )
    owner = where.project.find_owner(resolved)
    if owner is not None and root not in (owner.folder, STDLIB):
        inner = resolved.relative_to(owner.folder).with_suffix("").parts
        raise make_error(
            "E0117",
            f"this file is of the package `{owner.name}`, whose files are pinned",
            node.span,
            secondary=(owner.place, "pinned here"),
            help=f"write `import {'.'.join([owner.name, *inner])}`",
        )


def _explain_missing(
    node: ast.Import, candidates: Sequence[_Candidate], packages: Sequence[str], own: str
) -> NoFileError:
    written = [name.text for name in node.path]
    better, foreign = _find_nearest(written, candidates, packages, own)
    better = better or find_library_module(written[-1])
    help_text = f"write `import {better}`" if better else ""
    label = f"did you mean `{better}`?" if better else ""
    looked = " and ".join(
        dict.fromkeys(files.shorten_path(candidate.file) for candidate in candidates)
    )
    note = f"looked for {looked}" if looked else f"`{written[0]}` is a folder"
    folder = next(
        (candidate.file.with_suffix("") for candidate in candidates if _is_folder(candidate)), None
    )
    if folder is not None:
        note, label, help_text = (
            f"{files.shorten_path(folder)} is a folder",
            "",
            "name a file in it",
        )
        inner = _list_stems(files.list_neighbours(folder))
        help_text += f": `import {'.'.join([*written, inner[0]])}`" if inner else ""
    message = f"no file for `import {'.'.join(written)}`"
    mistake = make_error(
        "E0106", message, node.span, label=label, note=note + foreign, help=help_text
    )
    return NoFileError(mistake, better.rpartition(".")[2])


def suggest_import(name: str, names: Container[str]) -> str:
    """Return what to write for a well-known name that only the library has; "" if it has none.

    Args:
        name: A name that is not known here.
        names: Those that the file declares and imports.
    """
    word = _DEVICES.get(name.lower(), name.lower())
    file, arguments = _list_library_names().get(word, (None, ""))
    if file is None:
        return ""
    way_in = f", with `import {_name_module(file)}` below the first line"
    return f"write `{file.stem}.{word}{arguments}`" + ("" if file.stem in names else way_in)


@functools.cache
def _list_library_names() -> dict[str, tuple[Path, str]]:
    """Return which file of the library declares a name, and the arguments to begin with.

    Only a mistake needs them, so files are not parsed for that.
    """
    return {
        name: (file, "(ports = 2)" if ports else "")
        for file in reversed(files.list_importable(STDLIB))
        if file.parent.name != _BROKEN
        for name, ports in _DECLARED.findall(file.read_text(encoding="utf-8"))
    }


def find_library_module(name: str) -> str:
    """Return the import of the library's file of that name; "" if there is none."""
    found = (file for file in files.list_importable(STDLIB) if file.stem == name)
    file = next(found, None)
    return "" if file is None else _name_module(file)


def _name_module(file: Path) -> str:
    """Return a file of the library as it is imported."""
    return ".".join(["std", *file.relative_to(STDLIB).with_suffix("").parts])


def _is_folder(candidate: _Candidate) -> bool:
    folder = candidate.file.with_suffix("")
    return files.is_folder(folder) and _is_spelt_so(folder, len(candidate.parts))


def _find_nearest(
    written: Sequence[str], candidates: Sequence[_Candidate], packages: Sequence[str], own: str
) -> tuple[str, str]:
    """Return the import that may be meant, and the odd letter of one that looks like it.

    That is never the file with the import itself, which is named `own`.
    """
    for candidate in candidates:
        folder = candidate.folder
        before = len(written) - len(candidate.parts)
        for place, part in enumerate(candidate.parts):
            beside = [name for name in files.list_neighbours(folder) if name != own]
            last = place == len(candidate.parts) - 1
            if not last and part in beside:
                folder /= part
                continue
            known = _list_stems(beside) if last else [name for name in beside if "." not in name]
            known += packages if before + place == 0 else []
            near = _find_like(part, known)
            if near and near != part and near.isidentifier() and near.isascii():
                return ".".join(
                    [*written[: before + place], near, *candidate.parts[place + 1 :]]
                ), ""
            if near and not near.isascii():
                return "", _is_foreign(near)
            break
    return "", ""


def _list_stems(names: Sequence[str]) -> list[str]:
    return [
        name.removesuffix(suffix)
        for name in names
        for suffix in files.SUFFIXES
        if name.endswith(suffix)
    ]


def _find_like(part: str, known: Sequence[str]) -> str:
    same = [name for name in known if name.lower() == part.lower() or _is_like(name, part)]
    return same[0] if same else suggest_name(part, known)


def _is_like(name: str, part: str) -> bool:
    """Return whether a name differs only by letters that no identifier can have."""
    return len(name) == len(part) and all(
        letter == other or not letter.isascii() for letter, other in zip(name, part, strict=True)
    )


def _is_foreign(name: str) -> str:
    import unicodedata

    strange = next(letter for letter in name if not letter.isascii())
    called = unicodedata.name(strange, "no letter").lower()
    return f"; there is `{name}`, but its U+{ord(strange):04X} is {called}"
