"""A session of pytest in which tests run many times: each time on another mutant.

The tests are collected once. Whatever runs, runs in a process of its own, forked from the one that
has collected: so nothing is imported again, and nothing that a mutant did is left to the next. What
a module computes while it is imported is thus never changed.
"""

import ast
import gc
import itertools
import math
import multiprocessing
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

import pytest
from coverage import Coverage
from equivalent import EQUIVALENT, PACKAGE
from mutants import Mutant, mutants

FORK = multiprocessing.get_context("fork")
PASSED, FAILED = 0, 3
"""Exit codes; another one is of a fault of this program. A signal has ended what took too long."""
ENOUGH_S = 8
"""A mutant that tests of so much time in all have not noticed counts as not noticed."""
LEAST_S, SLOWER = 2, 10
"""On a mutant a test may take so much of the processor's time, and so many times what it took."""
WAITING = 10
"""It may wait so many times longer, for the processor or for something else."""
MEMORY_BYTES = 8 << 30
OUT = os.fdopen(os.dup(1), "w", encoding="utf-8")
"""Where figures are printed, whatever pytest captures."""


class Traced(NamedTuple):
    """Of each module the tests that execute a line; of each test, how long it takes."""

    tests: Mapping[Path, Mapping[int, frozenset[int]]]
    took_s: Mapping[int, float]

    def executing(self, path: Path, lines: frozenset[int]) -> set[int]:
        """Return the tests that execute one of the lines."""
        return set().union(*(self.tests[path].get(line, ()) for line in lines))


