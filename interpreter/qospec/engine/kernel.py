"""Kernels, which Numba compiles, or loads from the cache, on their first call.

A kernel is a plain loop over arrays, with its state as an argument. With `QOS_KERNELS=python` it
runs uncompiled, which defines its result and is the oracle of the compiled kernel. So does what is
so little that it ends before Numba would be imported; see `spare_compiler`.

The cache is in the user's cache folder, never in the package. An entry is named for what its kernel
is compiled from, since Numba itself would not notice that a helper in another file has changed, and
would compile again what has only moved. Numba unpickles what it finds there, so nobody else may
write to the folder.
"""

import contextlib
import dis
import functools
import inspect
import os
import sys
import time
import types
import warnings
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from qospec.cache import find_private_folder
from qospec.engine.arrays import np
from qospec.internals import find_internal, replace_internal

P = ParamSpec("P")
R = TypeVar("R")

notices: dict[str, Callable[[], None]] = {}
"""Callbacks, each called at most once: `compiling` before the first kernel that is not cached is
compiled, `uncached` when one cannot be written to the cache."""

_compiling_s = 0.0

FEW_STEPS = 5_000
"""So many steps of items through elements take less than to import Numba and to load what a trial
needs of the cache, 0.25 s: most 2 to 20 us each, and 60 us in an element that works by events."""

_left: float = FEW_STEPS
_spares = False


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return `function`, compiled when first called. It may call other kernels of any module."""
    if os.environ.get("QOS_KERNELS") == "python":
        return as_python(function)
    return cast("Callable[P, R]", _Kernel(function))


def as_python(function: Callable[P, R]) -> Callable[P, R]:
    """Return `function` with silent overflow of integers, as in machine code."""

    @functools.wraps(function)
    def run_silently(*arguments: P.args, **named: P.kwargs) -> R:
        with np.errstate(over="ignore"):
            return function(*arguments, **named)

    return run_silently


@contextlib.contextmanager
def spare_compiler(steps: float) -> Iterator[None]:
    """Run kernels as Python inside, if Numba is not loaded yet and few steps were made without it.

    With `QOS_KERNELS=compiled` none do. The results are the same, to the bit. What is set up inside
    is not used behind it, since tables of kernels and states are of one sort or the other.

    Args:
        steps: How many items pass how many elements inside, at most.
    """
    global _left, _spares  # noqa: PLW0603 - of the process, as the compiler is
    _left -= steps
    is_few = _left >= 0 and os.environ.get("QOS_KERNELS") != "compiled"
    before, _spares = _spares, is_few and not _load_numba.cache_info().currsize
    try:
        yield
    finally:
        _spares = before


def link_kernel(function: Callable[P, R], label: str, kernels: Mapping[str, Any]) -> Callable[P, R]:
    """Return a copy of a kernel in which names are bound to other kernels, or to numbers.

    The names are also replaced in the kernels of its module that it calls; those that use none of
    them are shared by all copies. `label` is an identifier and part of the name in the cache: use
    another one for other kernels.
    """
    return cast("Callable[P, R]", _copy_linked(inspect.unwrap(function), label, dict(kernels)))


def _copy_linked(function: Any, label: str, scope: dict[str, Any]) -> Any:
    """Return the copy of a function; add copies of the kernels that must be to `scope`."""
    for name, called in _list_helpers(function):
        if name not in scope and _uses(called, scope):
            scope[name] = _copy_linked(called, label, scope)
    names = {**function.__globals__, **scope}
    copy = types.FunctionType(function.__code__, names, function.__name__)
    copy.__module__, copy.__doc__ = function.__module__, function.__doc__
    copy.__qualname__ = f"{function.__qualname__}_{label}"
    return kernel(copy)


def _uses(function: Any, names: Container[str]) -> bool:
    """Return whether a function uses one of the names, itself or in a helper of its module."""
    if any(name in names for name in function.__code__.co_names):
        return True
    return any(_uses(called, names) for _, called in _list_helpers(function))


def _list_helpers(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield the kernels of its own module that a function calls, by name."""
    for name in function.__code__.co_names:
        called = inspect.unwrap(function.__globals__.get(name))
        is_kernel = called is not function.__globals__.get(name)
        if is_kernel and called.__module__ == function.__module__:
            yield name, called


def as_signed(number: int) -> int:
    """Return a number from an array as int64, so that helpers are compiled for that type alone."""
    return int(number)


def view_part(array: Any, start: int, count: int) -> Any:
    """Return `count` elements of an array of one dimension from `start` on, as a view.

    Unlike a slice it costs nothing in compiled code, and checks nothing.
    """
    return array[start : start + count]


