"""Records that cost little to declare: frozen dataclasses whose methods are written here once.

`dataclass` writes and compiles six methods for each class at each start; for the classes that every
command declares, that would be a tenth of the time of `qos check`. What is made in great numbers is
better served by `dataclass`, for its methods run faster.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from typing import TYPE_CHECKING, Any, NoReturn, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_bare: Callable[[type], Any] = dataclass(init=False, repr=False, eq=False, match_args=False)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Frozen:
    """Makes of each class below it a dataclass: frozen, and equal by its fields."""

    _names: tuple[str, ...]
    _fields: frozenset[str]
    _defaults: Mapping[str, Any]
    _factories: Mapping[str, Callable[[], Any]]
    _compared: tuple[str, ...]
    _shown: tuple[str, ...]

    def __init_subclass__(cls) -> None:
        own = fields(_bare(cls))
        cls._names = tuple(each.name for each in own)
        cls._fields = frozenset(cls._names)
        cls._defaults = {each.name: each.default for each in own if each.default is not MISSING}
        made = {each.name: each.default_factory for each in own}
        cls._factories = {name: make for name, make in made.items() if make is not MISSING}
        cls._compared = tuple(each.name for each in own if each.compare)
        cls._shown = tuple(each.name for each in own if each.repr)

    def __init__(self, *places: object, **values: object) -> None:
        if places:
            given = dict(zip(self._names, places, strict=False))
            if len(places) > len(self._names) or given.keys() & values.keys():
                raise TypeError(f"{type(self).__name__}: a field is given twice, or too many are")
            values |= given
        if len(values) < len(self._names):
            values = {**self._defaults, **values}
            for name in self._factories.keys() - values.keys():
                values[name] = self._factories[name]()
        if values.keys() != self._fields:
            wrong = ", ".join(sorted(values.keys() ^ self._fields))
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
