"""Changes the models one operator or number at a time, and lists the changes that no test notices.

First the tests run once, and for each line it is noted which of them execute it; kernels run as
plain Python for that. Then each mutant is tried, in a process of its own, by the tests that execute
its line, the shortest first, until one fails. Slow tests are left out: run.py --help.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib.abc
import importlib.util
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from coverage import Coverage
from hypothesis import Phase, settings
from mutants import Mutant, mutants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from multiprocessing.connection import Connection
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "interpreter" / "qospec"
TESTS = ROOT / "testcases"
ROOMS = ("line", "processor", "queue", "scheduler", "security")
"""Of the engine, whose kernels elements share."""
NOTHING_FAILED = 0
LEAST_S, SLOWER = 20, 10
"""A mutant may take so long, or so many times what its tests took."""


class Group(NamedTuple):
    """Modules that are changed alike.

    Attributes:
        modules: Folders and files of the package.
        tests: Folders of the tests that are to notice.
        wanted: Which functions are changed.
    """

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    wanted: Callable[[ast.FunctionDef], bool]

    def paths(self, names: Sequence[str]) -> list[Path]:
        """Return the modules with one of these names, or all."""
        found = [path for each in self.modules for path in sorted(PACKAGE.glob(each))]
        return [path for path in found if not names or path.stem in names]


def _is_kernel(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(each, ast.Name) and each.id == "kernel" for each in function.decorator_list
    )


def _any(function: ast.FunctionDef) -> bool:  # noqa: ARG001
    return True


GROUPS = {
    "elements": Group(
        ("elements/*.py", *(f"engine/{room}/*.py" for room in ROOMS)),
        ("unit/elements", "unit/dropping", "unit/engine"),
        _is_kernel,
    ),
    "meters": Group(
        ("engine/meter/*.py",),
        ("unit/elements", "unit/dropping", "unit/engine"),
        _is_kernel,
    ),
    "statistics": Group(
        tuple(f"judge/{name}.py" for name in ("statistics", "means", "quantiles", "losses")),
        ("unit/judge",),
        _any,
    ),
    "verdicts": Group(
        tuple(f"judge/{name}.py" for name in ("confidence", "found", "found_repeats", "verdict")),
        ("unit/judge", "unit/run"),
        _any,
    ),
}


# ---- which test executes which line


class Tracer:
    """Notes, as a plugin of pytest, which lines each test executes, and how long it takes."""

    def __init__(self, folder: Path) -> None:
        self.took_s: dict[str, float] = {}
        self.failed: set[str] = set()
        self._coverage = Coverage(
            data_file=str(folder / "lines"), config_file=False, source_pkgs=["qospec"]
        )

    def pytest_sessionstart(self) -> None:
        """Begin to note."""
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note the lines of a test under its name."""
        self._coverage.switch_context(item.nodeid)
        began = time.perf_counter()
        result = yield
        self.took_s[item.nodeid] = time.perf_counter() - began
        self._coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what fails as it is: it cannot notice anything."""
        if report.failed:
            self.failed.add(report.nodeid)

    def tests_by_line(self, path: Path) -> dict[int, list[str]]:
        """Return the tests that execute each line of a module, the shortest first."""
        found = self._coverage.get_data().contexts_by_lineno(str(path))
        useful = self.took_s.keys() - self.failed
        return {
            line: sorted(useful.intersection(names), key=self.took_s.__getitem__)
            for line, names in found.items()
        }

    def stop(self) -> None:
        """End noting lines."""
        self._coverage.stop()


class Traced(NamedTuple):
    """Which tests execute the lines of each module, and how long each takes."""

    tests: Mapping[Path, Mapping[int, list[str]]]
    took_s: Mapping[str, float]

    def limit_s(self, tests: Sequence[str]) -> float:
        """Return how long tests may take before they count as having noticed a change."""
        return LEAST_S + SLOWER * sum(self.took_s[name] for name in tests)


def traced(tests: Sequence[str], paths: Sequence[Path]) -> Traced:
    """Run the tests, in a process of their own, and return what was noted of them."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        return pool.submit(_traced, tests, paths).result()


def _traced(tests: Sequence[str], paths: Sequence[Path]) -> Traced:
    _be_silent()
    with tempfile.TemporaryDirectory() as folder:
        tracer = Tracer(Path(folder))
        _pytest([*tests, "-m", "not slow"], [tracer])
        tracer.stop()
        return Traced({path: tracer.tests_by_line(path) for path in paths}, tracer.took_s)


