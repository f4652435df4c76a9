"""What a code, a word of the language, a built-in name or a declaration means."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.catalogue.words import explain_word
from qospec.check.evaluate.dimensions import TYPES, describe_dimension
from qospec.check.modules.files import find_root
from qospec.check.suite import NOUNS as DECLARATIONS
from qospec.diagnostics import Problems, suggest_name
from qospec.reference import builtins, members, modules
from qospec.reference.declarations import Declarations, find_module_file
from qospec.reference.describe import describe_topology, test_document
from qospec.reference.error_pages import list_titles, read_page
from qospec.reference.library import (
    describe_declared,
    describe_device,
    describe_parameters,
    load_library,
    write_place,
)
from qospec.reference.listing import COLLECTIONS, list_spellings
from qospec.reference.origins import trace_origins
from qospec.reference.values import read_written_text, value_text
from qospec.syntax import ast
from qospec.syntax.grammar import load_keywords

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qospec.catalogue.kinds import Catalogue
    from qospec.diagnostics import Diagnostic
    from qospec.document import Document
    from qospec.reference.declarations import Declared


_MOST = 8
"""How many names are listed that have a word in them."""
CODE = re.compile(r"[EWew]\d{4}")


class UnknownNameError(Exception):
    """No such name is known; the message is for the user."""


def explain_name(what: str, catalogue: Catalogue, problems: Problems) -> list[Document]:
    """Return the documents about a name: one for each of its uses, mostly one.

    Errors in the files that were read for it are added to `problems`. Raises UnknownNameError.
    """
    path, separator, name = what.partition("::")
    if separator:
        return [_explain_in_file(Path(path), name.split("."), catalogue, problems)]
    *module, name = what.split(".")
    for root in (find_root(Path("any")), Path()) if module else ():
        file = find_module_file(module, root)
        if file is not None:
            return [_explain_in_file(file, [name], catalogue, problems)]
    found = [
        *_explain_builtin(what, catalogue),
        *_explain_modules([*module, name], catalogue, problems),
    ]
    if not found and module:  # as files name it that import the module
        full = [
            name
            for name in modules.list_names(load_library(catalogue))
            if name.endswith(f".{what}")
        ]
        if len(full) == 1:
            return explain_name(full[0], catalogue, problems)
    if not found:
        raise _explain_unknown(what, catalogue)
    return found


def _explain_unknown(what: str, catalogue: Catalogue) -> UnknownNameError:
    if CODE.fullmatch(what):
        return UnknownNameError(f"there is no code `{what.upper()}`")
    former: dict[str, list[str]] = {}
    for _, kind in sorted(catalogue.kinds.items()):
        if what in kind.renamed:
            former.setdefault(kind.renamed[what], []).append(f"`{kind.name}`")
    if former:
        renamed = (f"of {', '.join(kinds)}: renamed to `{new}`" for new, kinds in former.items())
        return UnknownNameError(f"`{what}` is a former name of a field {'; '.join(renamed)}")
    # Names with as many dots come first, since only so many are compared.
    known = sorted(list_names(catalogue), key=lambda name: abs(name.count(".") - what.count(".")))
    near = suggest_name(what, dict.fromkeys(known))
    with_it = (name for name in known if what.lower() in name.rpartition(".")[2].split("_"))
    declared = sorted({f"`{name}`" for name in with_it if name.startswith("std.")})[:_MOST]
    hint = f"did you mean `{near}`?" if near else "name a declaration as `FILE.qos::name`"
    if declared and not near:
        hint = f"there {'is' if len(declared) == 1 else 'are'} {', '.join(declared)}"
    return UnknownNameError(f"nothing is named `{what}`: {hint}")


def _explain_builtin(what: str, catalogue: Catalogue) -> Iterator[Document]:
    code = what.upper()
    if code in list_titles():
        yield {
            "sort": "code",
            "name": code,
            "summary": list_titles()[code],
            "description": read_page(code),
        }
    for table, meanings in load_keywords().items():
        if what in meanings:
            kind = "field" if table == "field" else "word"
            described = {"sort": kind, "name": what, "summary": meanings[what], "description": ""}
            yield described | (members.describe_body(what, catalogue) if kind == "word" else {})
    if what in TYPES:
        meaning = "a whole number" if what == "Int" else describe_dimension(TYPES[what])
        yield {"sort": "type", "name": what, "summary": meaning, "description": ""}
    yield from builtins.describe_builtins(what, catalogue)
    for collection in COLLECTIONS:
        known = collection.find(what, catalogue)
        if known is not None:
            yield {"sort": collection.singular, **known}
    if catalogue.find("metric", what) is None:  # what that means is said, whatever others mean
        yield from _explain_foreign(what)


def _explain_foreign(what: str) -> Iterator[Document]:
    """Yield what is said of a word of other tools."""
    summary = explain_word(what)
    if summary:
        yield {"sort": "word of other tools", "name": what, "summary": summary, "description": ""}


def _explain_modules(
    parts: list[str], catalogue: Catalogue, problems: Problems
) -> Iterator[Document]:
    """Yield the module of the library that is named in full, or the modules of its folder."""
    if parts[0] == "std":
        known = modules.load_module(parts, Path(), catalogue, problems) or modules.list_folder(
            parts, load_library(catalogue)
        )
        yield from () if known is None else (known,)


def list_names(catalogue: Catalogue) -> Iterator[str]:
    """Yield what can be explained, but for words of other tools."""
    yield from list_titles()
    yield from TYPES
    for table in load_keywords().values():
        yield from table
    yield from builtins.list_names(catalogue)
    yield from modules.list_names(load_library(catalogue))
    for collection in COLLECTIONS:
        for document in collection.documents(catalogue):
            yield from list_spellings(document)


def _explain_in_file(
    file: Path, path: list[str], catalogue: Catalogue, problems: Problems
) -> Document:
    """Explain a declaration; errors elsewhere in the file do not matter."""
    found_problems = Problems()
    declarations = Declarations.read([file], catalogue, found_problems)
    before = found_problems.all
    trees = [unit.tree for unit in declarations.units if unit.named and unit.tree is not None]
    if not trees:
        _pass_on(before, problems)
        problems.raise_errors()
    seen = (declarations.find(unit, path) for unit in declarations.units if unit.named)
    declared = next((declaration for declaration in seen if declaration is not None), None)
    if declared is None:
        _pass_on(before, problems)
        known = [node.name.text for tree in trees for node in tree.declarations]
        near = suggest_name(path[-1], known)
        listed = f"it declares {' '.join(known)}" if known else "it declares nothing"
        hint = f"did you mean `{near}`?" if near else listed
        raise UnknownNameError(f"{file} does not declare `{'.'.join(path)}`: {hint}")
    document = describe_declaration(declared, declarations)
    whole = declared.node.span
    touching = [
        problem for problem in found_problems.all if problem not in before or problem.span in whole
    ]
    _pass_on(touching, problems)
    return document


def _pass_on(mistakes: Iterable[Diagnostic], problems: Problems) -> None:
    for mistake in mistakes:
        problems.add(mistake)


def describe_declaration(declared: Declared, declarations: Declarations) -> Document:
    """Return what is known of a declaration, and where each of its fields came from."""
    collection = DECLARATIONS[type(declared.node)]
    if isinstance(declared.node, ast.Device):
        return {"sort": collection, **describe_device(declared, declarations)}
    document = {"sort": collection, **describe_declared(declared)}
    parameters = describe_parameters(declared, declarations)
    if isinstance(declared.node, ast.Test):
        document |= {"parameters": parameters, **test_document(declared, declarations)}
        return document
    if isinstance(declared.node, ast.Topology):
        document |= describe_topology(declared, declarations)
    if parameters:
        document["parameters"] = parameters
    made = trace_origins(declared, declarations)
    if made is not None:
        document |= {"kind": made["kind"], "chain": made["chain"], "origins": made["fields"]}
    elif isinstance(declared.node, ast.Let):
        document["origins"] = [_let_document(declared, declarations)]
    return document


def _let_document(declared: Declared, declarations: Declarations) -> Document:
    node = declared.node
    assert isinstance(node, ast.Let)  # noqa: S101 -- the caller's choice
    shown, written = value_text(declarations.evaluate(declared)), read_written_text(node.value)
    return {
        "name": node.name.text,
        "value": shown or written,
        "written": "" if shown in ("", written) else written,
        "place": write_place(node),
        "default": False,
        "required": False,
        "instead_of": [],
        "description": "",
    }
