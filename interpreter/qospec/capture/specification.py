"""The plan of a recorded case, from the texts that its record holds.

A record is all that is needed: files that have changed since, or are elsewhere, do not matter. Only
the library is that of the installed qospec, and has to be the same; and a record lacks the
`qos.lock` by which a project finds its packages, so a project that is at hand unchanged is used.
"""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from qospec.capture.error import CaptureError, list_names
from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.check.modules import files
from qospec.check.records.captures import find_replaced
from qospec.check.records.keys import NAMED_FILE
from qospec.dataclass import NamedTuple
from qospec.diagnostics import Problems, suggest_name
from qospec.engine.security.end import SecurityEnd
from qospec.plan.plan import Bounds, plan
from qospec.resources import STDLIB
from qospec.secret import WITHHELD, redact
from qospec.source import Source
from qospec.syntax.tokens import tokenize
from qospec.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.document import Document
    from qospec.model.checked import CheckedSuite
    from qospec.plan.plan import CasePlan
    from qospec.syntax.tokens import Tokens

LIBRARY = "std"
"""The first part of the recorded names of its files."""


class Recorded(NamedTuple):
    """A case of a record, planned again.

    Attributes:
        plan: Its plan.
        bounds: What a trial might cost.
        document: What the record holds of it.
        differences: In words, how this installation differs from the one that made the record,
            and what the record lacks.
    """

    plan: CasePlan
    bounds: Bounds
    document: Document
    differences: tuple[str, ...]


def rebuild_case(outcome: Document, name: str, folders: Sequence[Path] = ()) -> Recorded:
    """Return a case of an outcome; raises CaptureError if it cannot be run again.

    Args:
        outcome: Of the record.
        name: The case's.
        folders: Where the project may be at hand, or below.
    """
    document = _find_case(outcome, name)
    provenance = outcome["provenance"]
    if "backend" in provenance:
        raise CaptureError(
            f"the run was carried out on {provenance['backend']['name']}, whose trials are not run"
            " again here: run it on the emulation"
        )
    bounds = Bounds(provenance["limits"]["cells per trial"])
    test = next((test for test in outcome["tests"] if test["name"] == document["test"]), None)
    if test is None:
        raise CaptureError(f"the record is damaged: it has no test `{document['test']}`")
    place = document.get("place") or test["place"]
    file = place.rsplit(":", 2)[0]
    if file not in {source["name"] for source in provenance["sources"]}:
        raise CaptureError(f"the record is damaged: it does not hold the case's file `{file}`")
    found = _plan_recorded(provenance, file, name, bounds, folders)
    if replaced := find_replaced(found.case, provenance):
        raise CaptureError(
            f"the capture `{replaced}` is not what it was when the record was made: put it back"
        )
    differences = [*_list_differences(provenance), *_explain_withheld(found)]
    return Recorded(found, bounds, document, tuple(differences))


def _find_case(outcome: Document, name: str) -> Document:
    cases = {case["name"]: case for case in outcome["cases"]}
    if name not in cases:
        near = suggest_name(name, cases)
        hint = f"did you mean `{near}`?" if near else f"there are {list_names(list(cases))}"
        raise CaptureError(f"the record has no case `{name}`: {hint}")
    found: Document = cases[name]
    why = ""
    if found["verdict"] == "skip":
        why = f"it was skipped: {'; '.join(found['why'])}"
    elif found["errors"]:
        why = found["errors"][0]
    if why:
        raise CaptureError(f"`{name}` has no result that a capture could be compared with: {why}")
    return found


def _list_differences(provenance: Document) -> Iterator[str]:
    now = {
        "qospec": VERSION,
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
        "numba": importlib.metadata.version("numba"),
    }
    for name, version in now.items():
        if provenance[name] != version:
            yield f"the record was made with {name} {provenance[name]}, and this is {version}"


def _explain_withheld(found: CasePlan) -> Iterator[str]:
    """Say that keys are missing, if they are: a record holds none."""
    elements = (element.element for net in found.case.networks.values() for element in net.elements)
    keys = (key for element in elements if isinstance(element, SecurityEnd) for key in element.keys)
    if any(key is not None and key.is_withheld for key in keys):
        yield (
            "a record holds no keys, so others are drawn in their place; with the keys of the"
            " specification, run this in its project, unchanged"
        )


def _compare_library(sources: list[Document]) -> None:
    """Raise CaptureError if a file of the library is not as it was.

    Comments and blanks may have changed.
    """
    for source in sources:
        if not _is_of_library(source["name"]) or "text" not in source:
            continue
        path = _find_library_file(source["name"])
        now = path.read_text(encoding="utf-8") if path.is_file() else None
        difference = "it is gone" if now is None else _find_first_difference(source["text"], now)
        if difference:
            raise CaptureError(
                f"the library's `{source['name']}` is not what it was when the record was made:"
                f" {difference}; use the version of qospec that made it, or run the test again"
            )


