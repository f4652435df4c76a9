"""Ctrl-C, SIGTERM and SIGHUP: the first is heard where nothing is half done, the second at once."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

OF_TERMINALS = [getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)]
"""Sent to all processes of a terminal: workers leave them to their parent."""
HEARD = (*OF_TERMINALS, signal.SIGTERM)


class Interruption:
    """While entered, remembers a first of these signals until `check` is called."""

    def __init__(self) -> None:
        self._asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            heard = (each for each in HEARD if signal.getsignal(each) is not signal.SIG_IGN)
            self._before = {number: signal.signal(number, self._hear) for number in heard}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raise KeyboardInterrupt if it was asked for."""
        if self._asked:
            raise KeyboardInterrupt

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True


@contextmanager
def signals_held() -> Iterator[None]:
    """Hear what a terminal sends afterwards only; processes started meanwhile never do."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, OF_TERMINALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
