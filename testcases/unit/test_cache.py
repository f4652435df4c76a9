"""A cache is only where nobody else can write: not at a folder above it either."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import platformdirs
import pytest

from qospec import cache
from qospec.cache import find_private_folder, make_private

SOMEBODY = 12_345
"""Another user, who need not exist."""


@pytest.fixture(autouse=True)
def refused(monkeypatch: pytest.MonkeyPatch) -> dict[Path, str]:
    monkeypatch.setattr(cache, "refused", {})
    return cache.refused


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return what is used of the temporary folder; the user's cache is no folder."""
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: tmp_path / "file")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"qospec-{os.geteuid()}"


def give_away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder somebody else's: only root can, and anybody else becomes somebody else."""
    if os.geteuid() == 0:
        os.chown(folder, SOMEBODY, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: SOMEBODY)


def test_what_is_made_is_for_us_alone_whatever_the_mask(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        assert make_private(tmp_path / "a" / "b")
    finally:
        os.umask(mask)
    modes = [(tmp_path / folder).stat().st_mode & 0o777 for folder in ("a", "a/b")]
    assert modes == [0o700, 0o700]


@pytest.mark.parametrize("at", ["a", "a/b", "a/b/c"])
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720, 0o702])
def test_a_folder_that_others_can_write_to_is_refused_at_any_height(
    tmp_path: Path, refused: dict[Path, str], at: str, mode: int
) -> None:
    assert make_private(tmp_path / "a/b/c")
    (tmp_path / at).chmod(mode)
    assert not make_private(tmp_path / "a/b/c")
    assert not make_private(tmp_path / at / "new")
    assert not (tmp_path / at / "new").exists()
    assert list(refused.values()) == [f"others may write to `{tmp_path / at}`"]


@pytest.mark.parametrize("at", ["a", "a/b", "a/b/c"])
def test_a_folder_of_somebody_else_is_refused_at_any_height(
    tmp_path: Path, refused: dict[Path, str], monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    assert make_private(tmp_path / "a/b/c")
    give_away(tmp_path / at, monkeypatch)
    assert not make_private(tmp_path / "a/b/c")
    assert any("belongs to somebody else" in reason for reason in refused.values())


def test_of_a_cache_that_others_can_write_to_the_highest_folder_is_named_once(
    tmp_path: Path, refused: dict[Path, str]
) -> None:
    """One note for each of four caches below it said four times the same."""
    for name in ("kernels", "receipts"):
        assert make_private(tmp_path / "ours" / name)
    for folder in (tmp_path / "ours", *(tmp_path / "ours").iterdir()):
        folder.chmod(0o777)
    assert not any(make_private(tmp_path / "ours" / name) for name in ("kernels", "receipts"))
    assert list(refused.values()) == [f"others may write to `{tmp_path / 'ours'}`"]


def test_others_may_write_only_above_and_only_where_they_cannot_replace_what_is_ours(
    tmp_path: Path,
) -> None:
    """As in /tmp, whose sticky bit keeps each from removing what others have there."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a").chmod(0o1777)
    assert make_private(tmp_path / "a" / "b")
    assert not make_private(tmp_path / "a")


def test_a_link_counts_as_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "shared")
    assert make_private(tmp_path / "link" / "a")
    (tmp_path / "shared").chmod(0o777)
    assert not make_private(tmp_path / "link" / "a")


def test_the_first_private_folder_is_taken(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: tmp_path / "ours")
    chosen = tmp_path / "chosen"
    assert find_private_folder("a", chosen) == chosen
    chosen.chmod(0o777)
    assert find_private_folder("a", chosen) == tmp_path / "ours" / "a"


def test_the_temporary_folder_is_made_for_us_alone(temporary: Path) -> None:
    assert find_private_folder("a") == temporary / "a"
    assert temporary.stat().st_mode & 0o777 == 0o700
    temporary.chmod(0o777)
    assert find_private_folder("a") is None


def test_a_link_in_the_place_of_the_temporary_folder_is_refused(
    temporary: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    temporary.symlink_to(tmp_path / "elsewhere")
    assert find_private_folder("a") is None
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_system_without_user_ids_has_a_folder_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "geteuid")
    assert find_private_folder("a", tmp_path / "chosen") == tmp_path / "chosen"


@pytest.mark.slow
def test_the_user_is_told_once_why_nothing_is_cached(tmp_path: Path) -> None:
    """Also of a folder that only worker processes use."""
    (tmp_path / "a.qos").write_text(SPECIFICATION, encoding="utf-8")
    for name in ("shared", "kernels"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777)
    environment = {
        **os.environ,
        "XDG_CACHE_HOME": str(tmp_path / "shared"),
        "NUMBA_CACHE_DIR": str(tmp_path / "kernels"),
        "QOS_KERNELS": "python",
    }
    done = subprocess.run(
        [Path(sys.executable).with_name("qos"), "run", "a.qos", "-j", "2"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    told = sorted(line for line in done.stderr.splitlines() if line.startswith("note: "))
    because = "nothing is cached there, since what is cached is run"
    shared = [f"`{tmp_path / name}`" for name in ("kernels", "shared")]
    assert told == [f"note: others may write to {folder}: {because}" for folder in shared]


SPECIFICATION = """qos 1
import std.media

topology wire {
  a, b = host
  link a -- b via media.stm1
}

test whole on wire {
  sweep load in [1_000 cell/s, 2_000 cell/s]
  flow f = cbr { pcr = load, cdvt = 1 ms } from a to b
  run { measure = 10 ms }
  expect f.lost == 0
}
"""
