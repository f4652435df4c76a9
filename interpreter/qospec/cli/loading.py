"""From what the user named to a checked suite or a plan; errors end the command."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from qospec.cli import exits, options, output
from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from qospec.cli.matching import Filter
    from qospec.diagnostics import Diagnostic, Edit, Problems
    from qospec.model.checked import CheckedSuite
    from qospec.model.suite import Case, Suite, Template, Test
    from qospec.plan.plan import CasePlan
    from qospec.record.store import Record
    from qospec.source import Span


LAST = "last"
"""Names the newest record; a folder of that name is `./last`."""

BASELINE = "baseline:"
"""Before the name of a baseline, where a record is named; `./baseline:…` is a folder."""

HOW_TO_USE = "run by tests that are built on it: `test NAME = TEMPLATE(…) on TOPOLOGY { … }`"
"""What to say of a template that was selected."""


class Request(NamedTuple):
    """What the user asked for: `PATH`, `PATH::test` or `PATH::case`, and options that narrow it."""

    paths: tuple[str, ...]
    match: str
    seed: str
    max_cells: int
    as_json: bool
    keep_going: bool = False
    settings: tuple[str, ...] = ()
    """Values that are set, each `name=value`."""
    texts: tuple[tuple[Path, str], ...] = ()
    """What they make of files, each with its path."""
    backend: str = ""
    """What carries trials out; "" for the emulation."""
    allow_programs: bool | None = None
    """Whether programs of the user's own may run; None where nothing is run."""
    only: frozenset[tuple[str, str]] | None = None
    """Cases by their file, as records have it, and their name; None for all."""

    def write_rerun_command(self, file: str, case: str) -> str:
        """Return the command that reruns one case of a file as this request did."""
        selection = f"{'./' if file.startswith('-') else ''}{file}::{case}"
        words = ["qos", "run", selection, "--seed", self.seed]
        if self.max_cells != options.MAX_CELLS:
            words += ["--max-cells", str(self.max_cells)]
        words += ["--keep-going"] * self.keep_going
        words += ["--on", self.backend] if self.backend else []
        words += [word for setting in self.settings for word in ("--set", setting)]
        return shlex.join(words)

    def write_rerun_commands(self, suite: Suite) -> dict[str, str]:
        """Return by case the command that reruns it, from the root of its project."""
        return {
            case.name: self.write_rerun_command(test.span.source.recorded_name, case.name)
            for test in suite.tests
            for case in test.cases
        }