def view_rows(array: Any, start: int, count: int, width: int) -> Any:
    """Return the same as `view_part`, of `count * width` elements, as (count, width)."""
    return array[start : start + count * width].reshape(count, width)


def allocate_scratch_rows(count: int, width: int) -> Any:
    """Return (count, width) integers, both literal, that the kernel uses while it runs.

    In compiled code they are not set, and are registers if what uses them is inlined.
    """
    return np.zeros((count, width), np.int64)


def read_double_bits(number: int) -> int:
    """Return a number as a double, and that as the integer that has its bits."""
    return int(np.float64(number).view(np.int64))


def call_arrive(functions: Any, place: int, *arguments: Any) -> Any:
    """Call an `arrive` kernel of a `build_function_table`; see `engine.event.transition`."""
    return functions[place](*arguments)


def call_wake(functions: Any, place: int, *arguments: Any) -> Any:
    """Likewise, one of the `wake` kernels."""
    return functions[place](*arguments)


def get_state(states: Any, node: int) -> Any:
    """Return an array of a `build_state_table`."""
    return states[node]


def get_function(function: Callable[P, R]) -> Callable[P, R]:
    """Return the Python function of a kernel, which may return views."""
    return cast("Callable[P, R]", inspect.unwrap(function))


def is_compiled(function: Any) -> bool:
    """Return whether a function is a kernel that runs compiled now."""
    return isinstance(function, _Kernel) and not _spares


def build_function_table(kernels: Sequence[Any], name: str, *, compiled: bool) -> Any:
    """Return kernels for `call_arrive` or `call_wake`, as `name` says; they must be kept alive.

    Instead of one that is not compiled, as of None, there is 0.
    """
    if not compiled:
        return list(kernels)
    _load_numba()
    from qospec.engine import intrinsics

    arguments = intrinsics.ARGUMENTS[name]
    known: dict[Any, int] = {}
    for function in kernels:
        if function not in known:
            address = (
                intrinsics.find_address(function.compiled, arguments)
                if is_compiled(function)
                else 0
            )
            known[function] = address
    return np.array([known[function] for function in kernels], np.int64)


def build_state_table(states: Sequence[Any], *, compiled: bool) -> Any:
    """Return arrays of int64 for `get_state`; they must be kept alive."""
    if not compiled:
        return list(states)
    return np.array([(state.ctypes.data, len(state)) for state in states], np.int64).reshape(-1, 2)


INTRINSICS = (
    as_signed,
    view_part,
    view_rows,
    allocate_scratch_rows,
    read_double_bits,
    call_arrive,
    call_wake,
    get_state,
)
"""What compiled code finds in `engine.intrinsics` instead."""


class _Kernel:
    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        functools.update_wrapper(self, function)

    @functools.cached_property
    def compiled(self) -> Callable[..., Any]:
        """Return it as Python calls it."""
        return self._build_dispatcher(self._function.__qualname__)

    @functools.cached_property
    def helper(self) -> Callable[..., Any]:
        """Return it as kernels call it; to let Python call it doubles the time of compiling."""
        name = f"{self._function.__qualname__}_helper"
        return self._build_dispatcher(name, no_cpython_wrapper=True, no_cfunc_wrapper=True)

    def _build_dispatcher(self, name: str, **more: bool) -> Callable[..., Any]:
        numba = _load_numba()
        from qospec.engine import intrinsics

        function = self._function
        scope = dict(function.__globals__)
        for called in function.__code__.co_names:
            if isinstance(scope.get(called), _Kernel):
                scope[called] = scope[called].helper
            elif any(scope.get(called) is intrinsic for intrinsic in INTRINSICS):
                scope[called] = getattr(intrinsics, called)
        linked = types.FunctionType(
            function.__code__, scope, function.__name__, function.__defaults__
        )
        linked.__qualname__ = name
        linked.__module__ = function.__module__
        # No kernel allocates. Unless it slices arrays, reference counting is unnecessary, which in
        # a loop with helpers takes more time than everything else.
        slices = any(
            "SLICE" in instruction.opname for instruction in dis.get_instructions(function)
        )
        # Inlined into loops: else the arrays are passed on each call.
        options = {"nogil": True, "error_model": "numpy", "_nrt": slices, "forceinline": True}
        compiled = numba.njit(**options, **more)(linked)
        # As `cache=True` does, which however fails on a full disk.
        replace_internal(compiled, "_cache", _open_cache(linked, function))
        template = find_internal(compiled, "get_call_template")
        replace_internal(compiled, "get_call_template", intrinsics.find_by_types(template))
        return cast("Callable[..., Any]", compiled)

    @functools.cached_property
    def interpreted(self) -> Callable[..., Any]:
        """Return it as Python; what it calls are kernels, and so are Python then, too."""
        return as_python(self._function)

    def __call__(self, *arguments: Any) -> Any:
        return self.interpreted(*arguments) if _spares else self.compiled(*arguments)


