"""A project: the settings of `qos.toml` at its root, and the packages that `qos.lock` pins.

A package is a folder of the project whose files are known by their hash, so that what a
specification means cannot change unnoticed. Nothing is fetched.
"""

from __future__ import annotations

import os
from dataclasses import field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.modules import files
from qospec.dataclass import NamedTuple, dataclass
from qospec.syntax.parser import EDITION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from qospec.check.modules.toml import Table
    from qospec.source import Span

SETTINGS: Mapping[str, Mapping[str, type]] = {
    "project": {"name": str, "edition": int, "paths": list, "exclude": list},
}
"""The tables of `qos.toml` and their fields."""

LOCK = "qos.lock"

PINNED: Mapping[str, type] = {"folder": str, "sha256": str}
"""The fields of a package in `qos.lock`."""

OUTSIDE = "a project is complete in its own folder: name a path below that of qos.toml"


class Package(NamedTuple):
    """A package as it is pinned: its folder, the hash of its files, and the place of that hash."""

    name: str
    folder: Path
    sha256: str
    place: Span


@dataclass
class Project:
    """A root and its settings. `sound` is False after a mistake in them.

    `paths` are checked if none is named; `exclude` are left out of a folder that is named.
    """

    root: Path
    name: str = ""
    paths: tuple[Path, ...] = ()
    exclude: tuple[Path, ...] = ()
    packages: dict[str, Package] = field(default_factory=dict)
    sound: bool = True
    _hashes: dict[str, str] = field(default_factory=dict)

    def find_package(self, name: str, importer: Span | None, most: int) -> Package | None:
        """Return a package whose files are those that were pinned; raises CheckError.

        Args:
            name: Its name.
            importer: The import that needs it; None if a file of it was named.
            most: How many files it may have.
        """
        found = self.packages.get(name)
        if found is not None:
            secondary = (importer, "imported here") if importer else None
            if name not in self._hashes:
                self._hashes[name] = _hash(found, secondary, most)
            _verify(found, self._hashes[name], secondary)
        return found

    def find_owner(self, file: Path) -> Package | None:
        """Return the package that a file belongs to, the innermost if one is in another."""
        owners = [
            package for package in self.packages.values() if file.is_relative_to(package.folder)
        ]
        return max(owners, key=lambda owner: len(owner.folder.parts), default=None)


class Projects:
    """The projects that files belong to, each read once; their mistakes are reported."""

    def __init__(self, report: Callable[[CheckError], None]) -> None:
        self._report = report
        self._known: dict[Path, Project] = {}

    def find_at(self, root: Path) -> Project:
        """Return the project of a root."""
        if root not in self._known:
            self._known[root] = read_project(root, self._report)
        return self._known[root]

    def list_here(self) -> Sequence[Path]:
        """Return what a command uses without a path: the project's paths, else this folder."""
        return self.find_at(files.find_root(Path("any"))).paths or (Path(),)

    def find_pinning(self, file: Path) -> tuple[Project, Package] | None:
        """Return the package that a file belongs to, and the project whose `qos.lock` pins it."""
        path = files.resolve_links(file)
        for root in path.parents:
            if files.is_there(root / LOCK):
                made = self.find_at(root)
                owner = made.find_owner(path)
                if owner is not None:
                    return made, owner
        return None


def is_pinned(file: Path) -> bool:
    """Return whether a file belongs to a package, and so must not be changed."""
    return Projects(lambda _: None).find_pinning(file) is not None


def read_project(root: Path, report: Callable[[CheckError], None]) -> Project:
    """Return the project of a root; settings with a mistake are reported and left out."""
    made = Project(root)
    for name, take in (("qos.toml", _read_settings), (LOCK, _read_packages)):
        path = root / name
        if not files.is_there(path):
            continue
        from qospec.check.modules import toml

        try:
            mistakes = list(take(made, toml.read(path)))
        except CheckError as mistake:
            mistakes = [mistake]
        for check_error in mistakes:
            report(check_error)
            made.sound = False
    return made