class Session:
    """A plugin of pytest that runs the collected tests on mutants of modules."""

    def __init__(
        self,
        paths: Sequence[Path],
        wanted: Callable[[ast.FunctionDef], bool],
        *,
        processes: int = 1,
        most: int | None = None,
    ) -> None:
        """Change these functions of modules, at `most` so many times each module."""
        self._paths, self._wanted, self._processes, self._most = paths, wanted, processes, most
        self._items: Sequence[pytest.Item] = ()
        self._functions: dict[Path, list[FunctionType]] = {}
        self._traced = Traced({}, {})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Trace the tests, see that they pass, and try every mutant."""
        self._items = session.items
        self._functions = _functions(self._paths)
        texts = {path: path.read_text(encoding="utf-8") for path in self._paths}
        gc.freeze()  # else each process copies all pages as soon as it collects
        self._traced = self._trace()
        took_s = sum(self._traced.took_s.values())
        _say(f"{len(self._items)} tests, which take {took_s:.0f} s")
        self._control(texts)
        for path, text in texts.items():
            made = [*mutants(text, self._wanted)]
            if made:
                self._try_all(path, made)
        return True

    def _fails(self, number: int, following: pytest.Item | None) -> bool:
        """Run a test; return whether it fails. Fixtures are kept that the following one needs."""
        item = self._items[number]
        before = item.session.testsfailed
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return item.session.testsfailed > before

    def _in_order(self, numbers: Sequence[int]) -> Iterator[tuple[int, pytest.Item | None]]:
        for number, following in itertools.zip_longest(numbers, numbers[1:]):
            yield number, None if following is None else self._items[following]

    # ---- which test executes which line

    def _trace(self) -> Traced:
        mine, yours = multiprocessing.Pipe(duplex=False)
        child = _started(self._send_traced, yours)
        yours.close()
        traced: Traced = mine.recv()
        child.join()
        return traced

    def _send_traced(self, to: Connection) -> int:
        took_s, failed = {}, set()
        include = [str(path) for path in self._paths]
        coverage = Coverage(data_file=None, config_file=False, include=include)
        coverage.set_option("run:disable_warnings", ["no-data-collected"])
        coverage.start()
        for number, following in self._in_order(range(len(self._items))):
            coverage.switch_context(str(number))
            began_s = time.process_time()
            if self._fails(number, following):
                failed.add(number)  # it cannot notice anything
            took_s[number] = time.process_time() - began_s
            coverage.switch_context("")
        coverage.stop()
        data = coverage.get_data()
        tests = {
            path: {
                line: frozenset(int(name) for name in names if name) - failed
                for line, names in data.contexts_by_lineno(str(path)).items()
            }
            for path in self._paths
        }
        to.send(Traced(tests, took_s))
        return PASSED

    # ---- whether a mutant is noticed

    def _control(self, texts: Mapping[Path, str]) -> None:
        """End if tests fail that passed, and nothing was changed: no figure is worth anything."""
        used: set[int] = set()
        for path, found in self._traced.tests.items():
            used.update(self._traced.executing(path, frozenset(found)))
        tests = sorted(used)
        codes = {path: compile(text, str(path), "exec") for path, text in texts.items()}
        failed = self._outcomes([lambda: self._run(tests, codes)])
        if failed != [False]:
            sys.exit("tests fail that passed, and nothing was changed")

    def _try_all(self, path: Path, made: Sequence[Mutant]) -> None:
        """Try the mutants of a module; print the figures, and what no test notices."""
        name = path.relative_to(PACKAGE).as_posix()
        known = EQUIVALENT.get(name, {})
        of_all = ""
        if self._most is not None and len(made) > self._most:
            of_all = f" of {len(made)}, evenly chosen,"
            made = made[:: -(-len(made) // self._most)]
        tried = [mutant for mutant in made if (mutant.function, mutant.becomes) not in known]
        tests = [self._chosen(path, mutant) for mutant in tried]
        noticed = self._outcomes(
            [
                lambda mutant=mutant, some=some: self._run(some, {path: mutant.compiled(path)})
                for mutant, some in zip(tried, tests, strict=True)
            ]
        )
        equivalent = len(made) - len(tried)
        figures = f"{sum(noticed)} noticed, {equivalent} equivalent"
        _say(f"{name}: {len(made)}{of_all} made, {figures}")
        for mutant, some, seen in zip(tried, tests, noticed, strict=True):
            if not seen:
                why = "" if some else ", which no test executes"
                _say(f"  {name}:{mutant.node.lineno}: {mutant.function}{why}")
                _say(f"    - {mutant.was}\n    + {mutant.becomes}")

    def _chosen(self, path: Path, mutant: Mutant) -> list[int]:
        """Return tests of a mutant: those of its module first, of these the shortest first."""
        took_s = self._traced.took_s
        found = sorted(
            (not self._is_of(path, number), took_s[number], number)
            for number in self._traced.executing(path, mutant.lines)
        )
        ends_s = itertools.accumulate(took_s for _, took_s, _ in found)
        ended = sum(end_s < ENOUGH_S for end_s in ends_s)
        return [number for *_, number in found[: ended + 1]]

    def _is_of(self, path: Path, number: int) -> bool:
        """Return whether a test is named for a module, or in the folder of its room."""
        item = self._items[number]
        room = path.parent.name
        return path.stem in item.nodeid or (room == item.path.parent.name != "elements")

    def _run(self, tests: Sequence[int], codes: Mapping[Path, CodeType]) -> int:
        """Run tests on changed modules until one fails; return an exit code."""
        for path, code in codes.items():
            _change(self._functions[path], code)
        for number, following in self._in_order(tests):
            _limit(LEAST_S + SLOWER * self._traced.took_s[number])
            if self._fails(number, following):
                return FAILED
        return PASSED

    def _outcomes(self, tasks: Sequence[Callable[[], int]]) -> list[bool]:
        """Run each task in a process; return whether it failed, or was ended."""
        outcomes = [False] * len(tasks)
        running: dict[int, tuple[int, BaseProcess]] = {}
        waiting = [*enumerate(tasks)][::-1]
        while waiting or running:
            while waiting and len(running) < self._processes:
                number, task = waiting.pop()
                child = _started(task)
                running[child.sentinel] = number, child
            for sentinel in wait([*running]):
                number, child = running.pop(sentinel)
                outcomes[number] = _ended(child) != PASSED
        return outcomes


def _functions(paths: Sequence[Path]) -> dict[Path, list[FunctionType]]:
    """Return the functions of each module, as many as have been made of each text."""
    found: dict[Path, list[FunctionType]] = {path: [] for path in paths}
    for held in gc.get_objects():
        if isinstance(held, FunctionType):
            found.get(Path(held.__code__.co_filename), []).append(held)
    return found


def _change(functions: Sequence[FunctionType], module: CodeType) -> None:
    """Give functions the code that they have in a module."""
    codes = {(code.co_qualname, code.co_firstlineno): code for code in _codes(module)}
    for function in functions:
        function.__code__ = codes[function.__code__.co_qualname, function.__code__.co_firstlineno]


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _codes(const)


def _say(text: str) -> None:
    print(text, file=OUT, flush=True)


# ---- processes


def _started(task: Callable[..., int], *arguments: object) -> BaseProcess:
    child = FORK.Process(target=_child, args=(task, *arguments))
    child.start()
    return child


def _child(task: Callable[..., int], *arguments: object) -> None:
    """Do a task out of sight, and exit with its code."""
    os.setsid()  # to end what it leaves behind
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    try:
        sys.exit(task(*arguments))
    except Exception:
        _say(traceback.format_exc())
        raise


def _limit(more_s: float) -> None:
    """Let a signal end this process when it takes so much longer from now on."""
    end_s = math.ceil(time.process_time() + more_s)
    resource.setrlimit(resource.RLIMIT_CPU, (end_s, resource.RLIM_INFINITY))
    signal.alarm(math.ceil(WAITING * more_s))


def _ended(child: BaseProcess) -> int:
    """Return the exit code of a process, and end what it has started."""
    child.join()
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    if child.exitcode not in {PASSED, FAILED} and child.exitcode >= 0:
        sys.exit(f"a process that tries a mutant has ended with {child.exitcode}")
    return child.exitcode
