"""`dataclass` as in the standard library, with methods that are not compiled at each start.

The standard one compiles about six methods for each class; a command that takes a few tenths of a
second and declares two hundred classes spends a fifth of its time on that. Here classes with the
same number of fields share the code of their initialiser, each with its own names, and a class
compares by one `attrgetter`. `field`, `fields` and `replace` are the standard library's.

Not supported, because not needed here: order, slots, weak references, `InitVar`, annotations of
`__init__`, and of `field` both `init` and `hash`. A standard frozen dataclass cannot derive from
one of these, which the standard library takes for not frozen.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import MISSING, FrozenInstanceError, field, fields
from operator import attrgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, dataclass_transform, overload

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    Class = TypeVar("Class", bound=type)


@overload
def dataclass(cls: Class, /) -> Class: ...
@overload
def dataclass(
    *, frozen: bool = False, eq: bool = True, kw_only: bool = False
) -> Callable[[Class], Class]: ...
@dataclass_transform(field_specifiers=(field,))
def dataclass(
    cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, kw_only: bool = False
) -> Any:
    """Make a dataclass of a class, with the standard library's meaning of each argument."""

    def made(cls: type) -> type:
        marked: Any = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
        left_out = [each.name for each in fields(marked) if not each.init or each.hash is not None]
        if left_out:
            raise TypeError(f"{cls.__name__}: `init` or `hash` of a field: {', '.join(left_out)}")
        methods = {"__init__": _initialiser(marked), "__repr__": _shown(marked)}
        if eq:
            methods |= _compared(marked, frozen=frozen)
        if frozen:
            methods |= {"__setattr__": _refused, "__delattr__": _refused}
        # A class with an `__eq__` of its own loses its hash: Python's rule, not the author's wish.
        own = {name for name, value in vars(cls).items() if (name, value) != ("__hash__", None)}
        for name in methods.keys() - own:
            setattr(cls, name, methods[name])
        return cls

    return made if cls is None else made(cls)


def _initialiser(cls: Any) -> FunctionType:
    """Return `__init__`: the code for that number of fields, with this class's names."""
    positional = [each for each in fields(cls) if not each.kw_only]
    own = [*positional, *(each for each in fields(cls) if each.kw_only)]
    given = {each.name: each.default for each in own if each.default is not MISSING}
    makes = {each.name: each.default_factory for each in own}
    makes = {name: make for name, make in makes.items() if make is not MISSING}
    given |= dict.fromkeys(makes, MISSING)
    optional = [each.name in given for each in positional]
    if optional != sorted(optional):
        raise TypeError(f"{cls.__name__}: a field without default follows one that has one")
    code = _code(len(own), makes=bool(makes), checks=hasattr(cls, "__post_init__"))
    names = {f"_{i}": each.name for i, each in enumerate(own)}
    code = code.replace(
        co_name="__init__",
        co_qualname=f"{cls.__qualname__}.__init__",
        co_argcount=1 + len(positional),
        co_kwonlyargcount=len(own) - len(positional),
        co_varnames=tuple(names.get(each, each) for each in code.co_varnames),
        co_consts=tuple(names.get(each, each) for each in code.co_consts),
    )
    defaults = tuple(given.pop(each.name) for each in positional if each.name in given)
    function = FunctionType(code, {"MISSING": MISSING, "MAKES": makes}, None, defaults)
    function.__kwdefaults__ = given
    return function


@functools.cache
def _code(count: int, *, makes: bool, checks: bool) -> CodeType:
    """Compile `__init__` for fields `_0`, `_1`, ...; its one local variable is no field's name."""
    names = [f"_{i}" for i in range(count)]
    lines = [f"def __init__({', '.join(['self', *names])}):", "__own__ = self.__dict__"]
    lines += [f"__own__['{name}'] = {name}" for name in names]
    if makes:
        lines += ["for __name__ in MAKES:"]
        lines += [" if __own__[__name__] is MISSING: __own__[__name__] = MAKES[__name__]()"]
    if checks:
        lines += ["self.__post_init__()"]
    made: dict[str, Any] = {}
    exec("\n ".join(lines), made)  # noqa: S102 -- the text is the one above
    return made["__init__"].__code__  # type: ignore[no-any-return]


def _shown(cls: Any) -> Callable[[object], str]:
    names = [each.name for each in fields(cls) if each.repr]

    def shown(self: object) -> str:
        values = (f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({', '.join(values)})"

    return shown


def _compared(cls: Any, *, frozen: bool) -> dict[str, Any]:
    """Return `__eq__` and `__hash__`, which is None unless the class is frozen."""
    names = [each.name for each in fields(cls) if each.compare]
    values: Callable[[object], object] = attrgetter(*names) if names else lambda _: ()

    def equal(self: object, other: object) -> Any:
        if type(other) is not type(self):
            return NotImplemented
        return values(self) == values(other)

    def hashed(self: object) -> int:
        return hash(values(self))

    return {"__eq__": equal, "__hash__": hashed if frozen else None}


def _refused(self: object, name: str, *_: object) -> NoReturn:
    raise FrozenInstanceError(f"{type(self).__name__}: the field {name!r} is frozen")
