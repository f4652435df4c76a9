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

from qospec.cli import exits, listing, options
from qospec.cli.check import check
from qospec.cli.convert import convert
from qospec.cli.doc import doc
from qospec.cli.explain import explain
from qospec.cli.fmt import fmt
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
def qos() -> None:
    """Test network quality of service: check, plan and run .qos specifications."""


qos.params.append(options.color("auto"))
for _command in (check, fmt, convert, plan, run, report, explain, schema, doc, *listing.COMMANDS):
    _command.params.append(options.color(None))
    qos.add_command(_command)


def main() -> None:
    """Run the command; a mistake of ours is said in one sentence, never as a traceback."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # What is read stays until the end: to look for waste every 700 objects is a tenth of the start.
    gc.set_threshold(GARBAGE)
    try:
        # What click raises is told here, for its own way of telling Ctrl-C ends with 1.
        code = qos(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
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
        click.echo(f"error: cannot write to stdout: {reason(error)}", err=True)
        return
    exits.tell_mistake(error)
