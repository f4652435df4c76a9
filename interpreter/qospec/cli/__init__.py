"""The command `qos`: the only place that prints and exits. One file per command.

Nothing heavier than click is imported before a command needs it. stdout is the result, stderr the
conversation.
"""

from __future__ import annotations

import gc
import os
import signal
import sys

import click

from qospec.cli import exits, listing
from qospec.cli.check import check
from qospec.cli.convert import convert
from qospec.cli.doc import doc
from qospec.cli.explain import explain
from qospec.cli.fmt import fmt
from qospec.cli.output import say, show_misuse
from qospec.cli.plan import plan
from qospec.cli.report import report
from qospec.cli.run import run
from qospec.cli.schema import schema
from qospec.version import VERSION
from qospec.writing import reason

GARBAGE = 1_000_000
"""Objects made, and not freed, between two searches for those that only hold each other."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="qos")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Whether to colour.",
)
@click.pass_context
def qos(context: click.Context, color: str) -> None:
    """Test network quality of service: check, plan and run .qos specifications."""
    context.color = {"always": True, "never": False, "auto": _colour()}[color]


for _command in (check, fmt, convert, plan, run, report, explain, schema, doc, *listing.COMMANDS):
    qos.add_command(_command)


def _colour() -> bool | None:
    """Return the environment's wish about colour; None leaves it to the terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE"):
        return True
    return False if os.environ.get("TERM") == "dumb" else None


def main() -> None:
    """Run the command; a mistake of ours is said in one sentence, never as a traceback."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # What is read stays until the end: to look for waste every 700 objects is a tenth of the start.
    gc.set_threshold(GARBAGE)
    try:
        # What click raises is told here, for its own way of telling Ctrl-C ends with 1.
        code = qos(standalone_mode=False)
    except click.ClickException as error:
        show_misuse(error)
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("interrupted", err=True)
        code = exits.INTERRUPTED
    except Exception as error:
        if os.environ.get("QOS_TRACEBACK"):
            raise
        _tell(error)
        code = exits.ERROR
    finally:
        # All is done: Ctrl-C while Python shuts down would only show a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        gc.freeze()  # nor need Python look for waste in what it is about to leave
    sys.exit(code)


def _tell(error: Exception) -> None:
    """Say what nothing else has caught: that stdout cannot be written, or a mistake of ours."""
    if isinstance(error, OSError) and error.filename is None:
        # What is still to be written would fail once more while Python shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        say(f"error: cannot write to stdout: {reason(error)}", err=True)
        return
    exits.tell_mistake(error)