def _pytest(arguments: Iterable[str], plugins: Sequence[object] = ()) -> int:
    """Run pytest here, with few examples that are not shrunk; return its exit code."""
    settings.register_profile(
        "mutation",
        max_examples=20,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),
    )
    # Hypothesis is imported already, which pytest would warn of.
    options = ("-q", "-p", "no:cacheprovider", "-W", "ignore:Module already imported")
    profile = ("--hypothesis-profile", "mutation")
    return int(pytest.main([*options, *profile, *arguments], plugins=[*plugins]))


# ---- whether a mutant is noticed


class Changed(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Loads a module of the package from a changed tree."""

    def __init__(self, path: Path, tree: ast.Module) -> None:
        self._path, self._tree = path, tree
        relative = path.relative_to(PACKAGE.parent).with_suffix("")
        self._name = ".".join(relative.parts)

    def find_spec(self, fullname: str, path: object, target: object = None) -> object:  # noqa: ARG002
        """Return a specification of the changed module; None for others."""
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._path, loader=self)

    def get_source(self, fullname: str) -> str:  # noqa: ARG002
        """Return its text as it was."""
        return self._path.read_text(encoding="utf-8")

    def get_filename(self, fullname: str) -> str:  # noqa: ARG002
        """Return its path."""
        return str(self._path)

    def exec_module(self, module: ModuleType) -> None:
        """Execute it as changed."""
        exec(compile(self._tree, str(self._path), "exec"), module.__dict__)  # noqa: S102


def is_noticed(path: Path, tree: ast.Module, tests: Sequence[str], limit_s: float) -> bool:
    """Return whether one of the tests fails with another tree of a module, or takes too long."""
    mine, yours = multiprocessing.Pipe(duplex=False)
    fork = multiprocessing.get_context("fork")
    child = fork.Process(target=_try, args=(path, tree, tests, yours))
    child.start()
    yours.close()
    child.join(limit_s)
    if child.is_alive():
        child.kill()
        child.join()
        return True
    return not mine.poll() or bool(mine.recv() != NOTHING_FAILED)


def _try(path: Path, tree: ast.Module, tests: Sequence[str], result: Connection) -> None:
    _be_silent()
    sys.meta_path.insert(0, Changed(path, tree))
    result.send(_pytest(["-x", *tests]))


def _be_silent() -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)


@functools.cache
def mutants_of(path: Path) -> list[Mutant]:
    """Return the mutants of a module."""
    (group,) = (each for each in GROUPS.values() if path in each.paths(()))
    return list(mutants(path, group.wanted))


# ---- the program


def survivors(paths: Sequence[Path], found: Traced, processes: int) -> Iterator[tuple[Path, int]]:
    """Yield the number of each mutant that no test notices; print the figures of each module."""
    with ProcessPoolExecutor(processes, multiprocessing.get_context("fork")) as pool:
        for path in paths:
            each = [(path, number, found) for number in range(len(mutants_of(path)))]
            if each and _control(path, found):
                sys.exit(f"{path.name}: tests fail that passed, and nothing was changed")
            noticed = [*pool.map(_is_noticed, each)]
            if each:
                name = path.relative_to(PACKAGE)
                print(f"{name}: {len(each)} made, {sum(noticed)} noticed", flush=True)
            yield from ((path, number) for number, seen in enumerate(noticed) if not seen)


def _is_noticed(task: tuple[Path, int, Traced]) -> bool:
    path, number, found = task
    mutant = mutants_of(path)[number]
    tests = found.tests[path].get(mutant.line, [])
    return bool(tests) and is_noticed(path, mutant.tree, tests, found.limit_s(tests))


def _control(path: Path, found: Traced) -> bool:
    """Return whether a module that was not changed is noticed: then no figure is worth anything."""
    tests = sorted({name for names in found.tests[path].values() for name in names})
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return is_noticed(path, tree, tests, found.limit_s(tests))


def main() -> None:
    """Try the mutants of a group."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", help="; ".join(GROUPS))
    parser.add_argument("--module", action="append", default=[], help="only modules of this name")
    parser.add_argument("-j", type=int, default=2, help="processes (2)")
    given = parser.parse_args()
    unknown = sorted(set(given.groups) - GROUPS.keys())
    if unknown:
        parser.error(f"there is no group {', '.join(unknown)}; groups: {' '.join(GROUPS)}")
    os.environ["QOS_KERNELS"] = "python"
    os.chdir(ROOT)
    for name in given.groups or GROUPS:
        group = GROUPS[name]
        paths = group.paths(given.module)
        found = traced([str(TESTS / each) for each in group.tests], paths)
        for path, number in survivors(paths, found, given.j):
            mutant = mutants_of(path)[number]
            place = f"{path.relative_to(PACKAGE)}:{mutant.line}"
            print(f"  {place}: {mutant.function}: {mutant.change}", flush=True)


if __name__ == "__main__":
    main()
