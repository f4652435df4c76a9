"""Workers of a Dask cluster, on whatever machines these are.

Dask carries names of jobs and brings back results; which worker does what is decided here, so what
is known of workers is known in one place. A worker process of Dask does one job at a time.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import socket
import time
import uuid
import warnings
from collections import defaultdict
from concurrent import futures
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from qospec.run.crews.processes import keep_current_folder_out
from qospec.run.crews.remote import Missing, Task, describe_installation, forget, read_told, work
from qospec.run.crews.shipment import pack
from qospec.run.job import Cancelled, Done, LostJob, Notice, WorkError
from qospec.run.workers import Crew, UnreachableError, Worker
from qospec.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from qospec.run.crews.shipment import Shipment
    from qospec.run.job import Job, Message
    from qospec.run.runner import RunRequest

CONNECT_S = 10
"""How long a scheduler is looked for."""
FORGET_S = 5
"""How long it is waited until workers have forgotten a run."""
ALONE_S = 60
"""How long a run waits for a worker when none is left, or none has come yet."""
LOOK_INTERVAL_S, FIRST_INTERVAL_S = 1.0, 0.1
"""How often it is looked which workers there are, and as long as none has come."""
PROGRESS_INTERVAL_S = 0.25
WORKERS_HEARD = 100
"""A worker reports its progress no more often; of more workers than these, each more seldom."""
SHORT_S = 0.2
"""If jobs are shorter, a worker is sent one more ahead: it would wait as long for it to come."""
REMEMBERED = 8
"""Of about so many jobs the mean time is known."""


class Cluster:
    """A scheduler, and the workers there that have the same versions as this process."""

    def __init__(self, address: str, on_note: Callable[[str], None]) -> None:
        """Connect to the scheduler at `HOST:PORT`, and look at its workers, which we must trust.

        Dask unpickles whatever they answer, here, so they can run programs before we know them.

        Args:
            address: The scheduler's.
            on_note: Called with what the user should know of workers, in words.

        Raises:
            UnreachableError: There is none, it has no workers, or these are of another version.
        """
        from distributed import Client

        _hide_messages()
        self.address = address
        self.workers: set[str] = set()
        self._on_note = on_note
        self._foreign: set[str] = set()
        self._own = self._describe_own()
        self._looked_s = 0.0
        try:
            self.client = Client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            raise UnreachableError(
                f"no Dask scheduler answers at {address}: start one, as by `qos cluster`; if it has"
                f" TLS, configure Dask for that here, too ({_shorten(error)})"
            ) from error
        self._look_first()

    def _describe_own(self) -> dict[str, str]:
        return describe_installation()

    def _look_first(self) -> None:
        """Look at the workers until there is one; raises UnreachableError if one is another's."""
        until_s = time.monotonic() + ALONE_S
        while not self.workers:
            foreign = self._add_newcomers(self._list_addresses())
            if foreign:
                self.close()
                raise UnreachableError(f"{foreign[0]}: let all have the same")
            if not self.workers and time.monotonic() > until_s:
                self.close()
                raise UnreachableError(
                    f"the scheduler at {self.address} has no workers: start some"
                )
            time.sleep(0 if self.workers else FIRST_INTERVAL_S)

    def look(self) -> set[str]:
        """Return the workers that have left since it was looked last; newcomers are added.

        Raises:
            UnreachableError: The scheduler is gone.
        """
        if self.client.status != "running":
            raise UnreachableError(f"the Dask scheduler at {self.address} went away")
        if time.monotonic() - self._looked_s < LOOK_INTERVAL_S:
            return set()
        there = self._list_addresses()
        for note in self._add_newcomers(there):
            self._on_note(f"{note}: it is given no job")
        left = self.workers - there
        self.workers -= left
        return left

    def _list_addresses(self) -> set[str]:
        self._looked_s = time.monotonic()
        return set(self._ask_scheduler(self.client.nthreads))

    def _ask_scheduler(self, ask: Callable[..., Any], *words: Any, **options: Any) -> Any:
        try:
            return ask(*words, **options)
        except Exception as error:
            raise UnreachableError(f"the Dask scheduler at {self.address} went away") from error

    def _add_newcomers(self, there: set[str]) -> list[str]:
        """Add the workers that are new, and return in words why others are left out."""
        fresh = sorted(there - self.workers - self._foreign)
        if not fresh:
            return []
        found = self._ask_scheduler(
            self.client.run, describe_installation, workers=fresh, on_error="return"
        )
        notes = []
        for address, its in sorted(found.items()):
            if isinstance(its, OSError):
                continue  # it has left
            if why := explain_difference(self._own, its):
                self._foreign.add(address)
                notes.append(f"the worker at {address} {why}")
            else:
                self.workers.add(address)
        return notes

    def assemble(self, request: RunRequest) -> ClusterCrew:
        """Return the workers as those of a run."""
        return ClusterCrew(self, request)

    def close(self) -> None:
        """Leave the scheduler."""
        with suppress(Exception):
            self.client.close()


