"""What of a machine is of use: states that are reached, timers that are started and waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.context import wrong
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.check.expressions import Evaluator
    from qospec.model.suite import State


def states(
    node: ast.Machine, nodes: Sequence[ast.State], made: Sequence[State], evaluator: Evaluator
) -> None:
    """Report states that no way leads to from the first."""
    ways = {each.name: [way.target for way in each.transitions] for each in made}
    reached, waiting = set[str](), [made[0].name]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += ways[name]
    for each in nodes:
        if each.name.text not in reached:
            evaluator.context.tell(
                wrong(
                    "E0424",
                    f"no way leads `{node.name.text}` into the state `{each.name.text}`",
                    each.name.span,
                    note=f"it begins in `{made[0].name}`",
                    remedy=f"add `on … -> {each.name.text}` to a state, or leave it out",
                )
            )


def timers(
    node: ast.Machine, binds: Sequence[ast.Bind], made: Sequence[State], evaluator: Evaluator
) -> None:
    """Report timers that nobody waits for, or that nobody starts."""
    ways = [way for state in made for way in state.transitions]
    started = {name for way in ways for name in way.start}
    heard = {way.event for way in ways}
    for bind in binds:
        for pair in bind.value.pairs if isinstance(bind.value, ast.MapOf) else ():
            name = pair.key.span.text
            if name in started and name in heard:
                continue
            told = "is never started" if name not in started else "ends unheard in every state"
            remedy = f"start = [{name}]" if name not in started else f"on {name} -> …"
            evaluator.context.tell(
                wrong(
                    "E0424",
                    f"the timer `{name}` of `{node.name.text}` {told}",
                    pair.span,
                    remedy=f"write `{remedy}` in a state, or leave the timer out",
                )
            )
