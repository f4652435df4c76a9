"""Documents: JSON objects for programs and templates."""

from __future__ import annotations

import json
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Document = dict[str, Any]

MANY = 16
"""Members of an object that is worth knowing again, as are the metrics of a flow."""


def write_json(document: Any, *, in_ascii: bool = False) -> str:
    """Return a document as JSON, each value on a line of its own, with a line end.

    It is what `json.dumps` gives with `indent=1`, which does not use its encoder in C then and
    takes several times as long.
    """
    quote = encode_basestring_ascii if in_ascii else encode_basestring
    return f"{_write_value(document, chr(10), quote, {})}\n"


def iterate_json(document: Document) -> Iterator[str]:
    """Yield the text that `write_json` returns in parts: of its lists, each item is one."""
    opening = "{"
    for name, value in document.items():
        yield f"{opening}\n {encode_basestring(name)}: "
        if isinstance(value, list) and value:
            for number, item in enumerate(value):
                text = _write_value(item, "\n  ", encode_basestring, {})
                yield f"{',' if number else '['}\n  {text}"
            yield "\n ]"
        else:
            yield _write_value(value, "\n ", encode_basestring, {})
        opening = ","
    yield "\n}\n" if document else "{}\n"


def _write_value(
    value: Any, line: str, quote: Callable[[str], str], known: dict[int, tuple[str, str]]
) -> str:
    """Return a value as JSON; `line` is a line end, with the blanks before its last line.

    Of large objects that were written before, `known` has the text, by identity, and its `line`.
    """
    if isinstance(value, str):
        return quote(value)
    inner = f"{line} "
    if isinstance(value, dict) and value:
        if (before := known.get(id(value))) is not None:
            text, its_line = before
            return text.replace(its_line, line)  # within strings no line ends
        items = [
            f"{quote(name)}: "
            f"{quote(of) if type(of) is str else _write_value(of, inner, quote, known)}"
            for name, of in value.items()
        ]
        text = f"{{{inner}{f',{inner}'.join(items)}{line}}}"
        if len(value) >= MANY:
            known[id(value)] = text, line
        return text
    if isinstance(value, list | tuple) and value:
        items = [_write_value(item, inner, quote, known) for item in value]
        return f"[{inner}{f',{inner}'.join(items)}{line}]"
    return json.dumps(value)
