"""Each folder of suites has a wrong device, and each wrong device is used in a suite."""

from pathlib import Path

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
