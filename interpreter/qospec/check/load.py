"""Finds the files that are named and those that they import, each once.

`import std.media` is `media.qos` of the library. Any other import is a file below the project's
root, or beside the file that imports it. The root is the nearest folder above that holds a
`qos.toml`, else the folder of the file that was named.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.check.context import Refused, wrong
from qospec.diagnostics import Diagnostic, Label, did_you_mean
from qospec.resources import STDLIB
from qospec.source import Source, Span
from qospec.syntax.text import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qospec.check.context import Context
    from qospec.syntax import ast


@dataclass
class Unit:
    """One file, read. `imports` holds what its import names stand for, if that could be read."""

    path: Path
    source: Source
    tree: ast.File | None
    named: bool
    imports: dict[str, Unit] = field(default_factory=dict)


class Loader:
    """Reads files; knows which it has read, and which are being read just now."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._units: dict[Path, Unit | None] = {}
        self._reading: list[tuple[Path, ast.Import | None]] = []

    def load(self, paths: Sequence[Path]) -> tuple[Unit, ...]:
        """Return the files named (of folders all `.qos` files) and those they import."""
        for path in paths:
            try:
                for file in _files(path):
                    self._read(file, _root(file), None)
            except Refused as refused:
                self._context.tell(refused)
        named = {file.resolve() for path in paths for file in _named(path)}
        units = [unit for unit in self._units.values() if unit is not None]
        for unit in units:
            unit.named = unit.path in named
        return tuple(units)

    def _read(self, path: Path, root: Path, importer: ast.Import | None) -> Unit | None:
        path = path.resolve()
        if any(path == reading for reading, _ in self._reading):
            raise self._cycle(path, importer)
        if path in self._units:
            return self._units[path]
        if len(self._units) >= self._context.limits.imports:
            span = importer.span if importer else Span(Source(_shown(path), ""), 0, 0)
            raise wrong("E0607", f"more than {self._context.limits.imports} files are read", span)
        self._reading.append((path, importer))
        try:
            return self._parse(path, root, importer)
        finally:
            self._reading.pop()

    def _parse(self, path: Path, root: Path, importer: ast.Import | None) -> Unit | None:
        self._units[path] = None
        source = _source(path, importer)
        before = len(self._context.problems.errors)
        tree = parse(source, self._context.problems)
        self._context.mistakes += len(self._context.problems.errors) - before
        unit = Unit(path, source, tree, named=importer is None)
        for each in tree.imports if tree else ():
            try:
                file, below = self._find(each, path, root)
                found = self._read(file, below, each)
            except Refused as refused:
                self._context.tell(refused)
                continue
            if found is not None:
                unit.imports[each.name] = found
        del self._units[path]  # so that what a file imports stands before it
        self._units[path] = unit
        return unit

    def _find(self, each: ast.Import, path: Path, root: Path) -> tuple[Path, Path]:
        """Return the file of an import, and the root of its own imports."""
        parts = [name.text for name in each.path]
        if parts[0] == "std":
            roots, parts = [STDLIB], parts[1:]
        else:
            roots = list(dict.fromkeys([root, path.parent]))
        candidates = (
            [folder.joinpath(*parts).with_suffix(".qos") for folder in roots] if parts else []
        )
        found = {
            file.resolve(): (file, folder)
            for file, folder in zip(candidates, roots, strict=False)
            if file.is_file()
        }
        if not found:
            raise _missing(each, candidates)
        if len(found) > 1:
            first, second = (_shown(file) for file in found)
            raise wrong(
                "E0111",
                f"two files fit this import: {first} and {second}",
                each.span,
                remedy="rename one of them",
            )
        ((resolved, (_, folder)),) = found.items()
        inside = STDLIB if parts and each.path[0].text == "std" else root
        if not resolved.is_relative_to(inside.resolve()) and not resolved.is_relative_to(
            root.resolve()
        ):
            raise wrong(
                "E0110",
                f"this import leads out of the project, to {resolved}",
                each.span,
                note=f"the project's root is {_shown(folder)}",
                remedy="copy the file into the project: links may not lead out of it",
            )
        return resolved, inside

    def _cycle(self, path: Path, importer: ast.Import | None) -> Refused:
        names = [reading for reading, _ in self._reading]
        chain = self._reading[names.index(path) + 1 :]
        places = [each for _, each in [*chain, (path, importer)] if each is not None]
        shown = " -> ".join([_shown(path), *(_shown(file) for file, _ in chain), _shown(path)])
        return Refused(
            Diagnostic(
                "E0107",
                f"these files import each other: {shown}",
                places[-1].span,
                label="closes the circle",
                others=tuple(Label(each.span, "imported here") for each in places[:-1]),
                help="move what both need into a file of its own",
            )
        )


def _files(path: Path) -> Iterable[Path]:
    files = list(_named(path))
    if not files:
        raise wrong(
            "E0106",
            f"no .qos file is in {path}",
            Span(Source(str(path), ""), 0, 0),
            remedy="name a file, or a folder that holds .qos files",
        )
    return files


def _named(path: Path) -> Iterable[Path]:
    return sorted(path.rglob("*.qos")) if path.is_dir() else [path]


def _root(file: Path) -> Path:
    folder = file.resolve().parent
    return next(
        (above for above in [folder, *folder.parents] if (above / "qos.toml").is_file()), folder
    )


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _source(path: Path, importer: ast.Import | None) -> Source:
    name = _shown(path)
    nowhere = importer.span if importer else Span(Source(name, ""), 0, 0)
    try:
        data = path.read_bytes()
    except OSError as error:
        code = "E0106" if isinstance(error, FileNotFoundError) else "E0108"
        near = did_you_mean(path.name, _neighbours(path.parent))
        raise wrong(
            code,
            f"{name} cannot be read: {(error.strerror or str(error)).lower()}",
            nowhere,
            remedy=f"did you mean {path.with_name(near).name}?"
            if near
            else "name a file that can be read",
        ) from error
    try:
        return Source(name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        text = data[: error.start].decode("utf-8")
        raise wrong(
            "E0109",
            f"{name} is not UTF-8: byte {data[error.start]:#04x} at offset {error.start}",
            Span(Source(name, text), len(text), len(text)),
            other=(importer.span, "imported here") if importer else None,
            remedy="save it as UTF-8",
        ) from error


def _missing(each: ast.Import, candidates: Sequence[Path]) -> Refused:
    written = ".".join(name.text for name in each.path)
    stem = each.path[-1].text
    known = {Path(name).stem for file in candidates for name in _neighbours(file.parent)}
    near = did_you_mean(stem, known)
    better = ".".join([*written.split(".")[:-1], near])
    looked = " and ".join(_shown(file) for file in candidates) or "the library needs a file's name"
    return wrong(
        "E0106",
        f"no file for `import {written}`",
        each.span,
        label=f"did you mean `{better}`?" if near else "",
        note=f"looked for {looked}",
        remedy=f"write `import {better}`" if near else "",
    )


def _neighbours(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(".qos"))
    except OSError:
        return []
