"""Where shrinking starts: one case as a test of its own, with one criterion."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qospec.check.test.sweeps import escape_for_shell
from qospec.diagnostics import Edit
from qospec.shrink.draft import Draft, list_paths
from qospec.shrink.loops import unroll_loop
from qospec.shrink.prune import prune
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qospec.shrink.loops import Renamed
    from qospec.shrink.trial import Failure
    from qospec.shrink.values import Values

_VALUE = re.compile(r"(-?[0-9][0-9_.]*)([^-]*)(?:-([a-z_]+))?")
_DROPPED = (ast.Report, ast.Bind)
"""Statements of a test that decide nothing: what is reported, and what it says of itself."""


def merge_bases(draft: Draft, name: str) -> Draft:
    """Return a draft whose test of that name is built on no other, and holds their statements."""
    while True:
        test = find_test(draft, name)
        if not isinstance(test, ast.Test) or test.base is None:
            return draft
        base = find_test(draft, test.base_path.name.text)  # type: ignore[union-attr]
        if not isinstance(base, ast.Test):
            return draft
        apart = _rename_clashes(draft, test, base)
        if apart:
            renamed = Draft.read(draft.apply(apart))
            if renamed is None:
                return draft
            draft = renamed
            continue
        lets = "\n".join(_list_arguments(draft, test.base, base))
        ours = draft.quote(test.body)[1:-1] if test.body else ""
        theirs = draft.quote(base.body)[1:-1] if base.body else ""
        written = f" = {draft.quote(base.base)}" if base.base is not None else ""
        on = test.topology or base.topology
        where = f" on {draft.quote(on)}" if on is not None else ""
        text = f"test {name}{written}{where} {{\n{lets}\n{theirs}\n{ours}\n}}"
        found = Draft.read(draft.apply([draft.replace(test, text)]))
        if found is None:
            return draft
        draft = found


def _rename_clashes(draft: Draft, test: ast.Test, base: ast.Test) -> list[Edit]:
    """Return the changes that rename the variables of loops that a test has other things for.

    Both are in scopes of their own while one is built on the other.
    """
    within = [node for node, above in draft.nodes if test in above]
    ours = {node.name.text for node in within if isinstance(node, ast.Flow | ast.Let | ast.Loop)}
    edits: list[Edit] = []
    for loop, above in draft.nodes:
        if isinstance(loop, ast.Loop) and base in above and loop.name.text in ours:
            new = draft.choose_free_name(f"each_{loop.name.text}")
            used = [e for e in list_paths(loop.body) if e.name.text == loop.name.text]
            edits += [draft.replace(name, new) for name in (loop.name, *(e.name for e in used))]
    return edits


def _list_arguments(draft: Draft, written: ast.Path | ast.Call, base: ast.Test) -> Iterator[str]:
    """Yield the parameters of what a test is built on, as values."""
    arguments = written.arguments if isinstance(written, ast.Call) else ()
    given = {
        argument.name.text: argument.value for argument in arguments if argument.name is not None
    }
    in_order = [argument.value for argument in arguments if argument.name is None]
    for place, parameter in enumerate(base.parameters):
        value = given.get(parameter.name.text) or parameter.default
        if place < len(in_order):
            value = in_order[place]
        if value is not None and draft.quote(value) != parameter.name.text:
            yield f"let {parameter.name.text} = {draft.quote(value)}"


def find_test(draft: Draft, name: str) -> ast.Test | ast.Property | None:
    """Return the test or property of a name."""
    for declaration in draft.tree.declarations:
        if isinstance(declaration, ast.Test | ast.Property) and declaration.name.text == name:
            return declaration
    return None


def narrow_to_case(
    draft: Draft, name: str, values: Mapping[str, str], *, swept: bool
) -> Draft | None:
    """Return a draft whose test sweeps over nothing but the values of one case.

    Args:
        draft: The draft.
        name: Of the test.
        values: Of the variables, as in the name of the case.
        swept: Whether these are still sweeps, of one value: then the case keeps its name, on which
            random draws depend.
    """
    test = find_test(draft, name)
    if test is None:
        return None
    edits: list[Edit] = []
    for statement in list_statements(test):
        if isinstance(statement, ast.Sweep | ast.ForAll) and not _is_cells(statement):
            names = statement.names if isinstance(statement, ast.Sweep) else (statement.name,)
            if not all(name.text in values for name in names):
                continue  # of one value, which no name of a case shows
            texts = _list_texts(draft, statement, [values[name.text] for name in names])
            if swept or isinstance(test, ast.Property):
                row = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
                edits.append(draft.replace(statement.values, f"[{row}]"))
            else:
                pairs = [(name.text, text) for name, text in zip(names, texts, strict=True)]
                words = {name: text for name, text in pairs if _is_word(draft, text)}
                lets = [f"let {name} = {text}" for name, text in pairs if name not in words]
                edits.append(draft.replace(statement, "\n".join(lets)))
                edits += [
                    draft.replace(path, words[path.name.text])
                    for path in list_paths(test)
                    if path.name.text in words and not path.trail
                ]
    return Draft.read(draft.apply(edits))


def _is_word(draft: Draft, text: str) -> bool:
    """Return whether a value stands for itself, as an argument only: it cannot be a `let`."""
    known = {declaration.name.text for declaration in draft.tree.declarations}
    return text.isidentifier() and text not in {"true", "false", *known}


def _is_cells(node: ast.Sweep | ast.ForAll) -> bool:
    return isinstance(node, ast.ForAll) and isinstance(node.values, ast.Call)


def rename_test(draft: Draft, name: str, new: str) -> Draft:
    """Return a draft whose test has another name."""
    test = find_test(draft, name)
    if test is None or name == new:
        return draft
    return Draft.read(draft.apply([draft.replace(test.name, new)])) or draft


def list_statements(test: ast.Test | ast.Property | None) -> tuple[ast.Statement, ...]:
    """Return the statements of a test or property."""
    return () if test is None or test.body is None else test.body.statements


def _list_texts(draft: Draft, node: ast.Sweep | ast.ForAll, shown: list[str]) -> list[str]:
    """Return the values of a case as they are written, given how its name shows them."""
    rows = node.values.items if isinstance(node.values, ast.ListLiteral) else ()
    for row in rows:
        nested = isinstance(row, ast.TupleLiteral | ast.ListLiteral) and len(shown) > 1
        items = row.items if nested else (row,)  # type: ignore[union-attr]
        if [escape_for_shell(item.span.text) for item in items] == shown:
            return [draft.quote(item) for item in items]
    return [_format_shown(value) for value in shown]


def _format_shown(shown: str) -> str:
    """Return a value as it would be written that the name of a case shows as `64B-frame`."""
    found = _VALUE.fullmatch(shown)
    if found is None:
        return shown
    unit = found[2].replace("_per_", "/")
    return f"{found[1]} {unit}".strip() + (f" @{found[3]}" if found[3] else "")


def without_loops(draft: Draft, values: Values, name: str) -> Draft:
    """Return a draft whose test has no loops, as far as their values are known."""
    known: list[Renamed] = []
    while True:
        test = find_test(draft, name)
        loops = (
            statement for statement in list_statements(test) if isinstance(statement, ast.Loop)
        )
        made = (unroll_loop(draft, values, loop, test, known) for loop in loops if test)
        found = next((unrolled for unrolled in made if unrolled is not None), None)
        if found is None:
            return draft
        draft = found


def separate_criteria(draft: Draft, name: str, wanted: Failure) -> Iterator[Draft]:
    """Yield drafts with one of the criteria that may be what fails, and without other tests."""
    test = find_test(draft, name)
    others = [
        draft.remove(declaration)
        for declaration in draft.tree.declarations
        if isinstance(declaration, ast.Test | ast.Property) and declaration is not test
    ]
    statements = list_statements(test)
    dropped = [
        draft.remove(statement) for statement in statements if isinstance(statement, _DROPPED)
    ]
    criteria = [
        statement
        for statement in statements
        if isinstance(statement, ast.Criterion) and statement.kind == "expect"
    ]
    # A test can do without criteria if something else fails, a property cannot.
    for kept in (
        _list_alike(draft, criteria, wanted) if wanted.kind == "expect" else [None, *criteria]
    ):
        gone = [draft.remove(criterion) for criterion in criteria if criterion is not kept]
        claims = [_claim(draft, kept)] if kept is not None and kept.claim is not None else []
        found = Draft.read(draft.apply([*others, *dropped, *gone, *claims]))
        if found is not None:
            yield prune(found, name)


def _list_alike(
    draft: Draft, criteria: list[ast.Criterion], wanted: Failure
) -> list[ast.Criterion]:
    """Return the criteria that may be what fails: one of a loop is there once an iteration."""
    labelled = [
        criterion
        for criterion in criteria
        if criterion.label and criterion.label.text == wanted.label
    ]
    others = [criterion for criterion in criteria if criterion.label is None]
    same = [
        criterion
        for criterion in others
        if " ".join(draft.quote(criterion.condition).split()) == wanted.text
    ]
    return labelled or same or others


def _claim(draft: Draft, node: ast.Criterion) -> Edit:
    """Return the change that removes what a criterion claims about a publication."""
    assert node.claim is not None  # noqa: S101 -- the caller's choice
    start = draft.text.rindex("as", node.condition.span.start, node.claim.span.start)
    return Edit(draft.make_span(start, (node.covers or node.claim).span.end), "")
