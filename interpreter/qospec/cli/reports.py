"""Rendering a record, for `qos run` and `qos report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from qospec.cli import exits

if TYPE_CHECKING:
    from qospec.run.record import Record


def check_formats(names: tuple[str, ...]) -> None:
    """End the command if one of these is neither a format nor a template."""
    from qospec.report.render import formats

    known = formats()
    for name in names:
        if name not in known and not Path(name).is_file():
            there_is = ", ".join(known)
            exits.wrong(
                f"no report format is named `{name}`: there is {there_is}, or a template's path"
            )


def rendered(document: dict[str, Any], timing: dict[str, Any], name: str) -> str:
    """Return a report; a template's mistake ends the command."""
    from qospec.report.render import ReportError, render

    try:
        return render(document, timing, name)
    except ReportError as error:
        exits.wrong(str(error))


def write(kept: Record, document: dict[str, Any], name: str) -> Path:
    """Write a report into a record and return its path."""
    from qospec.report.render import extension
    from qospec.run.record import write_whole

    path = kept.folder / f"report.{extension(name)}"
    write_whole(path, rendered(document, kept.timing(), name))
    return path