def _notify(name: str) -> None:
    notice = notices.pop(name, None)
    if notice is not None:
        notice()


def _open_cache(linked: Callable[..., Any], function: Callable[..., Any]) -> Any:
    """Return Numba's cache of a linked function; a null cache if no folder is writable."""
    from numba.core import caching

    from qospec.engine.kernel_cache import KernelCache
    from qospec.engine.kernel_digest import digest_kernel

    try:
        return KernelCache(linked, digest_kernel(function), functools.partial(_notify, "uncached"))
    except RuntimeError:  # no folder can be written to
        _notify("uncached")
        return caching.NullCache()


COMPILED_BY = ("kernel.py", "kernel_cache.py", "kernel_digest.py", "intrinsics.py")
"""The sources of which each kernel is compiled otherwise, or kept elsewhere, if one changes."""

UNUSED = ("cffi", "coverage", "yaml")
"""Packages that Numba imports if they are installed; no kernel needs them."""


@contextlib.contextmanager
def _hide_modules(names: tuple[str, ...]) -> Iterator[None]:
    """Make imports of these names fail, as if they were not installed, though they may be in use.

    Without YAML Numba cannot read `.numba_config.yaml` in the current folder, by which somebody
    else's project would change how kernels run; that it warns of one is not for the user.
    """
    loaded = {name: sys.modules[name] for name in names if name in sys.modules}
    sys.modules.update(dict.fromkeys(names))  # type: ignore[arg-type]  # which `None` is for
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            yield
    finally:
        for name in names:
            del sys.modules[name]
        sys.modules.update(loaded)


@functools.cache
def _load_numba() -> Any:
    with _hide_modules(UNUSED):
        import numba
        from numba.core import config, event
        from numba.core.typing import cffi_utils  # noqa: F401 - which imports cffi
        from numba.np import arrayobj

    from qospec.engine import intrinsics

    # It looks for the file again at each compilation.
    replace_internal(config, "_config_fname", "")
    # For which Numba has no option.
    replace_internal(arrayobj, "fix_integer_index", intrinsics.keep_index)
    event.register("numba:compile", _build_listener(event.Listener))  # type: ignore[no-untyped-call]
    # Not by the environment: worker processes would inherit it, and nest folders.
    numba.config.CACHE_DIR = str(find_cache_folder())  # type: ignore[attr-defined]
    return numba


def load() -> None:
    """Load all of Numba that cached kernels need; else the first of them would wait for it."""
    if os.environ.get("QOS_KERNELS") == "python":
        return
    _load_numba()
    from numba.core.registry import cpu_target
    from numba.core.runtime.nrt import rtsys

    rtsys.initialize(cpu_target.target_context)


def _build_listener(base: Any) -> Any:
    """Return a listener for compilations; nested ones count within the outer one."""

    class Listener(base):  # type: ignore[misc]
        depth, since_s = 0, 0.0

        def on_start(self, event: Any) -> None:  # noqa: ARG002  as Numba calls it
            if not self.depth:
                _notify("compiling")
                self.since_s = time.monotonic()
            self.depth += 1

        def on_end(self, event: Any) -> None:  # noqa: ARG002
            global _compiling_s  # noqa: PLW0603 - of the process, as the compiler is
            self.depth -= 1
            if not self.depth:
                _compiling_s += time.monotonic() - self.since_s

    return Listener()


def measure_compiling_s() -> float:
    """Return the total time of compilation in this process, in seconds."""
    return _compiling_s


def read_working_s() -> float:
    """Return a clock that stands still while this process compiles, in seconds."""
    return time.monotonic() - _compiling_s


@functools.cache
def find_cache_folder() -> Path:
    """Return a private folder named for how kernels are compiled, best in `NUMBA_CACHE_DIR`."""
    import hashlib
    import tempfile

    folder = Path(__file__).parent
    digest = hashlib.blake2b(digest_size=8)
    for name in COMPILED_BY:
        digest.update((folder / name).read_bytes())
    named = digest.hexdigest()
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    private = find_private_folder(f"kernels/{named}", *([Path(chosen) / named] if chosen else []))
    return private or Path(tempfile.mkdtemp(prefix="qospec-"))
