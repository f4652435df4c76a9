"""Exit codes, frozen in a test, and the ways to end with one."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import click

from qospec.cli.output import LONGEST, say, say_text
from qospec.visible import visible

PASSED = 0
FAILED = 1
WRONG = 2
INCONCLUSIVE = 3
ERROR = 4
NOTHING = 5
INTERRUPTED = 130

_ERROR = click.style("error", fg="red", bold=True)
"""The colour is taken away again where none is wanted."""


def of_outcome(document: dict[str, Any]) -> int:
    """Return the exit code of an outcome: the worst truth wins."""
    summary = document["summary"]
    if document["state"] == "interrupted":
        return INTERRUPTED
    worst_first = (("error", ERROR), ("fail", FAILED), ("inconclusive", INCONCLUSIVE))
    return next((code for verdict, code in worst_first if summary[verdict]), PASSED)


def wrong(message: str) -> NoReturn:
    """End because of what the user asked for."""
    say_text(f"{_ERROR}: {visible(message, LONGEST)}", err=True)
    sys.exit(WRONG)


def tell_mistake(error: Exception) -> None:
    """Say that something went wrong that never should."""
    words = f"{type(error).__name__}: {error}"
    say(f"error: this is a mistake in qospec itself: {words}", err=True)
    say("  = help: QOS_TRACEBACK=1 shows where; please report it", err=True)


def environment(message: str) -> NoReturn:
    """End because of what lies outside: a disk, a permission."""
    say_text(f"{_ERROR}: {visible(message, LONGEST)}", err=True)
    sys.exit(ERROR)
