"""Copies of suites that import wrong devices in place of those that they test."""

import re
import shutil
from pathlib import Path

HERE = Path(__file__).parent
SUITES = HERE / "suites"
DEVICES = HERE / "wrong_devices"


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


def with_import(text: str, old: str, new: str) -> str:
    """Return a file that imports `new` where it imported `old`, by the same name."""
    return re.sub(
        rf"^(import .*?)(?<![\w.]){re.escape(old)}(?![\w.])( as \w+)?",
        lambda found: f"{found[1]}{new}{found[2] or ' as ' + old.rpartition('.')[2]}",
        text,
        flags=re.MULTILINE,
    )
