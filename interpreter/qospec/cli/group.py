"""The group of all commands, as click knows it."""

from __future__ import annotations

import click

from qospec.cli import VERSION_LINE, options
from qospec.cli.commands import Commands


@click.group(commands=Commands(), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(message=VERSION_LINE)
def qos() -> None:
    """Test network quality of service: check, plan and run .qos specifications."""


qos.params.append(options.make_colour_option("auto"))