class Named(Protocol):
    """What can be selected: something with a name, at a place."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def span(self) -> Span:
        """Return where it is declared."""


_Chosen = TypeVar("_Chosen", bound=Named)


class _Selection(NamedTuple):
    """A `PATH` or `PATH::name`. Without a name it selects all that the path contains."""

    path: str
    name: str

    @classmethod
    def from_path(cls, written: str) -> _Selection:
        path, _, name = written.partition("::")
        return cls(path, name)

    def contains(self, thing: Named) -> bool:
        return Path(thing.span.source.name).resolve().is_relative_to(Path(self.path).resolve())

    def selects(self, thing: Named, case: str = "") -> bool:
        return self.name in ("", thing.name, case) and self.contains(thing)


def make_request(asked: Mapping[str, Any]) -> Request:
    """Return what the options of a command ask for; ends it if a value cannot be set."""
    request = Request(**{name: asked[name] for name in Request._fields if name in asked})
    if not request.settings:
        return request
    from qospec.catalogue.kinds import discover
    from qospec.check import Checked
    from qospec.diagnostics import Problems

    problems = Problems()
    checked = Checked(list_files(request.paths), discover())
    texts = checked.replace_values(request.settings, problems)
    report(problems, as_json=request.as_json)
    return request._replace(texts=tuple(texts.items()))


def check_paths(
    paths: tuple[str, ...], problems: Problems, texts: Mapping[Path, str] | None = None
) -> CheckedSuite:
    """Return the suite of the files and folders named; of the project here if none is.

    `texts` are read in place of what files hold, by the paths of these.
    """
    from qospec.catalogue.kinds import discover
    from qospec.check import check

    return check(list_files(paths), discover(), problems, texts=texts)


def list_files(paths: tuple[str, ...]) -> list[Path]:
    """Return the files and folders named, each once."""
    return list(dict.fromkeys(Path(_Selection.from_path(path).path) for path in paths))


class Selected(NamedTuple):
    """The selected suite, the whole one that it is of, and what was found in that."""

    found: CheckedSuite
    whole: Suite
    problems: Problems

    @property
    def suite(self) -> Suite:
        """Return what is selected."""
        return self.found.suite


def select_request(request: Request) -> Selected:
    """Return the selected suite; ends the command if there is an error in the files.

    So it does if the back end cannot carry something out, whether it can be used here or not.
    """
    from qospec.diagnostics import Problems

    problems = Problems()
    found = _check_request(request, problems)
    chosen = found._replace(suite=_select_cases(found.suite, request))
    allows = request.allow_programs
    verify_backend(request.backend, chosen.suite, problems, runs=True, allows=allows)
    if problems.errors:
        report(problems, as_json=request.as_json)
    return Selected(chosen, found.suite, problems)


def plan_request(request: Request, *, runs: bool = True) -> tuple[Suite, list[CasePlan]]:
    """Return the selected suite and its plan; ends the command if there is nothing in it.

    If it `runs`, what cannot be executed yet ends the command too.
    """
    selected = select_request(request)
    return selected.suite, plan_selected(request, selected, runs=runs)


def plan_selected(request: Request, selected: Selected, *, runs: bool = True) -> list[CasePlan]:
    """Return the plan of what is selected, as of `plan_request`."""
    from qospec.judge import evidence
    from qospec.plan.plan import Bounds, plan

    suite, whole, problems = selected.suite, selected.whole, selected.problems
    all_of_it = _count_cases(suite) == _count_cases(whole)
    bounds = Bounds(request.max_cells)
    plans = plan(selected.found, request.seed, bounds, problems, whole=all_of_it)
    for warning in evidence.warn_of_evidence(plans):
        problems.add(warning)
    report(problems, as_json=request.as_json)
    if runs:
        note_endless(suite)
    if not plans and (runs or not list_endless(suite)):
        if list_endless(suite):
            output.say("nothing to run", err=True)
            sys.exit(exits.NOTHING)
        output.say(f"nothing selected: {_explain_nothing(request, whole)}", err=True)
        sys.exit(exits.NOTHING)
    return list(plans)


def _count_cases(suite: Suite) -> int:
    return sum(len(test.cases) for test in suite.tests)


def verify_backend(
    name: str,
    suite: Suite,
    problems: Problems,
    *,
    runs: bool = False,
    allows: bool | None = None,
) -> None:
    """Report what a back end, "" for the emulation, cannot carry out of the cases of a suite.

    If it `runs`, what it cannot carry out here is reported too. Programs of the user count unless
    `allows` is None: it says whether the user lets them run.
    """
    from qospec.backend import EMULATION, find_backend, verify_programs

    launches = allows is not None and has_programs(suite)
    backend = find_backend(name or EMULATION) if name or launches else None
    if backend is not None:
        for test in suite.tests:
            for case in test.cases:
                if not case.skip:
                    backend.verify(case, test.span, problems)
                    if launches:
                        verify_programs(backend, case, test.span, problems, allowed=bool(allows))
                    if runs and not problems.errors:
                        backend.verify_here(case, test.span, problems)


def has_programs(suite: Suite) -> bool:
    """Return whether a case of a suite has a program of the user's own."""
    cases = (case for test in suite.tests for case in test.cases if not case.skip)
    return any(flow.traffic.is_program for case in cases for flow in case.flows)


def check_request(request: Request) -> Suite:
    """Return the selected suite without a plan; ends the command if there is no case in it."""
    from qospec.diagnostics import Problems

    whole = _check_request(request, Problems()).suite
    suite = _select_cases(whole, request)
    if not suite.tests:
        output.say(f"nothing selected: {_explain_nothing(request, whole)}", err=True)
        sys.exit(exits.NOTHING)
    return suite


