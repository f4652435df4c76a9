"""Changes of a module's text, one operator or number at a time."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
"""What takes the place of each operator."""
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """A module with one change.

    Attributes:
        line: Where the change is, from 1.
        function: In which function.
        change: The line's expression, before and after.
        tree: The whole module, changed.
    """

    line: int
    function: str
    change: str
    tree: ast.Module


def mutants(path: Path, wanted: Callable[[ast.FunctionDef], bool]) -> Iterator[Mutant]:
    """Yield every mutant of a module, in the order of its text.

    Only functions that are `wanted` are changed, and in them no annotations, decorators, defaults
    and messages of errors: these say nothing about what the function gives.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or not wanted(function):
            continue
        for statement in function.body:
            for node in _inside(statement):
                for changed in _changes(node):
                    yield _mutant(tree, function, node, changed)


def _inside(node: ast.AST) -> Iterator[ast.expr | ast.AugAssign]:
    """Yield what may be changed in a statement, itself included."""
    if isinstance(node, ast.Raise | ast.Assert | ast.FunctionDef):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.expr | ast.AugAssign):
        yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "type_ignores", "slice"} and isinstance(node, ast.AnnAssign):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _inside(child)


def _changes(node: ast.expr | ast.AugAssign) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a node."""
    match node:
        case ast.Compare(ops=operators):
            for number, each in enumerate(operators):
                swapped = [*operators]
                swapped[number] = SWAPS[type(each)]()  # type: ignore[call-overload]
                yield _copy(node, ops=swapped)
        case ast.BoolOp(op=operator) | ast.BinOp(op=operator) | ast.AugAssign(op=operator):
            if type(operator) in SWAPS:
                yield _copy(node, op=SWAPS[type(operator)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.IfExp(body=body, orelse=orelse):
            yield _copy(node, body=orelse, orelse=body)
        case ast.Constant(value=int(value)):  # a truth value, too
            yield _copy(node, value=not value if isinstance(value, bool) else value + 1)
        case ast.Call(func=ast.Name(id=name)) if name in NAMES:
            yield _copy(node, func=ast.Name(NAMES[name], ast.Load()))
        case _:
            pass


def _copy(node: ast.AST, **fields: object) -> ast.AST:
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _mutant(
    tree: ast.Module, function: ast.FunctionDef, node: ast.expr | ast.AugAssign, changed: ast.AST
) -> Mutant:
    whole = _Replaced(node, changed).visit(copy.deepcopy(tree, {id(node): node}))
    change = f"{ast.unparse(node)}  ->  {ast.unparse(changed)}"
    return Mutant(node.lineno, function.name, change, ast.fix_missing_locations(whole))


class _Replaced(ast.NodeTransformer):
    """A tree with one node replaced."""

    def __init__(self, node: ast.AST, changed: ast.AST) -> None:
        self._node = node
        self._changed = changed

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self._node:
            return ast.copy_location(self._changed, node)
        return self.generic_visit(node)
