"""Renders a record as a report in some format; Jinja is imported only for that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.report.format import REPORTS, Format, ReportError, format_named

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from qospec.document import Document

SCHEMA = 1
"""The version of the record that templates are written for."""
COMPARISON = Format(
    "comparison", "text/html", "html", "What two runs differ by.", REPORTS / "html/comparison.j2"
)
"""It shows two records, so it is none of the formats of one."""


def check_template(name_or_path: str | Path) -> None:
    """Raise ReportError for an unknown format, a missing template, or a syntax error in it.

    The templates of the library are checked by its tests; what renders them is loaded, which can
    be done while workers start, and not when they have ended.
    """
    report = format_named(name_or_path)
    if report.is_custom:
        from qospec.report import confined

        confined.check_syntax(report.path)
    else:
        from qospec.report import environment  # noqa: F401


def render(
    document: Mapping[str, Any],
    timing: Mapping[str, Any],
    format_or_path: str | Path,
    fingerprint: str = "",
    signer: str = "",
) -> str:
    """Return the report on a record; the same record gives the same text.

    Args:
        document: What `outcome.json` holds (docs/record.md).
        timing: What `timing.json` holds; may be empty.
        format_or_path: A format's name, or the path of a template.
        fingerprint: The SHA-256 of `outcome.json`; computed of the document if there is no file.
        signer: The public key of who signed the record, in hexadecimal; "" if nobody did.

    Raises:
        ReportError: The format is unknown, the record too new, or the template has an error.
    """
    if document.get("schema") != SCHEMA:
        has = document.get("schema")
        raise ReportError(f"the record has schema {has!r}, and this version reads {SCHEMA}")
    report = format_named(format_or_path)
    if report.is_custom:
        from qospec.report import confined

        return confined.render(report.path, document, timing, fingerprint, signer)
    from qospec.report.environment import render_template

    return render_template(report, document, timing, fingerprint, signer)


def render_comparison(document: Document) -> str:
    """Return the page of a comparison, as of `comparison.describe_comparison`.

    Raises:
        ReportError: The template has an error.
    """
    from qospec.report.environment import render_template

    return render_template(COMPARISON, document, {})