def _check_request(request: Request, problems: Problems) -> CheckedSuite:
    """Return the whole suite of a request; ends the command if there is an error in it."""
    found = check_paths(request.paths, problems, dict(request.texts))
    if problems.errors:
        report(problems, as_json=request.as_json)
    return found


def _explain_nothing(request: Request, suite: Suite) -> str:
    if suite.tests or suite.properties:
        if request.only is None:
            return f"no case matches `{request.match}`"
        return "no case here is among those of the record"
    names = " ".join(template.name for template in suite.templates)
    return f"there are only templates ({names}), {HOW_TO_USE}" if names else "there are no tests"


def note_endless(suite: Suite) -> None:
    """Say what examines each property and test that has no end of values."""
    for note in list_endless(suite):
        output.say(f"note: {note}", err=True)


def list_endless(suite: Suite, name: str = "") -> list[str]:
    """Return of each property and test that has no end of values what examines it.

    `name` leaves out all but those of that name.
    """
    found: list[tuple[str, Named]] = [
        ("property", stated) for stated in suite.properties if stated.cases is None
    ]
    found += [("test", drawn_test) for drawn_test in suite.drawn]
    return [
        f"the {noun} `{drawn.name}` draws from a range or cells: "
        f"examine it with `qos fuzz {drawn.span.source.name}::{drawn.name}`"
        for noun, drawn in found
        if name in ("", drawn.name)
    ]


def verify_named(paths: tuple[str, ...], suite: Suite) -> None:
    """End the command if a path selects a name that nothing in the suite has."""
    named: list[tuple[Named, str]] = [(stated, "") for stated in suite.properties]
    named += [(drawn_test, "") for drawn_test in suite.drawn]
    named += [(test, case.name) for test in suite.tests for case in test.cases]
    selections = [_Selection.from_path(path) for path in paths]
    _verify(selections, named, suite.templates, "test, case or property")


def _select_cases(suite: Suite, request: Request) -> Suite:
    matches = _parse_case_filter(request.match)
    selections = [_Selection.from_path(path) for path in request.paths]
    verify_named(request.paths, suite)

    def select_cases(test: Test) -> tuple[Case, ...]:
        here = [one for one in selections if one.contains(test)]  # asks the disk: once for all
        names = {one.name for one in here}
        file = test.span.source.recorded_name
        return tuple(
            case
            for case in test.cases
            if (not selections or names & {"", test.name, case.name})
            and matches(case.name)
            and (request.only is None or (file, case.name) in request.only)
        )

    tests = (replace(test, cases=select_cases(test)) for test in suite.tests)

    def is_named(thing: Named) -> bool:
        chosen = not selections or any(s.selects(thing) for s in selections)
        return not request.match and request.only is None and chosen

    properties = tuple(filter(is_named, suite.properties))
    drawn = tuple(filter(is_named, suite.drawn))
    chosen = tuple(test for test in tests if test.cases)
    return replace(suite, tests=chosen, properties=properties, drawn=drawn)


def select_things(paths: tuple[str, ...], things: Sequence[_Chosen], what: str) -> list[_Chosen]:
    """Return the things that paths select, all if there is no path; ends the command if one misses.

    `what` says what there is to select, for people.
    """
    selections = [_Selection.from_path(path) for path in paths]
    _verify(selections, [(thing, "") for thing in things], (), what)
    if not selections:
        return list(things)
    return [thing for thing in things if any(one.selects(thing) for one in selections)]


def _verify(
    selections: Sequence[_Selection],
    named: Sequence[tuple[Named, str]],
    templates: Sequence[Template],
    what: str,
) -> None:
    """End the command if there is a selection of a name that nothing has."""
    from qospec.diagnostics import suggest_name

    missed = [s for s in selections if s.name and not any(s.selects(*name) for name in named)]
    for selection in missed:
        if any(selection.selects(template) for template in templates):
            words = f"`{selection.name}` is a template, {HOW_TO_USE}"
            output.say(f"nothing selected: {words}", err=True)
            continue
        words = f"no {what} of {selection.path} is named `{selection.name}`"
        near = suggest_name(selection.name, _list_candidates(selection, named))
        words += f": did you mean `{near}`?" if near else ""
        output.say(f"nothing selected: {words}", err=True)
    if missed:
        sys.exit(exits.NOTHING)


