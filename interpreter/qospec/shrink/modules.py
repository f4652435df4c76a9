"""What a draft imports, brought into it: declarations of other files, under names of their own.

Devices stay where they are: what fails is one of them as it is. So does all of the library but its
templates, of which a test has nothing without their statements.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from qospec.check.records.keys import move_keys
from qospec.diagnostics import Edit
from qospec.resources import STDLIB
from qospec.shrink.draft import Draft, as_text, list_paths, without_comments
from qospec.shrink.places import list_places
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from qospec.check.modules.loader import Unit
    from qospec.shrink.places import Mend


@lru_cache(maxsize=64)
def _read(unit_text: str) -> Draft:
    draft = Draft.read(without_comments(unit_text))
    assert draft is not None  # noqa: S101 -- it was checked
    return draft


def read_draft(unit: Unit) -> Draft:
    """Return a file that was checked as a draft, without its comments."""
    return _read(as_text(unit.source).text)


class Modules:
    """The files that a draft imports, by the names that it has for them."""

    def __init__(self, unit: Unit, folder: Path) -> None:
        """Take the file that the draft begins as, and where the draft would be."""
        self._folder = folder
        self._imports = dict(unit.imports)
        self._written = dict[str, str]()
        self._inner = frozenset[str]().union(*map(_list_inner_names, self._list_reachable(unit)))

    def find_unit(self, name: str) -> Unit | None:
        """Return the file of an import."""
        return self._imports.get(name)

    @staticmethod
    def _list_reachable(unit: Unit) -> list[Unit]:
        found, waiting = [unit], [unit]
        while waiting:
            for imported in waiting.pop().imports.values():
                if not any(imported is known for known in found) and not _is_library(imported):
                    found.append(imported)
                    waiting.append(imported)
        return found

    def list_units(self) -> list[Unit]:
        """Return the files that are imported, at any depth."""
        found: list[Unit] = []
        waiting = list(self._imports.values())
        while waiting:
            unit = waiting.pop(0)
            if not any(unit is known for known in found):
                found.append(unit)
                waiting += unit.imports.values()
        return found

    def apply_mend(self, unit: Unit, mend: Mend) -> str | None:
        """Return what a file holds with a change; None if it has no such place."""
        for node in unit.tree.declarations if unit.tree else ():
            if node.name.text == mend.place.declaration:
                for place, value in list_places(node, unit.path):
                    if place == mend.place:
                        text = unit.source.text
                        return text[: value.span.start] + mend.new + text[value.span.end :]
        return None

    def bring_in(self, draft: Draft) -> Draft:
        """Return a draft that imports devices and the library only."""
        known: dict[tuple[Path, str], str] = {}
        while (found := next(self._to_bring(draft), None)) is not None:
            alias, node = found
            key = (self._imports[alias].path, node.name.text)
            text, imports = "", ""
            if key not in known:
                text, known[key], imports = self._copy(draft, alias, node)
            edits = [
                Edit(path.name.span.extend_to(path.trail[0].span), known[key])
                for path in list_paths(draft.tree)
                if path.name.text == alias and _find_first(path) == node.name.text
            ]
            changed = draft.apply(edits) + (f"{text}\n" if text else "")
            start = changed.index("\n") + 1
            again = Draft.read(changed[:start] + imports + changed[start:])
            assert again is not None  # noqa: S101 -- both parts did parse
            draft = again
        return draft

    def _to_bring(self, draft: Draft) -> Iterator[tuple[str, ast.Declaration]]:
        for path in list_paths(draft.tree):
            unit = self._imports.get(path.name.text)
            node = None if unit is None else find_declaration(unit, _find_first(path))
            if unit is None or node is None or isinstance(node, ast.Device):
                continue
            if isinstance(node, ast.Test) or not _is_library(unit):
                yield path.name.text, node

    def _copy(self, draft: Draft, alias: str, node: ast.Declaration) -> tuple[str, str, str]:
        """Return a declaration as it is in the draft, its name there, and imports that it needs."""
        unit = self._imports[alias]
        module = read_draft(unit)
        own = {declaration.name.text for declaration in module.tree.declarations}
        name = node.name.text
        if name in draft.names | self._inner:
            name = draft.choose_free_name(f"{alias}_{name}")
        edits = [module.replace(node.name, name)]
        imports = ""
        for path in list_paths(node):
            first = path.name.text
            if first in own:
                edits.append(module.replace(path.name, f"{alias}.{first}"))
            elif first in unit.imports:
                known, line = self._choose_alias(draft, unit, first)
                imports += line
                edits.append(module.replace(path.name, known))
        start, end = node.span.start, node.span.end
        outside = [
            Edit(module.make_span(0, start), ""),
            Edit(module.make_span(end, len(module.text)), ""),
        ]
        copied = move_keys(module.apply([*edits, *outside]), unit.path.parent, self._folder)
        return copied, name, imports

    def _choose_alias(self, draft: Draft, unit: Unit, name: str) -> tuple[str, str]:
        """Return the draft's name for an import of another file, and the line that it needs."""
        other = unit.imports[name]
        for known, module in self._imports.items():
            if module is other:
                return known, ""
        new = (
            name
            if name not in draft.names | self._imports.keys()
            else draft.choose_free_name(f"{name}_2")
        )
        self._imports[new] = other
        node = next(import_ for import_ in read_draft(unit).tree.imports if import_.name == name)
        path = ".".join(word.text for word in node.path)
        suffix = "" if node.path[-1].text == new else f" as {new}"
        return new, f"import {path}{suffix}\n"


def find_declaration(unit: Unit, name: str) -> ast.Declaration | None:
    """Return what a file declares by a name; None if it declares nothing by it."""
    tree = read_draft(unit).tree
    return next(
        (declaration for declaration in tree.declarations if declaration.name.text == name), None
    )


def _find_first(path: ast.Path) -> str:
    """Return the name behind a module's in a path; "" if there is none."""
    word = path.trail[0] if path.trail else None
    return word.text if isinstance(word, ast.Name) else ""


def _is_library(unit: Unit) -> bool:
    return unit.path.is_relative_to(STDLIB.resolve())


def _list_inner_names(unit: Unit) -> frozenset[str]:
    """Return the names of what is declared within declarations: nothing else may have them."""
    draft = read_draft(unit)
    return draft.names - {declaration.name.text for declaration in draft.tree.declarations}
