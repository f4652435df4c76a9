"""The files that are open in an editor, each checked as it is there.

What is wrong in a file is found by checking all of it. That takes longer than between two keys, so
ahead of it the declaration that was edited is checked alone. What is asked of a place needs to be
answered as soon, so for that only the declaration around the place is checked, too, with what it
uses, and one case of each test. What a file imports is kept between checks.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.check import Checked, Limits
from qospec.check.evaluate.context import CheckError
from qospec.check.modules.files import (
    find_root,
    is_of_library,
    is_there,
    list_specifications,
    resolve_links,
)
from qospec.dataclass import NamedTuple
from qospec.diagnostics import Problems
from qospec.judge.evidence import examine
from qospec.language_server.glance import Known, find_change, has_syntax, merge
from qospec.language_server.names import Names
from qospec.plan.offered import MOST_ITEMS
from qospec.reference.declarations import Declarations
from qospec.yaml_twin.form import is_specification, is_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.check.modules.loader import Unit
    from qospec.diagnostics import Diagnostic
    from qospec.model.checked import CheckedSuite

QUICK = Limits(sampled=1)
"""Of each test one case, which is enough to know what its names mean."""
State = tuple[int, int] | str | None
"""Of a file, its text if it is open, else when it was changed and its size; None: it is gone."""


class View(NamedTuple):
    """What is known of a place in a file: the file, if it can be read, names, declarations."""

    unit: Unit | None
    names: Names
    declarations: Declarations


class _Base:
    """What is kept between the checks of a file: what it imports, while that stays as it is."""

    def __init__(self, texts: Mapping[Path, str], limits: Limits) -> None:
        self.checked = Checked(None, discover(), limits=limits, texts=texts, notes_names=True)
        self.imported: dict[Path, State] = {}
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self.known: Known | None = None

    def check(
        self, path: Path, text: str, problems: Problems, around: int | None = None
    ) -> CheckedSuite | None:
        """Return the suite of a text as if it were a file; None if that cannot be read."""
        self.checked.read = ()
        self.checked.evaluator.context.names = {}
        try:
            return self.checked.check(text, path, problems, around=around)
        except CheckError as mistake:  # in the project that the file is of
            problems.add(mistake.diagnostic)
            return None

    def list_read(self, path: Path) -> list[Unit]:
        """Return the file that was checked last, and all that it imports; none if it is no file."""
        own = [unit for unit in self.checked.read if unit.path == path]
        return own[0].list_with_imports() if own else []


class Session:
    """The open files, by their paths with links resolved.

    `diagnose` and `diagnose_declaration` may be called in another thread than all else, so
    dictionaries are copied first.
    """

    def __init__(self) -> None:
        self.texts: dict[Path, str] = {}
        self._bases: dict[tuple[Path, Limits], _Base] = {}
        self._views: dict[Path, tuple[str, int, View]] = {}

    def close(self, path: Path) -> None:
        """Forget a file."""
        self.texts.pop(path, None)
        self._views.pop(path, None)
        for key in [key for key in list(self._bases) if key[0] == path]:
            self._bases.pop(key, None)

    def is_ours(self, path: Path) -> bool:
        """Return whether an open file is a specification: a YAML file may be anything."""
        text = self.texts.get(path)
        return text is not None and (not is_yaml(path.name) or is_specification(text))

    def diagnose(self, path: Path, text: str) -> tuple[Diagnostic, ...]:
        """Return the mistakes in a file, and in those that it imports."""
        base, problems = self._find_base(path, Limits()), Problems()
        suite = base.check(path, text, problems)
        if suite is not None and not problems.errors:
            examine(suite, problems, MOST_ITEMS)
        units = base.list_read(path)
        base.imported = {unit.path: self._read_state(unit.path) for unit in units[1:]}
        own = [unit.source for unit in units[:1]]
        mine = [problem for problem in problems.all if problem.span.source in own]
        # What is imported is checked once, and kept.
        base.diagnostics += tuple(problem for problem in problems.all if problem not in mine)
        # A text that cannot be read tells nothing of the rest: what was known stays for the next.
        if base.known is None or not has_syntax(mine):
            base.known = Known(text, tuple(mine))
        return (*mine, *base.diagnostics)

    def diagnose_declaration(self, path: Path, text: str) -> tuple[Diagnostic, ...] | None:
        """Return the mistakes as far as the declaration shows them that was edited.

        None if that does not tell, or nothing is known of the others. It takes little longer than
        to parse the file.
        """
        base, problems = self._find_base(path, Limits()), Problems()
        if base.known is None:
            return None
        if base.known.text == text:  # again, after something that could not be read
            return (*base.known.found, *base.diagnostics)
        change = find_change(base.known.text, text)
        base.check(path, text, problems, change.start)
        units = base.list_read(path)
        if not units or any(unit.path not in base.imported for unit in units[1:]):
            return None
        found = merge(base.known, change, units[0], problems.all)
        return None if found is None else (*found, *base.diagnostics)

    def view(self, path: Path, offset: int) -> View:
        """Return what is known of a place."""
        base = self._find_base(path, QUICK)
        text, start, view = self._views.get(path, ("", 0, None))
        if view is not None and (text, start) == (self.texts[path], offset):
            return view
        base.check(path, self.texts[path], Problems(), offset)
        units = base.list_read(path)
        base.imported = {unit.path: self._read_state(unit.path) for unit in units[1:]}
        evaluator = base.checked.evaluator
        names = Names(units, evaluator.context.names or {})
        made = View(
            units[0] if units else None, names, Declarations(units, base.checked.scopes, evaluator)
        )
        self._views[path] = self.texts[path], offset, made
        return made

    def try_text(self, path: Path, text: str, offset: int) -> None:
        """Check a text in place of that of a file, for what the checker asks meanwhile."""
        self._find_base(path, QUICK).check(path, text, Problems(), offset)

    def check_project(self, path: Path, word: str, texts: Mapping[Path, str]) -> Checked:
        """Return a file and those that may import it and have a word in them, checked.

        They are those of its project, or without one those that are open. `texts` are read in place
        of what files hold.
        """
        whole = {**self.texts, **texts}
        root = find_root(path)
        files: Sequence[Path] = [file for file in self.texts if self.is_ours(file)]
        if is_there(root / "qos.toml"):
            with suppress(CheckError):
                files = [*files, *map(resolve_links, list_specifications(root))]
        held = {file: _read(file, whole) for file in files}
        own = [file for file in _list_importing(path, held) if word in held.get(file, word)]
        return Checked(own, discover(), limits=QUICK, texts=whole, notes_names=True)

    def _find_base(self, path: Path, limits: Limits) -> _Base:
        """Return what was kept for a file if what it imports is as it was, else make it anew."""
        base = self._bases.get((path, limits))
        if base is None or any(self._read_state(p) != state for p, state in base.imported.items()):
            others = dict(self.texts)
            others.pop(path, None)
            base = self._bases[path, limits] = _Base(others, limits)
            self._views.pop(path, None)
        return base

    def _read_state(self, path: Path) -> State:
        if path in self.texts:
            return self.texts[path]
        if is_of_library(path):
            return None
        try:
            found = path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size


def _list_importing(path: Path, texts: Mapping[Path, str]) -> list[Path]:
    """Return a file, those that name it, as an import must, those that name these, and so on."""
    found = [path]
    for file in found:
        found += [
            other for other, text in texts.items() if file.stem in text and other not in found
        ]
    return found


def _read(path: Path, texts: Mapping[Path, str]) -> str:
    """Return the text of a file; "" of one that cannot be read."""
    if path in texts:
        return texts[path]
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
