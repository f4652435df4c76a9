"""Ctrl-C, SIGTERM and SIGHUP: the first stops the run at a safe point, the second at once."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

TERMINAL_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)]
"""Signals that a terminal sends to all its processes: workers leave them to their parent."""
HANDLED = (*TERMINAL_SIGNALS, signal.SIGTERM)


class Interruption:
    """A context that holds back the first of these signals until `check` is called."""

    def __init__(self) -> None:
        self._requested = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            handled = (
                number for number in HANDLED if signal.getsignal(number) is not signal.SIG_IGN
            )
            self._before = {number: signal.signal(number, self._handle) for number in handled}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has arrived."""
        if self._requested:
            raise KeyboardInterrupt

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        if self._requested:
            raise KeyboardInterrupt
        self._requested = True


@contextmanager
def hold_back_terminal_signals() -> Iterator[None]:
    """A context that holds back the terminal's signals; processes started in it never get them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, TERMINAL_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
