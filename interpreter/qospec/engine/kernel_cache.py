"""Compiled kernels on the disk: one file for each signature, believed only if it is whole.

Numba's own index is shared by all signatures of a function. Two processes that write it at once may
leave an entry that stands for the other's code, and code that is damaged ends the process.
"""

import contextlib
import os
import pickle
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numba
from numba.core import caching
from numba.core.serialize import dumps

DIGEST_BYTES = 16


class Entries(caching.IndexDataCacheFile):
    """What Numba calls a cache file: the entries of one function, here without an index."""

    def __init__(self, folder: Path, base: str, stamp: object) -> None:
        self._folder = folder
        self._base = base
        self._stamp = (numba.__version__, stamp)

    def load(self, key: object) -> Any:
        """Return an entry; None if there is none. One that is damaged is thrown away."""
        try:
            written = self._path(key).read_bytes()
        except OSError:
            return None
        digest, body = written[:DIGEST_BYTES], written[DIGEST_BYTES:]
        if _digest(body) == digest:
            whole, data = pickle.loads(body)  # noqa: S301 - from a folder that is ours alone
            if whole == (key, self._stamp):
                return data
        self.discard(key)
        return None

    def save(self, key: object, data: object) -> None:
        """Write an entry, whole from the moment it has its name; raises OSError."""
        body = dumps(((key, self._stamp), data))  # type: ignore[no-untyped-call]
        path = self._path(key)
        temporary = path.with_suffix(f".{os.getpid()}")
        try:
            temporary.write_bytes(_digest(body) + body)
            temporary.replace(path)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)

    def discard(self, key: object) -> None:
        """Remove an entry, if that can be done."""
        with contextlib.suppress(OSError):
            self._path(key).unlink(missing_ok=True)

    def flush(self) -> None:
        """Remove all entries of the function."""
        for path in self._folder.glob(f"{self._base}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: object) -> Path:
        name = _digest(repr((key, self._stamp)).encode()).hex()
        return self._folder / f"{self._base}.{name}.nbc"


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=DIGEST_BYTES).digest()


class _Kept(caching.CompileResultCacheImpl):
    _locator_classes = [caching.UserProvidedCacheLocator]  # noqa: RUF012 - so Numba has it


class KernelCache(caching.FunctionCache):
    """Numba's cache of a function, of which no trouble with the disk is an error."""

    _impl_class = _Kept

    def __init__(self, function: Callable[..., Any], unwritable: Callable[[], None]) -> None:
        """Call `unwritable` each time that an entry cannot be written.

        Raises:
            RuntimeError: No folder can be written to.
        """
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._unwritable = unwritable
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file: Entries = Entries(Path(self._cache_path), self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for a signature; None if nothing is kept that can be used."""
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # noqa: BLE001 - whatever is wrong with it, compiling mends it
            target_context.refresh()
            key = self._index_key(sig, target_context.codegen())  # type: ignore[no-untyped-call]
            self._cache_file.discard(key)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError:
            self._unwritable()
