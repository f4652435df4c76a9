"""Options that mean the same in every command."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from qospec.writing import is_unicode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qospec.catalogue.kinds import Role
    from qospec.record.parts import Part

    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
    Decorate = Callable[[Any], Any]

MOST_PORT = 65_535
OF_PLACES = "dask://"
"""How the address of a place begins where jobs are done."""
MOST_PARTS = 999_999
MAX_CELLS = 10**9
"""The default of `--max-cells`."""


def refuse_empty(_context: click.Context, _argument: click.Parameter, paths: Any) -> Any:
    """Return a path, or several: an empty one is a variable of a script that is not set."""
    if "" in (paths if isinstance(paths, tuple) else (paths,)):
        raise click.BadParameter("a path cannot be empty: write `.` for this folder")
    return paths


def complete_file(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Leave it to the shell to complete a file or a folder."""
    return [CompletionItem(begun, type="file")]


def complete_record(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Return `last`, and leave folders to the shell."""
    named = [CompletionItem("last")] * "last".startswith(begun)
    return [*named, CompletionItem(begun, type="dir")]


def complete_format(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Return the formats of reports whose names begin so."""
    from qospec.report.format import list_formats

    return [
        CompletionItem(name, help=report.summary)
        for name, report in list_formats().items()
        if name.startswith(begun)
    ]


def complete_kind(role: Role) -> Complete:
    """Return what completes the name of a kind of this role."""

    def complete(
        _context: click.Context, _parameter: click.Parameter, begun: str
    ) -> list[CompletionItem]:
        from qospec.catalogue.kinds import discover

        return [
            CompletionItem(name, help=kind.summary)
            for name, kind in discover().select_role(role).items()
            if name.startswith(begun)
        ]

    return complete


def make_output_option(suffixes: Iterable[str], explanation: str) -> Decorate:
    """Return the option of a file that is written instead of stdout, whose suffix is its format."""

    def parse(_context: click.Context, _option: click.Parameter, written: str) -> str:
        if written and Path(written).suffix not in suffixes:
            raise click.BadParameter(f"its ending says the format: {', '.join(suffixes)}")
        return written

    return click.option(
        "-o", "--output", "target", default="", metavar="PATH", callback=parse, help=explanation
    )


paths = click.argument(
    "paths", nargs=-1, type=str, callback=refuse_empty, shell_complete=complete_file
)
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
    shell_complete=complete_format,
    help="A report to write: markdown, csv, latex, svg, junit, json, sarif, github, codequality or"
    " a template's path; html is always written.",
)


class _Jobs(click.IntRange):
    """A number of processes: `auto` is one for each processor that this one may use."""

    name = "number or auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        if value != "auto":
            return super().convert(value, param, ctx)
        usable = getattr(
            os, "sched_getaffinity", None
        )  # of Linux: fewer than there are, in a container
        return len(usable(0)) if usable else os.cpu_count() or 1


jobs = click.option(
    "-j",
    "--jobs",
    default=1,
    show_default=True,
    type=_Jobs(1),
    metavar="N",
    help="Number of worker processes; `auto` is one for each processor.",
)


def _parse_on(
    _context: click.Context, _option: click.Parameter, written: tuple[str, ...]
) -> dict[str, str]:
    """Return the place where jobs are done and the back end; "" for here, and for the emulation.

    A place is an address of Dask, a back end a name, or an address of another scheme.
    """
    places = [_parse_place(value) for value in written if value.startswith(OF_PLACES)]
    names = [parse_backend(value) for value in written if not value.startswith(OF_PLACES)]
    if len(places) > 1 or len(names) > 1:
        raise click.BadParameter("one place and one back end may be given")
    for name in names:
        _refuse_without_address(name)
    return {"place": "".join(places), "backend": "".join(names)}


def _refuse_without_address(name: str) -> None:
    """Raise BadParameter for the name of a back end that has an address, where that is needed."""
    from qospec.backend import find_backend

    backend = find_backend(name) if name and "://" not in name else None
    if backend is not None and backend.schemes:
        raise click.BadParameter(
            f"`{name}` needs an address: write it, such as"
            f" `{backend.schemes[0]}://SERVER:PORT?HOST=LOCATION`"
        )


def parse_backend(name: str) -> str:
    """Return the name of a back end, "" for the emulation."""
    from qospec.backend import EMULATION

    if name == EMULATION:  # as if none is named: the others are not imported for that
        return ""
    from qospec.backend import BackendError, find_backend
    from qospec.catalogue.kinds import discover
    from qospec.diagnostics import suggest_name

    try:
        if find_backend(name) is not None:
            return name
    except BackendError as error:
        raise click.BadParameter(str(error)) from None
    known = list(discover().select_role("backend"))
    near = suggest_name(name, known)
    hint = f"did you mean `{near}`?" if near else f"there are {', '.join(known)}"
    raise click.BadParameter(
        f"`{name}` is no back end: {hint}; the workers of a Dask scheduler are"
        " `dask://HOST:PORT`, as `qos cluster` prints it, and a traffic generator is at"
        " `otg://SERVER:PORT?HOST=LOCATION`"
    )


def _parse_place(written: str) -> str:
    """Return the address of a scheduler."""
    found = re.fullmatch(r"dask://([^\s/:@]+|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})/?", written)
    if found is None or not 1 <= int(found[2]) <= MOST_PORT:
        raise click.BadParameter(
            f"`{written}` is not where jobs can be done: write `dask://HOST:PORT` of a Dask"
            " scheduler, as `qos cluster` prints it"
        )
    return f"{found[1]}:{found[2]}"


on = click.option(
    "--on",
    "on",
    multiple=True,
    metavar="BACKEND|ADDRESS",
    callback=_parse_on,
    shell_complete=complete_kind("backend"),
    help="Carry trials out on `kernel-vt`, a kernel of Linux in virtual time, on `kernel-rt`, this"
    " machine's own in real time, or by a traffic generator, `otg://SERVER:PORT?HOST=LOCATION`, in"
    " place of the emulation (`emulate`). Or let the workers of a Dask scheduler,"
    " `dask://HOST:PORT`, do the jobs; the record stays here. Whoever runs the scheduler or a"
    " worker can run programs here as you: trust them, and use TLS at both ends.",
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


def _parse_settings(
    _context: click.Context, _option: click.Parameter, written: tuple[str, ...]
) -> tuple[str, ...]:
    for setting in written:
        name, _, value = setting.partition("=")
        if not name.strip().isidentifier() or not value.strip() or len(setting.splitlines()) > 1:
            raise click.BadParameter(
                f"`{setting}` sets nothing: write a name and a value, `haul=5km`"
            )
        if not is_unicode(setting):
            raise click.BadParameter("a value is a text, and this is not UTF-8")
    return tuple(setting.strip() for setting in written)


settings = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_parse_settings,
    help="Give a `let` of the files another value of its type, as `haul=5km`.",
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

    found = re.fullmatch(r"([0-9]+)/([0-9]+)", written)
    if found is None:
        raise click.BadParameter(f"`{written}` is not a part: write `3/8` for the third of eight")
    if max(map(len, found.groups())) > len(str(MOST_PARTS)):
        raise click.BadParameter(
            f"`{written}` is too large: a run has at most {MOST_PARTS:_} parts"
        )
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
