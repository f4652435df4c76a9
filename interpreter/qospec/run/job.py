"""A job: work that is done as one, in this process or in a worker, and what comes of it."""

from __future__ import annotations

import pickle
import time
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from qospec.engine import kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from qospec.document import Document


class Work(Protocol):
    """What is done for a job; it is sent to worker processes."""

    def __call__(self, on_progress: Callable[[float], None], /) -> Any:
        """Do it; `on_progress` is called with the share that is done."""


Value = TypeVar("Value")

SHARED_AT_ONCE = 16
"""How many shared values a worker keeps."""


class Shared(Generic[Value]):
    """A value of many jobs: packed once to be sent to workers, and unpacked once in each."""

    def __init__(self, value: Value) -> None:
        self.value = value

    @cached_property
    def _packed(self) -> bytes:
        return pickle.dumps(self.value, pickle.HIGHEST_PROTOCOL)

    def __reduce__(self) -> tuple[Callable[[bytes], Shared[Any]], tuple[bytes]]:
        return _unpacked, (self._packed,)


@lru_cache(SHARED_AT_ONCE)
def _unpacked(packed: bytes) -> Shared[Any]:
    return Shared(pickle.loads(packed))  # noqa: S301 -- packed by the process that began this one


class Job(NamedTuple):
    """Work for a case.

    Attributes:
        place: Of the case among those that are run.
        work: What is done.
        part: Which part of the case it is; None for all of it.
        tries: How many workers have ended before they had finished it.
    """

    place: int
    work: Work
    part: Hashable = None
    tries: int = 0


class LostJob(NamedTuple):
    """The result of a job whose worker ended before it had finished, at each try."""

    why: str


class JobResult(NamedTuple):
    """The result of a case.

    Attributes:
        document: The case's part of the outcome.
        seconds: The time it took, without compiling kernels.
        compiling_s: The time that kernels were compiled for.
    """

    document: Document
    seconds: float
    compiling_s: float


class Times(NamedTuple):
    """How long work took: without compiling kernels, and compiling them."""

    seconds: float
    compiling_s: float


class Stopwatch:
    """Times work from when it is made."""

    def __init__(self) -> None:
        self._started_s, self._compiled_s = time.monotonic(), kernel.compiling_s()

    def read(self) -> Times:
        """Return how long the work took so far."""
        compiling_s = kernel.compiling_s() - self._compiled_s
        return Times(time.monotonic() - self._started_s - compiling_s, compiling_s)


def lost_twice(lost: LostJob) -> str:
    """Return why a case has an error if workers ended at both tries of a job."""
    return f"{lost.why} (twice, the second time in a fresh one)"
