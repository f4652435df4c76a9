"""The formats of reports: each is one Jinja template whose first comment declares what it makes.

Those of the library are found in its folder; a user's own is named by its path. Jinja is not
imported here.
"""

from __future__ import annotations

import re
from pathlib import Path

from qospec.dataclass import dataclass
from qospec.diagnostics import suggest_name
from qospec.resources import STDLIB

NESTED = "the record is damaged: it is nested too deeply"

REPORTS = STDLIB / "reports"

_DECLARATION = re.compile(r"\A\{#-?\s*report:(?P<fields>.*?)-?#\}", re.DOTALL)
_FIELDS = ("media_type", "extension", "summary")
_EXAMPLE = "{#- report: media_type: text/html; extension: html; summary: For one reader. -#}"


class ReportError(Exception):
    """A report cannot be made.

    Attributes:
        message: What is wrong, for the author of a template.
        template: The template's name; "" if the error is not in a template.
        line: In the template, from 1; 0 if unknown.
    """

    def __init__(self, message: str, template: str = "", line: int = 0) -> None:
        self.message = message
        self.template = template
        self.line = line
        place = f"{template}:{line}" if line else template
        super().__init__(f"{place}: {message}" if place else message)


@dataclass(frozen=True)
class Format:
    """A kind of report, as its template declares it.

    Attributes:
        name: The file's name without `.j2`.
        media_type: Such as text/html; it decides how text is escaped.
        extension: Of the files written, without a dot.
        summary: One line for `qos report --help`.
        path: The template.
    """

    name: str
    media_type: str
    extension: str
    summary: str
    path: Path

    @property
    def is_custom(self) -> bool:
        """Return whether it is a user's own, not one of the library."""
        return self.path.parent != REPORTS

    @property
    def is_markup(self) -> bool:
        """Return whether text must be escaped as in HTML or XML."""
        return self.media_type.endswith(("html", "xml"))


def list_formats() -> dict[str, Format]:
    """Return the formats of the library by name."""
    return {path.stem: read_format(path) for path in sorted(REPORTS.glob("*.j2"))}


def read_format(path: Path) -> Format:
    """Return the format that a template declares; raises ReportError."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ReportError(f"cannot be read: {error.strerror}", str(path)) from error
    except UnicodeDecodeError as error:
        raise ReportError("is not UTF-8 text", str(path)) from error
    except ValueError as error:
        raise ReportError(f"cannot be read: {error}", str(path)) from error
    declaration = _DECLARATION.match(text)
    if declaration is None:
        raise ReportError(f"a report's template begins like `{_EXAMPLE}`", path.name, 1)
    fields = dict(
        _read_field(part, path) for part in declaration["fields"].split(";") if part.strip()
    )
    for name in _FIELDS:
        if not fields.get(name):
            raise ReportError(f"the declaration does not say its `{name}`", path.name, 1)
    return Format(path.stem, path=path, **fields)


def _read_field(part: str, path: Path) -> tuple[str, str]:
    name, _, value = (piece.strip() for piece in part.partition(":"))
    if name in _FIELDS:
        return name, value
    help_ = f"; did you mean `{near}`?" if (near := suggest_name(name, _FIELDS)) else ""
    raise ReportError(f"a declaration has no `{name}`{help_}", path.name, 1)


def format_named(format_or_path: str | Path) -> Format:
    """Return a format of the library by its name, or the one at a path that ends in `.j2`."""
    if Path(format_or_path).suffix == ".j2":
        return read_format(Path(format_or_path))
    name = str(format_or_path)
    path = REPORTS / f"{name}.j2"
    if re.fullmatch(r"\w+", name) and path.is_file():
        return read_format(path)
    known = [path.stem for path in sorted(REPORTS.glob("*.j2"))]
    near = suggest_name(name, known)
    help_ = f"did you mean `{near}`?" if near else f"there are {', '.join(known)}"
    if name == "pdf":
        help_ = f"a browser prints `html` as PDF; {help_}"
    raise ReportError(
        f"no report format is named `{name}`: {help_}, or give the path of a .j2 file"
    )


def find_extension(format_or_path: str | Path) -> str:
    """Return the extension of the files of a format, without a dot."""
    return format_named(format_or_path).extension
