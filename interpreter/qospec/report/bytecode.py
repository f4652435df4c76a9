"""A cache of compiled templates in the user's folder: compiling takes longer than all the rest."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import BytecodeCache, compiler

from qospec.cache import find_private_folder

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.bccache import Bucket

DIGEST_BYTES = 16


class Bytecode(BytecodeCache):
    """A cache of bytecode, by a digest of everything it depends on; failures are never errors.

    Python runs any bytecode, damaged or not. So each file begins with a digest of the rest, and a
    damaged one is compiled again.
    """

    def __init__(self, environment: Environment, *, markup: bool) -> None:
        """Serve an environment; whether text is escaped for `markup` is part of the bytecode."""
        self._folder = find_private_folder("templates")
        parts = [str(markup), *sorted(environment.filters), *sorted(environment.tests)]
        made_by = Path(compiler.__file__).read_bytes()
        self._base = blake2b("\0".join(parts).encode() + made_by)

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return a key that identifies a template and its content."""
        key = self._base.copy()
        key.update(f"{name}\0{filename}".encode())
        return key.hexdigest()[: 2 * DIGEST_BYTES]

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a template's bytecode, if it is cached and undamaged."""
        if self._folder is None:
            return
        with suppress(OSError):
            written = (self._folder / bucket.key).read_bytes()
            digest, code = written[:DIGEST_BYTES], written[DIGEST_BYTES:]
            if _compute_digest(code) == digest:
                bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Cache a template's bytecode, if possible; a file with its name is always complete."""
        if self._folder is None:
            return
        path, code = self._folder / bucket.key, bucket.bytecode_to_string()
        temporary = path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            temporary.write_bytes(_compute_digest(code) + code)
            temporary.replace(path)


def _compute_digest(code: bytes) -> bytes:
    return blake2b(code, digest_size=DIGEST_BYTES).digest()
