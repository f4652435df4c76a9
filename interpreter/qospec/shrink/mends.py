"""Changes that mend what fails: single values of a device with which the case passes.

The smallest test that fails is one that nothing can pass. So a smaller test counts only if it still
passes with each of these changes: then it still depends on what is wrong.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.diagnostics import Edit
from qospec.shrink.draft import Draft, list_paths
from qospec.shrink.modules import find_declaration, read_draft
from qospec.shrink.places import Mend, Place, list_places
from qospec.shrink.rounding import list_simpler, read_number, scale_literal, with_value
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qospec.check.modules.loader import Unit
    from qospec.shrink.modules import Modules

FACTORS = (Fraction(2), Fraction(1, 2), Fraction(10), Fraction(1, 10))
STEPS = 12
"""Of the search between two factors, one with too little and one with too much."""
EDGE_STEPS = 5
"""Of the search for the first and the last value with which a case passes, if these are apart."""
MOST = 2
"""Fields whose changes are kept, all values of each: a smaller test is run with each change."""
MOST_TRIED = 250
"""Runs that the search takes, at most."""


class Cure(NamedTuple):
    """The values between two with which what fails passes, the nearer to the old one first.

    What the value should have been is most likely a round one: the roundest that was found, too.
    """

    near: Mend
    far: Mend
    change: float
    roundest: Mend | None = None
    falls: bool = False
    """Whether the farther is the lower one."""

    @property
    def mends(self) -> tuple[Mend, ...]:
        """Return those that a smaller test must pass with, all that differ.

        With the nearest, which is found bit by bit, it passes by a hair: hardly any smaller test
        would, too. So it is left out if there is a round one.
        """
        return tuple(dict.fromkeys((self.roundest or self.near, self.far)))

    @property
    def shown(self) -> str:
        """Return it in words."""
        ends = [mend.new for mend in self.mends]
        between = " to ".join(reversed(ends) if self.falls else ends)
        return f"{self.near.place.shown} = {between} instead of {self.near.old}"


class Seen(NamedTuple):
    """Whether a case passes with a change, and on which side of its bound it is, if that is known.

    The side is -1, 0 or 1.
    """

    passes: bool
    side: int | None


def list_devices(draft: Draft, modules: Modules) -> Iterator[tuple[Unit | None, ast.Declaration]]:
    """Yield the devices of a draft, those that it declares and those of files that it imports.

    Before them come its topologies, which give devices other values than their defaults.
    """
    for kind in (ast.Topology, ast.Device):
        for declaration in draft.tree.declarations:
            if isinstance(declaration, kind):
                yield None, declaration
    seen: set[tuple[str, str]] = set()
    waiting = list(_list_imported(draft.tree, modules.find_unit))
    while waiting:
        unit, name = waiting.pop(0)
        node = find_declaration(unit, name)
        if not isinstance(node, ast.Device | ast.Let) or (str(unit.path), name) in seen:
            continue
        seen.add((str(unit.path), name))
        if isinstance(node, ast.Device):
            yield unit, node
        waiting += [(unit, path.name.text) for path in list_paths(node)]
        waiting += _list_imported(node, unit.imports.get)


def _list_imported(
    node: ast.Node, unit_of: Callable[[str], Unit | None]
) -> Iterator[tuple[Unit, str]]:
    """Yield what a node names of other files, with these."""
    for path in list_paths(node):
        unit = unit_of(path.name.text)
        if unit is not None and path.trail and isinstance(path.trail[0], ast.Name):
            yield unit, path.trail[0].text


def apply_mend(draft: Draft, mend: Mend) -> str | None:
    """Return the text of a draft, or of a file, with a change; None if it has no such place."""
    for node in draft.tree.declarations:
        if node.name.text == mend.place.declaration:
            for place, value in list_places(node, mend.place.path):
                if place == mend.place:
                    return draft.apply([Edit(value.span, mend.new)])
    return None


def find(
    draft: Draft, modules: Modules, try_it: Callable[[Mend], Seen | None], side: int | None
) -> Iterator[list[Cure]]:
    """Yield the changes of single values that mend a case, the slightest first, with each more.

    Args:
        draft: The case.
        modules: The files that it imports.
        try_it: Runs it with a change; returns None if it cannot be run.
        side: On which side of the bound it is without one.
    """
    left = MOST_TRIED

    def try_mend(mend: Mend) -> Seen:
        nonlocal left
        left -= 1
        return (try_it(mend) if left >= 0 else None) or Seen(passes=False, side=None)

    found: dict[tuple[str, tuple[str, ...]], list[Cure]] = {}
    for unit, node in list_devices(draft, modules):
        source = draft if unit is None else read_draft(unit)
        for place, value in list_places(node, None if unit is None else unit.path):
            cure = _Search(place, value, source.quote(value), try_mend).find_cure(side)
            if cure is not None:
                found.setdefault((place.declaration, place.trail), []).append(cure)
                slightest = sorted(found.values(), key=lambda cures: min(c.change for c in cures))
                yield [cure for cures in slightest[:MOST] for cure in cures]


class _Search:
    """The search for the values of one place with which a case passes."""

    def __init__(
        self, place: Place, node: ast.Node, old: str, tried: Callable[[Mend], Seen]
    ) -> None:
        self._place = place
        self._node = node
        self._old = old
        self._tried = tried

    def find_cure(self, side: int | None) -> Cure | None:
        """Return the values with which it passes, given the side that it is on with the old one."""
        other = _negate(self._node)
        if other:
            mend = Mend(self._place, self._old, other)
            return Cure(mend, mend, 0.0) if self._tried(mend).passes else None
        if self._mend(Fraction(2)).new == self._old:
            return None
        known = {factor: self._tried(self._mend(factor)) for factor in FACTORS}
        known[Fraction(1)] = Seen(passes=False, side=side)
        found = self._find_passing(known)
        if found is None:
            return None
        return self._find_edges(found, known)

    def _mend(self, factor: Fraction) -> Mend:
        return Mend(self._place, self._old, scale_literal(self._node, factor))

    def _find_passing(self, known: dict[Fraction, Seen]) -> Fraction | None:
        """Return the factor nearest to 1 with which it passes: a known one, or one between two."""
        passing = [factor for factor, seen in known.items() if seen.passes]
        if passing:
            return min(passing, key=_size)
        factors = sorted(known)
        for low, high in pairwise(factors):
            sides = known[low].side, known[high].side
            if None not in sides and sides[0] != sides[1]:
                found = self._find_crossing(low, high, sides[0])
                if found is not None:
                    return found
        return None

    def _find_crossing(self, low: Fraction, high: Fraction, side: int | None) -> Fraction | None:
        for _ in range(STEPS):
            middle = _choose_between(low, high)
            seen = self._tried(self._mend(middle))
            if seen.passes:
                return middle
            low, high = (middle, high) if seen.side == side else (low, middle)
        return None

    def _find_edges(self, found: Fraction, known: dict[Fraction, Seen]) -> Cure:
        """Return the values around one with which it passes, as far as they do."""
        ends = []
        for outwards in (False, True):
            beyond = [
                factor
                for factor, seen in known.items()
                if not seen.passes and (_size(factor) < _size(found)) != outwards
                and (factor == 1 or (factor > 1) == (found > 1))
            ]  # fmt: skip
            edge = found
            if beyond:
                fails = (min if outwards else max)(beyond, key=_size)
                for step in range(STEPS):
                    if step >= EDGE_STEPS and edge != found:
                        break
                    middle = _choose_between(*sorted((edge, fails)))
                    if self._tried(self._mend(middle)).passes:
                        edge = middle
                    else:
                        fails = middle
            else:
                same = [e for e in known if known[e].passes and (e > 1) == (found > 1)]
                edge = max((found, *same), key=_size) if outwards else found
            ends.append(edge)
        near, far = ends
        mends = self._mend(near), self._mend(far)
        return Cure(*mends, _size(near), self._find_roundest(near, far), falls=far < near)

    def _find_roundest(self, near: Fraction, far: Fraction) -> Mend | None:
        """Return the value with the fewest digits between two, if it passes."""
        assert isinstance(self._node, ast.Number | ast.Quantity)  # noqa: S101 -- it has factors
        old = read_number(self._node)
        low, high = sorted((old * near, old * far))
        whole = isinstance(self._node, ast.Number) and old.denominator == 1
        for number in list_simpler(old * near, low, high, 0 if whole else None):
            mend = Mend(self._place, self._old, with_value(self._node, number))
            if self._tried(mend).passes:
                return mend
        return None


def _negate(node: ast.Node) -> str:
    """Return the other value of what has two: of a truth, and of an order."""
    if isinstance(node, ast.Boolean):
        return "false" if node.value else "true"
    if isinstance(node, ast.ListLiteral):
        return f"[{', '.join(item.span.text for item in reversed(node.items))}]"
    return ""


def _size(factor: Fraction) -> float:
    return abs(math.log(factor))


def _choose_between(low: Fraction, high: Fraction) -> Fraction:
    return Fraction(f"{math.sqrt(low * high):.4g}")
