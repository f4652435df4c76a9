"""Names that packages do not promise to keep: each that is gone is named, and nothing is lost."""

import os
import pkgutil
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from qospec.engine import kernel
from qospec.fuzz.explore import Block, explore
from qospec.fuzz.target import Outcome
from qospec.internals import MissingNameError, find_internal, replace_internal, substitute_internal
from qospec.run.crews import processes
from qospec.source import Source, Span
from qospec.syntax.grammar import compile_with_lark

ROOT = Path(__file__).parents[2]


class Kept:
    """What keeps all promises."""

    name, noun, span = "kept", "property", Span(Source("kept.qos", "kept"), 0, 4)
    reachable = frozenset[str]()
    is_left_to_hypothesis = False

    def run(self, draw) -> Outcome:  # noqa: ARG002  as a target is run
        """Draw nothing."""
        return Outcome(())


def load_numba() -> None:
    kernel._load_numba.__wrapped__()


def load_kernel_cache() -> None:
    sys.modules.pop("qospec.engine.kernel_cache", None)  # else to run it once more is warned of
    runpy.run_module("qospec.engine.kernel_cache")


def link_helpers() -> None:
    from qospec.engine import intrinsics

    intrinsics.find_by_types(print)


def search() -> None:
    explore(Kept(), Block(0, 1, "0"))


FUNCTION_CACHE = "numba.core.caching:FunctionCache"
PROVIDERS = "hypothesis.internal.conjecture.providers"
USES: list[tuple[str, str, Callable[[], None]]] = [
    ("numba.core.config", "_config_fname", load_numba),
    ("numba.np.arrayobj", "fix_integer_index", load_numba),
    ("numba.core.types", "unliteral", link_helpers),
    (FUNCTION_CACHE, "_impl_class", load_kernel_cache),
    (FUNCTION_CACHE, "_index_key", load_kernel_cache),
    (FUNCTION_CACHE, "_load_overload", load_kernel_cache),
    (FUNCTION_CACHE, "load_overload", load_kernel_cache),
    (FUNCTION_CACHE, "save_overload", load_kernel_cache),
    ("numba.core.caching:CompileResultCacheImpl", "_locator_classes", load_kernel_cache),
    ("numba.core.caching:UserProvidedCacheLocator", "ensure_cache_path", load_kernel_cache),
    (PROVIDERS, "CONSTANTS_CACHE", search),
    (PROVIDERS, "Constants", search),
    (f"{PROVIDERS}:HypothesisProvider", "_local_constants", search),
    (
        "hypothesis.internal.conjecture.engine:ConjectureRunner",
        "generate_mutations_from",
        search,
    ),
    ("lark.lark:Lark", "memo_serialize", lambda: compile_with_lark("start: A")),
    ("multiprocessing.util", "_args_from_interpreter_flags", processes.keep_current_folder_out),
]


@pytest.mark.parametrize(("owner", "name", "use"), USES)
def test_a_name_that_is_gone_ends_what_needs_it(owner, name, use, monkeypatch) -> None:
    place = pkgutil.resolve_name(owner)
    for holder in getattr(place, "__mro__", [place]):
        if name in vars(holder):
            monkeypatch.delattr(holder, name)
    with pytest.raises(
        MissingNameError, match=re.escape(f"has no `{owner.replace(':', '.')}.{name}`")
    ):
        use()


@pytest.mark.parametrize("use", [search, link_helpers, load_kernel_cache])
def test_what_is_there_is_used(use) -> None:
    use()


class Own(type(Path())):  # type: ignore[misc]
    """A class of qospec's own, of another's."""

    __module__ = "qospec.own"


@pytest.mark.parametrize(
    ("owner", "words"),
    [
        (Own(), "Python .* has no `pathlib.PosixPath._gone`, .*: use an older Python"),
        (pkgutil.resolve_name("numba"), r"numba 0\.\S+ has no `numba._gone`, .*'numba.*0\.62.*'"),
        (
            pkgutil.resolve_name("hypothesis"),
            r"hypothesis 6\.\S+ has no .*: install .* `pip install 'hypothesis[^;]*6\.139[^;]*'`",
        ),
    ],
)
def test_a_message_says_what_is_gone_and_what_to_install(owner, words) -> None:
    with pytest.raises(MissingNameError, match=words):
        find_internal(owner, "_gone")
    with pytest.raises(MissingNameError, match=words):
        replace_internal(owner, "_gone", 0)
    assert not hasattr(owner, "_gone")


def test_what_is_replaced_for_a_while_comes_back() -> None:
    def interrupted() -> None:
        with substitute_internal(Kept, "noun", "test"):
            assert Kept.noun == "test"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert Kept.noun == "property"


PROGRAM = """
import pkgutil, sys
owner, name = sys.argv.pop(1), sys.argv.pop(1)
delattr(pkgutil.resolve_name(owner), name)
from qospec.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("owner", "name", "command"),
    [
        (
            "multiprocessing.util",
            "_args_from_interpreter_flags",
            "run testcases/suites/echo -j 2 --record",
        ),
        (
            "numba.core.config",
            "_config_fname",
            "run testcases/language/accept/arrays.qos -j 1 --record",
        ),
        (
            f"{PROVIDERS}:HypothesisProvider",
            "_local_constants",
            "fuzz testcases/language/accept/properties.qos -j 1 --no-database --save",
        ),
    ],
)
def test_a_user_reads_which_release_to_install(owner, name, command, tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", PROGRAM, owner, name, *command.split(), str(tmp_path)]
    done = subprocess.run(
        arguments,
        cwd=ROOT,
        env={**os.environ, "QOS_KERNELS": "compiled"},  # though there is little to run
        capture_output=True,
        text=True,
        check=False,
    )
    printed = done.stdout + done.stderr
    assert done.returncode == 4, printed
    assert f"{owner.replace(':', '.')}.{name}`, which qospec needs" in printed
    assert "Traceback" not in printed
