"""The one door to Numba: a kernel is compiled, or loaded from the cache, when it is first called.

A kernel is a plain loop over arrays, with its state as an argument. With `QOS_KERNELS=python` it
runs as it is written, which is its definition and the oracle of its compiled self.

The cache lies in the user's cache folder, never in the package, and is named for the sources of all
kernels: Numba itself would not notice that a helper in another file has changed.
"""

import functools
import hashlib
import os
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

on_first_compilation: list[Callable[[], None]] = []
"""Called once, before the first kernel that no cache holds is compiled."""


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return `function`, compiled when first called. It may call other kernels of any module."""
    if os.environ.get("QOS_KERNELS") == "python":
        return function
    return cast("Callable[P, R]", _Kernel(function))


class _Kernel:
    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        functools.update_wrapper(self, function)

    @functools.cached_property
    def compiled(self) -> Callable[..., Any]:
        numba = _numba()
        function = self._function
        scope = dict(function.__globals__)
        for name in function.__code__.co_names:
            if isinstance(scope.get(name), _Kernel):
                scope[name] = scope[name].compiled
        linked = types.FunctionType(
            function.__code__, scope, function.__name__, function.__defaults__
        )
        linked.__qualname__ = function.__qualname__
        linked.__module__ = function.__module__
        compiled: Callable[..., Any] = numba.njit(cache=True, nogil=True, error_model="numpy")(
            linked
        )
        return compiled

    def __call__(self, *arguments: Any) -> Any:
        return self.compiled(*arguments)


@functools.cache
def _numba() -> Any:
    os.environ.setdefault("NUMBA_CACHE_DIR", str(_cache_folder()))
    import numba
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:  # noqa: ARG002  as Numba calls it
            while on_first_compilation:
                on_first_compilation.pop()()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]
    return numba


def _cache_folder() -> Path:
    """Return a writable folder named for the kernels' sources, if it can be in the user's cache."""
    import platformdirs

    package = Path(__file__).parent.parent
    digest = hashlib.blake2b(digest_size=8)
    for part in ("engine", "elements", "traffic", "metrics"):
        for path in sorted((package / part).glob("*.py")):
            digest.update(path.read_bytes())
    for root in (
        platformdirs.user_cache_path("qospec"),
        Path(tempfile.gettempdir()) / f"qospec-{os.getuid()}",
    ):
        folder = root / "kernels" / digest.hexdigest()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="qospec-"))
