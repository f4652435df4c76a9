"""Programs of the user's own: their command lines, and how it is told that they have started."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Command, Ready
from qospec.check.evaluate.context import make_error
from qospec.check.evaluate.dimensions import NUMBER, describe_dimension
from qospec.check.evaluate.values import Amount, List, Poison, Text
from qospec.protocol.ip import HIGHEST_PORT
from qospec.units import PS_PER_S, TIME

if TYPE_CHECKING:
    from qospec.check.evaluate.values import Value
    from qospec.source import Span

EXAMPLE = '["iperf", "-s"]'
WAYS = '`ready = "listening"`, `ready = 5001` or `ready = 200 ms`'


def read_command(value: Value, name: str, span: Span) -> Command | None:
    """Return the words of a command line, at least one; raises CheckError."""
    if not isinstance(value, List):
        raise make_error(
            "E0204",
            f"`{name}` is a list of texts, not {value.what}",
            span,
            help=f"write each word as a text of its own: `{name} = {EXAMPLE}`",
        )
    words: list[Text] = []
    for item in value.items:
        if isinstance(item, Poison):
            return None
        if not isinstance(item, Text):
            raise make_error(
                "E0204",
                f"`{name}` is a list of texts, not a list with {item.what}",
                span,
                help=f"write each word as a text of its own: `{name} = {EXAMPLE}`",
            )
        words.append(item)
    if not words or not words[0].text:
        raise make_error(
            "E0205", f"`{name}` names no program", span, help=f"name one: `{name} = {EXAMPLE}`"
        )
    home = words[0].home
    folder = str(Path(home).resolve().parent) if home else ""
    return Command(tuple(word.text for word in words), folder)


def read_ready(value: Value, name: str, span: Span) -> Ready | None:
    """Return when a program is taken as started; raises CheckError."""
    if isinstance(value, Text) and value.text:
        return Ready(text=value.text)
    if isinstance(value, Amount) and value.dimension in (NUMBER, TIME):
        if value.value is None:
            return None
        time_ps = round(value.value * PS_PER_S) if value.dimension == TIME else 0
        if time_ps > 0:
            return Ready(time_ps=time_ps)
        if (
            value.dimension == NUMBER
            and value.value.denominator == 1
            and 1 <= value.value <= HIGHEST_PORT
        ):
            return Ready(port=int(value.value))
        raise make_error(
            "E0205",
            f"`{name}` is a port of 1 to {HIGHEST_PORT}, or a time of 1 ps or more",
            span,
            help=f"write {WAYS}",
        )
    what = "an empty text" if isinstance(value, Text) else value.what
    what = describe_dimension(value.dimension) if isinstance(value, Amount) else what
    raise make_error(
        "E0204", f"`{name}` is a text, a port or a time, not {what}", span, help=f"write {WAYS}"
    )