def explain_difference(own: Mapping[str, str], its: object) -> str:
    """Return in words how the installation of a worker differs; "" if it does not."""
    if not isinstance(its, dict):
        return f"has no qospec {own['qospec']} ({_shorten(its)})"
    differing = (name for name in own if its.get(name) != own[name])
    name = next(differing, "")
    if name == "qospec's files":
        return f"has other files of qospec {VERSION}"
    return f"has {name} {its.get(name)}, and this is {own[name]}" if name else ""


def _shorten(error: object) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def _hide_messages() -> None:
    """Let Dask say nothing of its own: what matters is said in errors."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", "Sending large graph")
    warnings.filterwarnings("ignore", "(?s).*Mismatched versions found")


class _Place(Worker):
    """A place for a job at a worker of Dask."""

    def __init__(self, crew: ClusterCrew, address: str) -> None:
        super().__init__()
        self._crew = crew
        self.address = address
        self.key = ""
        self.begun_s = 0.0

    def _begin(self, job: Job) -> None:
        self._crew.submit(self, job)

    def _cancel(self) -> None:
        self._crew.give_up(self)


class ClusterCrew(Crew):
    """The workers of a cluster in one run."""

    most_tries = 4  # a worker may leave for many reasons that are not the job's

    def __init__(self, cluster: Cluster, request: RunRequest) -> None:
        """Take the cluster, and the run whose files its workers are sent as they need them."""
        self._cluster = cluster
        self._client = cluster.client
        self._request = request
        self._keyed = frozenset(plan.case.name for plan in request.plans if _needs_keys(plan))
        self._shipments: dict[bool, Shipment] = {}
        self._run = f"qospec-{uuid.uuid4().hex[:12]}"
        self._count = 0
        self._places: defaultdict[str, list[_Place]] = defaultdict(list)
        self._sent: set[tuple[str, bool]] = set()
        self._futures: dict[str, Any] = {}
        self._said: queue.SimpleQueue[tuple[str, object]] = queue.SimpleQueue()
        self._typical_s = SHORT_S
        self._alone_since_s: float | None = None
        self._client.subscribe_topic(self._run, self._hear)

    @property
    def _most_places(self) -> int:
        return 2 if self._typical_s < SHORT_S else 1

    @property
    def has_room(self) -> bool:
        """Return whether a worker may be sent one more job."""
        most = self._most_places
        return any(len(self._places[name]) < most for name in self._cluster.workers)

    @property
    def is_idle(self) -> bool:
        """Return whether there is a worker without a job."""
        return any(not self._places[name] for name in self._cluster.workers)

    def choose(self, *, fresh: bool) -> _Place:  # noqa: ARG002 -- of those that left none is there
        """Return a place at a worker that has the fewest jobs."""
        workers = sorted(self._cluster.workers)
        place = _Place(self, min(workers, key=lambda name: len(self._places[name])))
        self._places[place.address].append(place)
        return place

    def dismiss(self, worker: Worker) -> None:
        """Do nothing: a place is given up with its job."""

    def submit(self, place: _Place, job: Job) -> None:
        """Send a job to the worker of a place, with the files if it lacks them."""
        keyed = job.name.case in self._keyed
        crowd = max(1.0, len(self._cluster.workers) / WORKERS_HEARD)
        notices = tuple(self._request.notices)
        task = Task(self._run, job.name, keyed, notices, PROGRESS_INTERVAL_S * crowd)
        has = {(place.address, True), (place.address, keyed)} & self._sent
        shipment = None if has else self._build_shipment(keyed=keyed)
        self._sent.add((place.address, keyed))
        self._count += 1
        place.key = f"{self._run}-{self._count}"
        place.begun_s = time.monotonic()
        future = self._client.submit(
            work, task, shipment, key=place.key, workers=[place.address], pure=False
        )
        self._futures[place.key] = future
        asyncio.run_coroutine_threadsafe(
            self._fetch(place.key, future), self._client.loop.asyncio_loop
        )

    def _build_shipment(self, *, keyed: bool) -> Shipment:
        if keyed not in self._shipments:
            request = self._request
            self._shipments[keyed] = pack(request.suite.sources, request.order, keyed=keyed)
        return self._shipments[keyed]

    def give_up(self, place: _Place) -> None:
        """Cancel what is done at a place."""
        with suppress(Exception):  # the scheduler may be gone
            self._futures[place.key].cancel()
        self._said.put((place.key, Cancelled()))

    async def _fetch(self, key: str, future: Any) -> None:
        """Wait for the result of a job, and pass it on; runs in the thread of the client."""
        from distributed import KilledWorker

        said: object
        try:
            said = await self._client.gather(future, asynchronous=True)
        except KilledWorker as error:
            said = LostJob(f"its Dask worker ended ({_shorten(error)})")
        except (asyncio.CancelledError, futures.CancelledError):
            return  # it was given up, or the scheduler is gone
        except Exception as error:  # noqa: BLE001 - the command raises it
            said = WorkError(error)
        self._said.put((key, said))

    def _hear(self, event: tuple[float, tuple[str, object, object]]) -> None:
        """Take what a worker says while it does a job."""
        key, kind, value = event[1]
        self._said.put((key, read_told(kind, value)))

    def receive(self, busy: Sequence[Worker], longest_s: float) -> Iterable[tuple[Worker, Message]]:
        """Return what workers say, and of those that have left that their jobs are lost.

        Raises:
            UnreachableError: The scheduler is gone, no worker was there for long, or one says what
                none of this version does.
        """
        left = self._cluster.look()
        self._sent = {sent for sent in self._sent if sent[0] not in left}
        self._check_workers()
        places = {place.key: place for place in busy if isinstance(place, _Place)}
        gone = [place for place in places.values() if place.address not in self._cluster.workers]
        found: list[tuple[Worker, Message]] = [
            (self._release_place(place), LostJob(f"its Dask worker {place.address} left"))
            for place in gone
        ]
        for key, said in self._take_events(0 if found else longest_s):
            its = places.get(key)
            if its is None or its.key not in self._futures:
                continue  # it has been given up, or its worker has left
            if isinstance(said, Missing):
                self._send_again(its)
            elif isinstance(said, float | Notice):
                found.append((its, said))
            elif isinstance(said, Done | Cancelled | LostJob | WorkError):
                self._note_time(its, said)
                found.append((self._release_place(its), said))
            else:
                raise UnreachableError(
                    f"the worker at {its.address} says what no worker of qospec {VERSION} says"
                    f" (a value of type {type(said).__name__}): start it anew"
                )
        return found

    def _release_place(self, place: _Place) -> _Place:
        """Return a place after its job is done."""
        self._futures.pop(place.key)
        self._places[place.address].remove(place)
        return place

    def _send_again(self, place: _Place) -> None:
        """Send the files with a job to a worker that has lost them."""
        assert place.job is not None  # noqa: S101 -- it is busy
        self._futures.pop(place.key)
        self._sent -= {(place.address, True), (place.address, False)}
        self.submit(place, place.job)

    def _take_events(self, longest_s: float) -> Iterator[tuple[str, object]]:
        with suppress(queue.Empty):
            yield self._said.get(timeout=longest_s) if longest_s else self._said.get_nowait()
            while True:
                yield self._said.get_nowait()

    def _note_time(self, place: _Place, said: object) -> None:
        """Note how long a job took: the mean of the last ones says whether jobs are short."""
        if isinstance(said, Done):
            took_s = (time.monotonic() - place.begun_s) / len(self._places[place.address])
            self._typical_s += (took_s - self._typical_s) / REMEMBERED

    def _check_workers(self) -> None:
        """Raise UnreachableError if no worker has been there for long."""
        if self._cluster.workers:
            self._alone_since_s = None
            return
        now_s = time.monotonic()
        self._alone_since_s = self._alone_since_s or now_s
        if now_s - self._alone_since_s > ALONE_S:
            raise UnreachableError(
                f"all workers of the scheduler at {self._cluster.address} have left: start some"
            )

    def end(self) -> None:
        """Cancel what is still done, let workers forget the run, and leave the scheduler."""
        for future in self._futures.values():
            with suppress(Exception):
                future.cancel()
        self._futures.clear()
        if self._client.status == "running":  # else nobody would answer
            with suppress(Exception):
                self._client.run(forget, self._run, on_error="ignore", callback_timeout=FORGET_S)
        with suppress(Exception):
            self._client.unsubscribe_topic(self._run)
        self._cluster.close()


def _needs_keys(plan: Any) -> bool:
    """Return whether a case compares bytes, or evaluates what may."""
    return bool(plan.case.run.payload or plan.examiner is not None)


@contextmanager
def start_local(workers: int, port: int) -> Iterator[str]:
    """A context with a cluster on this machine, which any user of it reaches; gives its address.

    Raises:
        OSError: The port is not free.
        UnreachableError: Dask is configured so that none can be started.
    """
    from distributed import LocalCluster

    with socket.socket() as probe:  # what Dask says of a port that is taken is no OSError
        probe.bind(("127.0.0.1", port))
    keep_current_folder_out()
    _hide_messages()
    try:
        local = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            scheduler_port=port,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )
    except RuntimeError as error:
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        raise UnreachableError(
            "Dask starts no cluster here: look for a mistake in its configuration"
            f" ({_shorten(cause)})"
        ) from error
    with local:
        yield local.scheduler_address.partition("://")[2]  # with TLS, too
