"""The cache of compiled kernels: one file per signature, with a digest to detect damage.

All signatures of a function share Numba's own index. Two processes that write it at once may leave
an entry that refers to the other's code, and damaged code crashes the process. All kernels lie in
one folder, wherever their sources are: copies of the project share what is the same in them.
"""

import contextlib
import errno
import os
import pickle
import sys
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, sigutils
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from qospec.cache import make_private
from qospec.engine.arrays import np
from qospec.internals import find_internal, replace_internal

DIGEST_BYTES = 16

# What the classes below override; Python would not mind if there was nothing to override.
for _name in ("_impl_class", "load_overload", "_load_overload", "save_overload", "_index_key"):
    find_internal(caching.FunctionCache, _name)
for _name in ("_locator_classes", "locator", "filename_base"):
    find_internal(caching.CompileResultCacheImpl, _name)
for _name in ("ensure_cache_path", "get_disambiguator"):
    find_internal(caching.UserProvidedCacheLocator, _name)


class Entries(caching.IndexDataCacheFile):
    """The entries of one function, a cache file in Numba's terms, but without an index."""

    def __init__(self, folder: Path, base: str, stamp: object) -> None:
        self._folder = folder
        self._base = base
        versions = (numba.__version__, np.__version__, sys.implementation.cache_tag)
        self._stamp = (*versions, stamp)

    def load(self, key: object) -> Any:
        """Return an entry; None if there is none. A damaged entry is removed."""
        try:
            written = self._get_path(key).read_bytes()
        except OSError:
            return None
        digest, body = written[:DIGEST_BYTES], written[DIGEST_BYTES:]
        if _compute_digest(body) == digest:
            whole, data = pickle.loads(body)  # noqa: S301 - from a private folder
            if whole == (key, self._stamp):
                return data
        self.discard(key)
        return None

    def save(self, key: object, data: object) -> None:
        """Write an entry atomically; raises OSError."""
        body = dumps(((key, self._stamp), data))  # type: ignore[no-untyped-call]
        path = self._get_path(key)
        temporary = path.with_suffix(f".{os.getpid()}")
        try:
            temporary.write_bytes(_compute_digest(body) + body)
            temporary.replace(path)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)

    def discard(self, key: object) -> None:
        """Remove an entry, if possible."""
        with contextlib.suppress(OSError):
            self._get_path(key).unlink(missing_ok=True)

    def flush(self) -> None:
        """Remove all entries of the function."""
        for path in self._folder.glob(f"{self._base}.*.nbc"):
            path.unlink(missing_ok=True)

    def _get_path(self, key: object) -> Path:
        name = _compute_digest(repr((key, self._stamp)).encode()).hex()
        return self._folder / f"{self._base}.{name}.nbc"


def _compute_digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=DIGEST_BYTES).digest()


class _PrivateLocator(caching.UserProvidedCacheLocator):
    """Numba's folder for all functions, unless others can write to it."""

    def __init__(self, function: Callable[..., Any], source: str) -> None:
        super().__init__(function, source)  # type: ignore[no-untyped-call]
        self._cache_path = numba.config.CACHE_DIR  # type: ignore[attr-defined]

    def get_disambiguator(self) -> str:
        """Return nothing: an entry is named for the digest of its function."""
        return ""

    def ensure_cache_path(self) -> None:
        """Create the folder; raises OSError if it cannot be used."""
        if not make_private(Path(self.get_cache_path())):  # type: ignore[no-untyped-call]
            raise PermissionError(errno.EACCES, "It is not private")


class _CacheImplementation(caching.CompileResultCacheImpl):
    _locator_classes = [_PrivateLocator]  # noqa: RUF012 - as in Numba


def _list_fields(kind: Any) -> tuple[Any, ...]:
    """Return the names of the fields of a type, and those of the types that it holds."""
    names = getattr(getattr(kind, "instance_class", None), "_fields", ())
    return (*names, *map(_list_fields, getattr(kind, "types", ())))


class KernelCache(caching.FunctionCache):
    """Numba's cache of a function, in which no disk problem is an error."""

    _impl_class = _CacheImplementation
    _cache_file: Entries

    def __init__(
        self, function: Callable[..., Any], digest: bytes, unwritable: Callable[[], None]
    ) -> None:
        """Create the cache.

        Args:
            function: What is compiled.
            digest: Of all that determines what it is compiled to.
            unwritable: It is called each time that an entry cannot be written.

        Raises:
            RuntimeError: No folder can be written to, or others can write to it.
        """
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._unwritable = unwritable
        entries = Entries(Path(self._cache_path), self._impl.filename_base, digest)
        replace_internal(self, "_cache_file", entries)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """Return Numba's key, with the fields of named tuples, which code finds by their places."""
        arguments, _ = sigutils.normalize_signature(sig)  # type: ignore[no-untyped-call]
        fields = tuple(map(_list_fields, arguments))
        return (*super()._index_key(sig, codegen), fields)  # type: ignore[no-untyped-call]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code compiled for a signature; None if no usable entry is stored.

        Numba's own method also loads all that a compilation needs, which takes longer than the
        code; a compilation does that itself.
        """
        try:
            rtsys.initialize(target_context)  # what the code may refer to
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # noqa: BLE001 - compiling again repairs any damage
            target_context.refresh()
            key = self._index_key(sig, target_context.codegen())
            self._cache_file.discard(key)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store compiled code."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError:
            self._unwritable()
