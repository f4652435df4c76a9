"""Devices that contradict a publication, in its suite: none passes, and certain criteria fail.

A wrong device's module declares everything that the module it replaces does: the wrong device, and
the others unchanged. It is a file, or what it replaces with some passages changed. The suite runs
in a project of its own, in which it imports that module in place of the original.
"""

from collections.abc import Callable, Collection
from importlib import import_module
from pathlib import Path

import pytest
from night import is_night
from replacing import Wrong, copied, replace_device, write_changed
from wrong import osu
from wrong.eantc import KEY_AGREEMENT, change_servers

from qospec.document import Document

TABLES = sorted((Path(__file__).parents[1] / "wrong").glob("*.py"))
WRONG = [wrong for path in TABLES for wrong in import_module(f"wrong.{path.stem}").WRONG]

RunCases = Callable[[Path, Collection[str]], list[Document]]


def labels(documents: Collection[Document], verdict: str) -> set[str]:
    return {
        statement["label"]
        for document in documents
        for statement in document["statements"]
        if statement["verdict"] == verdict
    }


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong.device}-{wrong.suite}")
def test_a_wrong_device_does_not_pass(wrong: Wrong, run_cases: RunCases, tmp_path: Path) -> None:
    folder = copied(wrong.device.partition(".")[0], tmp_path)
    if wrong.changes:
        write_changed(folder, wrong.replaces, wrong.device, wrong.changes)
    replace_device(folder, wrong.replaces, wrong.device)
    documents = run_cases(folder / wrong.suite, wrong.cases)
    undecided = {"inconclusive"} if wrong.undecided else set()
    assert {document["verdict"] for document in documents} <= {"fail"} | undecided
    assert labels(documents, "fail") >= wrong.criteria
    assert labels(documents, "inconclusive") >= wrong.undecided


RIGHT = {(wrong.device.partition(".")[0], wrong.suite): wrong.cases for wrong in WRONG}
"""Some cases of each suite: that the right device passes all of them, the suite itself shows."""
FIRST = {work: (work, suite) for work, suite in reversed(RIGHT)}
COPIED = list(RIGHT) if is_night() else list(FIRST.values())
"""By day of each folder the first suite: what is copied is the folder."""


@pytest.mark.parametrize(("work", "suite"), COPIED)
def test_in_a_project_of_its_own_the_right_device_passes(
    work: str, suite: str, run_cases: RunCases, tmp_path: Path
) -> None:
    cases = RIGHT[work, suite]
    documents = run_cases(copied(work, tmp_path) / suite, cases)
    assert [document["verdict"] for document in documents] == ["pass"] * len(cases)


def test_a_server_that_is_changed_for_nothing_passes_signalling(
    run_cases: RunCases, tmp_path: Path
) -> None:
    """What fails of the others that `change_servers` makes is how many they are."""
    folder = copied("eantc", tmp_path)
    write_changed(folder, KEY_AGREEMENT, "eantc.alike", change_servers(1))
    replace_device(folder, KEY_AGREEMENT, "eantc.alike")
    cases = ("set_up_times:class=ubr", "the_most_calls:pace=194.9ms", "keys_in_order")
    documents = run_cases(folder / "signalling.qos", cases)
    assert [document["verdict"] for document in documents] == ["pass"] * len(cases)


@pytest.mark.parametrize("packets", [1, 9, 11, 40])
def test_a_shortcut_is_asked_for_by_the_tenth_packet_and_by_no_other(
    packets: int, run_cases: RunCases, tmp_path: Path
) -> None:
    suite = copied("signalling", tmp_path) / "paths.qos"
    text, said = suite.read_text(encoding="utf-8"), "topology routed(packets: Int = 10)"
    assert text.count(said) == 1
    suite.write_text(text.replace(said, said.replace("10", str(packets))), encoding="utf-8")
    (case,) = run_cases(suite, ("a_shortcut",))
    assert case["verdict"] == "fail"
    assert labels([case], "fail") >= {"so_many_the_long_way"}


@pytest.mark.parametrize("misread", osu.MISREAD, ids=lambda misread: misread.name)
def test_a_suite_that_misreads_its_publication_does_not_pass(
    misread: osu.Misread, run_cases: RunCases, tmp_path: Path
) -> None:
    suite = copied("osu", tmp_path) / misread.suite
    text = suite.read_text(encoding="utf-8")
    ahead, begins, rest = text.partition(f"\ntest {misread.case.partition(':')[0]} on ")
    body, ends, behind = rest.partition("\n}\n")
    assert misread.said in body
    body = body.replace(misread.said, misread.taken)
    suite.write_text(ahead + begins + body + ends + behind, encoding="utf-8")
    (case,) = run_cases(suite, (misread.case,))
    assert misread.criterion in labels([case], "fail")
