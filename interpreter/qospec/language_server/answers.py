"""What is answered of a place in an open file: its meaning, declaration, uses, another name."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.check.modules.files import is_of_library
from qospec.check.modules.project import is_pinned
from qospec.check.suite import NOUNS
from qospec.diagnostics import Problems
from qospec.language_server.completion import list_completions
from qospec.language_server.names import Names, Place, is_name
from qospec.reference.declarations import Declared
from qospec.reference.explanation import UnknownNameError, describe_declaration, explain_name
from qospec.reference.listing import describe_in_full
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from qospec.diagnostics import Diagnostic
    from qospec.language_server.session import Session, View
    from qospec.source import Span

WIDTH = 80
"""Of an explanation, in characters."""
_WORD = re.compile(r"[A-Za-zµμ%_][\w/%]*")


class RenameError(Exception):
    """A name cannot be changed; the message is for the user."""


class Answers:
    """Answers about the files of a session. A place is a path and an offset of its text."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def explain(self, path: Path, offset: int) -> str:
        """Return what the word at a place means, as `qos explain` says it; "" if nothing."""
        view = self.session.view(path, offset)
        name = _find_name(view, offset)
        declared, explained = None, _find_word(self.session.texts[path], offset)
        if view.unit is not None and name is not None:
            declared = view.names.find_declaration(view.unit, name)
            explained = view.names.explain(name) or name.text
        if declared is not None:
            return _describe_declared(declared, view)
        try:
            found = explain_name(explained, discover(), Problems()) if explained else []
        except UnknownNameError:
            return ""
        return "\n\n".join(describe_in_full(document, WIDTH) for document in found)

    def find_definition(self, path: Path, offset: int) -> Place | None:
        """Return where what is named at a place is declared; of an import, the file."""
        view = self.session.view(path, offset)
        name = _find_name(view, offset)
        if view.unit is None or name is None:
            return None
        imported = view.names.find_file(view.unit).find_import(name)
        if imported is not None:
            return Place(imported.path, imported.source, 0, 0)
        declared = view.names.find_declaration(view.unit, name)
        return Place.from_span(declared) if declared is not None else None

    def list_uses(self, path: Path, offset: int) -> list[Place]:
        """Return all places of the project that name what is named at a place."""
        return [Place.from_span(name.span) for name in self._find_uses(path, offset)[1]]

    def _find_uses(self, path: Path, offset: int) -> tuple[Span | None, list[ast.Name]]:
        view = self.session.view(path, offset)
        here = _find_name(view, offset)
        if view.unit is None or here is None:
            return None, []
        known = view.names.find_declaration(view.unit, here)
        home = Place.from_span(known).path if known is not None else path
        checked = self.session.check_project(home, here.text, {})
        names = Names(checked.units, checked.evaluator.context.names or {})
        unit = next((unit for unit in checked.units if unit.path == path), None)
        name = names.find_file(unit).find_at(offset) if unit is not None else None
        if unit is None or name is None or names.find_file(unit).find_import(name) is not None:
            return None, []
        declared = names.find_declaration(unit, name)
        return declared, list(names.list_uses(declared)) if declared is not None else []

    def rename(self, path: Path, offset: int, new: str) -> list[Place]:
        """Return the places where a name is to be written anew; raises RenameError.

        The files are checked with the new name: it must mean what the old one did.
        """
        declared, names = self._find_uses(path, offset)
        if declared is None:
            raise RenameError("no file of the project declares what is named here")
        if not is_name(new):
            raise RenameError(f"`{new}` cannot be a name: it is a keyword, or has other letters")
        places = [Place.from_span(name.span) for name in names]
        for place in places:
            written = place.source.text[place.start : place.end]
            if is_of_library(place.path) or is_pinned(place.path):
                raise RenameError(f"`{written}` is declared in a file that is not yours to change")
            if written != declared.text:
                raise RenameError(f"`{declared.text}` is written in a way that cannot be changed")
        texts = {place.path: place.source.text for place in places}
        for place in sorted(set(places), key=lambda found: found.start, reverse=True):
            text = texts[place.path]
            texts[place.path] = text[: place.start] + new + text[place.end :]
        word, home = declared.text, Place.from_span(declared).path
        before = Counter(problem.code for problem in self._check(home, word, {}))
        for problem in self._check(home, new, texts):
            before[problem.code] -= 1
            if before[problem.code] < 0:
                raise RenameError(f"with that name, {problem.message} ({problem.span.place})")
        return list(dict.fromkeys(places))

    def _check(self, path: Path, word: str, texts: dict[Path, str]) -> tuple[Diagnostic, ...]:
        return self.session.check_project(path, word, texts).problems.all

    def complete(self, path: Path, offset: int) -> dict[str, str]:
        """Return the words that may stand at a place, each with what it is."""
        text = self.session.texts[path]
        return list_completions(
            str(path), text, offset, lambda tried: self.session.try_text(path, tried, offset)
        )

    def list_declarations(self, path: Path) -> Iterator[tuple[str, ast.Declaration]]:
        """Yield what a file declares, each with what it is."""
        unit = self.session.view(path, 0).unit
        for node in unit.tree.declarations if unit is not None and unit.tree else ():
            yield NOUNS[type(node)], node


def _find_name(view: View, offset: int) -> ast.Name | None:
    return view.names.find_file(view.unit).find_at(offset) if view.unit is not None else None


def _find_word(text: str, offset: int) -> str:
    """Return the word that a place is in, outside of comments and texts; "" if there is none."""
    start = text.rfind("\n", 0, offset) + 1
    line = text[start : (text + "\n").index("\n", offset)]
    before = re.sub(r'"[^"]*"', "", line[: offset - start])
    if "#" in before or '"' in before:
        return ""
    at = offset - start
    return next(
        (found[0] for found in _WORD.finditer(line) if found.start() <= at <= found.end()), ""
    )


def _describe_declared(declared: Span, view: View) -> str:
    """Return a declaration as `qos explain` has it; what is local to one, as it is written."""
    declarations = view.declarations
    unit = next(unit for unit in view.names.units if unit.source is declared.source)
    for node in unit.tree.declarations if unit.tree else ():
        if node.name.span == declared and not isinstance(node, ast.Property):
            with declarations.evaluator.context.check_apart():
                document = describe_declaration(Declared(unit, node), declarations)
            return describe_in_full(document, WIDTH)
    line, _ = declared.source.find_position(declared.start)
    return f"{declared.source.read_line(line).strip()}\n\n{declared.place}"
