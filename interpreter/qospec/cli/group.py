"""The group of all commands, as click knows it."""

from __future__ import annotations

import click

from qospec.cli import options
from qospec.cli.commands import Commands
from qospec.cli.output import VERSION_LINE


@click.group(commands=Commands(), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(message=VERSION_LINE)
def qos() -> None:
    """Test network quality of service: check, plan and run .qos specifications."""


qos.params.append(options.make_colour_option("auto"))
