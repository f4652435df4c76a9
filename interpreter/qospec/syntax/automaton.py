"""The LALR(1) automaton that runs the parse table.

Lark checks the grammar and makes the table; the loop is our own. It builds nodes as it goes, takes
a third of the time of Lark's, and stops where a token does not fit with its stack intact, so that
`recovery` can repair the input and go on. It does not recurse: nesting only costs a longer stack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.source import Span
from qospec.syntax import ast
from qospec.syntax.grammar import END, START, load_grammar

if TYPE_CHECKING:
    from qospec.syntax.builder import Build
    from qospec.syntax.grammar import Rule
    from qospec.syntax.tokens import Tokens


class Automaton:
    """A parse in progress.

    Attributes:
        states: The stack of states; the first is the initial one.
        values: What each symbol on the stack stands for: a node, a list of nodes, or a token's
            text.
        firsts: The index of each symbol's first token.
        file: The tree, when all has been read.
    """

    def __init__(self, tokens: Tokens, builders: dict[str, Build]) -> None:
        self.states = [load_grammar().start]
        self.values: list[Any] = []
        self.firsts: list[int] = []
        self.file: ast.File | None = None
        self._tokens = tokens
        self._builders = builders
        self._rows = load_grammar().states

    def run(self, at: int) -> int:
        """Parse from a token on; return the first that does not fit, or -1 at the end."""
        tokens, kinds, rows = self._tokens, self._tokens.kinds, self._rows
        rules, accept = load_grammar().rules, load_grammar().accept
        states, values, firsts = self.states, self.values, self.firsts
        while True:
            kind = kinds[at]
            action = rows[states[-1]].get(kind)
            if action is None:
                return at
            if action >= 0:
                word = tokens.read_text(at)
                values.append(
                    ast.Name(text=word, span=tokens.find_span(at)) if kind == "NAME" else word
                )
                states.append(action)
                firsts.append(at)
                at += 1
            else:
                self._reduce(rules[~action], at)
                if kind == END and states[-1] == accept:
                    self.file = values[-1]
                    return -1

    def insert(self, kind: str, word: str, at: int) -> None:
        """Shift a token that is missing before the token `at`; it must be accepted."""
        self.states.append(self.reduce_for(kind, at))
        self.values.append(word)
        self.firsts.append(at)

    def reduce_for(self, kind: str, at: int) -> int:
        """Make the reductions that a token of this kind needs; return the state after its shift."""
        while (action := self._rows[self.states[-1]][kind]) < 0:
            self._reduce(load_grammar().rules[~action], at)
        return action

    def reduce_completed(self, at: int) -> None:
        """Make the reductions that do not depend on the next token."""
        while True:
            actions = {
                action for kind, action in self._rows[self.states[-1]].items() if kind.isupper()
            }
            if len(actions) != 1 or min(actions) >= 0:
                return
            self._reduce(load_grammar().rules[~actions.pop()], at)

    def accepts(self, *kinds: str) -> bool:
        """Return whether tokens of these kinds fit here, one after the other."""
        states = list(self.states)
        for kind in kinds:
            while True:
                action = self._rows[states[-1]].get(kind)
                if action is None:
                    return False
                if action >= 0:
                    states.append(action)
                    break
                rule = load_grammar().rules[~action]
                del states[len(states) - rule.size :]
                if kind == END and rule.origin == START:
                    return True
                states.append(self._rows[states[-1]][rule.origin])
        return True

    def unwind(self, height: int) -> None:
        """Drop all but the lowest symbols of the stack."""
        del self.states[height + 1 :], self.values[height:], self.firsts[height:]

    def _reduce(self, rule: Rule, at: int) -> None:
        states, values = self.states, self.values
        origin, size, node, keeps, only = rule
        base = len(values) - size
        if only >= 0:
            value = values[base + only]
        elif not node and keeps[:1] == [~0]:
            value = values[base]  # a list in progress, which grows
            self._gather(value, keeps[1:], base)
        else:
            value = []
            self._gather(value, keeps, base)
            if node:
                value = self._builders[node](self._build_span(self.firsts[base], at), value)
        del states[base + 1 :], self.firsts[base + 1 :]
        values[base:] = [value]
        states.append(self._rows[states[-1]][origin])

    def _build_span(self, first: int, at: int) -> Span:
        """Return the span from a token to the one before `at`; empty if there is none."""
        tokens = self._tokens
        start = tokens.starts[first]
        return Span(tokens.source, start, tokens.ends[at - 1] if at > first else start)

    def _gather(self, parts: list[Any], keeps: list[int | None], base: int) -> None:
        """Add the parts of a rule that are kept."""
        values = self.values
        for keep in keeps:
            if keep is None:
                parts.append(None)
            elif keep >= 0:
                parts.append(values[base + keep])
            else:
                parts.extend(values[base + ~keep])
