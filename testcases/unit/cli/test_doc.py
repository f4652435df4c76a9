"""`qos doc`: one page of what files declare."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qospec import cli
from qospec.diagnostics import Problems
from qospec.source import Source
from qospec.yaml_twin.writer import write_yaml

SPEC = """qos 1
import std.media

## Two hosts & <one> link.
topology wire(haul: Length = 5 km) { ## how far
  a, b = host
  for i in 0 .. 1 {
    let twice = 2 * i
  }
  link a -- b via media.stm1 { length = haul }
}

## Steady cells.
traffic steady(rate: CellRate = 10 cell/s) = cbr { pcr = rate, cdvt = 1 ms }

let slot = 2.83 us

## Nothing is lost.
test passes on wire {
  covers = ["REQ-1"]
  flow f = steady(rate = 10_000 cell/s) from a to b
  run { measure = 10 ms }
  ## None at all.
  expect whole: f.lost == 0
}

test changes on wire {
  flow f = ubr { pcr = 10_000 cell/s, source = constant { rate = load } } from a to b
  point over {
    load = 100 cell/s
    measure = 10 ms
    at 4 ms { load = 50 cell/s }
  }
  expect over.f.lost == 0
}
"""


class Outline(HTMLParser):
    """Collects ids, links and what would be loaded from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.ids += [known["id"]] if known.get("id") else []
        self.links += [known["href"]] if tag == "a" and known.get("href") else []
        self.loaded += [str(known[name]) for name in ("src", "data") if name in known]
        if tag not in {"meta", "link"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def doc(*arguments: object) -> Result:
    return CliRunner().invoke(cli.qos, ["doc", *map(str, arguments)])


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "a.qos"
    path.write_text(SPEC, encoding="utf-8")
    return path


def test_the_page_is_whole_and_closed(spec: Path) -> None:
    page = doc(spec).stdout
    outline = Outline(page)
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    assert {link[1:] for link in outline.links} <= set(outline.ids)
    assert outline.loaded == []


def test_every_declaration_is_on_it(spec: Path) -> None:
    ids = Outline(doc(spec).stdout).ids
    for name in ("wire", "steady", "slot", "passes"):
        assert f"file-1-{name}" in ids


def test_comments_are_text(spec: Path) -> None:
    page = doc(spec).stdout
    assert "Two hosts &amp; &lt;one&gt; link." in page
    assert "<one>" not in page


@pytest.mark.parametrize("form", ["html", "markdown"])
@pytest.mark.parametrize(
    "piece",
    [
        "Length = 5 km",
        "media.stm1 { length = haul }",
        "REQ-1",
        "expect whole",
        "f.lost == 0",
        "None at all.",
        "2.83 us",
        "10 cell/s",
        "i in 0 .. 1",
        "over at 4 ms: load",
    ],
)
def test_what_is_declared_is_documented(spec: Path, form: str, piece: str) -> None:
    assert piece in doc(spec, "--format", form).stdout


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_the_same_files_give_the_same_bytes(spec: Path, form: str) -> None:
    assert doc(spec, "--format", form).stdout_bytes == doc(spec, "--format", form).stdout_bytes


LINES = """qos 1
device d {
  port i, o: cell
  queue = fifo {  # how
    limit = 9 cell  # nine
    ## All that comes later.
    drop = tail
  }
  i.rx -> queue -> o.tx
  o.rx -> discard
}
"""


@pytest.mark.parametrize("name", ["a.qos", "a.yaml"])
def test_a_value_of_several_lines_is_code_on_one(tmp_path: Path, name: str) -> None:
    text: str | None = LINES
    if name == "a.yaml":
        text = write_yaml(Source("a.qos", LINES), Problems())
    assert text is not None
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    page = doc(path, "--format", "markdown").stdout
    assert "`fifo { limit = 9 cell, drop = tail }`" in page


def test_it_is_written_into_a_file(spec: Path, tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    result = doc(spec, "--title", "Wires", "--output", target)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "<title>Wires</title>" in target.read_text(encoding="utf-8")


def test_a_file_with_a_mistake_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.qos"
    path.write_text("qos 1\nlet a = = 1\n", encoding="utf-8")
    result = doc(path)
    assert result.exit_code == 2
    assert "E0001" in result.stderr
    assert result.stdout == ""


def test_a_place_that_cannot_be_written_is_said(spec: Path, tmp_path: Path) -> None:
    result = doc(spec, "-o", tmp_path / "no" / "page.html")
    assert result.exit_code == 4
    assert "cannot write" in result.stderr
