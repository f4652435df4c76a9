"""Two kernels have the same digest only if they are compiled to the same code."""

import importlib
import types
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from qospec.engine import kernel
from qospec.engine.kernel import get_function
from qospec.engine.kernel_digest import digest_kernel


class Span(NamedTuple):
    start: int
    stop: int


def advance(span: Span) -> int:
    return span.start


HELPER = """
from qospec.engine.kernel import kernel

STEP = 3

@kernel
def advance(x):
    return x + STEP
"""

CALLER = """
import numpy as np
import limits
from helper import advance
from qospec.engine.kernel import kernel

FACTORS = (2, 5)
TABLE = np.arange(2_000)

@kernel
def loop(x):
    \"\"\"Return a number.\"\"\"
    return advance(x) * FACTORS[0] + limits.LARGEST + TABLE[7]

@kernel
def neighbour(x):
    return x
"""

SOURCES = {"helper": HELPER, "limits": "LARGEST = 10\n", "caller": CALLER}

Digest = Callable[[str, str, str], bytes]


@pytest.fixture
def digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Digest:
    """Return what reads the modules, with a text of one replaced, and returns `loop`'s digest."""
    monkeypatch.syspath_prepend(tmp_path)

    def read(module: str, old: str, new: str) -> bytes:
        for name, source in SOURCES.items():
            changed = source.replace(old, new) if name == module else source
            assert name != module or changed != source or old == new
            (tmp_path / f"{name}.py").write_text(changed, encoding="utf-8")
            monkeypatch.delitem(importlib.sys.modules, name, raising=False)
        importlib.invalidate_caches()
        monkeypatch.setattr("sys.dont_write_bytecode", True)
        return digest_kernel(get_function(importlib.import_module("caller").loop))

    return read


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("caller", "[0]", "[1]"),
        ("caller", "* FACTORS", "+ FACTORS"),
        ("caller", "(2, 5)", "(2, 6)"),
        ("caller", "(2, 5)", "(2, 5.0)"),
        ("caller", "np.arange(2_000)", "np.arange(2_000) + (np.arange(2_000) == 1_000)"),
        ("caller", "np.arange(2_000)", "np.arange(2_000, dtype=np.int32)"),
        ("limits", "10", "11"),
        ("helper", "3", "4"),
        ("helper", "3", "True"),
        ("helper", "x + STEP", "x - STEP"),
    ],
)
def test_a_change_that_reaches_the_code_changes_it(
    digest: Digest, module: str, old: str, new: str
) -> None:
    assert digest("caller", "", "") == digest("caller", "", "")
    assert digest(module, old, new) != digest("caller", "", "")


def test_a_constant_counts_by_its_place() -> None:
    """In some versions of Python, None is not the first constant of what has no documentation."""

    def take(x: int) -> int | None:
        return None if x else 1

    moved = take.__code__.replace(co_consts=take.__code__.co_consts[::-1])
    assert digest_kernel(types.FunctionType(moved, {}, "take")) != digest_kernel(
        types.FunctionType(take.__code__, {}, "take")
    )


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("caller", "return x\n", "return x + 1\n"),
        ("caller", "Return a number.", "Return the number that is asked for."),
        ("caller", "import numpy", "# Of arrays.\n\nimport numpy"),
        ("limits", "LARGEST", "LEAST = 1\nLARGEST"),
    ],
)
def test_what_does_not_reach_the_code_does_not(
    digest: Digest, module: str, old: str, new: str
) -> None:
    assert digest(module, old, new) == digest("caller", "", "")


def test_a_key_names_the_fields_of_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    numba = kernel._load_numba()
    from qospec.engine.kernel_cache import KernelCache

    cache = KernelCache(advance, b"", lambda: None)
    codegen = SimpleNamespace(magic_tuple=tuple)
    signature = (numba.typeof((Span(1, 2), 3)),)
    before = cache._index_key(signature, codegen)
    monkeypatch.setattr(Span, "_fields", ("stop", "start"))
    assert cache._index_key(signature, codegen) != before
