"""`qos run --resume`: what the record of a run says was asked for, and whether it is so still.

A case is a function of its files, seed, options and versions. Where all of these are as they were,
the cases that had not ended are run now, and the record is that of an undisturbed run.
"""

from __future__ import annotations

import shlex
import sys
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from qospec.cli import exits, loading, output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.document import Document
    from qospec.record.store import BegunRun, Record
    from qospec.run.runner import RunRequest

RECORDED = ("paths", "match", "seed", "max_cells", "keep_going", "settings", "part", "failed")
"""Options that a record knows."""
ANEW = "run it anew"


def open_record(named: str, root: str) -> tuple[Record, BegunRun]:
    """Return a record whose run is to go on, and what it has come to; ends the command if none is.

    `root` is the folder of the records, of which `last` is the latest; "" for the project's.
    """
    from qospec.record.ended import remove_leftovers
    from qospec.record.store import RecordError

    given = [name for name in RECORDED if is_given(name)]
    if given:
        exits.end_for_user(
            f"`--resume` goes on as the record says: leave out {' and '.join(map(_write, given))}"
        )
    record = loading.find_record(named, Path(root) if root else None)
    try:
        begun, outcome = record.read_begun(), record.read_outcome()
        ended = bool(record.find_fingerprint()) and outcome["state"] == "complete"
        if ended:  # it may have been killed just then
            with record.reserve():
                remove_leftovers(record)
    except RecordError as error:
        exits.end_for_environment(str(error))
    if ended:
        output.say(f"all cases of `{record.folder}` have ended: there is nothing to resume")
        sys.exit(exits.choose_exit_code(outcome))
    return record, begun


def is_given(name: str) -> bool:
    """Return whether the command line has a parameter."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def _write(name: str) -> str:
    """Return how a parameter is written."""
    names = {"paths": "the path", "match": "`-k`", "settings": "`--set`"}
    return names.get(name, f"`--{name.replace('_', '-')}`")


def read_options(
    record: Record,
    begun: BegunRun,
    paths: tuple[str, ...] = (),
    cases: Sequence[Document] = (),
) -> dict[str, Any]:
    """Return what was asked for when a run began; ends the command if its files are not here.

    Other `paths` than its own select their cases, else these `cases` are, or all that was planned.
    """
    from qospec.record.parts import read_part

    return {
        "paths": paths or tuple(map(str, _find_files(record, begun.frame))),
        "only": None
        if paths
        else frozenset(
            (find_file(test), case["name"])
            for test in begun.frame["tests"]
            for case in cases or begun.planned
            if case["test"] == test["name"]
        ),
        **read_values(begun.frame, begun.planned[0]),
        "part": read_part(begun.frame),
    }


def read_values(frame: Document, case: Document) -> dict[str, Any]:
    """Return the options on which the result of any case depends, of which `case` is one."""
    provenance = frame["provenance"]
    return {
        "settings": read_settings(case),
        "seed": frame["seed"],
        "backend": provenance.get("backend", {}).get("name", ""),
        "max_cells": provenance["limits"]["cells per trial"],
        "keep_going": provenance["policy"].get("a failed require") == "goes on",
    }


def find_file(test: Document) -> str:
    """Return the file of a test, as records have it."""
    return str(test["place"].rsplit(":", 2)[0])


def read_settings(case: Document) -> tuple[str, ...]:
    """Return the values that were set when a case was run."""
    words = shlex.split(case["again"])
    return tuple(value for option, value in pairwise(words) if option == "--set")


def _find_files(record: Record, frame: Document) -> list[Path]:
    """Return the files of the tests that were selected, in the order of these."""
    from qospec.resources import STDLIB

    names = dict.fromkeys(find_file(test) for test in frame["tests"])
    library = [PurePosixPath(name) for name in names if PurePosixPath(name).parts[0] == "std"]
    own = [name for name in names if PurePosixPath(name) not in library]
    here, kept = Path.cwd(), record.folder.resolve()
    folders = [here, *here.parents, kept, *kept.parents]
    root = next(
        (folder for folder in folders if all((folder / name).is_file() for name in own)), None
    )
    if root is None:
        _refuse(f"no folder here, at the record or above holds `{own[0]}`", "go to its project")
    return [
        STDLIB.joinpath(*PurePosixPath(name).parts[1:])
        if PurePosixPath(name) in library
        else root / name
        for name in names
    ]


def write_command(record: Record) -> str:
    """Return the command that goes on with a run, by the workers that this command was given."""
    place = click.get_current_context().params["on"]["place"]
    on = ["--on", f"dask://{place}"] if place else []
    return shlex.join(["qos", "run", "--resume", str(record.folder), *on])


def verify_same(request: RunRequest, begun: BegunRun) -> None:
    """End the command unless what would be run now is what was planned when the run began."""
    from qospec.backend import is_same_backend
    from qospec.run import runner

    now, then = runner.describe_provenance(request), begun.frame["provenance"]
    for name in ("qospec", "python", "numpy", "numba"):
        if now[name] != then[name]:
            _refuse(f"it began with {name} {then[name]}, and this is {now[name]}", "use that")
    if not is_same_backend(now.get("backend"), then.get("backend")):
        _refuse("what carries trials out is not what did so when the run began", "use that")
    digests = {source["name"]: source["sha256"] for source in then["sources"]}
    for source in request.suite.sources:
        name = source.recorded_name
        if source.sha256 != digests.get(name):
            _refuse(f"`{name}` is not what it was when the run began", "put it back")
    if runner.describe_planned(request) != begun.planned:
        _refuse("what is planned now is not what was planned when the run began")


def _refuse(why: str, remedy: str = "") -> NoReturn:
    exits.end_for_user(f"the run cannot go on: {why}; {f'{remedy}, or {ANEW}' if remedy else ANEW}")
