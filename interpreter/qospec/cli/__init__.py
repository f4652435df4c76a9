"""The command `qos`: the only room that prints for users and chooses the exit code.

Nothing heavier than click is imported before a command needs it, and not even that for `--version`,
which scripts ask before each start. Results go to stdout, everything else to stderr.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

from qospec.cache import refused
from qospec.cli import exits, streams
from qospec.cli.output import say, say_version, show_usage_error
from qospec.writing import explain_failure

if TYPE_CHECKING:
    import click

INTERRUPTS = (signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
"""Signals that end a command as Ctrl-C does."""

GARBAGE = 250_000
"""Objects created, and not freed, between two runs of the garbage collector.

It is more than a start takes, and little beside what thousands of cases hold."""


def __getattr__(name: str) -> click.Group:
    """Return `qos`, the group of commands, which is made when it is first asked for.

    Raises:
        AttributeError: The module has no such name.
    """
    if name != "qos":
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`", name=name)
    from qospec.cli.group import qos

    return qos


def main() -> None:
    """Run the command; an internal error is reported in one sentence, never as a traceback."""
    streams.make_safe()
    for number in INTERRUPTS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` has it
            signal.signal(number, signal.default_int_handler)
    # What is read stays until the end: garbage collection takes a tenth of the start.
    gc.set_threshold(GARBAGE)
    code = say_version() if sys.argv[1:] == ["--version"] else _run()
    for flaw in refused.values():
        say(f"note: {flaw}: nothing is cached there, since what is cached is run", err=True)
    # The work is done: Ctrl-C while Python shuts down would only show a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # nor need Python collect garbage just before it exits
    if (unwritten := streams.find_stdout_failure()) is not None:
        say(f"error: cannot write to stdout: {explain_failure(unwritten)}", err=True)
        code = exits.ERROR
    sys.exit(code)


def _run() -> int:
    """Run the command and return its exit code."""
    import click

    from qospec.cli.group import qos

    try:
        # What click raises is reported here: on Ctrl-C its own handler would exit with 1.
        return int(qos(prog_name="qos", standalone_mode=False) or 0)
    except SystemExit as end:
        return int(end.code or 0)
    except click.ClickException as error:
        show_usage_error(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("interrupted", err=True)
        return exits.INTERRUPTED
    except Exception as error:
        if os.environ.get("QOS_TRACEBACK"):
            raise
        exits.report_internal_error(error)
        return exits.ERROR
