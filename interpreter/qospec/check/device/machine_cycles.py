"""Timers of 0 s that start each other without end: the instant in which they do never ends.

Of each state and timer that runs there it is asked whether all that can follow, whatever the
values are, starts such a timer again, which is heard where that leads. A transition that takes
time, or that leads to where no such timer is heard, ends it. So may one that another timer of 0 s
causes, which can be running there too: unless it also goes on, whether they end is left to the run.
Messages, items and longer timers do not count, which come in the same instant only by chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.evaluate.context import make_error
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from qospec.catalogue.machine import Program, State, Transition
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.source import Span

_Pair = tuple[str, str]
"""A state, and a timer of 0 s that runs there."""


def report_endless(nodes: Sequence[ast.State], program: Program, evaluator: Evaluator) -> None:
    """Report timers of 0 s that start themselves or each other, each cycle of them once."""
    at_once = [name for name, length_ps in program.timers if length_ps == 0]
    ways = {
        (state.name, timer): found
        for state in program.states
        for timer in at_once
        if (found := _list_certain(state, timer))
    }
    running = {timer: _select_where_running(timer, program) for timer in at_once}
    beside = {
        (state.name, timer): [
            way
            for way in state.transitions
            if way.event != timer and state.name in running.get(way.event, ())
        ]
        for state in program.states
        for timer in at_once
    }
    for cycle in _find_cycles(ways, _select_endless(ways, beside)):
        state, timer = cycle[0]
        names = list(dict.fromkeys(name for _, name in cycle))
        if len(names) == 1:
            message = f"the timer `{timer}` of 0 s starts itself without end"
            help_text = "give it a longer time, or write when it does so: `where …`"
        else:
            others = ", ".join(f"`{name}`" for name in names[:-1])
            message = f"the timers {others} and `{names[-1]}` of 0 s start each other without end"
            help_text = "give one of them a longer time, or write when it does so: `where …`"
        places = [name for name, _ in cycle]
        note = f"from `{'` to `'.join([*places, state])}` no time passes" if places[1:] else ""
        span = _find_transition(nodes, program, state, timer)
        evaluator.context.report(make_error("E0424", message, span, note=note, help=help_text))


def _list_certain(state: State, timer: str) -> list[Transition]:
    """Return the transitions of which a timer takes one, whatever is so; [] if it may take none."""
    found = []
    for way in state.transitions:
        if way.event == timer:
            found.append(way)
            if not way.where:
                return found
    return []


def _select_where_running(timer: str, program: Program) -> set[str]:
    """Return the states in which a timer may be running."""
    if any(timer in way.start_all for way in program.transitions):
        return {state.name for state in program.states}
    found = set[str]()
    waiting = [way.target for way in program.transitions if timer in way.start]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        state = next(state for state in program.states if state.name == name)
        ways = (way for way in state.transitions if timer not in (way.event, *way.stop))
        waiting += [way.target for way in ways]
    return found


def _list_next(way: Transition, pairs: Collection[_Pair]) -> list[_Pair]:
    """Return which of some pairs follow a transition in the same instant."""
    if way.after or way.after_ps:
        return []
    started = (*way.start, *way.start_all)
    return [pair for timer in started if (pair := (way.target, timer)) in pairs]


def _goes_on(way: Transition, timer: str, pairs: Collection[_Pair]) -> bool:
    """Return whether one of some pairs follows when another timer than its own is served first."""
    takes_time = way.after or way.after_ps
    goes_on = timer not in way.stop and not takes_time and (way.target, timer) in pairs
    return goes_on or bool(_list_next(way, pairs))


def _select_endless(
    ways: Mapping[_Pair, Sequence[Transition]], others: Mapping[_Pair, Sequence[Transition]]
) -> dict[_Pair, None]:
    """Return the pairs of which each transition leads to another one of them, in order.

    So do the `others`, of timers that may be running there as well.
    """
    found = dict.fromkeys(ways)
    while True:
        rest = [
            pair
            for pair in found
            if all(_list_next(way, found) for way in ways[pair])
            and all(_goes_on(way, pair[1], found) for way in others[pair])
        ]
        if len(rest) == len(found):
            return found
        found = dict.fromkeys(rest)


def _find_cycles(
    ways: Mapping[_Pair, Sequence[Transition]], endless: Collection[_Pair]
) -> Iterator[list[_Pair]]:
    """Yield cycles of endless pairs, of which each pair is in one at most."""
    seen = set[_Pair]()
    for first in endless:
        path, pair = list[_Pair](), first
        while pair not in seen:
            seen.add(pair)
            path.append(pair)
            pair = _list_next(ways[pair][0], endless)[0]
        if pair in path:
            yield path[path.index(pair) :]


def _find_transition(nodes: Sequence[ast.State], program: Program, state: str, timer: str) -> Span:
    """Return where the first transition of a timer is written in a state."""
    return next(
        part.name.span
        for node, made in zip(nodes, program.states, strict=True)
        if made.name == state
        for part, way in zip(_list_written(node), made.transitions, strict=True)
        if way.event == timer
    )


def _list_written(node: ast.State) -> list[ast.Transition]:
    return [part for part in node.body.statements if isinstance(part, ast.Transition)]
