"""`make kernel`: what it says where it cannot build, and that a kernel that is there can stay."""

import json

import pytest

from qospec.linux import build, kept


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "find_private_folder", lambda _name: tmp_path)
    return tmp_path


def test_a_kernel_that_was_built_in_the_same_way_stays(folder, monkeypatch, capsys):
    monkeypatch.setattr(build, "build", lambda _jobs: folder / "new")
    (folder / kept.KERNEL).touch()
    (folder / kept.ABOUT).write_text(json.dumps({"recipe": build.hash_recipe()}), "utf-8")
    assert build.main(["2", "--once"]) == 0
    assert not capsys.readouterr().out
    assert build.main(["2"]) == 0
    assert capsys.readouterr().out.startswith(f"built {folder / 'new'} in ")


@pytest.mark.parametrize("about", [None, "{}", "[]", "no JSON", '{"recipe": "other"}'])
def test_one_that_was_not_is_built_again(folder, about):
    (folder / kept.KERNEL).touch()
    if about is not None:
        (folder / kept.ABOUT).write_text(about, "utf-8")
    assert not build.is_built()


def test_another_change_of_the_source_is_another_recipe(monkeypatch):
    before = build.hash_recipe()
    monkeypatch.setattr(build, "CHANGES", build.CHANGES[:-1])
    assert build.hash_recipe() != before


def test_what_it_takes_is_named(folder, monkeypatch, capsys):
    monkeypatch.setattr("shutil.which", lambda tool: None if tool in {"flex", "xz"} else tool)
    assert build.main(["2", "--once"]) == 1
    assert capsys.readouterr().err == "error: to build a kernel, install flex xz-utils\n"
    assert not list(folder.iterdir())
