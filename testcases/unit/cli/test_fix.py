"""`qos check --fix`: applies what cannot be wrong, tells what is left, touches nothing else."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qospec import cli
from qospec.check.modules.project import compute_fingerprint

CONTRACT = "traffic v = cbr { pcr = 3 cell/s, cvdt = 10 us }\n"


SWEPT = """topology bench {{
  a, b = host
  link a -- b via line {{ rate = 149.76 Mbit/s @cell }}
}}
test t on bench {{
  sweep n in [1, 2]
  flow f = ubr {{ pcr = 3 cell/s }} from a to b
  run {{ measure = 1 s }}
  expect a: {}
  expect f.lost == 0
}}
"""


def check(*arguments: object) -> Result:
    return CliRunner().invoke(cli.qos, ["check", *map(str, arguments)])


def write(path: Path, text: str) -> Path:
    path.write_text(f"qos 1\n{text}", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (CONTRACT, CONTRACT.replace("cvdt", "cdvt")),
        ("let a = 3 seconds\n", "let a = 3 s\n"),
        ("let a = 95 percent\n", "let a = 95%\n"),
        ("let a = 1e3\n", "let a = 1_000\n"),
        ("let a = .5 s\n", "let a = 0.5 s\n"),
        ("let a = 0x1F\n", "let a = 31\n"),
        ("let a = 'x'\n", 'let a = "x"\n'),
        ("// one\nlet a = 1 s\n", "# one\nlet a = 1 s\n"),
        ("let a = 1e3 cell/s\n", "let a = 1_000 cell/s\n"),
        ("let a = [1 s 2 s]\n", "let a = [1 s, 2 s]\n"),
        ("let a = 10% .. 90% 20%\n", "let a = 10% .. 90% step 20%\n"),
        (
            "topology t {\n  let x = 10% .. 90% by 20%\n  a = host\n}\n",
            "topology t {\n  let x = 10% .. 90% step 20%\n  a = host\n}\n",
        ),
        ("let a == 3 s\n", "let a = 3 s\n"),
        ("let a = 1 s\u00a0+ 2 s\n", "let a = 1 s + 2 s\n"),
        (
            "let l = line { rate = 149.76 Mbit/s }\n",
            "let l = line { rate = 149.76 Mbit/s @cell }\n",
        ),
        (SWEPT.format("n != 1 or f.lost == 0"), SWEPT.format("f.lost == 0 when n == 1")),
        (SWEPT.format("f.lost == 0 as exakt"), SWEPT.format("f.lost == 0 as exact")),
        ("topologi t { a = host }\n", "topology t { a = host }\n"),
        (
            "let a = processor { per_packet = 1 us, limit = 9 pkt, patience = 1 s }\n",
            "let a = processor { per_packet = 1 us, limit = 9 pkt, watchdog_timeout = 1 s }\n",
        ),
        ("topology t { a = host, x = 3 s }\n", "topology t { a = host, let x = 3 s }\n"),
    ],
)
def test_what_cannot_be_wrong_is_fixed(tmp_path: Path, wrong: str, right: str) -> None:
    path = write(tmp_path / "a.qos", wrong)
    assert check("--fix", path).stderr.startswith("fixed 1 problem in ")
    assert path.read_text(encoding="utf-8") == f"qos 1\n{right}"


@pytest.mark.parametrize(
    "text",
    [
        "let a = 200 Mb/s\n",  # megabits or megabytes
        "let a = 3 parsec\n",
        "traffic v = ubr { mcr = 3 cell/s }\n",  # another abbreviation, not a slip
        "let enc_l = 1 s\nlet b = enc_r\n",  # a name of its own may be missing
        "let a = 1 s => 2 s\n",  # an arrow, or `>=`
        "let a = 10 // 3\n",  # a division
        "let a = 0x1F b = 2\n",  # `b` would be its unit
        "traffic v = cbr { pcr = 3 cell/s, cvdt = 10 us, cdvt = 10 us }\n",
        "let a = processor { limit = 9 pkt, reboot = 1 s, restart_time = 1 s }\n",
    ],
)
def test_what_may_be_meant_otherwise_is_left(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "a.qos", text)
    result = check("--fix", path)
    assert result.exit_code == 2
    assert "fixed" not in result.stderr
    assert path.read_text(encoding="utf-8") == f"qos 1\n{text}"


def test_a_criterion_compares(tmp_path: Path) -> None:
    test = "test t on w {{\n  run {{ measure = 1 s }}\n  expect f.lost {} 0\n}}\n"
    path = write(tmp_path / "a.qos", test.format("="))
    check("--fix", path)
    assert path.read_text(encoding="utf-8") == "qos 1\n" + test.format("==")


def test_the_edition_is_added(tmp_path: Path) -> None:
    path = tmp_path / "a.qos"
    path.write_text("# mine\nlet a = 1 s\n", encoding="utf-8")
    assert check("--fix", path).exit_code == 0
    assert path.read_text(encoding="utf-8") == "qos 1\n\n# mine\nlet a = 1 s\n"


def test_what_a_fix_uncovers_is_fixed_in_turn(tmp_path: Path) -> None:
    path = write(tmp_path / "a.qos", "trafic v = cbr { pcr = 1e3 cell/s, cvdt = 3 seconds }\n")
    result = check("--fix", path)
    assert result.exit_code == 0, result.output
    fixed = "traffic v = cbr { pcr = 1_000 cell/s, cdvt = 3 s }\n"
    assert path.read_text(encoding="utf-8") == f"qos 1\n{fixed}"


def test_what_is_left_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "a.qos", "let a = 1e3\nlet b = 1 s < 1 m\n")
    result = check("--fix", path)
    assert result.exit_code == 2
    assert "fixed 1 problem in " in result.stderr
    assert "E0203" in result.stderr
    assert "E0007" not in result.stderr


def test_without_the_option_check_suggests_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.qos", CONTRACT)
    result = check(path)
    assert result.exit_code == 2
    assert "it can be fixed with `qos check --fix`" in result.stderr
    assert "cvdt" in path.read_text(encoding="utf-8")


def test_the_document_carries_fixes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.qos", "let a = 1e3\n")
    (found,) = json.loads(check("--json", path).stdout)["diagnostics"]
    (edit,) = found["fix"]
    assert edit == {
        "file": found["file"],
        "line": 2,
        "column": 9,
        "end_line": 2,
        "end_column": 12,
        "text": "1_000",
    }
    assert json.loads(check("--fix", "--json", path).stdout) == {
        "schema": 1,
        "diagnostics": [],
        "fixed": 1,
        "files": [found["file"]],
        "failed": [],
    }


def test_line_ends_marks_and_permissions_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.qos"
    path.write_bytes(b"\xef\xbb\xbfqos 1\r\nlet a = 1e3\r\n")
    path.chmod(0o640)
    assert check("--fix", path).exit_code == 0
    assert path.read_bytes() == b"\xef\xbb\xbfqos 1\r\nlet a = 1_000\r\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [file.name for file in tmp_path.iterdir()] == ["a.qos"]


def test_only_what_was_named_is_touched(tmp_path: Path) -> None:
    other = write(tmp_path / "other.qos", "let a = 3 seconds\n")
    path = write(tmp_path / "mine.qos", "import other\n\nlet b = 4 seconds\n")
    assert check("--fix", path).exit_code == 2
    assert "3 seconds" in other.read_text(encoding="utf-8")
    assert "4 s\n" in path.read_text(encoding="utf-8")
    assert check("--fix", tmp_path).exit_code == 0


YAML = """qos: "1"
let:
  l: {is: line, with: {rate: 149.76 Mbit/s @frames, lenght: 3 metres}}
  m: "1 s + 3 seconds"
  n: >-
    3 seconds
    + 4 minutes
