"""`dataclass` and `NamedTuple` as in the standard library, without compiling at each start.

The standard ones compile about six methods for each data class, and an annotation of each field of
a named tuple; a command that takes a few tenths of a second and declares some hundred of each
spends a third of its time on that. Here classes with the same number of fields share the code of
their initialiser, each with its own names, and a class compares by one `attrgetter`. `field`,
`fields` and `replace` are the standard library's.

Not supported, because not needed here: order, slots, weak references, `InitVar`, annotations of
`__init__`, and of `field` both `init` and `hash`. A standard frozen dataclass cannot derive from
one of these, which the standard library takes for not frozen. A named tuple is not generic.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import namedtuple
from dataclasses import MISSING, FrozenInstanceError, field, fields
from operator import attrgetter
from types import FunctionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    NoReturn,
    Self,
    TypeVar,
    dataclass_transform,
    overload,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
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

    def complete(cls: type) -> type:
        marked: Any = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
        left_out = [
            declared.name
            for declared in fields(marked)
            if not declared.init or declared.hash is not None
        ]
        if left_out:
            raise TypeError(f"{cls.__name__}: `init` or `hash` of a field: {', '.join(left_out)}")
        methods = {
            "__init__": _build_initialiser(marked),
            "__repr__": _build_representation(marked),
        }
        if eq:
            methods |= _build_comparison(marked, frozen=frozen)
        if frozen:
            methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
        # A class with an `__eq__` of its own loses its hash: Python's rule, not the author's wish.
        own = {name for name, value in vars(cls).items() if (name, value) != ("__hash__", None)}
        for name in methods.keys() - own:
            setattr(cls, name, methods[name])
        return cls

    return complete if cls is None else complete(cls)


def _build_initialiser(cls: Any) -> FunctionType:
    """Return `__init__`: the code for that number of fields, with this class's names."""
    positional = [declared for declared in fields(cls) if not declared.kw_only]
    own = [*positional, *(declared for declared in fields(cls) if declared.kw_only)]
    given = {declared.name: declared.default for declared in own if declared.default is not MISSING}
    makes = {declared.name: declared.default_factory for declared in own}
    makes = {name: make for name, make in makes.items() if make is not MISSING}
    given |= dict.fromkeys(makes, MISSING)
    optional = [declared.name in given for declared in positional]
    if optional != sorted(optional):
        raise TypeError(f"{cls.__name__}: a field without default follows one that has one")
    code = _compile_initialiser(len(own), makes=bool(makes), checks=hasattr(cls, "__post_init__"))
    names = {f"_{i}": field.name for i, field in enumerate(own)}
    code = code.replace(
        co_name="__init__",
        co_qualname=f"{cls.__qualname__}.__init__",
        co_argcount=1 + len(positional),
        co_kwonlyargcount=len(own) - len(positional),
        co_varnames=tuple(names.get(varname, varname) for varname in code.co_varnames),
        co_consts=tuple(names.get(const, const) for const in code.co_consts),
    )
    defaults = tuple(given.pop(declared.name) for declared in positional if declared.name in given)
    function = FunctionType(code, {"MISSING": MISSING, "MAKES": makes}, None, defaults)
    function.__kwdefaults__ = given
    return function


@functools.cache
def _compile_initialiser(count: int, *, makes: bool, checks: bool) -> CodeType:
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


def _build_representation(cls: Any) -> Callable[[object], str]:
    names = [declared.name for declared in fields(cls) if declared.repr]

    def represent(self: object) -> str:
        values = (f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({', '.join(values)})"

    return represent


def _build_comparison(cls: Any, *, frozen: bool) -> dict[str, Any]:
    """Return `__eq__` and `__hash__`, which is None unless the class is frozen."""
    names = [declared.name for declared in fields(cls) if declared.compare]
    values: Callable[[object], object] = attrgetter(*names) if names else lambda _: ()

    def compare(self: object, other: object) -> Any:
        if type(other) is not type(self):
            return NotImplemented
        return values(self) == values(other)

    def hash_fields(self: object) -> int:
        return hash(values(self))

    return {"__eq__": compare, "__hash__": hash_fields if frozen else None}


def _refuse(self: object, name: str, *_: object) -> NoReturn:
    raise FrozenInstanceError(f"{type(self).__name__}: the field {name!r} is frozen")


class _Tuple(tuple[Any, ...]):
    """What all named tuples have; `_fields` and `_field_defaults` are those of each."""

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()
    _field_defaults: ClassVar[dict[str, Any]] = {}

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Self:
        return cls(*values)

    def _replace(self, /, **changes: Any) -> Self:
        made = tuple.__new__(type(self), map(changes.pop, self._fields, self))
        if changes:
            raise TypeError(f"{type(self).__name__} has no fields {[*changes]}")
        return made

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        values = (f"{name}={value!r}" for name, value in self._asdict().items())
        return f"{type(self).__name__}({', '.join(values)})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


class _TupleMaker(type):
    """Makes a subclass of `NamedTuple` a subclass of `_Tuple`, with constructor and fields."""

    def __new__(cls, name: str, _bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        made: Any = type(name, (_Tuple,), {**namespace, "__slots__": ()})
        names = tuple(made.__annotations__)
        defaults = {own: namespace[own] for own in names if own in namespace}
        if names[len(names) - len(defaults) :] != tuple(defaults):
            raise TypeError(f"{name}: a field without default follows one that has one")
        like = _make_template(len(names))
        new = like.__new__
        code = new.__code__.replace(co_name="__new__", co_varnames=("_cls", *names))
        values = tuple(defaults.values())
        made.__new__ = FunctionType(code, new.__globals__, "__new__", values)
        made._fields, made._field_defaults = names, defaults
        made.__match_args__ = names  # type: ignore[misc]  # what a `case` reads
        for own, its in zip(names, like._fields, strict=True):
            setattr(made, own, vars(like)[its])
        return made


@functools.cache
def _make_template(count: int) -> Any:
    """Return a standard named tuple with that many fields, whose code others share."""
    return namedtuple("Template", [f"f{i}" for i in range(count)])


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 -- else it is not exported
else:
    NamedTuple = type.__new__(_TupleMaker, "NamedTuple", (), {})
