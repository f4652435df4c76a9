"""Rendering a record, for `qos run` and `qos report`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.cli import exits

if TYPE_CHECKING:
    from pathlib import Path

    from qospec.record.store import Record


def check_formats(names: tuple[str, ...]) -> None:
    """End the command if one of these is neither a format nor a sound template."""
    from qospec.report.format import ReportError
    from qospec.report.render import check_template

    try:
        for name in names:
            check_template(name)
    except ReportError as error:
        exits.user_error(str(error))


def rendered(document: dict[str, Any], timing: dict[str, Any], name: str) -> str:
    """Return a report; a template's mistake ends the command."""
    from qospec.report.format import ReportError
    from qospec.report.render import render

    try:
        return render(document, timing, name)
    except ReportError as error:
        exits.user_error(str(error))


def write(kept: Record, document: dict[str, Any], name: str) -> Path:
    """Write a report into a record and return its path."""
    from qospec.report.format import extension
    from qospec.writing import write_whole

    path = kept.folder / f"report.{extension(name)}"
    write_whole(path, rendered(document, kept.timing(), name))
    return path
