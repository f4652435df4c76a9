"""Files in the repository work on every machine and stay small; others can use its hooks."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from qospec import cli

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


def test_hooks_for_others_format_and_check(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert [hook["id"] for hook in hooks] == ["qos-fmt", "qos-check"]
    path = tmp_path / "a.qos"
    path.write_text("qos 1\nlet   a=1\n", encoding="utf-8")
    for hook in hooks:
        assert re.search(hook["files"], path.name)
        program, *words = hook["entry"].split()
        assert program == "qos"
        assert CliRunner().invoke(cli.qos, [*words, path.name]).exit_code == 0
    assert path.read_text(encoding="utf-8") == "qos 1\n\nlet a = 1\n"


def test_the_action_for_others_asks_for_options_that_there_are() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    default = action["inputs"]["options"]["default"].split()
    assert cli.qos.commands["run"].make_context("run", default).params["formats"] == ("junit",)
    *_, last = action["runs"]["steps"]
    assert last["run"] == "qos check $QOS_PATHS && qos run $QOS_OPTIONS $QOS_PATHS"
    assert all("${{" not in step.get("run", "") for step in action["runs"]["steps"])
