"""Writing a file: whole or not at all, through links, and never in place of a device."""

import os
import select
import stat
import threading
from pathlib import Path

import pytest

from qospec.writing import WriteError, write_whole


def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "outcome.json"
    write_whole(target, "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match=r"outcome\.json.*no space left on device"):
        write_whole(target, "new")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["outcome.json"]


def test_what_is_written_lasts_and_so_does_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is on the disk before it has its name, and then the folder that holds the name."""
    done: list[str] = []
    sync, rename = os.fsync, Path.replace

    def synced(descriptor: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        if is_folder:
            assert os.path.sameopenfile(descriptor, folder)
        else:
            assert os.fstat(descriptor).st_size == len("text")
        done.append("folder" if is_folder else "file")
        sync(descriptor)

    def renamed(path: Path, target: Path) -> Path:
        done.append("name")
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        write_whole(tmp_path / "outcome.json", "text")
    finally:
        os.close(folder)
    assert done == ["file", "name", "folder"]


def test_a_folder_that_cannot_be_synced_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def synced(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "fsync", synced)
    write_whole(tmp_path / "outcome.json", "text")
    assert (tmp_path / "outcome.json").read_text() == "text"


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path, *, exists: bool) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    if exists:
        target.write_text("old")
    link.symlink_to("target")
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_file_keeps_its_permissions_and_a_new_one_has_the_usual(tmp_path: Path) -> None:
    secret, new = tmp_path / "secret", tmp_path / "new"
    secret.write_text("old")
    secret.chmod(0o600)
    before = os.umask(0o022)
    try:
        write_whole(secret, "text")
        write_whole(new, "text")
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (secret, new)] == [0o600, 0o644]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    descriptor = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    text = "ü" * 200_000  # more than a pipe holds
    read: list[bytes] = []

    def reader() -> None:
        select.select([descriptor], [], [])  # until somebody writes
        with os.fdopen(descriptor, "rb") as file:
            read.append(file.read())

    thread = threading.Thread(target=reader)
    thread.start()
    write_whole(pipe, text)
    thread.join()
    assert b"".join(read).decode() == text
    assert pipe.is_fifo()


def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(WriteError, match="it has no reader"):
        write_whole(pipe, "text")
    assert [path.is_fifo() for path in tmp_path.iterdir()] == [True]


def test_a_device_is_written_to(tmp_path: Path) -> None:
    link = tmp_path / "null"
    link.symlink_to(os.devnull)
    write_whole(link, "text")
    assert Path(os.devnull).is_char_device()
    assert link.is_symlink()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("folder", "is a directory"),
        ("circle", "too many levels of symbolic links"),
        ("none/file", "no such file"),
    ],
)
def test_what_cannot_be_written_is_named(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(WriteError, match=words):
        write_whole(tmp_path / name, "text")
