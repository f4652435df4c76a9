"""`qos fuzz`: draws examples, and looks for the smallest that breaks a promise."""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qospec.cli import exits, loading, options, output
from qospec.writing import WriteError, verify_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.fuzz.campaign import Campaign, CampaignRequest, TargetReport
    from qospec.fuzz.finding import Finding
    from qospec.fuzz.target import Target

EXAMPLES = 1_000
"""Of each target, where neither a number nor a time is asked for."""
REPORTED_S = 0.1
"""If kernels were compiled for as long, that is told."""
NOTHING_RUN = "nothing that was drawn could be run"
NOT_BEGUN = "the search ended before its first example"
MOST_NAMES = 6
"""Of what never happened, so many are printed; the JSON document has all."""


@click.command()
@options.paths
@click.option(
    "--time", "time_s", type=options.Duration(), help="How long to search, such as 60s, 5min or 8h."
)
@click.option(
    "--examples",
    type=click.IntRange(1),
    help=f"How many examples of each; {EXAMPLES:_} unless `--time` is given.",
)
@options.seed
@options.jobs
@click.option(
    "--save",
    default="",
    metavar="FOLDER",
    help="Where findings are saved: by default in `fuzz` in the root of the project or, without a"
    " project, as `fuzz_NAME.qos` beside the file.",
)
@click.option("--no-database", is_flag=True, help="Neither try nor keep examples that failed.")
@click.option("--no-progress", is_flag=True, help="Show no progress line.")
@options.as_json
def fuzz(paths: tuple[str, ...], **asked: Any) -> None:
    """Look for what breaks properties, tests with `forall` and devices; save the smallest as files.

    Equal seeds and `--examples` find the same, whatever `-j` is.
    """
    if find_spec("hypothesis") is None:
        exits.end_for_user(
            "`qos fuzz` needs Hypothesis: install it with `pip install 'qospec[fuzz]'`"
        )
    from qospec.fuzz import campaign

    targets = _find_targets(paths, as_json=asked["as_json"])
    database, note = None, ""
    if not asked["no_database"]:
        database, note = campaign.find_database_folder(
            loading.find_project_folder(paths, ".qos-fuzz")
        )
    if note:
        output.say(f"note: {note}", err=True)
    examples, time_s = asked["examples"], asked["time_s"]
    request = campaign.CampaignRequest(
        tuple(dict.fromkeys(path.partition("::")[0] for path in paths)),
        tuple(campaign.make_key(target) for target in targets),
        EXAMPLES if examples is None and time_s is None else examples,
        time_s,
        asked["seed"],
        asked["jobs"],
        database,
    )
    start = f"{asked['save']}/" if asked["save"] else _start(paths)
    _verify_writable(start)
    search = campaign.Campaign(request)
    began_s = time.monotonic()
    reports = search.run(FuzzProgress(search, wanted=not asked["no_progress"]))
    _report(search, reports, start, request, time.monotonic() - began_s, asked)


def _start(paths: tuple[str, ...]) -> str:
    """Return what the paths of saved files begin with: they must find the files that they import.

    In a project that is a folder of their own, and elsewhere the folder of what was searched.
    """
    from qospec.check.modules import files

    path = Path(paths[0].partition("::")[0])
    root = files.find_root(path / "any" if path.is_dir() else path)
    separator = "/" if files.is_there(root / "qos.toml") else "_"
    return files.shorten_path(root / "fuzz") + separator


def _verify_writable(start: str) -> None:
    """End the command if nothing can be saved: to learn that after an hour would be late."""
    try:
        verify_folder(Path(f"{start}NAME").parent)
    except WriteError as error:
        exits.end_for_environment(str(error))


def _save_findings(
    reports: list[TargetReport], start: str
) -> tuple[dict[Finding, Path | None], list[str]]:
    """Save what was found; return the file of each, None if it cannot be written, and why not."""
    files: dict[Finding, Path | None] = {}
    errors: list[str] = []
    for finding in (found for report in reports for found in report.findings):
        try:
            files[finding] = finding.save(start)
        except WriteError as error:
            files[finding] = None
            errors.append(str(error))
    return files, errors


def _find_targets(paths: tuple[str, ...], *, as_json: bool) -> list[Target]:
    """Return what the user named; ends the command if there is nothing in it."""
    from qospec.catalogue.kinds import discover
    from qospec.check import Checked
    from qospec.fuzz.targets import list_targets

    checked = Checked(loading.list_files(paths), discover())
    loading.report(checked.problems, as_json=as_json)
    found = list(list_targets(checked))
    chosen = loading.select_things(paths, found, "property, device or test with `forall`")
    if not chosen:
        output.say("nothing selected: no property, no device, no test with `forall`", err=True)
        sys.exit(exits.NOTHING)
    return chosen


class FuzzProgress:
    """How far a search is."""

    def __init__(self, search: Campaign, *, wanted: bool) -> None:
        """Take the search; show nothing unless that is `wanted`."""
        from qospec.cli.progress import ProgressLine

        self._search = search
        self._line = ProgressLine(live=wanted, reports=wanted)
        self._began_s = time.monotonic()

    def __call__(self, name: str, share: float) -> None:
        """Show that a target is being searched, and the share of its examples that is done."""

        def write_line() -> str:
            done = f", {share:.0%} of its examples" if share else ""
            seconds = time.monotonic() - self._began_s
            return f"{self._search.examples:_} examples, {seconds:.0f} s; {name}{done}"

        self._line.show(write_line)

    def clear(self) -> None:
        """Clear the line."""
        self._line.clear()


