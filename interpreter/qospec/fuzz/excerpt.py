"""The part of a specification that one declaration needs, with changes: a file of its own."""

from __future__ import annotations

from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.diagnostics import Problems
from qospec.formatting import format_text
from qospec.secret import redact
from qospec.source import Source, Span
from qospec.syntax import ast
from qospec.syntax.parser import parse
from qospec.yaml_twin.form import TEXT_SUFFIX, is_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


LONGEST = 80
"""Of an expression that is quoted in a sentence."""


class Edit(NamedTuple):
    """A change: what stands in place of a part."""

    span: Span
    text: str


def extract_declaration(
    source: Source, name: str, comment: str, edits: Callable[[ast.Declaration], Iterable[Edit]]
) -> str:
    """Return the text of a file with a declaration and whatever it uses of its own file.

    Stars stand in place of its keys: it is printed and kept, and others are as good.

    Args:
        source: The file, in either form and without mistakes.
        name: Of the declaration.
        comment: Stands above all of it.
        edits: Returns the changes in the declaration.
    """
    source = _as_text(source)
    tree = parse(source, Problems())
    assert tree is not None  # noqa: S101 -- it was checked
    declared = {declaration.name.text: declaration for declaration in tree.declarations}
    needed = _find_needed(declared, name)
    imports = [import_ for import_ in tree.imports if import_.name in needed]
    parts = ["qos 1", "\n".join(f"# {line}" for line in comment.splitlines())]
    parts += [f"import {import_.span.text}" for import_ in imports]
    for declaration in tree.declarations:
        if declaration.name.text in needed:
            changes = edits(declaration) if declaration.name.text == name else ()
            parts.append(_change_text(declaration.span, changes))
    made = Source(PurePath(source.name).name, "\n\n".join(parts) + "\n")
    return redact(format_text(made, Problems()) or made.text)


def quote_around(span: Span) -> str:
    """Return the expression that a part belongs to, such as the division by it, on one line.

    It is the part itself if it belongs to none, or the expression is too long to be quoted.
    """
    tree = None if is_yaml(span.source.name) else _parse_tree(span.source.name, span.source.text)
    wider = [
        node.span
        for node in (tree.with_all_below() if tree is not None else ())
        if isinstance(node, ast.Expression)
        and node.span.start <= span.start
        and span.end <= node.span.end
        and (node.span.start, node.span.end) != (span.start, span.end)
    ]
    smallest = min(wider, key=lambda span: span.end - span.start, default=span)
    # The source of the part knows which texts are keys, and shows none of them.
    whole = Span(span.source, smallest.start, smallest.end)
    texts = [" ".join(part.text.split()) for part in (whole, span)]
    return texts[0] if len(texts[0]) <= LONGEST else texts[1]


@lru_cache(maxsize=4)
def _parse_tree(name: str, text: str) -> ast.File | None:
    """Return a file as it is parsed, once for all examples."""
    return parse(Source(name, text), Problems())


def _as_text(source: Source) -> Source:
    if not is_yaml(source.name):
        return source
    from qospec.yaml_twin.reader import transcribe_yaml

    text = transcribe_yaml(source, Problems())
    assert text is not None  # noqa: S101 -- it was checked
    return Source(str(PurePath(source.name).with_suffix(TEXT_SUFFIX)), text.text)


def _find_needed(declared: dict[str, ast.Declaration], name: str) -> set[str]:
    """Return the names that a declaration depends on, with its own."""
    needed, waiting = {name}, [name]
    while waiting:
        node = declared.get(waiting.pop())
        more = node.list_names_used() - needed if node is not None else set()
        needed |= more
        waiting += more
    return needed


def _change_text(whole: Span, edits: Iterable[Edit]) -> str:
    text, at = "", whole.start
    for edit in sorted(edits, key=lambda made: made.span.start):
        text += whole.source.text[at : edit.span.start]
        text = text + edit.text if edit.text else text.rstrip()
        at = edit.span.end
    return text + whole.source.text[at : whole.end]
