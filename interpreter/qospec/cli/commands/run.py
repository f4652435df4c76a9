"""`qos run`: runs and judges tests, keeps a record, and prints the report's path.

`qos warm` compiles the kernels that specifications use, so that no run waits for that.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qospec.cli import budget, exits, joining, loading, options, output, resuming, streams
from qospec.cli.commands.report import check_formats, write_all
from qospec.dataclass import NamedTuple
from qospec.writing import explain_failure

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from qospec.backend import Backend
    from qospec.cli.progress import Progress
    from qospec.cli.reusing import Unchanged
    from qospec.cli.terminal import Console
    from qospec.document import Document
    from qospec.model.suite import Case, Suite
    from qospec.plan.plan import CasePlan
    from qospec.record import store
    from qospec.run.crews.cluster import Cluster
    from qospec.run.runner import RunRequest

    Resumed = tuple[store.Record, store.BegunRun] | None

REPORTED_S = 1
"""A compilation that takes longer is reported."""


@click.command()
@options.paths
@options.match
@options.seed
@options.max_cells
@options.settings
@options.as_json
@options.record
@options.reports
@options.jobs
@options.on
@click.option(
    "--allow-programs",
    is_flag=True,
    help="Let files run programs of this machine, in hosts of a kernel; no file can allow that.",
)
@options.part
@click.option(
    "--resume",
    default="",
    metavar="RECORD",
    shell_complete=options.complete_record,
    help="Go on with a run that was interrupted or killed; `last` is the newest record.",
)
@click.option(
    "--budget",
    default=budget.DEFAULT,
    show_default=True,
    type=options.Duration(),
    help="How long the run may take by its estimate, as `90min` or `48h`; else it is refused.",
)
@click.option("--failed", is_flag=True, help="Run only what did not pass in the last run.")
@click.option(
    "--again", is_flag=True, help="Run all cases, also those whose results a record has unchanged."
)
@click.option("--watch", is_flag=True, help="Run what has changed whenever a file is saved.")
@click.option("-x", "--exit-first", is_flag=True, help="Stop at the first case that does not pass.")
@click.option("--keep-going", is_flag=True, help="Continue with repeats after a failed `require`.")
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Print a line for each case, tables with all rows, and each failure in full.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print only what did not pass, and the summary.")
@click.option("--no-progress", is_flag=True, help="Show no progress line.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever the verdicts are.")
def run(**asked: Any) -> None:
    """Run tests and judge them. Keeps a record and prints the path of the report."""
    asked |= asked["on"]
    _refuse_contradictions(asked)
    if asked["watch"]:
        from qospec.cli.watching import watch

        watch(loading.list_files(asked["paths"]))
    resumed = resuming.open_record(asked["resume"], asked["record"]) if asked["resume"] else None
    asked |= {} if resumed is None else resuming.read_options(*resumed)
    root = Path(asked["record"] or loading.find_project_folder(asked["paths"], "records"))
    asked |= _find_failed(root) if asked["failed"] else {}
    request = loading.make_request(asked)
    cluster = _begin_workers(asked, request)  # first: it takes long

    check_formats(options.with_html(asked["formats"]))
    _check_chunk()
    _give_notices(request.backend)
    selected = loading.select_request(request)
    asked["described"] = _describe_backend(request.backend)
    unchanged = _find_unchanged(asked, request, selected.suite, root)
    if unchanged.whole is not None:
        ended = _show_unchanged(asked, request, selected, unchanged.whole)
    else:
        ended = _run_changed(asked, request, selected, unchanged, (cluster, resumed, root))
    if request.as_json:
        output.say_json(ended.document)
    else:
        ended.console.print_summary(ended.document, ended.foreseen)
        output.say(*(f"report: {page}" for page in ended.pages))
    has_reports = write_all(ended.record, ended.document, ended.formats, quiet=request.as_json)
    _print_end(ended, quiet=request.as_json)
    code = exits.choose_exit_code(ended.document)
    if code != exits.INTERRUPTED:
        code = exits.ERROR if not has_reports else exits.PASSED if asked["exit_zero"] else code
    sys.exit(code)


class _Ended(NamedTuple):
    """A run that has ended.

    Attributes:
        document: The outcome.
        record: Where it is kept.
        planned: How many cases all parts have together.
        console: What tells of it.
        formats: The reports to write.
        foreseen: The criteria that were warned of.
        pages: The reports that there are.
    """

    document: Document
    record: store.Record
    planned: int
    console: Console
    formats: tuple[str, ...]
    foreseen: Container[tuple[str, str]] = ()
    pages: tuple[Path, ...] = ()


def _show_unchanged(
    asked: Mapping[str, Any],
    request: loading.Request,
    selected: loading.Selected,
    whole: tuple[store.Record, Document],
) -> _Ended:
    """Show the record that a run would make once more, in place of running anything."""
    from qospec.report.format import find_extension

    record, document = whole
    loading.report(selected.problems, as_json=request.as_json)
    loading.note_endless(selected.suite)
    cases = [(test.name, case) for test in selected.suite.tests for case in test.cases]
    console = _make_console(asked, request, selected, cases)
    for case in document["cases"]:
        console.note_kept(case)
    formats = options.with_html(asked["formats"])
    page = f"report.{find_extension('html')}"
    is_there = record.has_report(page)
    pages = (record.folder / page,) if is_there else ()
    return _Ended(document, record, len(cases), console, formats[is_there:], pages=pages)


def _run_changed(
    asked: Mapping[str, Any],
    request: loading.Request,
    selected: loading.Selected,
    unchanged: Unchanged,
    at: tuple[Cluster | None, Resumed, Path],
) -> _Ended:
    """Run the cases that have no result yet, at a cluster or here, and keep the others."""
    from qospec.cli.progress import Progress, measure_workload
    from qospec.judge import evidence

    cluster, resumed, root = at
    plans = loading.plan_selected(request, selected)
    chosen = plans if asked["part"] is None else asked["part"].choose(plans)
    done = resumed[1].done if resumed else unchanged.done
    names = {case["name"] for case in done}
    own = [plan for plan in chosen if plan.case.name not in names]
    workers = len(cluster.workers) if cluster else asked["jobs"]
    limits = {"budget_s": asked["budget"], "jobs": workers, "here": asked["jobs"]}
    least_s = _estimate_real_time_s(request.backend, own)
    planned_s = budget.keep(selected.suite, own, root, **limits, least_s=least_s)
    wanted = not asked["no_progress"]
    work = measure_workload(own)
    progress = Progress(work, live=wanted, reports=wanted, planned_s=planned_s)
    cases = [(plan.test, plan.case) for plan in (own if resumed else chosen)]
    console = _make_console(asked, request, selected, cases, progress)
    for case in unchanged.done:
        console.note_kept(case)
    more = {name: asked[name] for name in ("jobs", "part", "exit_first")}
    more |= {"assemble": cluster.assemble if cluster else None, "notices": console.make_notices()}
    assignment = _make_run_request(request, selected.suite, plans, asked["described"])
    document, kept = _execute(replace(assignment, **more), root, resumed, console, unchanged)
    formats = options.with_html(asked["formats"])
    return _Ended(document, kept, len(plans), console, formats, evidence.list_foreseen(own))


def _make_console(
    asked: Mapping[str, Any],
    request: loading.Request,
    selected: loading.Selected,
    cases: Sequence[tuple[str, Case]],
    progress: Progress | None = None,
) -> Console:
    """Return what tells of these cases, each with the name of its test."""
    from qospec.cli.terminal import Console, list_cases_in_tables, make_local_names

    return Console(
        len(cases),
        quiet=request.as_json,
        progress=progress,
        here=make_local_names(request, selected.suite),
        tables=list_cases_in_tables(cases),
        verbose=asked["verbose"],
        brief=asked["quiet"],
    )


def _refuse_contradictions(asked: Mapping[str, Any]) -> None:
    """End the command if options exclude each other."""
    several = asked["jobs"] > 1
    excluding = [("quiet", "verbose"), ("resume", "again"), ("resume", "watch"), ("watch", "again")]
    for one, other in (*excluding, *([("jobs", "place")] if several else [])):
        if asked[one] and asked[other]:
            names = {"quiet": "-q", "verbose": "-v", "jobs": "-j", "place": "--on"}
            first, second = (names.get(name, f"--{name}") for name in (one, other))
            raise click.UsageError(f"{first} and {second} exclude each other")
    if (several or asked["place"]) and _is_device(asked["backend"]):
        other = "-j" if several else f"dask://{asked['place']}"
        raise click.UsageError(
            f"{other} and --on {asked['backend']} exclude each other: a generator carries out one"
            " trial at a time"
        )


def _find_backend(name: str) -> Backend | None:
    """Return a back end; None for the emulation, for which no other is imported."""
    from qospec.backend import find_backend

    return find_backend(name) if name else None


def _estimate_real_time_s(name: str, plans: Sequence[CasePlan]) -> float:
    """Return how long the trials of cases take on a back end whatever computes; 0 if nothing."""
    backend = _find_backend(name)
    if backend is None:
        return 0
    costs = [plan.cost for plan in plans]
    trials, trials_ps = (sum(numbers) for numbers in zip(*costs, strict=True)) if costs else (0, 0)
    return backend.estimate_time_s(trials, trials_ps)


def _is_device(name: str) -> bool:
    """Return whether a back end, "" for the emulation, sends to a real device."""
    backend = _find_backend(name)
    return backend is not None and backend.is_device


def _is_repeatable(name: str) -> bool:
    """Return whether trials on a back end, "" for the emulation, come out the same again."""
    backend = _find_backend(name)
    return backend is None or backend.repeats


def _begin_workers(asked: Mapping[str, Any], request: loading.Request) -> Cluster | None:
    """Begin to load what several processes need; return the cluster that is asked for."""
    if asked["place"]:
        return joining.join(asked["place"])
    if asked["jobs"] > 1:
        from qospec.run.crews import processes

        processes.load(loading.list_files(request.paths), request.texts)
    return None


def _find_unchanged(
    asked: Mapping[str, Any], request: loading.Request, suite: Suite, root: Path
) -> Unchanged:
    """Return the results in the records of a folder that hold, and say of how many cases."""
    from qospec.cli.reusing import Unchanged, Wanted, find_unchanged
    from qospec.record import store
    from qospec.run.provenance import describe_provenance

    def note_problem(problem: str) -> None:
        output.say(f"note: {problem}: nothing is kept from it", err=True)

    is_own = not _is_repeatable(request.backend) or loading.has_programs(suite)
    if asked["again"] or asked["failed"] or asked["resume"] or is_own:
        # What a device, a machine or a program does follows from more than files.
        return Unchanged([], {})
    provenance = describe_provenance(
        suite,
        seed=request.seed,
        most_items=request.max_cells,
        keep_going=request.keep_going,
        settings=request.settings,
        backend=asked["described"],
    )
    wanted = Wanted(suite, provenance, asked["part"], only_calm=asked["exit_first"])
    try:
        found = find_unchanged(wanted, reversed(store.list_records(root)), note_problem)
    except store.RecordError as error:
        note_problem(str(error))
        return Unchanged([], {})
    if found.done:
        of = f"{len(found.done)} of {loading.count_things(len(wanted.list_names()), 'case')}"
        since = found.describe(root)
        output.say(f"{of} unchanged since {since}; `--again` runs all", err=True)
    return found


def _print_end(ended: _Ended, *, quiet: bool) -> None:
    """Print of a part what merges it, and of a run that was interrupted what goes on with it."""
    from qospec.record.parts import read_part

    part = read_part(ended.document)
    if part is not None and not quiet:
        of = loading.count_things(ended.planned, "case")
        cases = f"{len(ended.document['cases'])} of {of}"
        output.say(f"part {part}: {cases}; `qos merge` makes one record of all parts")
    if ended.document["state"] == "interrupted":
        output.say(f"go on: {resuming.write_command(ended.record)}", err=True)
    if not quiet and (unwritten := streams.find_stdout_failure()) is not None:
        output.say(f"warning: cannot write to stdout: {explain_failure(unwritten)}", err=True)


def _find_failed(root: Path) -> dict[str, Any]:
    """Return what asks for what did not pass in the last run, as that did unless told otherwise.

    What was not run did not pass. Ends the command if there is nothing of the kind.
    """
    from qospec.judge.verdict import PROBLEMS
    from qospec.record.outcome import list_files
    from qospec.record.store import RecordError

    last = loading.find_record(loading.LAST, root)
    try:
        outcome = last.read_outcome()
    except RecordError as error:
        exits.end_for_environment(str(error))
    way_out = "`qos run` without `--failed` runs all"
    if not outcome["cases"]:  # of a part, where there are more parts than cases
        output.say(
            f"nothing selected: the last record, {last.folder}, has no case: {way_out}", err=True
        )
        sys.exit(exits.NOTHING)
    files = list_files(outcome)
    failed = frozenset(
        (files[case["name"]], case["name"])
        for case in outcome["cases"]
        if case["verdict"] in PROBLEMS
    )
    asked = resuming.read_values(outcome, outcome["cases"][0])
    asked = {name: value for name, value in asked.items() if not resuming.is_given(name)}
    of = f"{len(failed)} of {loading.count_things(len(outcome['cases']), 'case')}"
    with_values = "".join(f", with `--set {value}`" for value in asked.get("settings", ()))
    output.say(f"{of} did not pass in {last.folder}{with_values}", err=True)
    if not failed:
        output.say(f"nothing selected: {way_out}", err=True)
        sys.exit(exits.NOTHING)
    return asked | {"only": failed}


def _check_chunk() -> None:
    chunk = os.environ.get("QOS_CHUNK", "1")
    try:
        if int(chunk) >= 1:
            return
    except ValueError:
        pass
    exits.end_for_user(f"QOS_CHUNK must be a whole number of cells, at least 1; it is `{chunk}`")


def _make_run_request(
    request: loading.Request, suite: Suite, plans: list[CasePlan], backend: Document
) -> RunRequest:
    from qospec.plan.plan import Bounds
    from qospec.run.runner import RunRequest

    return RunRequest(
        paths=tuple(loading.list_files(request.paths)),
        suite=suite,
        plans=plans,
        seed=request.seed,
        jobs=1,
        commands=request.write_rerun_commands(suite),
        bounds=Bounds(request.max_cells),
        settings=request.settings,
        texts=request.texts,
        keep_going=request.keep_going,
        backend=backend,
    )


def _give_notices(name: str) -> None:
    """Let a back end tell ahead of the run that it waits for another one."""
    if name:
        from qospec.cli.terminal import NOTICES
        from qospec.engine import kernel

        kernel.notices["waiting"] = NOTICES["waiting"]


def _describe_backend(name: str) -> Document:
    """Return what carries trials out; ends the command if it cannot be used here."""
    from qospec.backend import BackendError

    backend = _find_backend(name)
    try:
        described: Document = {**backend.describe(), **backend.measure()} if backend else {}
    except BackendError as error:
        exits.end_for_environment(f"--on {name}: {error}")
    return described


def _execute(
    assignment: RunRequest,
    root: Path,
    resumed: Resumed,
    console: Console,
    unchanged: Unchanged,
) -> tuple[Document, store.Record]:
    from qospec.record import store
    from qospec.run import runner, workers
    from qospec.run.workshop import StaleError

    if resumed is not None:
        resuming.verify_same(assignment, resumed[1])
    kept = resumed[0] if resumed else None
    try:
        if resumed is not None:
            return runner.resume(assignment, resumed[0], console, resumed[1]), resumed[0]
        kept = store.create(root, assignment.seed)
        return runner.execute(assignment, kept, console, unchanged.done, unchanged.timing), kept
    except StaleError as error:
        exits.end_for_environment(str(error))
    except (store.RecordError, workers.UnreachableError) as error:
        exits.say_error(str(error))
        if resumed is None and kept is not None and kept.has_begun():
            output.say(f"go on: {resuming.write_command(kept)}", err=True)
        sys.exit(exits.ERROR)


@click.command()
@options.paths
@options.match
@options.jobs
def warm(paths: tuple[str, ...], match: str, jobs: int) -> None:
    """Compile the kernels that specifications use. No test is run."""
    from qospec.plan.plan import Bounds
    from qospec.run import warming
    from qospec.run.workshop import Order, hash_sources

    request = loading.Request(paths, match, "0", options.MAX_CELLS, as_json=False)
    suite, plans = loading.plan_request(request)
    files = tuple(loading.list_files(paths))
    order = Order(files, hash_sources(suite.sources), request.seed, Bounds(request.max_cells))
    workshop = warming.WarmingWorkshop(order, plans)
    kinds = warming.select_distinct_jobs(plans, workshop)
    compiling_s = 0.0
    for number, result in enumerate(warming.warm_all(kinds, workshop, jobs), 1):
        compiling_s += result.compiling_s
        if result.compiling_s >= REPORTED_S:
            seconds = f"{result.compiling_s:.1f} s"
            output.say(f"{number}/{len(kinds)}: compiled for {seconds}", err=True)
    cases = loading.count_things(len(plans), "case")
    spent = f"{compiling_s:.1f} s" + (f", {jobs} processes together" if jobs > 1 else "")
    output.say(f"{cases} of {loading.count_things(len(kinds), 'kind')}: compiled for {spent}")
