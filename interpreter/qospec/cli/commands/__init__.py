"""The commands of `qos`: a file for each, or for those that belong together."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from qospec.cli import options
from qospec.cli.commands import listing

if TYPE_CHECKING:
    import click

FILES = {
    "init": "init",
    "check": "check",
    "fmt": "fmt",
    "convert": "convert",
    "export": "export",
    "plan": "plan",
    "run": "run",
    "merge": "report",
    "fuzz": "fuzz",
    "shrink": "shrink",
    "warm": "run",
    "report": "report",
    "verify": "report",
    "sign": "report",
    "show": "compare",
    "compare": "compare",
    "baseline": "baseline",
    "judge": "compare",
    "history": "history",
    "sql": "sql",
    "pcap": "pcap",
    "explain": "explain",
    "schema": "explain",
    "doc": "doc",
    "cluster": "cluster",
    "lsp": "lsp",
    "doctor": "doctor",
}
"""By name of a command, the file here that has it; those of `listing` are not here."""


class Commands(Mapping[str, "click.Command"]):
    """All commands; the file of one is imported when it is called, or its help is shown."""

    def __getitem__(self, name: str) -> click.Command:
        return _load_command(name)

    def __iter__(self) -> Iterator[str]:
        return iter((*FILES, *listing.HELP))

    def __len__(self) -> int:
        return len(FILES) + len(listing.HELP)


@cache
def _load_command(name: str) -> click.Command:
    """Return a command with the options that all have; raises KeyError if there is none."""
    if name in listing.HELP:
        command = listing.make_command(name)
    else:
        command = vars(importlib.import_module(f"qospec.cli.commands.{FILES[name]}"))[name]
    for coloured in (command, *getattr(command, "commands", {}).values()):
        coloured.params.append(options.make_colour_option(None))
    return command
