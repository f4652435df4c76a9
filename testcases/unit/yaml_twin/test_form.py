"""Which YAML files are specifications, and where they are found."""

from pathlib import Path

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.yaml_twin.form import is_specification

TEST = """
topology: {pair: {a, b: host, link: [{between: a -- b, via: line, with: {rate: 1 Mbit/s @cell}}]}}
test: {NAME: {on: pair, run: {measure: 1 s}, expect: [1 == 1]}}
""".replace("{a, b: host", "{'a, b': host")


@pytest.mark.parametrize(
    "text",
    ["qos: 1", "qos: '1'", '"qos": 1', "'qos': 1", "- qos: 1", "{qos: 1}", "\ufeffqos: 1",
     "# a\n\n  # b\r\nqos: 1", "---\nqos: 1", "--- # a\nqos: 1", "qos:\n  1",
     "#" * 70_000 + "\nqos: 1", '"q\\x6fs": 1', "{ # c\n qos: 1}", "? qos\n: 1"],
)  # fmt: skip
def test_a_file_whose_first_key_is_qos_is_ours(text: str) -> None:
    assert is_specification(text + "\n")


@pytest.mark.parametrize(
    "text",
    ["", "a: b\nqos: 1\n", "qosmos: 1\n", "qos 1\n", "qos\n", "x: {qos: 1}\n", "{x: [",
     "- a: 1\n- qos: 1\n", "\t"],
)  # fmt: skip
def test_others_are_not(text: str) -> None:
    assert not is_specification(text)


def told(*paths: Path) -> tuple[list[str], list[str]]:
    """Return the names of the tests found, and what is told."""
    problems = Problems()
    suite = check(list(paths), discover(), problems).suite
    return [test.name for test in suite.tests], [f"{d.code} {d.message}" for d in problems.errors]


def write(folder: Path, name: str, test: str = "", text: str = 'qos: "1"\n') -> Path:
    path = folder / name
    path.write_text(text + (TEST.replace("NAME", test) if test else ""), encoding="utf-8")
    return path


def test_a_folder_holds_texts_and_the_yaml_files_that_are_ours(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "one")
    write(tmp_path, "b.yml", "two")
    write(tmp_path, "c.yaml", text="services: {web: [}\n")
    (tmp_path / "d.yaml").mkdir()
    (tmp_path / "e.yaml").write_bytes(b"\xff\xfe\x00")
    write(tmp_path, "f.qos", text="qos 1\n")
    assert told(tmp_path) == (["one", "two"], [])


def test_a_file_that_is_named_is_read_whatever_it_holds(tmp_path: Path) -> None:
    path = write(tmp_path, "c.yaml", text="services: {}\n")
    assert "E0002" in told(path)[1][0]


@pytest.mark.parametrize("name", ["lab.yaml", "lab.yml", "lab.qos"])
def test_an_import_finds_either_form(tmp_path: Path, name: str) -> None:
    text = "qos 1\nlet x = 1 s\n" if name.endswith("qos") else "qos: 1\nlet: {x: 1 s}\n"
    write(tmp_path, name, text=text)
    main = write(tmp_path, "main.yaml", text="qos: 1\nimport: [lab]\nlet: {y: 2 * lab.x}\n")
    assert told(main) == ([], [])


def test_an_import_that_both_forms_fit_is_refused_with_both(tmp_path: Path) -> None:
    write(tmp_path, "lab.qos", text="qos 1\n")
    write(tmp_path, "lab.yaml")
    main = write(tmp_path, "main.qos", text="qos 1\nimport lab\n")
    ((_, (found,))) = told(main)
    assert found.startswith("E0111 two files match this import: ")
    assert "lab.qos and " in found
    assert found.endswith("lab.yaml")


def test_files_in_yaml_do_not_import_each_other_in_a_circle(tmp_path: Path) -> None:
    write(tmp_path, "b.yaml", text="qos: 1\nimport: [a]\n")
    main = write(tmp_path, "a.yaml", text="qos: 1\nimport: [b]\n")
    assert "E0107 these files import each other" in told(main)[1][0]
