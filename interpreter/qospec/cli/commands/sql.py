"""`qos sql`: questions to many records at once, and tables of them for other programs."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qospec.cli import exits, loading, options, output
from qospec.record.tables import TABLES, list_rows
from qospec.writing import WriteError, explain_failure, replace_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection

    from qospec.record.store import Record

SUFFIXES = {".parquet": "PARQUET", ".csv": "CSV", ".json": "JSON"}


@click.command()
@click.argument("query", type=str)
@click.argument("records", nargs=-1, type=str, shell_complete=options.complete_record)
@options.make_output_option(
    SUFFIXES, "File for the result instead of stdout: .parquet, .csv or .json."
)
@options.as_json
def sql(query: str, records: tuple[str, ...], target: str, *, as_json: bool) -> None:
    """Ask RECORDS by a QUERY in the SQL of DuckDB; without any, those of the project.

    The tables are `cases`, `statements` and `measurements`, as `qos sql "DESCRIBE cases"` shows;
    `qos sql "FROM measurements" -o m.parquet` writes all that was measured. It needs an extra:
    `pip install 'qospec[sql]'`.
    """
    if find_spec("duckdb") is None:
        exits.end_for_user("`qos sql` needs DuckDB: install it with `pip install 'qospec[sql]'`")
    import duckdb

    connection = duckdb.connect(config={"python_enable_replacements": False})
    _fill(connection, _find_records(records))
    try:
        if target:
            _write(connection, query, Path(target))
            return
        connection.execute(query)
        names = [column[0] for column in connection.description or ()]
        rows = connection.fetchall() if names else []
    except duckdb.CatalogException as error:
        *others, last = (f"`{name}`" for name in TABLES)
        exits.end_for_user(f"the query fails: {error}; there are {', '.join(others)} and {last}")
    except duckdb.Error as error:
        exits.end_for_user(f"the query fails: {error}")
    if as_json:
        output.say_json([dict(zip(names, map(_to_json, row), strict=True)) for row in rows])
    else:
        _print_rows(names, rows)


def _find_records(named: tuple[str, ...]) -> list[Record]:
    """Return the records that are named, or all of the project that are whole."""
    from qospec.record.store import RecordError, list_records

    if named:
        return [loading.find_record(name) for name in named]
    root = loading.find_project_folder((), "records")
    found = []
    for record in list_records(root):
        try:
            record.verify()
        except RecordError as error:
            output.say(f"note: left out: {error}", err=True)
            continue
        found.append(record)
    if not found:
        exits.end_for_user(f"`{root}` holds no record yet: `qos run` makes one")
    return found


def _fill(connection: DuckDBPyConnection, records: Sequence[Record]) -> None:
    """Make the tables; ends the command if a record cannot be read."""
    from qospec.record.store import RecordError

    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        paths = {name: Path(folder) / f"{name}.json" for name in TABLES}
        files = {
            name: opened.enter_context(path.open("w", -1, "utf-8", "replace"))
            for name, path in paths.items()
        }
        for record in records:
            try:
                outcome, timing = record.read_outcome(), record.read_timing()
            except RecordError as error:
                exits.end_for_environment(str(error))
            for table, row in list_rows(record.folder.name, outcome, timing):
                files[table].write(json.dumps(row, ensure_ascii=False) + "\n")
        for name, columns in TABLES.items():
            files[name].close()
            types = ", ".join(f"'{column}': '{kind}'" for column, kind in columns.items())
            connection.execute(
                f"CREATE TABLE {name} AS SELECT * FROM read_json("  # noqa: S608 -- of TABLES alone
                f"$path, format='newline_delimited', columns={{{types}}})",
                {"path": str(paths[name])},
            )


def _write(connection: DuckDBPyConnection, query: str, target: Path) -> None:
    """Write the result of a query into a file, whole or not at all."""
    connection.execute(f"CREATE TEMP TABLE result AS {query}")
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "result"
        kind, path = SUFFIXES[target.suffix], str(written).replace("'", "''")
        connection.execute(f"COPY result TO '{path}' (FORMAT {kind})")
        try:
            with replace_file(target) as file:
                file.write(written.read_bytes())
        except WriteError as error:
            exits.end_for_environment(str(error))
        except OSError as error:
            exits.end_for_environment(f"cannot write `{target}`: {explain_failure(error)}")
    found = connection.execute("SELECT count(*) FROM result").fetchone()
    rows = found[0] if found else 0
    output.say(f"{loading.count_things(rows, 'row')}: {target}", err=True)


def _to_json(value: object) -> Any:
    """Return a value of SQL as JSON has it: what it has no words for, as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def _print_rows(names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; numbers are at the right."""
    shown = [["" if value is None else str(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *shown, strict=True)]
    right = [all(isinstance(row[n], int | float | None) for row in rows) for n in range(len(names))]
    for line in (names, *shown):
        cells = (
            cell.rjust(width) if at_right else cell.ljust(width)
            for cell, width, at_right in zip(line, widths, right, strict=True)
        )
        output.say("  ".join(cells).rstrip())
    sys.stdout.flush()