def _report(
    search: Campaign,
    reports: list[TargetReport],
    start: str,
    request: CampaignRequest,
    seconds: float,
    asked: dict[str, Any],
) -> None:
    """Save and print what was found, and exit."""
    files, errors = _save_findings(reports, start)
    if asked["as_json"]:
        document = {
            "schema": 1,
            "seed": request.seed,
            "interrupted": search.interrupted,
            "targets": [_describe_report(report, files) for report in reports],
        }
        output.say_json(document)
    else:
        for report in reports:
            _show(report, files)
        total = sum(report.examples for report in reports)
        found = loading.count_things(len(files), "finding")
        end = ": interrupted before the search was done" if search.interrupted else ""
        took = f"{max(0.0, seconds - search.compiling_s):.1f} s"
        if search.compiling_s >= REPORTED_S:
            took += f" and {search.compiling_s:.1f} s of compiling"
        output.say(f"{found} in {total:_} examples, {took}, seed {request.seed}{end}")
    for message in dict.fromkeys(errors):
        output.say(f"error: {message}", err=True)
    if search.interrupted:
        sys.exit(exits.INTERRUPTED)
    if errors:
        sys.exit(exits.ERROR)
    if any(report.errors for report in reports):
        sys.exit(exits.ERROR)
    if files:
        sys.exit(exits.FAILED)
    known = all(report.examined and not report.never_judged for report in reports)
    sys.exit(exits.PASSED if known else exits.INCONCLUSIVE)


def _describe_report(report: TargetReport, files: dict[Finding, Path | None]) -> dict[str, Any]:
    """Return what was found out about a target, for programs."""
    return {
        "name": report.name,
        "kind": report.noun,
        "examples": report.examples,
        "refused": dict(report.refused),
        "never_holds": list(report.hopeless),
        "not_judged": dict(report.unjudged),
        "hindrance": report.hindrance,
        "note": report.note,
        "coverage": report.coverage,
        "never_reached": list(report.unreached),
        "closest": [
            {"what": what, "share": aim.share, "of": aim.of} for what, aim in report.closest
        ],
        "findings": [found.to_document(files[found]) for found in report.findings],
        "errors": list(report.errors),
    }


def _show(report: TargetReport, files: dict[Finding, Path | None]) -> None:
    """Print what was found out about a target."""
    from qospec.fuzz.target import describe_broken

    what = f"{report.noun} {report.name}"
    if not report.examined:
        output.say(f"{what}: not examined: {_explain_not_examined(report)}")
    elif report.never_judged:
        names = ", ".join(f"`{name}`" for name in report.never_judged)
        output.say(f"{what}: none of {report.examined:_} examples says anything of {names}")
    elif not report.findings:
        output.say(f"{what}: holds for {report.examined:_} examples")
    for found in report.findings:
        output.say("", f"{what}: {describe_broken(found.statement, found.reason)}")
        output.say(f"  {found.place}")
        output.say("", *(f"    {line}".rstrip() for line in found.text.splitlines()), "")
        small = "the smallest" if found.shrunk else "the smallest so far"
        path = files[found]
        saved = "not saved" if path is None else f"saved in {path}"
        output.say(f"  {small} of {found.examples:_} examples, {saved}")
        output.say(*([] if path is None else [f"  repeat    qos run {path}"]), "")
    output.say(*(f"  {remark}" for remark in _list_remarks(report, what)))


def _explain_not_examined(report: TargetReport) -> str:
    if report.hindrance:
        return report.hindrance
    if not report.examples:
        return NOT_BEGUN
    return "no device of the file speaks with it" if _is_alone(report) else NOTHING_RUN


def _is_alone(report: TargetReport) -> bool:
    """Return whether a device has messages to exchange, and no ports for anything else."""
    from qospec.fuzz.devices import SPEAKER

    return set(report.refused) == {SPEAKER}


def _list_remarks(report: TargetReport, what: str) -> Iterator[str]:
    """Yield what is said of all examples of a target, findings aside."""
    from qospec.fuzz.coverage import group_events
    from qospec.fuzz.target import MISTAKE

    for statement in report.hopeless:
        kept = f"keeps `{statement}`: perhaps nothing can"
        if statement == MISTAKE:
            kept = f"{MISTAKE}: perhaps none can"
        yield f"note: no example of {what} {kept}"
    for statement, count in report.unjudged.items():
        some = f"{count:_} of {report.examined:_} examples: perhaps it divides by 0"
        yield f"note: `{statement}` could not be judged in {some}"
    yield from _describe_closest(report)
    for condition, met in () if _is_alone(report) else report.met_rarely:
        every = f"{report.examples:_} examples"
        some = f"only {met:_} of {every} meet" if met else f"none of {every} meets"
        yield f"note: {some} {condition}"
    for event, names in group_events(report.unreached).items() if report.examined else ():
        some = ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "")
        yield f"never in any example: {event} {some}"
    if report.note and report.examined:
        yield f"note: {report.note}"
    yield from (f"error: {error}" for error in report.errors)


def _describe_closest(report: TargetReport) -> list[str]:
    """Return a line on how close it came; of a queue with a proved bound, that to its bound."""
    names = {what for what, _ in report.closest}
    shown = [
        f"{what} {aim.words}"
        for what, aim in report.closest
        if what.replace("fill", "backlog", 1) not in names - {what}
    ]
    return [f"closest to what is possible: {'; '.join(shown)}"] if shown else []
