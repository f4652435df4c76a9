"""What a contributor's tools do: the rule for commits, the hooks, a public forge's workflow."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
COMMITS = ROOT / ".ci" / "commits"
# A repository's own settings, and no others, so that nothing signs or asks.
OWN = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
PERSON = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]


def check_commits(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMITS, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | OWN,
    )


def git(folder: Path, *arguments: str) -> None:
    command = ["git", *PERSON, *arguments]
    subprocess.run(command, cwd=folder, capture_output=True, check=True, env=os.environ | OWN)


def commit(folder: Path, subject: str) -> None:
    git(folder, "commit", "--allow-empty", "--message", subject)


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Return a repository with one commit, tagged `start`."""
    git(tmp_path, "init", "--initial-branch=main")
    commit(tmp_path, "Begin")
    git(tmp_path, "tag", "start")
    return tmp_path


@pytest.mark.parametrize(
    "subject",
    [
        "plan: refuse a path that leads back",
        "check, judge: need one place for a verdict",
        "a: b `c`",
    ],
)
def test_a_subject_that_is_right(history: Path, subject: str) -> None:
    commit(history, subject)
    checked = check_commits(history, "start")
    assert (checked.returncode, checked.stdout) == (0, "commits: 1 checked\n")


@pytest.mark.parametrize(
    ("subject", "complaint"),
    [
        ("plan: refuse " + "x" * 60, "73 characters, at most 72"),
        ("Refuse a path that leads back", "not of the form"),
        ("plan: refuse a path.", "not of the form"),
        ("plan: Refuse a path that leads back", "not of the form"),
        ("plan: refused a path that leads back", "`refused` is not an imperative"),
        ("plan: refuses a path that leads back", "`refuses` is not an imperative"),
        ("plan: refusing a path that leads back", "`refusing` is not an imperative"),
    ],
)
def test_a_subject_that_is_wrong(history: Path, subject: str, complaint: str) -> None:
    commit(history, subject)
    checked = check_commits(history, "start")
    assert checked.returncode == 1
    assert complaint in checked.stderr

    message = history / "message"
    message.write_text(subject + "\n")
    hooked = check_commits(history, "--message", str(message))
    assert hooked.returncode == 1
    assert complaint in hooked.stderr


def test_a_merge_is_refused(history: Path) -> None:
    git(history, "checkout", "-b", "side")
    commit(history, "plan: refuse a loop")
    git(history, "checkout", "main")
    git(history, "merge", "--no-ff", "--message", "plan: merge the other branch", "side")
    checked = check_commits(history, "start")
    assert checked.returncode == 1
    assert "a merge: rebase instead" in checked.stderr


def test_where_there_is_no_history_there_is_nothing_to_check(history: Path) -> None:
    checked = check_commits(history)
    assert (checked.returncode, checked.stdout) == (0, "commits: no history, nothing to check\n")


def test_ci_checks_commits() -> None:
    assert re.search(r"^\.ci/commits$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)


def test_a_public_forge_runs_what_we_run() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    assert ".ci/run" in [step.get("run") for step in workflow["jobs"]["run"]["steps"]]


def test_hooks_run_the_tools_of_the_project() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    hooks = [hook for repository in config["repos"] for hook in repository["hooks"]]
    tools = set((ROOT / "Makefile").read_text().replace("$(BIN)", ".venv/bin").split())
    for hook in hooks:
        program = hook["entry"].split()[0]
        assert program in tools or os.access(ROOT / program, os.X_OK), hook["entry"]
