"""Checks and expands: from files to cases in which all but the measurements is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.builtins import BuiltIns
from qospec.check.evaluate.context import Context, LimitReached, Limits
from qospec.check.evaluate.evaluator import Evaluator
from qospec.check.modules.loader import Loader
from qospec.check.suite import suite
from qospec.model.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from qospec.catalogue.kinds import Catalogue
    from qospec.diagnostics import Problems

__all__ = ["Limits", "check"]

DEFAULT_LIMITS = Limits()


def check(
    paths: Sequence[Path],
    catalogue: Catalogue,
    problems: Problems,
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> Suite:
    """Return the suite of all files named and all `.qos` files below the folders named.

    Without a path: those that the project of the current folder names.
    Mistakes go to `problems`; the suite then has the cases without one.
    """
    context = Context(catalogue, problems, limits, BuiltIns(catalogue))
    try:
        return suite(Loader(context).load(paths), Evaluator(context))
    except LimitReached:
        return Suite((), (), ())