def _parse_case_filter(match: str) -> Filter:
    from qospec.cli.matching import MatchError, parse_filter

    try:
        return parse_filter(match)
    except MatchError as error:
        exits.end_for_user(f"-k `{match}`: {error}")


def find_project_folder(paths: tuple[str, ...], name: str) -> Path:
    """Return a folder in the root of the project that the first path is of, or else here."""
    from qospec.check.modules import files

    path = Path(paths[0].partition("::")[0] if paths else ".")
    root = files.find_root(path / "any" if path.is_dir() else path)
    below = root if files.is_there(root / "qos.toml") else Path.cwd()
    return Path(files.shorten_path(below / name))


def find_baseline(name: str) -> Path:
    """Return the folder of a baseline of the project here, be there one or not."""
    return find_project_folder((), "baselines") / name


def find_record(written: str, root: Path | None = None) -> Record:
    """Return the record of a folder; of `last` the newest one in `root`, by default the project's.

    `baseline:NAME` names a baseline. Ends the command if there is none, or if a file of it is not
    as it was written.
    """
    from qospec.record.store import Record, RecordError, find_last

    below = root or find_project_folder((), "records")
    try:
        folder = Path(written)
        if written.startswith(BASELINE):
            folder = find_baseline(written.removeprefix(BASELINE))
        found = find_last(below) if written == LAST else Record(folder)
        if found is None:
            exits.end_for_user(f"`{below}` holds no record yet: `qos run` makes one")
        if not found.folder.is_dir():
            made = "; `qos baseline list` lists baselines" * written.startswith(BASELINE)
            exits.end_for_user(f"no record found at `{found.folder}`{made}")
        found.verify()
    except RecordError as error:
        exits.end_for_environment(str(error))
    return found


def _list_candidates(selection: _Selection, named: Iterable[tuple[Named, str]]) -> Iterator[str]:
    """Yield what may be selected of a file, tests ahead of cases."""
    held = [(thing, case) for thing, case in named if selection.contains(thing)]
    yield from dict.fromkeys(thing.name for thing, _ in held)
    yield from (case for _, case in held if case)


def report(problems: Problems, *, as_json: bool, hint: str = "") -> None:
    """Report everything that was found, and end the command if any of it is an error."""
    if as_json and problems.errors:
        output.say_json(describe_problems(problems))
    elif problems.all:
        show(problems.all)
        if hint:
            output.say(hint, err=True)
    if problems.errors:
        sys.exit(exits.WRONG)


def show(diagnostics: Sequence[Diagnostic]) -> None:
    """Print diagnostics for people, in colour if enabled."""
    from qospec.rendering import WIDEST, render_all

    width = output.find_width(err=True, widest=WIDEST)
    output.say_text(render_all(diagnostics, colour=True, width=width), err=True)


def describe_problems(problems: Problems) -> dict[str, Any]:
    """Return what was found as a document for programs."""
    return {"schema": 1, "diagnostics": [_describe_diagnostic(problem) for problem in problems.all]}


def _describe_diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    line, column = diagnostic.span.source.find_position(diagnostic.span.start)
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "file": diagnostic.span.source.name,
        "line": line,
        "column": column,
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
        "fix": [_describe_edit(edit) for edit in _describe_fix(diagnostic)],
    }


def _describe_fix(diagnostic: Diagnostic) -> tuple[Edit, ...]:
    """Return the edits that mend a mistake; none if they would show a key."""
    if not diagnostic.fix:
        return ()
    from qospec.repair import find_edits

    fix = find_edits(diagnostic)
    shows = any(edit.span.source.without_keys(edit.text) != edit.text for edit in fix)
    return () if shows else fix


def _describe_edit(edit: Edit) -> dict[str, Any]:
    source = edit.span.source
    line, column = source.find_position(edit.span.start)
    end_line, end_column = source.find_position(edit.span.end)
    return {
        "file": source.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "text": edit.text,
    }


def count_things(number: int, thing: str, things: str = "") -> str:
    """Return a number of things in words: `1 case`, `2 cases`; `things` of many, if irregular."""
    return f"{number} {thing if number == 1 else things or thing + 's'}"
