"""Files and their imports."""

import os
from pathlib import Path

import pytest

from qospec.check import check
from qospec.diagnostics import Problems


@pytest.fixture
def reported(catalogue):
    def run(*paths):
        problems = Problems()
        check(list(paths), catalogue, problems)
        return problems.all

    return run


def test_files_import_each_other_in_a_circle(checked):
    _, problems = checked("import one\n", one="import two\n", two="import main\n")
    (problem,) = problems
    assert problem.code == "E0107"
    assert "one.qos -> " in problem.message
    assert len(problem.secondary) == 2


def test_a_missing_file_is_reported_with_the_one_that_is_meant(checked):
    _, (problem,) = checked("import bench_\n", bench="")
    assert (problem.code, problem.label) == ("E0106", "did you mean `bench`?")


def test_a_file_that_is_not_utf_8_is_reported_with_the_place(tmp_path, reported):
    path = tmp_path / "a.qos"
    path.write_bytes(b"qos 1\nlet a = \xff\n")
    (problem,) = reported(path)
    assert problem.code == "E0109"
    assert "offset 14" in problem.message
    assert problem.span.place.endswith(":2:9")


def test_a_path_that_is_not_there(tmp_path, reported):
    assert [problem.code for problem in reported(tmp_path / "none.qos")] == ["E0106"]


def test_a_folder_without_specifications(tmp_path, reported):
    assert [problem.code for problem in reported(tmp_path)] == ["E0106"]


def test_a_folder_means_all_files_below(tmp_path, reported):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.qos").write_text("qos 1\nlet a = b\n")
    (tmp_path / "deep" / "b.qos").write_text("qos 1\nlet a = c\n")
    assert [problem.code for problem in reported(tmp_path)] == ["E0101", "E0101"]


def test_a_link_may_not_lead_out_of_the_project(tmp_path, reported):
    (tmp_path / "outside.qos").write_text("qos 1\n")
    project = tmp_path / "project"
    project.mkdir()
    (project / "inside.qos").symlink_to(tmp_path / "outside.qos")
    (project / "a.qos").write_text("qos 1\nimport inside\n")
    assert [problem.code for problem in reported(project / "a.qos")] == ["E0110"]


def test_an_import_is_looked_for_at_the_root_and_beside(tmp_path, reported):
    (tmp_path / "qos.toml").write_text("")
    (tmp_path / "lib.qos").write_text("qos 1\nlet a = 1\n")
    deep = tmp_path / "tests"
    deep.mkdir()
    (deep / "near.qos").write_text("qos 1\nlet b = 2\n")
    (deep / "a.qos").write_text("qos 1\nimport lib, near\nlet c = lib.a + near.b\n")
    assert reported(deep / "a.qos") == ()
    (deep / "lib.qos").write_text("qos 1\nlet a = 1\n")
    assert [problem.code for problem in reported(deep / "a.qos")] == ["E0111"]


def test_a_file_that_may_not_be_read(tmp_path, reported, monkeypatch):
    path = tmp_path / "a.qos"
    path.write_text("qos 1\n")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert [problem.code for problem in reported(path)] == ["E0108"]


def test_a_file_whose_name_is_not_utf_8_is_refused(tmp_path, reported):
    path = tmp_path / "\udcff.qos"
    path.write_text("qos 1\n")
    for given in (path, tmp_path):
        (problem,) = reported(given)
        assert (problem.code, problem.help) == ("E0108", "rename it")


def test_links_in_a_circle_do_not_keep_the_other_files_from_being_checked(tmp_path, reported):
    (tmp_path / "loop.qos").symlink_to("loop.qos")
    (tmp_path / "a.qos").write_text("qos 1\nlet a = b\n")
    assert [problem.code for problem in reported(tmp_path)] == ["E0101", "E0108"]
    (problem,) = reported(tmp_path / "loop.qos")
    assert "symbolic links" in problem.message


def test_a_link_to_nothing_is_reported_by_its_own_name(tmp_path, reported):
    (tmp_path / "link.qos").symlink_to("gone.qos")
    (problem,) = reported(tmp_path / "link.qos")
    assert problem.code == "E0106"
    assert "link.qos cannot be read: it is a link to gone.qos" in problem.message
    assert "link.qos" not in problem.help


def test_what_is_no_regular_file_is_never_opened(tmp_path, reported):
    os.mkfifo(tmp_path / "fifo.qos")
    for path in (tmp_path, tmp_path / "fifo.qos", Path("/dev/zero")):
        (problem,) = reported(path)
        assert problem.code == "E0108"
        assert "not a regular file" in problem.message


def test_no_more_is_read_than_a_file_may_hold(tmp_path, reported):
    path = tmp_path / "a.qos"
    with path.open("wb") as file:
        file.truncate(10**12)
    assert [problem.code for problem in reported(path)] == ["E0012"]


def test_a_folder_with_the_name_of_a_file_is_a_folder(tmp_path, reported):
    folder = tmp_path / "adir.qos"
    folder.mkdir()
    (problem,) = reported(folder)
    assert (problem.code, problem.message) == ("E0106", f"there is no .qos file in `{folder}`")
    (folder / "a.qos").write_text("qos 1\nlet a = b\n")
    assert [problem.code for problem in reported(tmp_path)] == ["E0101"]


def test_who_has_no_file_yet_is_told_how_to_begin(tmp_path, monkeypatch, reported):
    monkeypatch.chdir(tmp_path)
    (problem,) = reported(Path())
    assert problem.message == "there is no .qos file in this folder"
    assert "`qos init NAME`" in problem.help


def test_a_name_too_long_for_the_system(tmp_path, reported):
    assert [problem.code for problem in reported(tmp_path / ("a" * 300))] == ["E0108"]


def test_what_a_missing_import_was_meant_to_give_is_not_reported_again(codes):
    assert codes("import std.medai\nlet a = media.stm1\n") == ["E0106"]
    assert codes("import std.medai\nlet a = medai.stm1\n") == ["E0106"]
    assert codes("import std.medai\nlet a = media\nlet b = other.x\n") == [
        "E0106",
        "E0101",
        "E0101",
    ]


def test_the_mistakes_of_all_files_come_at_once(codes):
    assert codes("import one\nlet a = one.b + none\n", one="let b = nothing\n") == [
        "E0101",
        "E0101",
    ]
