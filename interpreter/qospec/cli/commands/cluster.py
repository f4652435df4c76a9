"""`qos cluster`: a Dask cluster on this machine, to try `qos run --on` with."""

from __future__ import annotations

import time
from contextlib import suppress

import click

from qospec.cli import exits, joining, options
from qospec.cli.output import say


@click.command()
@click.option(
    "-n",
    "--workers",
    default=2,
    show_default=True,
    type=click.IntRange(1, 1_000),
    help="Number of worker processes.",
)
@click.option(
    "--port",
    default=8786,
    show_default=True,
    type=click.IntRange(0, options.MOST_PORT),
    help="Port of the scheduler on 127.0.0.1; 0 takes a free one.",
)
def cluster(workers: int, port: int) -> None:
    """Start a Dask cluster here, for a try of `qos run --on`. It ends by Ctrl-C.

    Its workers are processes of this machine. Any user of this machine can run programs as you
    through it. It needs an extra: `pip install 'qospec[cluster]'`.
    """
    joining.require_dask("qos cluster")
    from qospec.run.crews.cluster import start_local
    from qospec.run.workers import UnreachableError

    try:
        with start_local(workers, port) as address:
            say(f"{workers} workers: qos run --on dask://{address}")
            with suppress(KeyboardInterrupt):
                while True:
                    time.sleep(1)
    except UnreachableError as error:
        exits.end_for_environment(str(error))
    except OSError as error:
        exits.end_for_environment(
            f"port {port} of 127.0.0.1 cannot be used: {error.strerror or error}; `--port 0` takes"
            " a free one"
        )
