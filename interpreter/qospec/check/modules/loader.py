"""Reads the files that are named and those that they import, each once.

`import std.media` is `media.qos` of the library. Any other import is a file of a package that
`qos.lock` pins, or one below the project's root, or beside the file that imports it. The root is
the nearest folder above that holds a `qos.toml`, else the folder of the file that was named.
"""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import CheckError
from qospec.check.modules import files
from qospec.check.modules.imports import NoFileError, Place, find
from qospec.check.modules.project import Projects
from qospec.dataclass import dataclass
from qospec.diagnostics import Diagnostic, Label, Problems
from qospec.yaml_twin.form import read_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.check.evaluate.context import Context
    from qospec.source import Source
    from qospec.syntax import ast

NONE: Mapping[Path, str] = MappingProxyType({})

LIBRARY_KEPT = 256
"""Texts of the library of which trees are kept: it has fewer files, each of some names."""


@dataclass
class Unit:
    """One file, read.

    `imports` has the file of each import that could be read; `missing_imports` the names that
    imports without a file may have been for.
    """

    path: Path
    source: Source
    tree: ast.File | None
    named: bool
    imports: dict[str, Unit] = field(default_factory=dict)
    missing_imports: set[str] = field(default_factory=set)

    def list_with_imports(self) -> list[Unit]:
        """Return this file, and all that it imports, each once."""
        found: dict[Path, Unit] = {}
        waiting = [self]
        while waiting:
            unit = waiting.pop(0)
            if unit.path not in found:
                found[unit.path] = unit
                waiting += unit.imports.values()
        return list(found.values())

    def name_imports(self) -> frozenset[str]:
        """Return all that it imports, and itself, by the names that records have."""
        return frozenset(unit.source.recorded_name for unit in self.list_with_imports())


def _read(source: Source, problems: Problems) -> tuple[Source, ast.File | None]:
    """Return a text with its tree; of the library, which many files import, those read first."""
    if not source.is_of_library:
        return source, read_tree(source, problems)
    kept, tree, found = _read_library(source)
    for problem in found:
        problems.add(problem)
    return kept, tree


@lru_cache(LIBRARY_KEPT)
def _read_library(source: Source) -> tuple[Source, ast.File | None, tuple[Diagnostic, ...]]:
    found = Problems()
    return source, read_tree(source, found), tuple(found.all)


class Loader:
    """Reads files; knows which have been read, and which are being read."""

    def __init__(self, context: Context, texts: Mapping[Path, str] = NONE) -> None:
        """Take what to read in place of what files hold, by their paths."""
        self._context = context
        self._texts = texts
        self._units: dict[Path, Unit | None] = {}
        self._reading: list[tuple[Path, ast.Import | None]] = []
        self._projects = Projects(context.report)
        self._root = Path()

    def load(self, paths: Sequence[Path]) -> tuple[Unit, ...]:
        """Return the files named (of folders all specifications) and those they import.

        Without a name: those that the project here names, else all below the current folder.
        """
        found: list[tuple[Path, Path]] = []
        for path in paths or self._projects.list_here():
            try:
                found += [(file, path) for file in files.find_files(path, self._is_left_out(path))]
            except CheckError as mistake:
                self._context.report(mistake)
        self._root = files.find_common_root([file for file, _ in found])
        for file, path in found:
            self._load_named(file, path)
        named = {files.resolve_links(file) for file, _ in found}
        units = [unit for unit in self._units.values() if unit is not None]
        for unit in units:
            unit.named = unit.path in named
        return tuple(units)

    def read_text(self, source: Source, path: Path) -> tuple[Unit, ...]:
        """Return a text as if it were the file `path`, behind those of its imports that are new.

        These are kept, the text is not: the next one may have the same path. Raises CheckError.
        """
        before = set(self._units)
        try:
            self._units[path] = None
            self._parse(path, source, self._find_place(path), None)
            return tuple(unit for unit in self._units.values() if unit and unit.path not in before)
        finally:
            del self._units[path]

    def _load_named(self, file: Path, given: Path) -> None:
        try:
            if file is not given:
                files.resolve_inside(file, given)
            self._read(file, self._find_place(file), None)
        except CheckError as mistake:
            self._context.report(mistake)

    def _find_place(self, file: Path) -> Place:
        """Return where the imports of a file that was named are searched; raises CheckError.

        A file of a package is that which was pinned, and its imports begin where they do if it is
        imported, unless it is of a project within the package.
        """
        root = files.find_root(file)
        pinned = self._projects.find_pinning(file)
        if pinned is not None:
            project, package = pinned
            project.find_package(package.name, None, self._context.limits.imports)
            if not root.is_relative_to(package.folder):
                return Place(package.folder, project)
        return Place(root, self._projects.find_at(root))

    def _is_left_out(self, path: Path) -> Sequence[Path]:
        return (
            self._projects.find_at(files.find_root(path / "any")).exclude
            if files.is_folder(path)
            else ()
        )

    def _read(self, written: Path, where: Place, importer: ast.Import | None) -> Unit | None:
        path = files.resolve_links(written)
        if any(path == reading for reading, _ in self._reading):
            raise self._explain_cycle(path, importer)
        if path in self._units:
            return self._units[path]
        if len(self._units) >= self._context.limits.imports:
            span = importer.span if importer else files.locate_file(path)
            raise files.explain_too_many_files(self._context.limits.imports, span)
        if importer is not None and len(self._reading) >= self._context.limits.depth:
            raise files.explain_too_many_levels(self._context.limits.depth, importer.span)
        self._reading.append((path, importer))
        try:
            self._units[path] = None
            source = files.read_source(written, importer, self._root, self._texts.get(path))
            return self._parse(path, source, where, importer)
        except CheckError as mistake:
            self._context.report(mistake)
            return None
        finally:
            self._reading.pop()

    def _parse(self, path: Path, source: Source, where: Place, importer: ast.Import | None) -> Unit:
        before = len(self._context.problems.errors)
        source, tree = _read(source, self._context.problems)
        self._context.mistakes += len(self._context.problems.errors) - before
        unit = Unit(path, source, tree, named=importer is None)
        for imported in tree.imports if tree else ():
            try:
                file, beyond = find(imported, path, where, self._context.limits.imports)
                found = self._read(file, beyond, imported)
            except NoFileError as missing:
                if where.project.sound:
                    self._context.report(missing)
                unit.missing_imports |= {imported.name, missing.near} - {""}
                continue
            except CheckError as mistake:
                self._context.report(mistake)
                continue
            if found is not None:
                unit.imports[imported.name] = found
        del self._units[path]  # so that what a file imports stands before it
        self._units[path] = unit
        return unit

    def _explain_cycle(self, path: Path, importer: ast.Import | None) -> CheckError:
        names = [reading for reading, _ in self._reading]
        chain = self._reading[names.index(path) + 1 :]
        places = [node for _, node in [*chain, (path, importer)] if node is not None]
        shown = " -> ".join(
            [
                files.shorten_path(path),
                *(files.shorten_path(file) for file, _ in chain),
                files.shorten_path(path),
            ]
        )
        return CheckError(
            Diagnostic(
                "E0107",
                f"these files import each other: {shown}",
                places[-1].span,
                label="closes the circle",
                secondary=tuple(Label(place.span, "imported here") for place in places[:-1]),
                help="move what both need into a file of its own",
            )
        )
