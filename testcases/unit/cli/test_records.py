"""Commands over many records: `qos history` and `qos sql`."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import duckdb
import pytest
from invoking import invoke
from narrow import NARROW

from qospec.cli.commands import sql

SPECIFICATION = (
    NARROW
    + """test loads on bench {
  sweep load in [1 Mbit/s @ip, 20 Mbit/s @ip]
  flow ab = packets { rate = load, size = 500 B @ip } from a to b
  run { measure = 20 ms, overload = true }
  expect whole: ab.loss <= 50 %
}
"""
)
CASE = "loads:load=20Mbit_per_s-ip"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with three records: of two runs, and a damaged one."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "qos.toml").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for number, room in enumerate(("room = 4", "room = 2", "room = 4")):
            Path("bench.qos").write_text("\n" * number + SPECIFICATION.replace("room = 4", room))
            ran = invoke("run", "bench.qos", "--no-progress")
            assert ran.exit_code in (0, 1), ran.output
            made = Path(ran.output.rpartition("report: ")[2].strip()).parent
            made.rename(f"records/2026-11-30T0{number + 1}-00-00Z-0")
        (folder / "records/2026-11-30T03-00-00Z-0/outcome.json").write_text("{}")
    return folder


@pytest.fixture(autouse=True)
def project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(folder)
    yield
    for path in folder.glob("made.*"):
        path.unlink()


def test_the_history_of_a_case_says_what_each_run_measured() -> None:
    """With half the room, more is lost of a burst: 51 of 100 packets in place of 49."""
    done = invoke("history", CASE)
    assert done.exit_code == 0
    assert "note: left out: `records/2026-11-30T03-00-00Z-0/outcome.json` is damaged" in done.stderr
    first, whole, one, other = done.stdout.splitlines()
    assert (first, whole) == (f"{CASE}: 2 records", "whole  ≤ 50 %")
    told = {
        path.name: next(
            case["statements"][0]
            for case in json.loads((path / "outcome.json").read_text())["cases"]
            if case["name"] == CASE
        )
        for path in sorted(Path("records").iterdir())[:2]
    }
    for line, time, statement in zip((one, other), ("01", "02"), told.values(), strict=True):
        assert line.split()[:2] == [f"{time}-00-00", statement["verdict"]]
        assert line.endswith(statement["measured"]["text"])


def test_the_history_of_a_case_is_a_chart() -> None:
    assert invoke("history", CASE, "-o", "made.svg").exit_code == 0
    drawing = ET.parse("made.svg").getroot()  # noqa: S314 -- it is our own
    texts = [of.text for of in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert {"01-00-00", "02-00-00"} <= set(texts)
    marks = [of.get("class") for of in drawing.iter() if of.get("class") in ("pass", "fail")]
    assert sorted(map(str, marks)) == ["fail", "pass"]
    assert invoke("history", CASE, "-o", "made.html").exit_code == 0
    assert invoke("history", CASE, "-n", 1, "--json").exit_code == 3 - 1  # the newest is damaged
    assert [run["verdict"] for run in json.loads(invoke("history", CASE, "--json").stdout)] == [
        "pass",
        "fail",
    ]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["load:load=20Mbit_per_s-ip"], 2, f"has ended: did you mean `{CASE}`?"),
        (["loads"], 2, "`loads` has 2 cases: name one of them"),
        ([CASE, "-o", "made.png"], 2, "its ending says the format: .svg, .html, .csv, .tex"),
        ([CASE, "-o", "none/made.svg"], 4, "cannot write `none/made.svg`"),
        ([CASE, "--record", "none"], 2, f"no record in `none` has a case `{CASE}`"),
    ],
)
def test_a_history_that_there_is_not(words: list[str], code: int, told: str) -> None:
    done = invoke("history", *words)
    assert (done.exit_code, told in done.stderr) == (code, True), done.stderr


def test_sql_asks_all_sound_records() -> None:
    done = invoke(
        "sql", "SELECT record, verdict FROM cases WHERE case_name LIKE '%=20M%' ORDER BY record"
    )
    assert "note: left out: `records/2026-11-30T03-00-00Z-0/outcome.json`" in done.stderr
    assert done.stdout.splitlines() == [
        "record                  verdict",
        "2026-11-30T01-00-00Z-0  pass",
        "2026-11-30T02-00-00Z-0  fail",
    ]
    asked = "SELECT DISTINCT parameters->>'load' AS load, year(started) > 2000 AS late FROM cases"
    rows = json.loads(invoke("sql", f"{asked} ORDER BY 1", "--json").stdout)
    assert rows == [{"load": load, "late": True} for load in ("1Mbit_per_s-ip", "20Mbit_per_s-ip")]


def test_what_was_measured_is_written_as_parquet() -> None:
    done = invoke(
        "sql", "FROM measurements", "records/2026-11-30T01-00-00Z-0", "-o", "made.parquet"
    )
    assert done.exit_code == 0, done.output
    lost, sent, ratio = duckdb.sql(
        "SELECT max(value) FILTER (metric = 'lost'), max(value) FILTER (metric = 'sent'),"
        " max(value) FILTER (metric = 'loss_ratio') FROM 'made.parquet'"
        " WHERE case_name LIKE '%=20M%' AND flow = 'ab' AND repeat = 1"
    ).fetchall()[0]
    assert sent == 100  # of 4,000 bit each, in 20 ms
    assert ratio == lost / sent
    written = invoke("sql", "SELECT count(*) FROM 'made.parquet'", "--json").stdout
    count = json.loads(written)[0]["count_star()"]
    assert done.stderr == f"{count} rows: made.parquet\n"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["SELEC 1"], 2, "the query fails: Parser Error"),
        (["SELECT colour FROM cases"], 2, 'the query fails: Binder Error: Referenced column "colo'),
        (["FROM names"], 2, "Table with name names does not exist"),  # no variable of the program
        (["FROM names"], 2, "there are `cases`, `statements` and `measurements`"),
        (["SELEC 1", "-o", "made.csv"], 2, "the query fails: Parser Error"),
        (["FROM cases", "-o", "made.xls"], 2, "its ending says the format: .parquet, .csv, .json"),
        (["FROM cases", "-o", "none/made.csv"], 4, "cannot write `none/made.csv`"),
        (["FROM cases", "records/2026-11-30T03-00-00Z-0"], 4, "outcome.json` is damaged"),
        (["FROM cases", "records/none"], 2, "no record found at `records/none`"),
    ],
)
def test_what_sql_cannot_answer(words: list[str], code: int, told: str) -> None:
    done = invoke("sql", *words)
    assert (done.exit_code, told in done.stderr) == (code, True), done.stderr
    assert not list(Path().glob("made.*"))


def test_text_that_is_not_unicode_is_replaced() -> None:
    outcome = json.loads(Path("records/2026-11-30T01-00-00Z-0/outcome.json").read_text())
    outcome["cases"][0]["parameters"] = {"load": "\ud800"}
    record = SimpleNamespace(
        folder=Path("made"), read_outcome=lambda: outcome, read_timing=lambda: {"cases": {}}
    )
    with duckdb.connect() as connection:
        sql._fill(connection, [record])
        found = connection.sql("SELECT parameters->>'load' FROM cases").fetchall()
    assert found[0] == ("?",)


def test_json_has_no_numbers_that_it_does_not_know() -> None:
    done = invoke(
        "sql", "SELECT 'nan'::DOUBLE AS a, '-inf'::DOUBLE AS b, 1.5::DOUBLE AS c", "--json"
    )
    assert json.loads(done.stdout, parse_constant=pytest.fail) == [
        {"a": "nan", "b": "-inf", "c": 1.5}
    ]


def test_a_table_is_written_by_way_of_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "it's").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "it's"))
    assert invoke("sql", "SELECT 1 AS one", "-o", "made.csv").exit_code == 0
    assert Path("made.csv").read_text() == "one\n1\n"
