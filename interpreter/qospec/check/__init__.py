"""Checks and expands: from files to cases in which all but the measurements is known."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.check.builtins import BuiltIns
from qospec.check.evaluate.context import Context, LimitReached, Limits
from qospec.check.evaluate.evaluator import Evaluator
from qospec.check.modules.loader import Loader
from qospec.check.overrides import replace_values
from qospec.check.suite import build_suite, collect_scopes
from qospec.diagnostics import Problems
from qospec.model.checked import CheckedSuite
from qospec.model.suite import Suite
from qospec.source import Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from qospec.catalogue.kinds import Catalogue
    from qospec.check.modules.loader import Unit

__all__ = ["Checked", "Limits", "check"]

DEFAULT_LIMITS = Limits()
NOTHING = CheckedSuite(Suite((), (), ()))


def check(
    paths: Sequence[Path],
    catalogue: Catalogue,
    problems: Problems,
    *,
    limits: Limits = DEFAULT_LIMITS,
    texts: Mapping[Path, str] | None = None,
) -> CheckedSuite:
    """Return the suite of all files named and all `.qos` files below the folders named.

    Without a path: those that the project of the current folder names.
    Mistakes go to `problems`; the suite then has the cases without one. `texts` are read in place
    of what files hold, by the paths of these.
    """
    context = Context(catalogue, problems, limits, BuiltIns(catalogue))
    try:
        units, evaluator = Loader(context, texts or {}).load(paths), Evaluator(context)
        return build_suite(units, collect_scopes(units, evaluator), evaluator)
    except LimitReached:
        return NOTHING


class Checked:
    """Files that were checked once, and texts that import them, each checked with no more work.

    Attributes:
        units: The files named, and those that they import.
        scopes: The names of each, by its path.
        evaluator: What evaluates expressions in them.
        problems: The mistakes in them.
        found: Their suite, with what makes its trials.
        read: The text that was checked last, behind those of its imports that were new.
    """

    def __init__(
        self,
        paths: Sequence[Path] | None,
        catalogue: Catalogue,
        *,
        limits: Limits = DEFAULT_LIMITS,
        texts: Mapping[Path, str] | None = None,
        notes_names: bool = False,
    ) -> None:
        """Check all files named and all `.qos` files below the folders named; None: no file.

        `texts` are read in place of what files hold, by the paths of these. If it `notes_names`,
        the evaluator's context has what each name means.
        """
        self.problems = Problems()
        context = Context(catalogue, self.problems, limits, BuiltIns(catalogue))
        context.names = {} if notes_names else None
        self._loader = Loader(context, texts or {})
        self.evaluator = Evaluator(context)
        self.units = () if paths is None else self._loader.load(paths)
        self.scopes = collect_scopes(self.units, self.evaluator)
        self.found = NOTHING
        self.read: tuple[Unit, ...] = ()
        with suppress(LimitReached):
            self.found = build_suite(self.units, self.scopes, self.evaluator)

    @property
    def suite(self) -> Suite:
        """Return their suite."""
        return self.found.suite

    def replace_values(self, settings: Sequence[str], problems: Problems) -> dict[Path, str]:
        """Return the texts of files in which values of `let` are replaced: each `name=value`.

        Mistakes go to `problems`: those of the files, if they have any.
        """
        with self.evaluator.context.check_apart() as found, suppress(LimitReached):
            texts = {}
            if not self.problems.errors:
                texts = replace_values(settings, self.units, self.scopes, self.evaluator)
            for problem in (*self.problems.errors, *found.all):
                problems.add(problem)
            return texts
        return {}

    def check(
        self, text: str, path: Path, problems: Problems, *, around: int | None = None
    ) -> CheckedSuite:
        """Return the suite of a text, which imports as if it were the file `path`.

        Its mistakes go to `problems`, with those of files that it is the first to import. Only the
        declaration `around` an offset is checked, if there is one, with what that uses.
        """
        context = self.evaluator.context
        with context.check_apart() as found:
            try:
                units = self.read = self._loader.read_text(Source(str(path), text), path)
                self.scopes = collect_scopes(units, self.evaluator, self.scopes)
                if around is not None:
                    units = tuple(_narrow(unit, around) for unit in units if unit.path == path)
                return build_suite(units, self.scopes, self.evaluator)
            except LimitReached:
                return NOTHING
            finally:
                for problem in found.all:
                    problems.add(problem)


def _narrow(unit: Unit, around: int) -> Unit:
    """Return a file with no declaration but the one around an offset."""
    tree = unit.tree
    if tree is None:
        return unit
    kept = (node for node in tree.declarations if node.span.start <= around <= node.span.end)
    return replace(unit, tree=replace(tree, declarations=tuple(kept)))
