"""The version of what is built is that of the tag, as `setup.py` finds it."""

import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IDENTITY = ("-c", "user.name=Nobody", "-c", "user.email=nobody@localhost")
SOURCE = "0.0.0+source"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with what a version is read from."""
    shutil.copy(ROOT / "setup.py", tmp_path)
    module = Path("interpreter", "qospec", "version.py")
    (tmp_path / module).parent.mkdir(parents=True)
    shutil.copy(ROOT / module, tmp_path / module)
    return tmp_path


def ask(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the version that is built from a folder."""
    given: dict[str, str] = {}
    monkeypatch.setattr("setuptools.setup", lambda **named: given.update(named))
    runpy.run_path(str(folder / "setup.py"))
    return given["version"]


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *IDENTITY, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(folder: Path) -> str:
    """Commit all; return what the commit is called."""
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "all")
    return git(folder, "rev-parse", "--short", "HEAD")


def test_a_clone_has_the_version_of_its_tag_and_what_came_since(folder, monkeypatch) -> None:
    git(folder, "init", "--quiet")
    assert ask(folder, monkeypatch) == SOURCE, "a clone without a commit"
    first = commit(folder)
    assert ask(folder, monkeypatch) == f"0.0.0.dev1+g{first}", "a clone without a tag"
    git(folder, "tag", "v0.9.11")
    assert ask(folder, monkeypatch) == "0.9.11"
    git(folder, "tag", "v-and-more")
    second = commit(folder)
    git(folder, "tag", "of-another-kind")
    assert ask(folder, monkeypatch) == f"0.9.12.dev1+g{second}"
    git(folder, "tag", "--annotate", "--message", "signed", "v1.0.0")
    assert ask(folder, monkeypatch) == "1.0.0"
    (folder / "setup.cfg").write_text("")
    assert ask(folder, monkeypatch) == "1.0.0", "what git does not know is not of the clone"
    (folder / "setup.py").write_text((folder / "setup.py").read_text() + "\n")
    assert ask(folder, monkeypatch) == f"1.0.1.dev0+g{second}.changed"


def test_a_source_distribution_has_its_own_version(folder, monkeypatch) -> None:
    (folder / "PKG-INFO").write_text(
        "Metadata-Version: 2.4\nName: qospec\nVersion: 4.5.6\n\nText\n"
    )
    assert ask(folder, monkeypatch) == "4.5.6"


def test_the_clone_of_something_else_gives_no_version(tmp_path, folder, monkeypatch) -> None:
    outer = tmp_path / "outer"
    shutil.copytree(folder, outer / "vendored" / "qospec", ignore=lambda *_: ["outer"])
    git(outer, "init", "--quiet")
    commit(outer)
    git(outer, "tag", "v3.0.0")
    assert ask(outer / "vendored" / "qospec", monkeypatch) == SOURCE


def test_without_git_a_folder_has_the_version_of_what_is_run_from_source(
    folder, monkeypatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert ask(folder, monkeypatch) == SOURCE
