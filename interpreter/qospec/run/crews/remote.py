"""What a worker process of Dask does for a run: jobs by their names, with files that it is sent.

It does one job at a time, however many threads it has: kernels and plans are of a process.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import platform
import threading
import time
from collections import deque
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine import kernel
from qospec.resources import SPEC, STDLIB
from qospec.run.job import Cancelled, CancelledError, Done, Notice, WorkError
from qospec.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.run.crews.shipment import Shipment
    from qospec.run.job import JobName, Message
    from qospec.run.workshop import Workshop

RUNS_KEPT = 2
"""Of how many shipments a worker keeps what it checked, if nothing tells it that their runs end."""
ENDED_KEPT = 100
"""Of how many runs a worker knows that they have ended."""


class Task(NamedTuple):
    """What a worker is asked to do.

    Attributes:
        run: Of which run, as Dask calls what belongs to it.
        name: The job.
        keyed: Whether it needs keys.
        notices: Names of notices that are wanted.
        interval_s: How often its progress is wanted.
    """

    run: str
    name: JobName
    keyed: bool
    notices: tuple[str, ...]
    interval_s: float


class Missing(NamedTuple):
    """A worker lacks the files of a run: it is a new process at the address of one that ended."""


_turn = threading.Lock()
_workshops: dict[tuple[str, bool], Workshop] = {}
_ended: deque[str] = deque(maxlen=ENDED_KEPT)


def work(task: Task, shipment: Shipment | None) -> Message | Missing:
    """Do a job in a worker of Dask, whose log never has what this is called with."""
    with _turn:
        try:
            workshop = _find_workshop(task, shipment)
            if workshop is None:
                return Missing()
            with _give_notices(task):
                return Done(workshop.do(task.name, _ProgressSender(task)))
        except CancelledError:
            return Cancelled()
        except Exception as error:  # noqa: BLE001 - the command raises it
            return WorkError(error)
        finally:
            if task.run in _ended:  # while this was done
                _drop(task.run)


def forget(run: str) -> None:
    """Keep nothing of a run that has ended, keys least of all; does not wait for a job of it."""
    _ended.append(run)
    _drop(run)


def _drop(run: str) -> None:
    for keyed in (False, True):
        _workshops.pop((run, keyed), None)


def _find_workshop(task: Task, shipment: Shipment | None) -> Workshop | None:
    """Return where a job can be done; None if its files are needed first."""
    from distributed import get_worker

    if shipment is not None:
        folder = Path(get_worker().local_directory)
        _workshops[task.run, task.keyed] = shipment.open(folder)
        for old in list(_workshops)[:-RUNS_KEPT]:
            _workshops.pop(old, None)
    with_keys = _workshops.get((task.run, True))
    return with_keys or (None if task.keyed else _workshops.get((task.run, False)))


@contextmanager
def _give_notices(task: Task) -> Iterator[None]:
    """A context in which notices are told; what else the process does has no task to tell of."""
    for name in task.notices:
        kernel.notices[name] = functools.partial(_send_event, task.run, "notice", name)
    try:
        yield
    finally:
        for name in task.notices:
            kernel.notices.pop(name, None)


def _send_event(run: str, kind: str, value: float | str) -> None:
    """Tell the command something during a job, in plain values: events carry no others."""
    from distributed import get_worker

    worker = get_worker()
    worker.log_event(run, (worker.get_current_task(), kind, value))


def read_told(kind: object, value: object) -> object:
    """Return as a message what a worker has told; None if it is none."""
    match kind, value:
        case "share", float():
            return value
        case "notice", str():
            return Notice(value)
    return None


class _ProgressSender:
    """Tells the share of a job that is done now and then, and ends one that is not needed."""

    def __init__(self, task: Task) -> None:
        from distributed import get_worker

        self._task = task
        self._key, self._tasks = get_worker().get_current_task(), get_worker().state.tasks
        self._said_s = time.monotonic()

    def __call__(self, share: float) -> None:
        now_s = time.monotonic()
        if now_s - self._said_s >= self._task.interval_s:
            self._said_s = now_s
            state = self._tasks.get(self._key)
            if state is None or state.state == "cancelled":
                raise CancelledError
            _send_event(self._task.run, "share", float(share))


def describe_installation() -> dict[str, str]:
    """Return what results depend on besides files and seed, in the process that is asked."""
    package = Path(__file__).parents[2]
    found = [path for folder in (package, SPEC, STDLIB) for path in folder.resolve().rglob("*")]
    digest = hashlib.sha256()
    for path in sorted(path for path in found if path.suffix in {".py", ".qos", ".lark", ".toml"}):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    names = ("numpy", "numba", "distributed")
    return {
        "qospec": VERSION,
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in names},
        "qospec's files": digest.hexdigest(),
    }
