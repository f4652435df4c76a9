"""Each folder of suites has a wrong device, and each wrong device is used in a suite."""

import re
from collections.abc import Iterable
from pathlib import Path

from wrong import osu

TESTCASES = Path(__file__).parents[1]
WRONG = TESTCASES / "wrong_devices"
MODULES = sorted(WRONG.rglob("*.qos"))
TABLES = [
    path.read_text(encoding="utf-8")
    for path in (*TESTCASES.glob("wrong/*.py"), TESTCASES / "nothing.py")
]


def test_each_folder_of_suites_has_a_wrong_device() -> None:
    folders = {path.parent.name for path in (TESTCASES / "suites").rglob("*.qos")}
    assert folders == {path.parent.name for path in MODULES}


def test_each_wrong_device_is_put_to_a_suite() -> None:
    names = {path: f'"{path.parent.name}.{path.stem}"' for path in MODULES}
    assert [path.name for path, name in names.items() if name not in "".join(TABLES)] == []


def covered(work: str, suite: str, case: str, criteria: Iterable[str]) -> set[str]:
    """Return the statements that criteria of the test of a case are of."""
    text = (TESTCASES / "suites" / work / suite).read_text(encoding="utf-8")
    named = rf"^test {case.partition(':')[0]} (?:on|=) (.*?)^}}"
    test = re.search(named, text, re.DOTALL | re.MULTILINE)
    assert test, f"no test of {case}"
    said = re.search(r"^  covers = (\[.*?\])", test[1], re.DOTALL | re.MULTILINE)
    names: set[str] = set()
    for criterion in re.findall(
        r"^ *expect .*?(?=^ *(?:expect|report|let|for|})|\Z)", test[1], re.DOTALL | re.MULTILINE
    ):
        own = re.search(r'\bof (\[".*?\]|".*?")', criterion)
        label = re.match(r" *expect (\w+):", criterion)
        if label and label[1] in {name.partition("[")[0] for name in criteria}:
            names |= set(re.findall(r'"(.+?)"', (own or said or ["", ""])[1]))
    return names


def test_what_a_wrong_device_of_osu_fails_is_covered_by_its_cases() -> None:
    for wrong in osu.WRONG:
        found = [covered("osu", wrong.suite, case, wrong.criteria) for case in wrong.cases]
        assert wrong.statements, wrong.device
        assert set().union(*found) >= set(wrong.statements), wrong.device
    for misread in osu.MISREAD:
        found = covered("osu", misread.suite, misread.case, [misread.criterion])
        assert found >= set(misread.statements), misread.name


def test_the_wrong_devices_of_osu_fail_what_was_asked_of_them() -> None:
    asked = {1, 5, 6, 8, 11, 12, 13, 14, 17, 22, 24, 25, 26, 33, 40, 43, 44, 45, 54}
    found = {name for wrong in (*osu.WRONG, *osu.MISREAD) for name in wrong.statements}
    assert {f"O{number}" for number in asked} - found == set()