def _read_settings(made: Project, whole: Table) -> Iterator[CheckError]:
    yield from whole.check_known(dict.fromkeys(SETTINGS, dict), "table")
    own = whole.find_table("project")
    if own is None:
        return
    yield from own.check_known(SETTINGS["project"])
    edition = own.fields.get("edition")
    if isinstance(edition, int) and edition != int(EDITION):
        yield make_error(
            "E0002",
            f"edition {edition} of the language is not known",
            own.find_place("edition", value=True),
            help=f"write `edition = {EDITION}`",
        )
    name = own.fields.get("name")
    made.name = name if isinstance(name, str) else ""
    for key in ("paths", "exclude"):
        found = []
        listed = own.fields.get(key)
        for written in listed if isinstance(listed, list) else ():
            if not isinstance(written, str):
                continue
            try:
                found.append(_resolve_below(made.root, written, own.find_place(key, value=True)))
            except CheckError as mistake:
                yield mistake
        setattr(made, key, tuple(found))


def _read_packages(made: Project, whole: Table) -> Iterator[CheckError]:
    yield from whole.check_known({"package": dict}, "table")
    pinned = whole.find_table("package")
    for name in pinned.fields if pinned else ():
        own = pinned.find_table(name) if pinned else None
        if own is None or name == "std" or not (name.isidentifier() and name.isascii()):
            yield make_error(
                "E0116",
                "`std` is the library that comes with the language"
                if name == "std"
                else f"`{name}` cannot be a package",
                whole.find_place() if pinned is None else pinned.find_place(name),
                help="write `[package.name]` with a name of letters, digits and `_`",
            )
            continue
        mistakes = list(own.check_known(PINNED)) or list(_explain_missing(own))
        yield from mistakes
        if mistakes:
            continue
        try:
            folder = _resolve_below(
                made.root, own.fields["folder"], own.find_place("folder", value=True)
            )
        except CheckError as mistake:
            yield mistake
            continue
        place = own.find_place("sha256", value=True)
        made.packages[name] = Package(name, folder, own.fields["sha256"], place)


def _explain_missing(own: Table) -> Iterator[CheckError]:
    for key in PINNED:
        if key not in own.fields:
            yield make_error(
                "E0105", f"{own.name} needs `{key}`", own.find_place(), help=f'add `{key} = "…"`'
            )


def _resolve_below(root: Path, written: str, place: Span) -> Path:
    """Return the path of a setting; raises CheckError if it is not within the project."""
    parts = PurePosixPath(written)
    if not written or "\0" in written or parts.is_absolute() or ".." in parts.parts:
        raise make_error("E0110", f"`{written}` is not a path of the project", place, help=OUTSIDE)
    path = files.resolve_links(root / parts)
    if not path.is_relative_to(files.resolve_links(root)):
        raise make_error(
            "E0110",
            f"`{written}` leads out of the project, to {path}",
            place,
            help="copy it into the project: links may not lead out of it",
        )
    if not files.is_folder(path) and not files.is_file(path):
        raise make_error("E0106", f"no file or folder is at `{written}`", place, help="correct it")
    return path


def _hash(package: Package, secondary: tuple[Span, str] | None, most: int) -> str:
    if not files.is_folder(package.folder):
        raise make_error(
            "E0117",
            f"the package `{package.name}` is not a folder",
            package.place,
            secondary=secondary,
            help="put its files back, or correct `folder`",
        )
    return compute_fingerprint(package.folder, most)


def _verify(package: Package, found: str, secondary: tuple[Span, str] | None) -> None:
    if found != package.sha256:
        raise make_error(
            "E0117",
            f"the package `{package.name}` is not what was pinned",
            package.place,
            secondary=secondary,
            note="a file in it was changed, added or removed",
            help=f'if that is intended, write `sha256 = "{found}"`',
        )


def compute_fingerprint(folder: Path, most: int) -> str:
    """Return the hash of what may be imported from a folder: SHA-256 of names, lengths and bytes.

    Args:
        folder: Where they are, at any depth.
        most: How many files there may be.

    Raises:
        CheckError: If there are more, or one cannot be read.
    """
    import hashlib

    digest = hashlib.sha256()
    found = files.list_importable(folder)
    if len(found) > most:
        raise files.explain_too_many_files(most, files.locate_file(folder))
    named = sorted((file.relative_to(folder).as_posix(), file) for file in found)
    for name, file in named:
        data = files.read_content(file, None)
        digest.update(os.fsencode(f"{name}\0{len(data)}\0"))
        digest.update(data)
    return digest.hexdigest()
