"""What a template requires of its arguments: a `require` that names its parameters alone.

It is decided where a test is built on the template, before anything else of it is evaluated, and is
no criterion of the test.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import Case, CheckError, error, flat
from qospec.check.test.parts import Part, with_statements
from qospec.syntax import ast

if TYPE_CHECKING:
    from typing import TypeGuard

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.test.parts import Parts


def verified(parts: Parts, evaluator: Evaluator) -> Parts | None:
    """Return a test without what is required of arguments; None if they do not meet it."""
    tests = tuple(part.node for part in parts)
    case = Case(tests[-1].name.text, tests[-1].span, (), tests[:-1], tests[1:])
    before = evaluator.context.mistakes
    for part in parts:
        for each in part.node.statements:
            if _is_requirement(each, part):
                _verify(each, part, case, evaluator)
    return None if evaluator.context.mistakes > before else tuple(map(_without, parts))


def _is_requirement(node: ast.Statement, part: Part) -> TypeGuard[ast.Criterion]:
    """Return whether a statement depends on parameters, and on nothing that a test declares."""
    if not isinstance(node, ast.Criterion) or node.kind != "require" or node.when is not None:
        return False
    every = node.condition.with_all_below()
    names = {each.name.text for each in every if isinstance(each, ast.Path)}
    parameters = {each.name.text for each in part.node.parameters}
    return bool(names & parameters) and all(part.home.find(name) for name in names)


def _verify(node: ast.Criterion, part: Part, case: Case, evaluator: Evaluator) -> None:
    try:
        met = evaluator.truth(node.condition, part.home)
    except CheckError as mistake:
        evaluator.context.report(mistake)
        return
    if met is not False:
        return
    text = flat(node.condition.span.text)
    unmet = error(
        "E0525",
        f"`{part.node.name.text}` requires `{text}`",
        node.condition.span,
        help="choose arguments for which that holds",
    )
    if case.base_of(node.span) is not None:
        unmet = CheckError(case.at_use(replace(unmet.diagnostic, label="required here")))
    evaluator.context.report(unmet)


def _without(part: Part) -> Part:
    kept = [each for each in part.node.statements if not _is_requirement(each, part)]
    if len(kept) == len(part.node.statements):
        return part
    return Part(with_statements(part.node, kept), part.home)
