"""What a draft no longer uses, taken away: declarations and imports, values, parameters, hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.diagnostics import Edit, Problems
from qospec.shrink.draft import Draft, list_paths, without_comments
from qospec.shrink.trial import UNUSED
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MOST = 100
"""Unused names that are taken away."""


def prune(draft: Draft, name: str) -> Draft:
    """Return a draft with what the declaration of that name needs, itself included."""
    declared = {declaration.name.text: declaration for declaration in draft.tree.declarations}
    needed, waiting = {name}, [name]
    while waiting:
        node = declared.get(waiting.pop())
        used = {path.name.text for path in list_paths(node)} if node is not None else set()
        waiting += used - needed
        needed |= used
    edits = [
        draft.remove(declaration)
        for declaration in draft.tree.declarations
        if declaration.name.text not in needed
    ]
    kept = [import_ for import_ in draft.tree.imports if import_.name in needed]
    lines = "".join(f"import {draft.quote(import_)}\n" for import_ in kept)
    start = len(draft.text) - len(draft.text.partition("\n")[2])
    ends = [import_.span.end for import_ in draft.tree.imports]
    if ends:
        edits.append(Edit(draft.make_span(start, max(ends)), lines))
    text = without_comments(draft.apply(edits))
    found = draft if text == draft.text else Draft.read(text)
    assert found is not None  # noqa: S101 -- whole declarations and imports are left
    return found


def without_unused(draft: Draft, name: str, check: Callable[[str, Problems], object]) -> Draft:
    """Return a draft without what the checker warns that nothing uses; nothing is run.

    Args:
        draft: The draft.
        name: Of its test.
        check: Checks a text, and adds what is wrong with it.
    """
    good, next_one = draft, draft
    for _ in range(MOST):
        problems = Problems()
        check(next_one.text, problems)
        if problems.errors:
            break
        good = next_one
        unused = {problem.span.start for problem in problems.all if problem.code in UNUSED}
        # One after another: changes of names that are side by side would overlap.
        edits = next(
            (
                edits
                for node, above in good.nodes
                if isinstance(node, ast.Name) and node.span.start in unused
                and (edits := list(_remove_named(good, node, above)))
            ),
            [],
        )  # fmt: skip
        found = Draft.read(good.apply(edits)) if edits else None
        if found is None:
            break
        next_one = prune(found, name)
    return good


def _remove_named(draft: Draft, name: ast.Name, above: Sequence[ast.Node]) -> Iterator[Edit]:
    """Yield the changes that remove what has a name, and what that takes with it."""
    node = above[-1]
    if isinstance(node, ast.Let | ast.Sweep):
        yield draft.remove(node)
    elif isinstance(node, ast.Parameter):
        yield draft.remove(node)
        yield from _remove_arguments(draft, node, above[-2])
    elif isinstance(node, ast.Bind):
        yield draft.remove(name if len(node.names) > 1 else node)
        for link in above[-2].list_children():
            if isinstance(link, ast.Link) and name.text in {e.name.text for e in list_paths(link)}:
                yield draft.remove(link)


def _remove_arguments(draft: Draft, parameter: ast.Parameter, of: ast.Node) -> Iterator[Edit]:
    """Yield the removal of what a parameter is given, by its name or by its place."""
    at = list(of.parameters).index(parameter)  # type: ignore[attr-defined]
    for call, _ in draft.nodes:
        if isinstance(call, ast.Call) and call.path.name.text == of.name.text:  # type: ignore[attr-defined]
            for place, argument in enumerate(call.arguments):
                if (
                    (place == at)
                    if argument.name is None
                    else argument.name.text == parameter.name.text
                ):
                    yield draft.remove(argument)
