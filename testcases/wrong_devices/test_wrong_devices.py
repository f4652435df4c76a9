"""Devices that contradict a publication, in its suite: none passes, and certain criteria fail.

A wrong device's module declares everything that the module it replaces does: the wrong device, and
the others unchanged. The suite runs in a project of its own, in which it imports that module in
place of the original.
"""

import re
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from wrong import WRONG, Wrong

from qospec.document import Document

HERE = Path(__file__).parent
SUITES = HERE.parent / "suites"

RunCases = Callable[[Path, Collection[str]], list[Document]]


def copied(work: str, project: Path) -> Path:
    """Copy a folder of suites and its wrong devices into a project; return that of the suites."""
    (project / "qos.toml").write_text('[project]\nname = "copy"\nedition = 1\n', encoding="utf-8")
    shutil.copytree(HERE / work, project / "testcases" / "wrong_devices" / work)
    return Path(shutil.copytree(SUITES / work, project / "testcases" / "suites" / work))


def with_import(text: str, old: str, new: str) -> str:
    """Return a file that imports `new` where it imported `old`, by the same name."""
    return re.sub(
        rf"^(import .*?)(?<![\w.]){re.escape(old)}(?![\w.])( as \w+)?",
        lambda found: f"{found[1]}{new}{found[2] or ' as ' + old.rpartition('.')[2]}",
        text,
        flags=re.MULTILINE,
    )


def labels(documents: Collection[Document], verdict: str) -> set[str]:
    return {
        statement["label"]
        for document in documents
        for statement in document["statements"]
        if statement["verdict"] == verdict
    }


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong.device}-{wrong.suite}")
def test_a_wrong_device_does_not_pass(wrong: Wrong, run_cases: RunCases, tmp_path: Path) -> None:
    work = wrong.device.partition(".")[0]
    folder = copied(work, tmp_path)
    replaced = 0
    for path in folder.glob("*.qos"):
        text = path.read_text(encoding="utf-8")
        new = with_import(text, wrong.replaces, f"testcases.wrong_devices.{wrong.device}")
        path.write_text(new, encoding="utf-8")
        replaced += new != text
    assert replaced, f"no file of {work} imports {wrong.replaces}"
    documents = run_cases(folder / wrong.suite, wrong.cases)
    undecided = {"inconclusive"} if wrong.undecided else set()
    assert {document["verdict"] for document in documents} <= {"fail"} | undecided
    assert labels(documents, "fail") >= wrong.criteria
    assert labels(documents, "inconclusive") >= wrong.undecided


RIGHT = {(wrong.device.partition(".")[0], wrong.suite): wrong.cases for wrong in WRONG}
"""Some cases of each suite: that the right device passes all of them, the suite itself shows."""


@pytest.mark.parametrize(("work", "suite"), RIGHT)
def test_in_a_project_of_its_own_the_right_device_passes(
    work: str, suite: str, run_cases: RunCases, tmp_path: Path
) -> None:
    cases = RIGHT[work, suite]
    documents = run_cases(copied(work, tmp_path) / suite, cases)
    assert [document["verdict"] for document in documents] == ["pass"] * len(cases)
