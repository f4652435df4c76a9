"""The documents agree with the tree: links, files that are named, rooms and their order."""

import configparser
import re
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "interpreter" / "qospec"
OF_THE_TREE = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS = [*OF_THE_TREE, *sorted((ROOT / "spec").glob("*.md"))]
DESIGN = ROOT / "docs" / "design"
ARCHITECTURE = ROOT / "docs" / "architecture.md"

BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
LINK = re.compile(r"\[[^]]*\]\(([^)#\s]*)(#[^)\s]*)?\)")
FILE = re.compile(r"`([a-z][\w./]*/[\w.]+\.(?:py|md|toml|lark|qos|txt|j2))`")
DATED = re.compile(r"\A.+\n\n\*20\d\d-[01]\d-[0-3]\d\.\*\s")
PLACEHOLDER = re.compile(r"NAME|WORK")


def prose(path: Path) -> str:
    """Return a document without its examples."""
    return BLOCK.sub("", path.read_text(encoding="utf-8"))


def headings(path: Path) -> list[tuple[int, str]]:
    return [(len(marks), text) for marks, text in HEADING.findall(prose(path))]


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return "#" + re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def broken(path: Path) -> list[str]:
    """Return the links of a document to files or headings that do not exist."""
    missing = []
    for target, fragment in LINK.findall(prose(path)):
        if "://" in target:
            continue
        file = (path.parent / target).resolve() if target else path
        anchors = {anchor(text) for _, text in headings(file)} if fragment else set()
        if not file.exists() or (fragment and fragment not in anchors):
            missing.append(target + fragment)
    return missing


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_a_file_and_a_heading(path: Path) -> None:
    assert broken(path) == []


@pytest.mark.parametrize("path", OF_THE_TREE, ids=lambda path: path.name)
def test_files_that_are_named_exist(path: Path) -> None:
    files = {file for file in FILE.findall(prose(path)) if not PLACEHOLDER.search(file)}
    roots = (ROOT, ROOT / "testcases", PACKAGE, PACKAGE.parent)
    assert {file for file in files if not any((root / file).exists() for root in roots)} == set()


@pytest.mark.parametrize("path", sorted(DESIGN.glob("[!R]*.md")), ids=lambda path: path.name)
def test_every_decision_has_its_date_and_every_page_is_listed(path: Path) -> None:
    decisions = prose(path).split("\n## ")[1:]
    assert decisions
    assert [decision for decision in decisions if not DATED.search(decision)] == []
    assert f"| [{path.name}]({path.name}) |" in prose(DESIGN / "README.md")


def layers(contract: str) -> list[set[str]]:
    """Return the modules of each layer of a contract, from the top."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    lines = config[f"importlinter:contract:{contract}"]["layers"].split("\n")
    return [set(re.findall(r"\w+", line)) for line in lines if line]


def rooms(title: str) -> list[str]:
    """Return what is named in the first column of the table with that title, row by row."""
    table = prose(ARCHITECTURE).partition(f"| {title} |")[2].partition("\n\n")[0]
    first = [line.split("|")[1] for line in table.splitlines()[2:]]
    return [name for cell in first for name in re.findall(r"`(\w+)(?:\.py)?`", cell)]


@pytest.mark.parametrize(
    ("title", "contract"), [("room", "layers"), ("in `check`", "check"), ("in `engine`", "rooms")]
)
def test_the_architecture_shows_every_room_in_the_order_of_its_contract(
    title: str, contract: str
) -> None:
    expected = layers(contract)
    shown = rooms(title)
    depth = {name: number for number, layer in enumerate(expected) for name in layer}
    assert set(shown) == set(chain.from_iterable(expected))
    assert shown == sorted(shown, key=depth.__getitem__)


def test_the_architecture_lists_every_contract() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    contracts = [name.rpartition(":")[2] for name in config if "importlinter:contract:" in name]
    assert sorted(rooms("contract")) == sorted(contracts)


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A `b`, c\n[x](#a-b-c) [y](#a-b) [z](none.md) [w](https://x.example)\n", "utf-8"
    )
    assert broken(page) == ["#a-b", "none.md"]