def _find_first_difference(before: str, now: str) -> str:
    """Return where two texts first differ in more than comments and blanks; "" if nowhere."""
    if before == now:
        return ""
    was, became = (tokenize(Source("", text), Problems()) for text in (before, now))
    for index in range(max(len(was.kinds), len(became.kinds))):
        if _read_token(was, index) != _read_token(became, index):
            number, line = _read_line(was, index)
            return f"line {number} was `{line}` and is `{_read_line(became, index)[1]}`"
    return ""


def _read_token(tokens: Tokens, index: int) -> tuple[str, bool] | None:
    """Return a token and whether it opens a line; None beyond the last."""
    if index >= len(tokens.kinds):
        return None
    return tokens.read_text(index), tokens.opens_line(index)


def _read_line(tokens: Tokens, index: int) -> tuple[int, str]:
    """Return the number and the text of a token's line."""
    number, _ = tokens.source.find_position(tokens.starts[min(index, len(tokens.starts) - 1)])
    return number, tokens.source.read_line(number).strip()


def _plan_recorded(
    provenance: Document, file: str, case: str, bounds: Bounds, folders: Sequence[Path]
) -> CasePlan:
    checked = check_recorded(provenance, [file], folders)
    tests = tuple(
        replace(test, cases=tuple(test_case for test_case in test.cases if test_case.name == case))
        for test in checked.suite.tests
    )
    problems = Problems()
    chosen = checked.select(test for test in tests if test.cases)
    plans = plan(chosen, provenance["seed"], bounds, problems)
    if problems.errors or not plans:
        why = problems.errors[0].message if problems.errors else f"`{case}` is not in `{file}`"
        raise _explain_unusable(file, why)
    return plans[0]


def check_recorded(
    provenance: Document, names: Sequence[str], folders: Sequence[Path]
) -> CheckedSuite:
    """Return the suite of these files as a record holds them; raises CaptureError."""
    _compare_library(provenance["sources"])
    problems = Problems()
    with _provide_project(provenance["sources"], folders) as root:
        paths = [
            _find_library_file(name) if _is_of_library(name) else root / name for name in names
        ]
        checked = check(paths, discover(), problems)
    if problems.errors:
        raise _explain_unusable(", ".join(names), problems.errors[0].message)
    return checked


def _explain_unusable(files: str, why: str) -> CaptureError:
    return CaptureError(
        f"what the record holds of `{files}` cannot be run by itself: {why}; if it imports a"
        " package or sends a capture, be in its project, as it was when the record was made"
    )


@contextmanager
def _provide_project(sources: list[Document], folders: Sequence[Path]) -> Iterator[Path]:
    """Give the root of a project with these files: one at hand, or a copy that is removed after."""
    own = [source for source in sources if not _is_of_library(source["name"])]
    texts = {source["name"]: source["text"] for source in own if "text" in source}
    roots = [files.find_root(folder / "any") for folder in folders]
    found = next(
        (root for root in roots if all(_holds(root, *item) for item in texts.items())), None
    )
    if found is not None:
        yield found
        return
    with tempfile.TemporaryDirectory(prefix="qos-") as folder:
        root = Path(folder).resolve()
        (root / "qos.toml").touch()
        for name, text in texts.items():
            _put(root, name, NAMED_FILE.sub(rf"\1{WITHHELD}\1", text))
        for name in (source["name"] for source in own if "text" not in source):
            _copy(root, name, roots)
        yield root


def _is_of_library(name: str) -> bool:
    return PurePosixPath(name).parts[0] == LIBRARY


def _find_library_file(name: str) -> Path:
    return STDLIB.joinpath(*PurePosixPath(name).parts[1:])


def _copy(root: Path, name: str, roots: Sequence[Path]) -> None:
    """Copy a capture that is at hand below one of these roots, whatever it holds by now."""
    for folder in roots:
        path = files.resolve_links(folder / name)
        if files.is_file(path) and files.write_recorded_path(path, folder) == name:
            try:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, root / name)
            except OSError as error:
                raise CaptureError(f"cannot copy the capture `{name}`: {error}") from error
            return


def _holds(root: Path, name: str, text: str) -> bool:
    """Return whether a file of that name and text is below a root."""
    try:
        return files.write_recorded_path(files.resolve_links(root / name), root) == name and (
            redact((root / name).read_bytes().decode()) == text
        )
    except (OSError, UnicodeDecodeError):
        return False


def _put(root: Path, name: str, text: str) -> None:
    """Write a text of the record below a folder: its schema has no names that lead out of there."""
    file = root.joinpath(*PurePosixPath(name).parts)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    except (OSError, ValueError) as error:
        raise CaptureError(f"cannot write a copy of the record's `{name}`: {error}") from error