topology:
  t: {a: host, x: 3 s}
"""


def test_in_yaml_words_are_put_for_words(tmp_path: Path) -> None:
    """What would be inserted is written otherwise there, and is left."""
    path = tmp_path / "a.yaml"
    path.write_text(YAML, encoding="utf-8")
    result = check("--fix", path)
    assert result.exit_code == 2
    assert "fixed 6 problems" in result.stderr
    fixed = YAML.replace("frames", "frame").replace("lenght", "length")
    fixed = fixed.replace("seconds", "s").replace("metres", "m").replace("minutes", "min")
    assert path.read_text(encoding="utf-8") == fixed


def test_in_yaml_a_former_name_of_a_field_becomes_its_present_one(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    fields = "{per_packet: 1 us, limit: 9 pkt, hiccup: 1 us}"
    text = f'qos: "1"\nlet:\n  a: {{is: processor, with: {fields}}}\n'
    path.write_text(text, encoding="utf-8")
    assert "renamed to `random_interruption`" in check(path).stderr
    assert check("--fix", path).exit_code == 0
    assert path.read_text(encoding="utf-8") == text.replace("hiccup", "random_interruption")


def test_a_former_name_beside_its_present_one_is_left_to_the_author(tmp_path: Path) -> None:
    fields = "per_packet = 1 us, limit = 9 pkt, hiccup = 1 us, random_interruption = 2 us"
    path = write(tmp_path / "a.qos", f"let a = processor {{ {fields} }}\n")
    before = path.read_text(encoding="utf-8")
    result = check("--fix", path)
    assert "help: `random_interruption` is given too; remove `hiccup`" in result.stderr
    assert path.read_text(encoding="utf-8") == before


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target = write(tmp_path / "target.qos", "let a = 3 seconds\n")
    link = tmp_path / "link.qos"
    link.symlink_to(target)
    assert check("--fix", link).exit_code == 0
    assert link.is_symlink()
    assert "3 s\n" in target.read_text(encoding="utf-8")


def test_a_file_that_may_not_be_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.qos", "let a = 3 seconds\n")
    monkeypatch.setattr("os.access", lambda *_: False)  # to root all files are open
    result = check("--fix", path)
    assert result.exit_code == 4
    assert "it is not writable" in result.stderr
    assert "3 seconds" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("as_json", [True, False])
def test_where_one_file_cannot_be_written_the_others_are_fixed_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, as_json: bool
) -> None:
    closed, *others = (write(tmp_path / f"{name}.qos", "let a = 3 seconds\n") for name in "bac")
    monkeypatch.setattr("os.access", lambda path, _: Path(path).name != "b.qos")
    result = check("--fix", tmp_path, *["--json"] * as_json)
    assert result.exit_code == 4
    assert "3 seconds" in closed.read_text(encoding="utf-8")
    assert all("3 s\n" in other.read_text(encoding="utf-8") for other in others)
    assert f"fixed 2 problems in {others[0]}, {others[1]}" in result.stderr
    assert f"cannot change {closed}: it is not writable" in result.stderr
    if as_json:
        document = json.loads(result.stdout)
        assert (document["fixed"], document["files"]) == (2, [str(file) for file in others])
        assert document["failed"] == [f"cannot change {closed}: it is not writable"]
        assert [diagnostic["code"] for diagnostic in document["diagnostics"]] == ["E0201"]


def test_a_package_is_never_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme").mkdir()
    path = write(tmp_path / "acme" / "lib.qos", "let a = 3 seconds\n")
    before = path.read_bytes()
    lock = f'[package.acme]\nfolder = "acme"\nsha256 = "{compute_fingerprint(path.parent, 9)}"\n'
    (tmp_path / "qos.lock").write_text(lock, encoding="utf-8")
    (tmp_path / "qos.toml").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for named in ([], ["acme"], ["acme/lib.qos"]):
        result = check("--fix", *named)
        assert result.exit_code == 2
        assert "E0201" in result.stderr
        assert "fixed" not in result.stderr
    assert path.read_bytes() == before


def test_without_the_option_check_counts_what_can_be_fixed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.qos", "let a = 1e3\nlet b = 1 s < 1 m\n")
    assert "1 of them can be fixed with `qos check --fix`" in check(path).stderr
