"""The page of each error code, from `spec/errors.md`."""

from __future__ import annotations

import functools
import re

from qospec.resources import SPEC

_HEADING = re.compile(r"^### `?([EW]\d{4})`?: (.*)$", re.MULTILINE)
_ANY_HEADING = re.compile(r"^#{2,3} `?[EW]\d\d", re.MULTILINE)


@functools.cache
def _read_text() -> str:
    return (SPEC / "errors.md").read_text(encoding="utf-8")


@functools.cache
def list_titles() -> dict[str, str]:
    """Return every code with its title."""
    return dict(_HEADING.findall(_read_text()))


def read_page(code: str) -> str:
    """Return the page of a code as Markdown, without its heading; "" if there is none."""
    heading = next((match for match in _HEADING.finditer(_read_text()) if match[1] == code), None)
    if heading is None:
        return ""
    end = _ANY_HEADING.search(_read_text(), heading.end())
    return _read_text()[heading.end() : end.start() if end else None].strip()
