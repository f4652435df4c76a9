"""Commands on records: `report`, `verify`, `sign` and `merge`.

`qos report` renders a record once more, as `qos run` does when it ends. `qos verify` says whether
its files are as they were written. `qos merge` makes one record of those of all parts of a run, as
one run would have made it.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qospec.cli import exits, loading, options
from qospec.cli.output import say, say_json, say_text, show_file

if TYPE_CHECKING:
    from qospec.record.store import Record


@click.command()
@click.argument("record", type=str, shell_complete=options.complete_record)
@click.option(
    "--format",
    "name",
    default="html",
    show_default=True,
    shell_complete=options.complete_format,
    help="html, markdown, csv, latex, svg, junit, json, sarif, github, codequality,"
    " or the path of a template.",
)
@click.option("-o", "--output", default="", help="File to write instead of stdout.")
def report(record: str, name: str, output: str) -> None:
    """Render the report of a RECORD again, of `last` for the newest one of this project.

    `--format` chooses the format.
    """
    from qospec.record.store import RecordError
    from qospec.report.format import ReportError
    from qospec.writing import WriteError, write_whole

    check_formats((name,))
    kept = loading.find_record(record)
    path = Path(output)
    try:
        text = _render(kept, kept.read_outcome(), name)
        if output and path.parent.resolve() == kept.folder.resolve():
            kept.add_report(path.name, text)
        elif output:
            write_whole(path, text)
    except ReportError as error:
        exits.end_for_user(str(error))
    except (RecordError, WriteError) as error:
        exits.end_for_environment(str(error))
    if not output:
        show_file(text)


def check_formats(names: tuple[str, ...]) -> None:
    """End the command if one of these is neither a format nor a sound template."""
    from qospec.report.format import ReportError
    from qospec.report.render import check_template

    try:
        for name in names:
            check_template(name)
    except ReportError as error:
        exits.end_for_user(str(error))


def write(kept: Record, document: dict[str, Any], name: str) -> Path:
    """Write a report into a record and return its path.

    Raises:
        RecordError: The record cannot be read, or the file not be written.
        ReportError: A template has a mistake.
    """
    from qospec.report.format import find_extension

    return kept.add_report(f"report.{find_extension(name)}", _render(kept, document, name))


def _render(kept: Record, document: dict[str, Any], name: str) -> str:
    from qospec.report.render import render

    return render(document, kept.read_timing(), name, kept.find_fingerprint(), kept.find_signer())


def write_all(
    kept: Record, document: dict[str, Any], formats: tuple[str, ...], *, quiet: bool
) -> bool:
    """Write the reports and, unless `quiet`, say where; return whether there are all of them.

    What was measured is told before: it is known, whatever becomes of its reports.
    """
    from qospec.record.store import RecordError
    from qospec.report.format import ReportError

    failed = False
    for name in formats:
        try:
            path = write(kept, document, name)
        except (RecordError, ReportError) as error:
            exits.say_error(f"no {name} report: {error}")
            failed = True
            continue
        if not quiet:
            say(f"report: {path}")
    _tell_forge(kept, document)
    return not failed


def _tell_forge(kept: Record, document: dict[str, Any]) -> None:
    """Annotate lines, and add to the summary of the job, where GitHub Actions runs the command."""
    from qospec.record.store import RecordError
    from qospec.report.format import ReportError
    from qospec.report.render import render
    from qospec.writing import explain_failure

    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    try:
        timing = kept.read_timing()
        say_text(render(document, timing, "github"), err=True, end="")
        if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(render(document, timing, "markdown"))
    except (OSError, RecordError, ReportError) as error:
        say(f"warning: no summary of the job: {explain_failure(error)}", err=True)


def _parse_signer(_context: click.Context, _option: click.Parameter, written: str) -> str:
    if written and not re.fullmatch("[0-9a-f]{64}", written):
        raise click.BadParameter(
            "it is a public key of 64 hexadecimal digits, as `qos sign` prints it"
        )
    return written


def _read_consistent(kept: Record) -> dict[str, Any]:
    """Return the outcome, which is what the cases come to.

    Raises:
        RecordError: It is not, or a file cannot be read.
    """
    from qospec.record.store import REMEDY, RecordError

    outcome = kept.read_outcome()
    kept.read_timing()
    if outcome != kept.collect_outcome(stopped=outcome["state"] == "stopped"):
        raise RecordError(
            f"`{kept.folder}` is damaged: its outcome.json is not what its run.json and cases come"
            f" to; {REMEDY}"
        )
    return outcome


@click.command()
@click.argument("record", type=str, shell_complete=options.complete_record)
@click.option(
    "--signer",
    default="",
    metavar="KEY",
    callback=_parse_signer,
    help="Public key that the record has to be signed with, as `qos sign` prints it.",
)
def verify(record: str, signer: str) -> None:
    """Check that all files of a RECORD are as they were written, and agree with each other.

    Their checksums are in its `SHA256SUMS`, which `sha256sum -c` reads, too. A signature is
    verified; whether you trust its key is told by `--signer`.
    """
    from qospec.record.signature import ALGORITHM
    from qospec.record.store import RecordError

    kept = loading.find_record(record)
    try:
        outcome = _read_consistent(kept)
        signed = kept.find_signer()
    except RecordError as error:
        exits.end_for_environment(str(error))
    if signer not in ("", signed):
        by = f"signed with {signed}, and not with {signer}" if signed else "not signed"
        exits.end_for_environment(f"`{kept.folder}` is {by}")
    fingerprint = kept.find_fingerprint()
    verdict = f"verdict: {outcome['verdict']}" if outcome["cases"] else "it has no case"
    say(f"{kept.folder}: all files are as they were written; {verdict}")
    say(f"outcome.json has SHA-256 {fingerprint}" if fingerprint else "the run was killed")
    say(f"signed with the {ALGORITHM} key {signed}" if signed else "not signed")


@click.command()
@click.argument("record", type=str, shell_complete=options.complete_record)
@click.option(
    "--key",
    required=True,
    metavar="FILE",
    help="PEM file with a private key of Ed25519, which only you can read.",
)
@click.option("--new-key", is_flag=True, help="Make the key first, in a new file.")
def sign(record: str, key: str, *, new_key: bool) -> None:
    """Sign a RECORD, so that who has your public key can tell that it is yours and unchanged.

    The signature and the public key are in its `signature.json`, and its page names them.
    """
    from qospec.record.signature import ALGORITHM, SignatureError, create_key, read_key
    from qospec.record.store import RecordError

    kept = loading.find_record(record)
    try:
        outcome = _read_consistent(kept)
        if not kept.find_fingerprint() or outcome["state"] == "interrupted":
            exits.end_for_user(
                f"the run of `{kept.folder}` has not ended: go on with it by `qos run --resume"
                f" {kept.folder}`, and then sign it"
            )
        if new_key:
            create_key(Path(key))
        kept.sign(read_key(Path(key)))
        signer = kept.find_signer()
        page = write(kept, outcome, "html")
    except SignatureError as error:
        exits.end_for_user(str(error))
    except RecordError as error:
        exits.end_for_environment(str(error))
    say(f"{kept.folder}: signed with the {ALGORITHM} key {signer}", f"report: {page}")


@click.command()
@click.argument("folders", nargs=-1, required=True, type=str, metavar="RECORD...")
@options.record
@options.reports
@options.as_json
def merge(
    folders: tuple[str, ...], record: str, formats: tuple[str, ...], *, as_json: bool
) -> None:
    """Make one record of those of all parts of a run, and print the path of its report.

    Parts are run by `qos run --part 1/8` to `8/8`, in any order, on any machines with the same
    versions. Their merged record has the bytes that one run gives, but for times.
    """
    from qospec.cli.terminal import Console
    from qospec.record import merging, store

    formats = options.with_html(formats)
    check_formats(formats)
    records = [loading.find_record(folder) for folder in folders]
    root = Path(record) if record else loading.find_project_folder((), "records")
    try:
        whole = merging.merge(records)
        kept = store.create(root, whole.outcome["seed"])
        whole.write(kept)
    except merging.MergeError as error:
        exits.end_for_user(str(error))
    except store.RecordError as error:
        exits.end_for_environment(str(error))
    if as_json:
        say_json(whole.outcome)
    else:
        Console(len(whole.planned), quiet=False, progress=None).print_summary(whole.outcome)
    has_reports = write_all(kept, whole.outcome, formats, quiet=as_json)
    sys.exit(exits.choose_exit_code(whole.outcome) if has_reports else exits.ERROR)
