"""The declarations of files, found by the names that a specification calls them by."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from qospec.check.builtins import BuiltIns
from qospec.check.evaluate.context import Context, Limits
from qospec.check.evaluate.evaluator import Evaluator
from qospec.check.modules.files import SUFFIXES, is_file
from qospec.check.modules.loader import Loader
from qospec.check.suite import collect_scopes
from qospec.dataclass import NamedTuple
from qospec.resources import STDLIB
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qospec.catalogue.kinds import Catalogue
    from qospec.check.evaluate.scope import Scope
    from qospec.check.evaluate.values import Value
    from qospec.check.modules.loader import Unit
    from qospec.diagnostics import Problems
    from qospec.source import Span


class Declared(NamedTuple):
    """A declaration and the file that holds it."""

    unit: Unit
    node: ast.Declaration

    @property
    def name(self) -> str:
        """Return its name in its file."""
        return self.node.name.text

    @property
    def comment(self) -> tuple[str, str]:
        """Return what its comment says first, a paragraph or else a sentence, and the rest."""
        first, _, rest = self.node.doc.partition("\n\n")
        if not rest:
            first, rest = _take_first_sentence(self.node.doc)
        return " ".join(first.split()), rest.strip()


class Declarations:
    """Files that were read, with what they import. Mistakes are in the problems."""

    def __init__(
        self, units: Sequence[Unit], scopes: Mapping[Path, Scope], evaluator: Evaluator
    ) -> None:
        self.catalogue = evaluator.context.catalogue
        self.evaluator = evaluator
        self.units = units
        self._scopes = scopes

    @classmethod
    def read(cls, paths: Sequence[Path], catalogue: Catalogue, problems: Problems) -> Declarations:
        """Return those of the files named, and of what they import."""
        context = Context(catalogue, problems, Limits(), BuiltIns(catalogue))
        evaluator, units = Evaluator(context), Loader(context).load(paths)
        return cls(units, collect_scopes(units, evaluator), evaluator)

    def list_named(self) -> Iterator[Declared]:
        """Yield the declarations of the files that were named, in their order."""
        for unit in self.units:
            if unit.named and unit.tree is not None:
                yield from (Declared(unit, node) for node in unit.tree.declarations)

    def find_scope(self, unit: Unit) -> Scope:
        """Return the names that a file knows."""
        return self._scopes[unit.path]

    def evaluate(self, declared: Declared) -> Value | None:
        """Return the value of a declaration."""
        binding = self.find_scope(declared.unit).names.get(declared.name)
        return binding.evaluate(self.evaluator.context) if binding else None

    def holds(self, span: Span) -> Unit:
        """Return the file that a place is in."""
        return next(unit for unit in self.units if unit.source is span.source)

    def find_named(self, unit: Unit, value: ast.Node | None) -> Declared | None:
        """Return the declaration that an expression names or copies, if it does."""
        base = value.base if isinstance(value, ast.Record) else value
        path = base.path if isinstance(base, ast.Call) else base
        if not isinstance(path, ast.Path):
            return None
        names = [path.name, *(step for step in path.trail if isinstance(step, ast.Name))]
        return self.find(unit, [name.text for name in names])

    def find(self, unit: Unit, path: Sequence[str]) -> Declared | None:
        """Return what `name` or `import.name` declares, seen from a file."""
        first, *rest = path
        if rest:
            other = unit.imports.get(first)
            return self.find(other, rest) if other is not None else None
        nodes = unit.tree.declarations if unit.tree else ()
        return next((Declared(unit, node) for node in nodes if node.name.text == first), None)


def find_module_file(parts: Sequence[str], root: Path) -> Path | None:
    """Return the file that `import a.b` means below a root, or `std.a` in the library."""
    if not all(part.isidentifier() for part in parts):
        return None
    below = STDLIB if parts[0] == "std" else root
    rest = parts[1:] if parts[0] == "std" else parts
    found = (below.joinpath(*rest).with_suffix(suffix) for suffix in SUFFIXES if rest)
    return next((file for file in found if is_file(file)), None)


def _take_first_sentence(doc: str) -> tuple[str, str]:
    for end in (".\n", ". "):
        first, dot, rest = doc.partition(end)
        if dot and "\n\n" not in first:
            return f"{first}.", rest
    return doc, ""
