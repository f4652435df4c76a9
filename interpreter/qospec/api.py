"""The Python interface: load, plan, run, read a record. What it offers is frozen by a test.

Names that begin with `_`, and all other modules, may change with any version.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import discover
from qospec.check import Checked, check
from qospec.check.modules.files import find_root
from qospec.cli import options
from qospec.cli.loading import Request
from qospec.cli.matching import MatchError, parse_filter
from qospec.dataclass import NamedTuple, dataclass
from qospec.diagnostics import Problems, SpecificationError
from qospec.record.store import Record, RecordError, create, find_last
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.model.checked import CheckedSuite
    from qospec.plan.plan import CasePlan

__all__ = [
    "BudgetError",
    "MatchError",
    "PlannedCase",
    "RecordError",
    "RecordedRun",
    "Specification",
    "SpecificationError",
    "load",
    "read_record",
]


class BudgetError(Exception):
    """A run would take longer than it may, by its estimate; the message says how long."""


class PlannedCase(NamedTuple):
    """What a case costs: its trials, how many cells or packets each sends, the emulated time.

    With searches, each is the most that it may be.
    """

    name: str
    trials: int
    items: int
    emulated_s: Fraction


def load(*paths: str | Path, settings: Sequence[str] = ()) -> Specification:
    """Return the specification in files and folders; without one, in the project of this folder.

    Args:
        paths: Files, or folders with all specifications below them.
        settings: Other values of `let`, each `name=value`, as `qos run --set` takes them.

    Raises:
        SpecificationError: There are mistakes in it; it has a diagnostic for each.
    """
    files = tuple(Path(path) for path in paths)
    problems, texts = Problems(), dict[Path, str]()
    if settings:
        texts = Checked(files, discover()).replace_values(settings, problems)
    checked = check(files, discover(), problems, texts=texts)
    problems.raise_errors()
    return Specification(checked, files, tuple(settings), tuple(texts.items()))


@dataclass(frozen=True)
class Specification:
    """Tests without a mistake, from `load`."""

    _checked: CheckedSuite
    _paths: tuple[Path, ...]
    _settings: tuple[str, ...]
    _texts: tuple[tuple[Path, str], ...]

    @property
    def cases(self) -> tuple[str, ...]:
        """Return the names of all cases, in order."""
        return tuple(case.name for test in self._checked.suite.tests for case in test.cases)

    def plan(self, *, match: str = "", seed: str = "0") -> tuple[PlannedCase, ...]:
        """Return what the cases would cost whose names match, as `qos run -k` selects them.

        Raises:
            SpecificationError: Something cannot be run: there is no path, or a line is overloaded.
            MatchError: The selection cannot be read.
        """
        return tuple(
            PlannedCase(
                planned.case.name,
                planned.trials,
                planned.cells,
                Fraction(planned.cost.emulated_ps, PS_PER_S),
            )
            for planned in self._plan(match, seed)[1]
        )

    def run(
        self,
        *,
        match: str = "",
        seed: str = "0",
        jobs: int = 1,
        records: str | Path = "records",
        budget_s: float | None = None,
    ) -> RecordedRun:
        """Run the cases whose names match, and return the record, which is in a new folder.

        Args:
            match: As of `qos run -k`.
            seed: The root of all random draws, a number or a text.
            jobs: How many processes. The result does not depend on it. With more than one, the
                calling program must be a module that can be imported, as for multiprocessing.
            records: The folder of all records.
            budget_s: How long the run may take by its estimate, in s; None: as long as it takes.

        Raises:
            BudgetError: It would take longer; nothing was run.
            SpecificationError: As of `plan`.
            MatchError: As of `plan`.
            RecordError: The record cannot be written, or files were changed since `load`, of which
                only more than one process can tell.
        """
        from qospec.cli.progress import Progress, measure_workload
        from qospec.cli.terminal import Console
        from qospec.plan.plan import Bounds
        from qospec.run import runner
        from qospec.run.crews import processes
        from qospec.run.workshop import StaleError

        if jobs > 1:
            processes.load(self._paths, self._texts)
        chosen, plans = self._plan(match, seed)
        if budget_s is not None and plans:
            _verify_budget(budget_s, chosen, plans, jobs)
        texts = tuple(str(path) for path in self._paths)
        request = Request(
            texts, match, seed, options.MAX_CELLS, as_json=False, settings=self._settings
        )
        kept = create(Path(records), seed)
        assignment = runner.RunRequest(
            suite=chosen.suite,
            plans=plans,
            seed=seed,
            jobs=jobs,
            commands=request.write_rerun_commands(chosen.suite),
            bounds=Bounds(options.MAX_CELLS),
            paths=self._paths,
            settings=self._settings,
            texts=self._texts,
        )
        progress = Progress(measure_workload(plans), live=False, reports=False)
        silent = Console(len(plans), quiet=True, progress=progress)
        try:
            return RecordedRun(kept.folder, runner.execute(assignment, kept, silent))
        except StaleError as error:
            raise RecordError(str(error)) from error

    def _plan(self, match: str, seed: str) -> tuple[CheckedSuite, Sequence[CasePlan]]:
        from qospec.plan.plan import Bounds, plan

        matches, problems = parse_filter(match), Problems()
        tests = [
            replace(test, cases=tuple(case for case in test.cases if matches(case.name)))
            for test in self._checked.suite.tests
        ]
        chosen = self._checked.select(test for test in tests if test.cases)
        plans = plan(chosen, seed, Bounds(options.MAX_CELLS), problems)
        problems.raise_errors()
        return chosen, list(plans)


def _verify_budget(
    budget_s: float, chosen: CheckedSuite, plans: Sequence[CasePlan], jobs: int
) -> None:
    """Raise BudgetError if cases take longer than that by their estimate."""
    from qospec.run.estimate import estimate_run

    takes_s = estimate_run(chosen.suite, plans).time_s / jobs
    if takes_s > budget_s:
        raise BudgetError(f"the run takes about {takes_s:.2g} s, and its budget is {budget_s:g} s")


def read_record(folder: str | Path = "last") -> RecordedRun:
    """Return a record; of `last`, the newest one of the project of this folder.

    Raises:
        RecordError: There is none, or it is not as it was written.
    """
    if folder == "last":
        records = find_root(Path("any")) / "records"
        found = find_last(records)
        if found is None:
            raise RecordError(f"`{records}` holds no record yet")
    else:
        found = Record(Path(folder))
    found.verify()
    return RecordedRun(found.folder, found.read_outcome())


@dataclass(frozen=True)
class RecordedRun:
    """The record of a run.

    Attributes:
        folder: Where it is.
        outcome: All that was found, as `docs/record.md` describes it.
    """

    folder: Path
    outcome: Mapping[str, Any]

    @property
    def verdict(self) -> str:
        """Return the worst verdict of all cases."""
        return str(self.outcome["verdict"])

    @property
    def verdicts(self) -> dict[str, str]:
        """Return the verdict of each case, by its name."""
        return {case["name"]: case["verdict"] for case in self.outcome["cases"]}

    def list_columns(self) -> dict[str, list[Any]]:
        """Return all metrics of all trials as columns of equal length, as a data frame takes them.

        They are `test`, `case`, `verdict`, `repeat` from 1, `flow`, `metric`, `value` as a float,
        `exact` as a Fraction, `unit`, and for each variable of a sweep its value, as text; one that
        has the name of another column gets a `_` behind it. What is not known is None.
        `pandas.DataFrame(run.list_columns())` is a frame.
        """
        cases = self.outcome["cases"]
        names = ("test", "case", "verdict", "repeat", "flow", "metric", "value", "exact", "unit")
        swept = dict.fromkeys(name for case in cases for name in case["parameters"])
        variables = {f"{name}_" if name in names else name: name for name in swept}
        columns: dict[str, list[Any]] = {name: [] for name in (*names, *variables)}
        for case in cases:
            for repeat, flows in enumerate(case.get("repeats", ()), 1):
                for flow, metrics in flows.items():
                    for metric, quantity in metrics.items():
                        exact = Fraction(quantity["value"]) if quantity else None
                        unit = quantity["unit"] if quantity else None
                        value = float(exact) if exact is not None else None
                        head = (case["test"], case["name"], case["verdict"], repeat, flow, metric)
                        for name, cell in zip(names, (*head, value, exact, unit), strict=True):
                            columns[name].append(cell)
                        for column, name in variables.items():
                            columns[column].append(case["parameters"].get(name))
        return columns
