"""Ctrl-C: the first is heard where nothing is half done, the second at once."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import FrameType


class Interruption:
    """While entered, remembers a first Ctrl-C until `check` is called."""

    def __init__(self) -> None:
        self._asked = False
        self._before: Any = None
        self._here = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        if self._here:
            self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        if self._here:
            signal.signal(signal.SIGINT, self._before)

    def check(self) -> None:
        """Raise KeyboardInterrupt if it was asked for."""
        if self._asked:
            raise KeyboardInterrupt

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
