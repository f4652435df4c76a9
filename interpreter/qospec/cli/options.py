"""Options that mean the same in every command."""

from __future__ import annotations

import click

MAX_CELLS = 10**9
"""What `--max-cells` is if it is not given."""

paths = click.argument("paths", nargs=-1, type=str)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
match = click.option(
    "-k", "match", default="", metavar="TEXT", help="Only cases whose name holds TEXT."
)
seed = click.option("--seed", default="0", show_default=True, help="Root of all random draws.")
max_cells = click.option(
    "--max-cells",
    default=MAX_CELLS,
    show_default=True,
    type=click.IntRange(1),
    help="Most cells of one trial.",
)
