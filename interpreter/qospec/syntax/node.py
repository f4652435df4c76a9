"""What all nodes of the tree are.

A node is a frozen dataclass whose methods are written here once. `dataclass` would write and
compile six for each class, for fifty classes, at each start: a tenth of the time of `qos check`.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from typing import TYPE_CHECKING, Any, NoReturn, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from qospec.source import Span

_bare: Callable[[type], Any] = dataclass(init=False, repr=False, eq=False, match_args=False)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class _Fields:
    """Makes of each class below it a dataclass: frozen, equal by its fields, made by keywords."""

    _defaults: Mapping[str, Any]
    _names: frozenset[str]
    _compared: tuple[str, ...]
    _shown: tuple[str, ...]

    def __init_subclass__(cls) -> None:
        own = fields(_bare(cls))
        cls._names = frozenset(each.name for each in own)
        cls._defaults = {each.name: each.default for each in own if each.default is not MISSING}
        cls._compared = tuple(each.name for each in own if each.compare)
        cls._shown = tuple(each.name for each in own if each.repr)

    def __init__(self, **values: object) -> None:
        values = {**self._defaults, **values}
        if values.keys() != self._names:
            wrong = ", ".join(sorted(values.keys() ^ self._names))
            raise TypeError(f"{type(self).__name__}: missing or unknown: {wrong}")
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, its = self.__dict__, other.__dict__
        return all(mine[name] == its[name] for name in self._compared)

    def __hash__(self) -> int:
        return hash((type(self), *(self.__dict__[name] for name in self._compared)))

    def __repr__(self) -> str:
        shown = (f"{name}={self.__dict__[name]!r}" for name in self._shown)
        return f"{type(self).__name__}({', '.join(shown)})"


class Node(_Fields):
    """Anything with a place."""

    span: Span = field(compare=False, repr=False)

    def children(self) -> Iterator[Node]:
        """Yield the nodes directly below this one, as its fields have them."""
        for value in self.__dict__.values():
            for each in value if isinstance(value, tuple) else (value,):
                if isinstance(each, Node):
                    yield each


class Documented(Node):
    """What a `##` comment may stand above (or, for a parameter or binding, behind)."""

    doc: str = field(default="", compare=False)
