"""`qos pcap`: what went over a link of a recorded case, as a pcapng file."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from qospec.cli import exits, loading, options
from qospec.cli.output import say
from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from qospec.capture.capture import Writer
    from qospec.capture.links import Link
    from qospec.capture.trials import Trial
    from qospec.record.store import Record

STDOUT = "-"
SUFFIX = ".pcapng"
OWNER_ONLY = 0o600
"""Permissions of a file with keys."""


def _complete_cases(
    context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Return the cases of the record that is named, to complete one; none if it is no record."""
    from qospec.record.store import Record, RecordError, find_last

    named = context.params["record"]
    records = loading.find_project_folder((), "records")
    try:
        kept = find_last(records) if named == loading.LAST else Record(Path(named))
        cases = kept.read_outcome()["cases"] if kept is not None else []
    except (RecordError, KeyError):
        return []
    return [CompletionItem(case["name"]) for case in cases if case["name"].startswith(begun)]


@click.command()
@click.argument("record", type=str, shell_complete=options.complete_record)
@click.argument("case", type=str, shell_complete=_complete_cases)
@click.argument("link", type=str, default="")
@click.option(
    "-o",
    "--output",
    default="",
    help="File to write, - for stdout; by default CASE.pcapng in this folder.",
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
@click.option(
    "--keys",
    default="",
    metavar="FILE",
    help="Write the keys of this link to FILE: of ESP as Wireshark's table esp_sa, of cells by VC.",
)
@click.option(
    "--count", "most", type=click.IntRange(1), default=None, help="Write the first packets only."
)
@click.option("--frames", is_flag=True, help="Write frames of AAL5 in place of their cells.")
@click.option(
    "--trial",
    type=click.IntRange(1),
    default=None,
    help="Which trial; of a case without phases, which repeat. By default the first.",
)
@click.option("--control", default="", metavar="NAME", help="The topology of that control.")
@click.option("--phase", default="", metavar="NAME", help="The search or point of the trial.")
@click.option(
    "--repeat",
    type=click.IntRange(1),
    default=None,
    help="Of a case with phases, which repeat of all of them. By default the first.",
)
def pcap(record: str, case: str, link: str, **asked: str | int | bool | None) -> None:
    """Write what went over a LINK in a CASE of a RECORD, as pcapng.

    The trial is run again, and must come to the recorded result. A LINK is one direction of a
    link, `a -> sw.p[0]`, or a side of a port, `sw.p[0].rx`; it may be left out if there is only
    one.
    """
    request = _Request(link, **asked)  # type: ignore[arg-type]
    from qospec.capture.error import CaptureError
    from qospec.record.store import RecordError
    from qospec.writing import WriteError, write_whole

    path = _choose_path(request, case)
    if request.keys:
        _check_path_of_keys(request, path)
    try:
        trial, found = _find_trial(loading.find_record(record), case, request)
        if request.keys:
            _check_keys(trial, found)
        if path is None:
            written = _to_stdout(trial, found, request)
        else:
            written = _to_file(path, trial, found, request)
        if request.keys:
            write_whole(Path(request.keys), written.list_keys(), mode=OWNER_ONLY)
    except CaptureError as error:
        exits.end_for_user(error.message, *error.choices)
    except (RecordError, WriteError) as error:
        exits.end_for_environment(str(error))


class _Request(NamedTuple):
    """What the user asked for, besides the record and the case."""

    link: str
    output: str
    force: bool
    keys: str
    most: int | None
    frames: bool
    trial: int | None
    control: str
    phase: str
    repeat: int | None


def _choose_path(request: _Request, case: str) -> Path | None:
    """Return the file to write, None for stdout; ends the command if it may not be written."""
    if request.output == STDOUT:
        if sys.stdout.isatty():
            exits.end_for_user("a capture is no text: `-o FILE`, or pipe it into a program")
        return None
    path = Path(request.output or re.sub(r"[^A-Za-z0-9._=,%+-]+", "_", case) + SUFFIX)
    return _verify_new(path, "-o", request)


def _verify_new(path: Path, option: str, request: _Request) -> Path:
    """Return a path; ends the command if there is a file that may not be replaced."""
    if path.is_file() and not request.force:
        exits.end_for_user(
            f"`{path}` exists: write another by `{option} FILE`, or replace it by `--force`"
        )
    return path


def _find_trial(kept: Record, case: str, request: _Request) -> tuple[Trial, Link]:
    from qospec.capture import links, specification, trials

    at_hand = (kept.folder.resolve(), Path.cwd())
    recorded = specification.rebuild_case(kept.read_outcome(), case, at_hand)
    for difference in recorded.differences:
        say(f"warning: {difference}", err=True)
    asked = trials.Asked(request.trial or 0, request.control, request.phase, request.repeat or 0)
    trial = trials.find_trial(recorded, asked)
    network = trial.case.case.networks[request.control]
    return trial, links.find_link(network, trial.planned, request.link)


def _check_path_of_keys(request: _Request, capture: Path | None) -> None:
    """End the command if keys may not be written there, before anything is written."""
    if request.keys == STDOUT:
        exits.end_for_user("keys are not shown: name a file by `--keys FILE`")
    path = _verify_new(Path(request.keys), "--keys", request)
    if capture is not None and path.resolve() == capture.resolve():
        exits.end_for_user(f"`{path}` cannot hold the capture and the keys: name two files")
    if path.is_dir() or not path.parent.is_dir():
        why = "it is a folder" if path.is_dir() else f"there is no folder `{path.parent}`"
        exits.end_for_user(f"cannot write `{path}`: {why}")


def _check_keys(trial: Trial, link: Link) -> None:
    """Check that there are keys."""
    from qospec.capture.error import CaptureError
    from qospec.payload.associations import find_encrypting

    if not find_encrypting(trial.planned.experiment, link.tap.node):
        raise CaptureError(f"nothing that goes over `{link.name}` is encrypted, so it has no keys")


def _to_file(path: Path, trial: Trial, link: Link, request: _Request) -> Writer:
    from qospec.capture.capture import capture
    from qospec.writing import replace_file

    with replace_file(path) as file:
        written = capture(trial, link, file, request.most, frames=request.frames)
    packets = loading.count_things(written.written, "frame" if request.frames else "packet")
    say(f"capture: {path} ({packets} of `{link.name}`, {trial.words})")
    return written


def _to_stdout(trial: Trial, link: Link, request: _Request) -> Writer:
    """Write to stdout, once it is known that the trial came to the recorded result."""
    import shutil
    import tempfile

    from qospec.capture.capture import capture

    with tempfile.TemporaryFile() as file:
        written = capture(trial, link, file, request.most, frames=request.frames)
        file.seek(0)
        shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    return written
