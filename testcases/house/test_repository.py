"""Files in the repository work on every machine and stay small."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LARGEST_BYTES = 500_000

# Written so that no pattern matches its own line.
HOME = re.compile(r"(?<![\w.~-])/(?:[h]ome|[r]oot|[U]sers)/\w|\b[A-Z]:\\[U]sers\\")
UNFINISHED = re.compile(r"\b(?:TO[D]O|FIX[M]E)\b(?!\(#\d+\))")


def checked_in() -> list[Path]:
    """Return the files that git tracks or would add; links are not followed."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        [git, "-c", "safe.directory=*", "ls-files", "-z", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = {ROOT / name for name in listed.stdout.split("\0") if name}
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}"
        for path in checked_in()
        if b"\0" not in path.read_bytes()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_file_names_a_path_of_one_machine() -> None:
    assert lines_with(HOME) == []


def test_unfinished_work_has_an_issue() -> None:
    assert lines_with(UNFINISHED) == [], "write the word with its issue: (#12)"


def test_no_file_is_large() -> None:
    large = [path.name for path in checked_in() if path.stat().st_size > LARGEST_BYTES]
    assert not large, f"more than {LARGEST_BYTES} bytes: {large}"


@pytest.mark.parametrize(
    "line", ["see /" + "home/ann/x.qos", '"/' + 'root/venv"', "C:\\" + "Users\\ann"]
)
def test_a_path_of_one_machine_is_recognised(line: str) -> None:
    assert HOME.search(line)


@pytest.mark.parametrize("line", ["https://x.example/home/page", "./home/x", "# TO" + "DO(#12): y"])
def test_what_is_no_such_path_is_not(line: str) -> None:
    assert not HOME.search(line)
    assert not UNFINISHED.search(line)
