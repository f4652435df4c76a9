"""Where names are declared and used, as the checker found them.

No name hides another, so a name that the checker did not look up, since nothing came to it, means
what has that name around it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from qospec.check.modules.files import resolve_links
from qospec.dataclass import NamedTuple
from qospec.diagnostics import Problems
from qospec.source import Source
from qospec.syntax import ast
from qospec.syntax.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qospec.check.evaluate.context import Meaning
    from qospec.check.modules.loader import Unit
    from qospec.source import Span

LOCAL = (
    ast.Parameter, ast.Let, ast.Flow, ast.PortName, ast.Loop, ast.Control, ast.Search, ast.Goal,
    ast.Point, ast.ForAll, ast.Machine, ast.State,
)  # fmt: skip
"""What declares its name within a declaration."""


class Place(NamedTuple):
    """A part of a file: its path, its text, and from where to where it reaches there."""

    path: Path
    source: Source
    start: int
    end: int

    @classmethod
    def from_span(cls, span: Span) -> Place:
        """Return the place of a span."""
        return cls(resolve_links(Path(span.source.name)), span.source, span.start, span.end)


class FileNames:
    """The names in one file.

    Attributes:
        unit: The file.
        names: All of them.
        declared: Those that it declares, each with the declaration that it is local to.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        nodes = list(unit.tree.with_all_below()) if unit.tree else []
        self.names = [node for node in nodes if isinstance(node, ast.Name)]
        self._heads = {id(node.name) for node in nodes if isinstance(node, ast.Path)}
        self.declared = list(self._list_declared())

    def find_at(self, offset: int) -> ast.Name | None:
        """Return the name that a place is in."""
        found = (name for name in self.names if name.span.start <= offset <= name.span.end)
        return min(found, key=lambda name: name.span.end - name.span.start, default=None)

    def find_import(self, name: ast.Name) -> Unit | None:
        """Return the file that a name stands for in an `import`."""
        for imported in self.unit.tree.imports if self.unit.tree else ():
            if name.span in imported.span:
                return self.unit.imports.get(imported.name)
        return None

    def guess_declaration(self, name: ast.Name) -> Span | None:
        """Return where a name is declared by what is around it: itself, or the one of that name."""
        if any(declared is name for declared, _ in self.declared):
            return name.span
        if id(name) not in self._heads:  # a field, or a word
            return None
        around = self._find_around(name)
        return next(
            (
                declared.span
                for declared, whole in self.declared
                if declared.text == name.text and (whole is None or whole is around)
            ),
            None,
        )

    def _find_around(self, name: ast.Name) -> ast.Declaration | None:
        declarations = self.unit.tree.declarations if self.unit.tree else ()
        return next((node for node in declarations if name.span in node.span), None)

    def _list_declared(self) -> Iterator[tuple[ast.Name, ast.Declaration | None]]:
        for declaration in self.unit.tree.declarations if self.unit.tree else ():
            yield declaration.name, None
            below = (node for node in declaration.with_all_below() if node is not declaration)
            for node in below:
                if isinstance(node, LOCAL):
                    yield node.name, declaration
                elif isinstance(node, ast.Sweep):
                    yield from ((name, declaration) for name in node.names)
            if isinstance(declaration, ast.Device | ast.Topology):
                for bind in _list_binds(declaration.body):
                    yield from ((name, declaration) for name in bind.names)


def _list_binds(body: ast.Body) -> Iterator[ast.Bind]:
    """Yield the bindings of a body and of its loops, but not the fields of records."""
    for statement in body.statements:
        if isinstance(statement, ast.Bind):
            yield statement
        elif isinstance(statement, ast.Loop):
            yield from _list_binds(statement.body)


class Names:
    """The names in some files, with what the checker says that they mean."""

    def __init__(self, units: Sequence[Unit], meanings: Mapping[int, Meaning]) -> None:
        self.units = units
        self._meanings = meanings
        self._files: dict[Path, FileNames] = {}

    def find_file(self, unit: Unit) -> FileNames:
        """Return the names of a file."""
        if unit.path not in self._files:
            self._files[unit.path] = FileNames(unit)
        return self._files[unit.path]

    def explain(self, name: ast.Name) -> str:
        """Return what `qos explain` calls what a name means, if the checker knows; else ""."""
        meaning = self._meanings.get(id(name))
        return meaning.explained if meaning else ""

    def find_declaration(self, unit: Unit, name: ast.Name) -> Span | None:
        """Return where what a name means is declared; itself, if it is declared there."""
        meaning = self._meanings.get(id(name))
        return meaning.declared if meaning else self.find_file(unit).guess_declaration(name)

    def list_uses(self, declared: Span) -> Iterator[ast.Name]:
        """Yield all names that mean what is declared at a place, that one included."""
        place = Place.from_span(declared)
        for unit in self.units:
            for name in self.find_file(unit).names:
                found = self.find_declaration(unit, name) if name.text == declared.text else None
                if found is not None and Place.from_span(found)[::2] == place[::2]:
                    yield name


def is_name(word: str) -> bool:
    """Return whether a word can be declared: it is a name, and no keyword."""
    return tokenize(Source("", word), Problems()).kinds == ["NAME", "$END"]
