"""Wrong devices, and copies of suites that import them in place of those that they test."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SUITES = HERE / "suites"
DEVICES = HERE / "wrong_devices"
LIBRARY = HERE.parent / "stdlib"


class Wrong(NamedTuple):
    """A wrong device, and how a suite notices it.

    Attributes:
        device: Its module below this folder; the first part is the folder of the suite.
        replaces: The module that it stands for, as the suite imports it.
        suite: The suite's file.
        cases: The names of the cases that are run; none passes.
        criteria: The labels of criteria that fail, each in at least one of the cases.
        undecided: Those that are inconclusive where the right device passes: if all repeats of a
            wrong one are alike, nothing shows with a confidence what rare ones would.
        changes: Passages of what it replaces, each with what stands in its place, for a device that
            has no file of its own.
        statements: Of the publication, by number: those that it fails.
    """

    device: str
    replaces: str
    suite: str
    cases: tuple[str, ...]
    criteria: set[str]
    undecided: frozenset[str] = frozenset()
    changes: Mapping[str, str] = {}
    statements: tuple[str, ...] = ()


def copied(work: str, project: Path) -> Path:
    """Copy a folder of suites and its wrong devices into a project; return that of the suites."""
    (project / "qos.toml").write_text('[project]\nname = "copy"\nedition = 1\n', encoding="utf-8")
    shutil.copytree(DEVICES / work, project / "testcases" / "wrong_devices" / work)
    return Path(shutil.copytree(SUITES / work, project / "testcases" / "suites" / work))


def replace_device(folder: Path, replaces: str, device: str) -> None:
    """Import the module of a wrong device where the suites of a folder import another."""
    replaced = 0
    for path in folder.glob("*.qos"):
        text = path.read_text(encoding="utf-8")
        new = with_import(text, replaces, f"testcases.wrong_devices.{device}")
        path.write_text(new, encoding="utf-8")
        replaced += new != text
    assert replaced, f"no file of {folder.name} imports {replaces}"


def write_changed(folder: Path, replaces: str, device: str, changes: Mapping[str, str]) -> None:
    """Write a wrong device's module: what it replaces, with passages changed that occur once."""
    inside = replaces.removeprefix("std.")
    where = folder if inside == replaces else LIBRARY
    text = where.joinpath(*inside.split(".")).with_suffix(".qos").read_text(encoding="utf-8")
    for old, new in changes.items():
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {replaces}"
        text = text.replace(old, new)
    work, name = device.split(".")
    target = folder.parents[1] / "wrong_devices" / work / f"{name}.qos"
    target.write_text(text, encoding="utf-8")


def with_import(text: str, old: str, new: str) -> str:
    """Return a file that imports `new` where it imported `old`, by the same name."""
    return re.sub(
        rf"^(import .*?)(?<![\w.]){re.escape(old)}(?![\w.])( as \w+)?",
        lambda found: f"{found[1]}{new}{found[2] or ' as ' + old.rpartition('.')[2]}",
        text,
        flags=re.MULTILINE,
    )
