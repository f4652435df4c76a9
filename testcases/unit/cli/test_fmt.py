"""`qos fmt`: what it changes, what it only shows, and how it ends."""

import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qospec import cli
from qospec.check.modules.project import compute_fingerprint
from qospec.formatting.printer import Printer

UNTIDY = "qos 1\nlet a=1 s # kept\n"
TIDY = "qos 1\n\nlet a = 1 s  # kept\n"
BROKEN = "qos 1\nlet a = = 1\n"


def fmt(*arguments: object, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cli.qos, ["fmt", *map(str, arguments)], input=stdin)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is the current one: `untidy.qos`, and `below/tidy.qos`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "untidy.qos").write_text(UNTIDY, encoding="utf-8")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "tidy.qos").write_text(TIDY, encoding="utf-8")
    (tmp_path / "other.txt").write_text(UNTIDY, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("paths", [(), (".",), ("untidy.qos", "below")])
def test_files_are_changed_in_place(here: Path, paths: tuple[str, ...]) -> None:
    result = fmt(*paths)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "changed: untidy.qos\n1 file changed, 1 already formatted\n"
    assert (here / "untidy.qos").read_text(encoding="utf-8") == TIDY
    assert (here / "other.txt").read_text(encoding="utf-8") == UNTIDY
    assert fmt(*paths).stderr == "0 files changed, 2 already formatted\n"


COMMANDS = (["check"], ["fmt", "--check"], ["plan"], ["doc"])


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_without_a_path_every_command_takes_what_the_project_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    for name in ("named", "left"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.qos").write_text(BROKEN, encoding="utf-8")
    (tmp_path / "named" / "a.yaml").write_text("qos: 1\n", encoding="utf-8")
    (tmp_path / "qos.toml").write_text('[project]\npaths = ["named"]\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path / "left")
    told = CliRunner().invoke(cli.qos, command).stderr
    assert f"{tmp_path / 'named' / 'a.qos'}:2:9" in told
    assert "left" not in told


def test_without_a_path_a_file_that_is_yaml_is_passed_over(here: Path) -> None:
    (here / "a.yaml").write_text("qos: 1\n", encoding="utf-8")
    (here / "qos.toml").write_text('[project]\npaths = ["a.yaml", "below"]\n', encoding="utf-8")
    assert fmt().stderr == "0 files changed, 1 already formatted\n"


def test_what_is_as_it_should_be_is_not_written(here: Path) -> None:
    path = here / "below" / "tidy.qos"
    os.utime(path, ns=(1, 1))
    assert fmt(path).exit_code == 0
    assert path.stat().st_mtime_ns == 1


def test_check_changes_nothing_and_says_what_would_change(here: Path) -> None:
    result = fmt("--check")
    assert (result.exit_code, result.stdout) == (1, "would change: untidy.qos\n")
    assert result.stderr == "1 file would change, 1 already formatted\n"
    assert (here / "untidy.qos").read_text(encoding="utf-8") == UNTIDY
    assert fmt("--check", "below").exit_code == 0


def test_diff_changes_nothing_and_shows_what_would_change(here: Path) -> None:
    result = fmt("--diff")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "--- untidy.qos",
        "+++ untidy.qos",
        "@@ -1,2 +1,3 @@",
        " qos 1",
        "-let a=1 s # kept",
        "+",
        "+let a = 1 s  # kept",
    ]
    assert (here / "untidy.qos").read_text(encoding="utf-8") == UNTIDY
    assert fmt("--diff", "below").exit_code == 0


@pytest.mark.parametrize("option", [[], ["--check"], ["--diff"]])
def test_what_cannot_be_read_is_reported_and_the_others_are_formatted(here: Path, option) -> None:
    (here / "broken.qos").write_text(BROKEN, encoding="utf-8")
    result = fmt(*option)
    assert result.exit_code == 2
    assert "error[E0001]" in result.stderr
    assert "broken.qos:2:9" in result.stderr
    assert (here / "broken.qos").read_text(encoding="utf-8") == BROKEN
    assert (here / "untidy.qos").read_text(encoding="utf-8") == (UNTIDY if option else TIDY)


@pytest.mark.parametrize(
    ("path", "code"), [("missing.qos", "E0106"), ("latin.qos", "E0109"), ("empty", "E0106")]
)
def test_what_is_no_text_is_reported(here: Path, path: str, code: str) -> None:
    (here / "latin.qos").write_bytes(b"qos 1\n# \xe9\n")
    (here / "empty").mkdir()
    result = fmt(path, "untidy.qos")
    assert result.exit_code == 2
    assert f"error[{code}]" in result.stderr
    assert (here / "untidy.qos").read_text(encoding="utf-8") == TIDY


def test_yaml_is_left_alone(here: Path) -> None:
    (here / "twin.yaml").write_text("qos:   1\n", encoding="utf-8")
    assert fmt().stderr == "changed: untidy.qos\n1 file changed, 1 already formatted\n"
    result = fmt("below", "twin.yaml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "error: `twin.yaml` is YAML; `qos fmt` formats .qos files only\n"
    assert (here / "twin.yaml").read_text(encoding="utf-8") == "qos:   1\n"


def test_permissions_and_links_stay(here: Path) -> None:
    target = here / "untidy.qos"
    target.chmod(0o640)
    link = here / "below" / "link.qos"
    link.symlink_to(target)
    assert fmt(link, target).stderr == "changed: untidy.qos\n1 file changed, 0 already formatted\n"
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == TIDY
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert sorted(path.name for path in here.iterdir()) == ["below", "other.txt", "untidy.qos"]


def test_a_file_that_cannot_be_written_is_reported(here: Path, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    result = fmt("untidy.qos")
    assert result.exit_code == 4
    assert "untidy.qos" in result.stderr
    assert "no space left on device" in result.stderr.lower()
    assert (here / "untidy.qos").read_text(encoding="utf-8") == UNTIDY
    assert sorted(path.name for path in here.iterdir()) == ["below", "other.txt", "untidy.qos"]


def test_what_would_say_something_else_is_not_written_and_the_others_are(
    here: Path, monkeypatch
) -> None:
    def spoilt(printer: Printer) -> str:
        text = right(printer)
        return text.replace("2 s", "3 s")

    right = Printer.join_text
    (here / "other.qos").write_text(UNTIDY.replace("1 s", "2 s"), encoding="utf-8")
    monkeypatch.setattr(Printer, "join_text", spoilt)
    result = fmt("other.qos", "untidy.qos")
    assert result.exit_code == 4
    assert "internal error in qospec: MeaningChangedError: other.qos" in result.stderr
    assert "2 s" in (here / "other.qos").read_text(encoding="utf-8")
    assert (here / "untidy.qos").read_text(encoding="utf-8") == TIDY


def test_a_package_is_left_as_it_is(here: Path) -> None:
    """Even by a link, and where it is named: what is pinned must not change."""
    folder = here / "below" / "acme"
    folder.mkdir()
    (folder / "lib.qos").write_text(UNTIDY, encoding="utf-8")
    (here / "link.qos").symlink_to(folder / "lib.qos")
    lock = f'[package.acme]\nfolder = "below/acme"\nsha256 = "{compute_fingerprint(folder, 9)}"\n'
    (here / "qos.toml").write_text("", encoding="utf-8")
    (here / "qos.lock").write_text(lock, encoding="utf-8")
    result = fmt(".", folder, folder / "lib.qos", "link.qos")
    assert result.exit_code == 0
    assert "skipped the package `acme`: its files are pinned\n" in result.stderr
    assert "1 file changed, 1 already formatted\n" in result.stderr
    assert (folder / "lib.qos").read_text(encoding="utf-8") == UNTIDY


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "stdout"),
    [
        (["-"], UNTIDY, 0, TIDY),
        (["-"], TIDY, 0, TIDY),
        (["-"], b"\xef\xbb\xbfqos 1\r\n# \xc2\xb5", 0, "qos 1\n# µ\n"),
        (["--check", "-"], UNTIDY, 1, ""),
        (["--check", "-"], TIDY, 0, ""),
        (["--diff", "-"], TIDY, 0, ""),
        (["-"], BROKEN, 2, ""),
        (["-"], b"\xff", 2, ""),
    ],
)
def test_a_text_may_come_from_stdin(arguments, stdin, code, stdout) -> None:
    result = fmt(*arguments, stdin=stdin)
    assert (result.exit_code, result.stdout) == (code, stdout)
    assert bool(result.stderr) == (code == 2)


def test_a_diff_of_stdin() -> None:
    result = fmt("--diff", "-", stdin="qos 1")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "--- stdin",
        "+++ stdin",
        "@@ -1 +1 @@",
        "-qos 1",
        "\\ No newline at end of file",
        "+qos 1",
    ]
