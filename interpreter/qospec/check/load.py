"""Finds the files that are named and those that they import, each once.

`import std.media` is `media.qos` of the library. Any other import is a file below the project's
root, or beside the file that imports it. The root is the nearest folder above that holds a
`qos.toml`, else the folder of the file that was named.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from qospec.check import files
from qospec.check.context import Refused, wrong
from qospec.diagnostics import Diagnostic, Label, did_you_mean
from qospec.resources import STDLIB
from qospec.source import Source, Span
from qospec.syntax.text import parse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from qospec.check.context import Context
    from qospec.syntax import ast


@dataclass
class Unit:
    """One file, read.

    `imports` holds what its import names stand for, if that could be read; `missed` the names that
    may have been meant by the imports of which there is no file.
    """

    path: Path
    source: Source
    tree: ast.File | None
    named: bool
    imports: dict[str, Unit] = field(default_factory=dict)
    missed: set[str] = field(default_factory=set)


class Loader:
    """Reads files; knows which it has read, and which are being read just now."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._units: dict[Path, Unit | None] = {}
        self._reading: list[tuple[Path, ast.Import | None]] = []

    def load(self, paths: Sequence[Path]) -> tuple[Unit, ...]:
        """Return the files named (of folders all `.qos` files) and those they import."""
        named: set[Path] = set()
        for path in paths:
            try:
                for file in files.named(path):
                    named.add(files.real(file))
                    self._read(file, files.root_of(file), None)
            except Refused as refused:
                self._context.tell(refused)
        units = [unit for unit in self._units.values() if unit is not None]
        for unit in units:
            unit.named = unit.path in named
        return tuple(units)

    def _read(self, written: Path, root: Path, importer: ast.Import | None) -> Unit | None:
        path = files.real(written)
        if any(path == reading for reading, _ in self._reading):
            raise self._cycle(path, importer)
        if path in self._units:
            return self._units[path]
        if len(self._units) >= self._context.limits.imports:
            span = importer.span if importer else Span(Source(files.shown(path), ""), 0, 0)
            raise wrong("E0607", f"more than {self._context.limits.imports} files are read", span)
        self._reading.append((path, importer))
        try:
            self._units[path] = None
            return self._parse(path, files.source(written, importer), root, importer)
        except Refused as refused:
            self._context.tell(refused)
            return None
        finally:
            self._reading.pop()

    def _parse(self, path: Path, source: Source, root: Path, importer: ast.Import | None) -> Unit:
        before = len(self._context.problems.errors)
        tree = parse(source, self._context.problems)
        self._context.mistakes += len(self._context.problems.errors) - before
        unit = Unit(path, source, tree, named=importer is None)
        for each in tree.imports if tree else ():
            try:
                file, below = self._find(each, unit, root)
                found = self._read(file, below, each)
            except Refused as refused:
                self._context.tell(refused)
                continue
            if found is not None:
                unit.imports[each.name] = found
        del self._units[path]  # so that what a file imports stands before it
        self._units[path] = unit
        return unit

    def _find(self, each: ast.Import, unit: Unit, root: Path) -> tuple[Path, Path]:
        """Return the file of an import, and the root of its own imports."""
        parts = [name.text for name in each.path]
        if parts[0] == "std":
            roots, parts = [STDLIB], parts[1:]
        else:
            roots = list(dict.fromkeys([root, unit.path.parent]))
        candidates = (
            [folder.joinpath(*parts).with_suffix(".qos") for folder in roots] if parts else []
        )
        found = {
            files.real(file): (file, folder)
            for file, folder in zip(candidates, roots, strict=False)
            if files.is_file(file)
        }
        if not found:
            near = _nearest(each, candidates)
            unit.missed |= {each.name, near} - {""}
            raise _missing(each, candidates, near)
        if len(found) > 1:
            first, second = (files.shown(file) for file in found)
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
                note=f"the project's root is {files.shown(folder)}",
                remedy="copy the file into the project: links may not lead out of it",
            )
        return resolved, inside

    def _cycle(self, path: Path, importer: ast.Import | None) -> Refused:
        names = [reading for reading, _ in self._reading]
        chain = self._reading[names.index(path) + 1 :]
        places = [each for _, each in [*chain, (path, importer)] if each is not None]
        shown = " -> ".join(
            [files.shown(path), *(files.shown(file) for file, _ in chain), files.shown(path)]
        )
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


def _nearest(each: ast.Import, candidates: Sequence[Path]) -> str:
    names = {name for file in candidates for name in files.neighbours(file.parent)}
    return did_you_mean(each.path[-1].text, [name.removesuffix(".qos") for name in names])


def _missing(each: ast.Import, candidates: Sequence[Path], near: str) -> Refused:
    written = ".".join(name.text for name in each.path)
    better = ".".join([*written.split(".")[:-1], near])
    looked = (
        " and ".join(files.shown(file) for file in candidates) or "the library needs a file's name"
    )
    return wrong(
        "E0106",
        f"no file for `import {written}`",
        each.span,
        label=f"did you mean `{better}`?" if near else "",
        note=f"looked for {looked}",
        remedy=f"write `import {better}`" if near else "",
    )
