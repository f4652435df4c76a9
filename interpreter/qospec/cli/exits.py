"""Exit codes, pinned by a test, and functions that exit with one."""

from __future__ import annotations

import re
import sys
from typing import Any, NoReturn

from qospec.cli.output import LONGEST, say, say_text
from qospec.visible import make_visible

PASSED = 0
FAILED = 1
WRONG = 2
INCONCLUSIVE = 3
ERROR = 4
NOTHING = 5
INTERRUPTED = 130

_ERROR = "\x1b[31m\x1b[1merror\x1b[0m"
"""Bold and red; where colours are off, click removes them."""


def choose_exit_code(document: dict[str, Any]) -> int:
    """Return the exit code of an outcome: the worst verdict decides."""
    summary = document["summary"]
    if document["state"] == "interrupted":
        return INTERRUPTED
    worst_first = (("error", ERROR), ("fail", FAILED), ("inconclusive", INCONCLUSIVE))
    return next((code for verdict, code in worst_first if summary[verdict]), PASSED)


def say_error(message: str) -> None:
    """Report an error that ends nothing yet."""
    say_text(f"{_ERROR}: {make_visible(message, LONGEST)}", err=True)


def end_for_user(message: str, *choices: str) -> NoReturn:
    """Exit because what the user asked for cannot be done; a line for each thing to choose from."""
    say_error(message)
    say(*(f"  {choice}" for choice in choices), err=True)
    sys.exit(WRONG)


def report_internal_error(error: Exception) -> None:
    """Report an internal error, or that a package lacks what qospec needs of it."""
    from qospec.internals import MissingNameError

    if isinstance(error, MissingNameError):
        say_error(str(error))
        return
    if isinstance(error, ModuleNotFoundError) and (package := _find_lacking(error.name or "")):
        say_error(f"this needs the package {package}, which is not installed")
        say(f"  = help: `{sys.executable} -m pip install {package}`", err=True)
        return
    words = f"{type(error).__name__}: {error}"
    say(f"error: internal error in qospec: {words}", err=True)
    say("  = help: set QOS_TRACEBACK=1 to see where; please report it", err=True)


def _find_lacking(module: str) -> str:
    """Return the package of a module that qospec requires; "" for any other module."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        required = requires("qospec") or []
    except PackageNotFoundError:  # it was not installed but found
        return ""
    names = [re.split(r"[^A-Za-z0-9_.-]", line)[0] for line in required if "extra ==" not in line]
    return next((name for name in names if name.lower() == module.partition(".")[0]), "")


def end_for_environment(message: str) -> NoReturn:
    """Exit because of the environment: a disk, a permission."""
    say_error(message)
    sys.exit(ERROR)
