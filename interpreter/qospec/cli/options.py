"""Options that mean the same in every command."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import click

from qospec.writing import is_unicode

if TYPE_CHECKING:
    from qospec.record.parts import Part

MAX_CELLS = 10**9
"""The default of `--max-cells`."""


def _refuse_empty(
    _context: click.Context, _argument: click.Parameter, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the paths: an empty one is a variable of a script that is not set, and no folder."""
    if "" in paths:
        raise click.BadParameter("a path cannot be empty: write `.` for this folder")
    return paths


paths = click.argument("paths", nargs=-1, type=str, callback=_refuse_empty)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
match = click.option(
    "-k",
    "match",
    default="",
    metavar="TEXT",
    help="Select cases whose name contains TEXT, as `load=90%`; `and`, `or`, `not`, `(…)` combine.",
)
record = click.option(
    "--record",
    default="",
    help="Folder for records; by default `records` in the root of the project.",
)
reports = click.option(
    "--report",
    "formats",
    multiple=True,
    metavar="FORMAT",
    help="A report to write: markdown, csv, junit, json or a template's path; "
    "html is always written.",
)


def with_html(formats: tuple[str, ...]) -> tuple[str, ...]:
    """Return the formats asked for, each once, and HTML before all."""
    return tuple(dict.fromkeys(("html", *formats)))


UNITS_S = {"s": 1, "min": 60, "h": 3600}
COLOURS = {"always": True, "never": False}


def _parse_seed(_context: click.Context, _option: click.Parameter, seed: str) -> str:
    if not seed.strip():
        raise click.BadParameter("a seed cannot be empty")
    if not is_unicode(seed):
        raise click.BadParameter("a seed is a number or a text, and this is not UTF-8")
    return seed


seed = click.option(
    "--seed",
    default="0",
    show_default=True,
    callback=_parse_seed,
    help="Seed of all random numbers: a number or a text.",
)
max_cells = click.option(
    "--max-cells",
    default=MAX_CELLS,
    show_default=True,
    type=click.IntRange(1),
    help="Maximum number of cells in one trial.",
)


def _parse_part(_context: click.Context, _option: click.Parameter, written: str) -> Part | None:
    if not written:
        return None
    from qospec.record.parts import Part

    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", written)
    if found is None:
        raise click.BadParameter(f"`{written}` is not a part: write `3/8` for the third of eight")
    part = Part(int(found[1]), int(found[2]))
    if part.of == 0:
        raise click.BadParameter("a run has at least one part: write `1/1`")
    if not 1 <= part.number <= part.of:
        raise click.BadParameter(
            f"there is no part {part}: write `1/{part.of}` to `{part.of}/{part.of}`"
        )
    return part


part = click.option(
    "--part",
    default="",
    metavar="K/N",
    callback=_parse_part,
    help="Run the K-th of N parts of the cases; `qos merge` makes one record of all parts.",
)


def _set_colour(context: click.Context, _option: click.Parameter, wish: str | None) -> None:
    """Set the colour mode; an option after the command overrides one before it."""
    if wish is not None:
        context.find_root().color = COLOURS.get(wish, _read_environment())
        context.color = context.find_root().color


def _read_environment() -> bool | None:
    """Return what the environment says about colour; None leaves it to the terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE"):
        return True
    return False if os.environ.get("TERM") == "dumb" else None


def make_colour_option(default: str | None) -> click.Option:
    """Return the option `--color`: of `qos` itself, or without a default of a command."""
    return click.Option(
        ["--color"],
        type=click.Choice(["auto", "always", "never"]),
        default=default,
        show_default=default is not None,
        expose_value=False,
        callback=_set_colour,
        help="When to colour the output.",
    )


class Duration(click.ParamType):  # type: ignore[type-arg]  # only late releases are generic
    """How long a search may take: `60s`, `5min` or `8h`; its value is in seconds."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return a time in seconds."""
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(s|min|h)\s*", str(value))
        if found is None or float(found[1]) == 0:
            self.fail(f"`{value}` is not a time such as `60s`, `5min` or `8h`", param, ctx)
        return float(found[1]) * UNITS_S[found[2]]
