"""Records of strangers: what each command that reads one says, with scripts in every text."""

import json
import shutil
import unicodedata
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from invoking import invoke
from narrow import NARROW
from seals import seal

SPECIFICATION = (
    NARROW
    + """test loads on bench {
  sweep load in [1 Mbit/s @ip, 2 Mbit/s @ip]
  flow ab = packets { rate = load, size = 500 B @ip, gaps = poisson } from a to b
  run { measure = 40 ms }
  expect whole: ab.lost == 0 pkt
  expect soon: ab.delay.max < 1 us
}
"""
)
EVIL = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}\x1b[31m&\"'`$(id)\u202e"
)
CASE = f"loads:load=1Mbit_per_s-ip{EVIL}"
FIXED = {"again", "claim", "confidence", "counts", "error", "finished", "kind", "place"}
FIXED |= {"program", "started", "state", "value", "verdict"}
"""What is no free text: a record that has anything there is refused."""
COMMANDS = [
    (("verify", "{}"), 0),
    (("report", "{}"), 0),
    (("report", "{}", "--format", "markdown"), 0),
    (("report", "{}", "--format", "junit"), 0),
    (("report", "{}", "--format", "latex"), 0),
    (("judge", "{}"), 5),
    (("judge", "{}", "bench.qos"), 2),
    (("compare", "{}", "kept", "-o", "page.html"), 3),
    (("compare", "kept", "{}"), 3),
    (("show", "{}", CASE), 0),
    (("show", "{}", "none"), 2),
    (("pcap", "{}", CASE, "a"), 2),
    (("history", CASE, "--record", "records", "-o", "chart.svg"), 0),
    (("history", CASE, "--record", "records"), 0),
    (("sql", "FROM cases", "{}"), 0),
    (("sign", "{}", "--key", "none"), 2),
    (("merge", "{}", "kept"), 2),
    (("baseline", "set", "main", "{}"), 0),
    (("run", "--resume", "{}"), 1),
]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with a record of its own, `kept`; not to be changed."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "bench.qos").write_text(SPECIFICATION)
    ran = invoke("run", folder / "bench.qos", "--record", folder / "made", "--no-progress")
    assert ran.exit_code == 1, ran.output
    (record,) = (folder / "made").iterdir()
    record.rename(folder / "kept")
    return folder


@pytest.fixture
def record(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the record in a project of its own, without its report."""
    shutil.copytree(own, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    found = Path("records/2026-11-30T01-00-00Z-0")
    shutil.copytree("kept", found)
    (found / "report.html").unlink()
    return found


def edit(record: Path, change: Callable[[Any], Any]) -> None:
    """Change each document of a record, and seal it as a stranger may."""
    for path in record.rglob("*.json"):
        document = change(json.loads(path.read_text(encoding="utf-8")))
        for source in document.get("provenance", {}).get("sources", ()):
            source["sha256"] = sha256(source["text"].encode()).hexdigest()
        path.write_text(json.dumps(document), encoding="utf-8")
    seal(record)


def add_scripts(value: Any, name: str = "") -> Any:
    """Return a value with a script in each free text."""
    if isinstance(value, dict):
        return {its: add_scripts(of, its) for its, of in value.items()}
    if isinstance(value, list):
        return [add_scripts(item, name) for item in value]
    return value + EVIL if isinstance(value, str) and name not in FIXED else value


def list_unseen(text: str) -> Iterator[str]:
    """Yield what a terminal obeys, or shows in another order."""
    for character in text:
        if character != "\n" and unicodedata.category(character) in {"Cc", "Cf"}:
            yield character


def test_no_script_runs_and_no_command_breaks_off(record: Path) -> None:
    edit(record, add_scripts)
    for words, code in COMMANDS:
        done = invoke(*(word.replace("{}", str(record)) for word in words))
        assert done.exit_code == code, (words, done.output)
        assert "internal error" not in done.output
        assert not [*list_unseen(done.output)], words
    pages = [
        invoke("report", record).output,
        *(path.read_text() for path in (Path("page.html"), Path("chart.svg"))),
    ]
    assert [page.count("<script") + page.count("<img src=x") for page in pages] == [0, 0, 0]


@pytest.mark.parametrize("name", sorted(FIXED - {"state"}))
def test_what_is_no_free_text_is_refused(record: Path, name: str) -> None:
    def change(value: Any, its: str = "") -> Any:
        if isinstance(value, dict):
            return {word: change(of, word) for word, of in value.items()}
        if isinstance(value, list):
            return [change(item, its) for item in value]
        return value + EVIL if isinstance(value, str) and its == name else value

    edit(record, change)
    done = invoke("verify", record)
    assert (done.exit_code, "is damaged: " in done.output) == (4, True), done.output


def move_outside(document: Any) -> Any:
    for source in document.get("provenance", {}).get("sources", ()):
        source["name"] = f"../../{source['name']}"
    return document


def make_newer(document: Any) -> Any:
    return {**document, "schema": 2} if "schema" in document else document


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (move_outside, "is not a path of the library or of the project"),
        (make_newer, "has schema 2, and this version of qospec reads 1: use the one"),
        (None, "was changed since it was written"),
    ],
)
def test_each_command_refuses_it_by_name(
    record: Path, change: Callable[[Any], Any] | None, said: str
) -> None:
    if change is None:
        (record / "outcome.json").write_text("{}")
    else:
        edit(record, change)
    for words, _ in COMMANDS:
        if "{}" in words and words[0] not in ("sign", "merge"):  # of which more is asked first
            done = invoke(*(word.replace("{}", str(record)) for word in words))
            assert (done.exit_code, said in done.output) == (4, True), (words, done.output)
    done = invoke("history", "loads:load=1Mbit_per_s-ip", "--record", "records")
    assert said in done.output
