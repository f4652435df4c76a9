"""Digests of what a kernel is compiled from: its own code, and all that the code names.

So a kernel is compiled again if it, or a helper in another file, or a constant has changed, and
not if only its neighbours, its comments or its place have.
"""

import inspect
import types
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import blake2b
from typing import Any

from qospec.engine.arrays import np

DIGEST_BYTES = 16


@cache
def digest_kernel(function: Callable[..., Any]) -> bytes:
    """Return a digest of the function of a kernel, which never changes, in any process."""
    code = function.__code__
    parts = (
        function.__module__,
        function.__qualname__,
        function.__defaults__,
        [cell.cell_contents for cell in function.__closure__ or ()],
        *_describe_code(code, function.__globals__, function.__doc__),
    )
    return blake2b(repr(list(map(_describe, parts))).encode(), digest_size=DIGEST_BYTES).digest()


def _describe_code(
    code: types.CodeType, scope: dict[str, Any], documentation: str | None = None
) -> Iterator[Any]:
    """Yield what a code object does, and the values of the global names that it uses."""
    yield from (code.co_code, code.co_exceptiontable, code.co_flags, code.co_argcount)
    yield from (code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _describe_code(constant, scope)
        else:  # by its place, so that nothing is left out
            yield None if constant == documentation else constant
    for name in code.co_names:
        if name in scope:
            yield name
            yield scope[name]
            if isinstance(scope[name], types.ModuleType):
                yield [getattr(scope[name], member, None) for member in code.co_names]


def _describe(value: Any) -> Any:
    """Return a text of a value that is the same in each process if the compiled code is.

    Of what kernels cannot use it may hold an address, and then the kernel is compiled each time.
    """
    function = inspect.unwrap(value) if callable(value) else value
    if function is not value:  # a kernel
        return digest_kernel(function)
    if isinstance(value, tuple | list):
        return [type(value).__name__, getattr(value, "_fields", ()), *map(_describe, value)]
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, types.ModuleType):
        return value.__name__
    if callable(value):
        fields, usual = getattr(value, "_fields", ()), getattr(value, "_field_defaults", {})
        return (value.__module__, getattr(value, "__qualname__", repr(value)), fields, repr(usual))
    return (type(value).__qualname__, repr(value))
