"""Build the documentation site in build/site/html: `make site`.

Its pages are README.md, what docs/ and spec/ say, each file that they point to, and what the
program itself writes: the documentation of the library and of the suites, and reports of runs.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "site"
PAGES = BUILD / "pages"
TOOLS = Path(sys.executable).parent
TEXTS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/**/*.md", "spec/*.md")
GALLERY = "gallery.md"
NAMED = re.compile(r"^```(\w+) (\S+).*$", re.MULTILINE)
"""The first line of a block with the name of its file."""
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")
EXAMPLES = "docs/examples"
PUBLICATIONS = {
    "eantc": ("EANTC: acceptance test of an ATM encryptor, 2006", "data_plane.qos"),
    "osu": ("Ohio State University: performance of an ATM switch, 1997", "latency.qos"),
    "mpoa": ("K.-O. Detken: IP over ATM and MPOA, about 2000", "routed.qos"),
    "lancom": ("LANCOM Systems: router performance, LCOS 6.10", "throughput.qos"),
    "unh": ("A. Chadda: QoS testing methodology, 2004", "vendor_a.qos"),
}
"""The suite of each publication, and the part that is run for the gallery, since it is quick."""
TEXT = """\
# Reports and publications

Each page here was written by the program when this site was built.

- [The jobs of the trade](reports/examples.html): report of the [examples](docs/examples/README.md)
- [The library](declared/library.html): devices, media, traffic and procedures to import

Five publications are reproduced by suites. What a suite declares is the print, where it is wrong,
and the tests; the report is of a part of the suite, with the print beside what was measured.

| publication | declared | report of |
|---|---|---|
"""


def lay_out_texts() -> None:
    """Copy each text to its place among the pages, and what it points to beside it."""
    texts = sorted({path for pattern in TEXTS for path in ROOT.glob(pattern)})
    for path in texts:
        where = PurePosixPath(path.relative_to(ROOT).as_posix())
        text = NAMED.sub(r'```\1 title="\2"', path.read_text(encoding="utf-8"))
        write(where, LINK.sub(partial(follow, where), text))


def follow(page: PurePosixPath, link: re.Match[str]) -> str:
    """Return a link of a page as it is on the site, where what it points to has a place, too.

    Raises:
        FileNotFoundError: It points to nothing.
    """
    target = Path(os.path.normpath(ROOT / page.parent / link[1]))
    where = PurePosixPath(target.relative_to(ROOT).as_posix())
    if target.is_dir():
        return f"]({os.path.relpath(GALLERY, page.parent)})"
    if target.suffix == ".md":
        return link[0]
    if target.suffix == ".png":
        (PAGES / where).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(target, PAGES / where)
        return link[0]
    write(PurePosixPath(f"{where}.md"), show_file(target))
    return f"]({link[1]}.md)"


def show_file(path: Path) -> str:
    """Return a page with a file on it."""
    return f"# {path.name}\n\n```{path.suffix[1:]}\n{path.read_text(encoding='utf-8')}```\n"


def write(where: PurePosixPath, text: str) -> None:
    """Write a page."""
    (PAGES / where).parent.mkdir(parents=True, exist_ok=True)
    (PAGES / where).write_text(text, encoding="utf-8")


def call(*command: str) -> str:
    """Return what a program of this environment prints.

    Raises:
        subprocess.CalledProcessError: It failed.
    """
    called = [str(TOOLS / command[0]), *command[1:]]
    return subprocess.run(called, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def report(path: str, name: str) -> None:
    """Run a file or folder, and put its report among the pages as `reports/NAME.html`."""
    records = BUILD / "records" / name
    call("qos", "run", path, "--record", str(records), "-j", "2", "--quiet", "--no-progress")
    (page,) = records.glob("*/report.html")
    shutil.copy(page, PAGES / "reports" / f"{name}.html")


def document(path: str, name: str, title: str) -> None:
    """Put the documentation of what files declare among the pages as `declared/NAME.html`."""
    call("qos", "doc", path, "--title", title, "-o", str(PAGES / "declared" / f"{name}.html"))


def build_gallery() -> None:
    """Run what the gallery shows, and write its page."""
    for folder in ("reports", "declared"):
        (PAGES / folder).mkdir(parents=True)
    report(EXAMPLES, "examples")
    document("stdlib", "library", "The library")
    rows = []
    for name, (title, part) in PUBLICATIONS.items():
        suite = f"testcases/suites/{name}"
        document(suite, name, title)
        report(f"{suite}/{part}", name)
        rows.append(
            f"| {title} | [printed, errata, tests](declared/{name}.html)"
            f" | [{part}](reports/{name}.html) |"
        )
    write(PurePosixPath(GALLERY), TEXT + "\n".join(rows) + "\n")


def main() -> None:
    """Build the site anew."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    shutil.rmtree(BUILD, ignore_errors=True)
    lay_out_texts()
    build_gallery()
    configuration = shutil.copy(Path(__file__).with_name("zensical.toml"), BUILD)
    colouring = str(Path(__file__).with_name("highlighting.py"))
    call("python", colouring, "build", "--strict", "--config-file", str(configuration))
    print(BUILD / "html" / "index.html")


if __name__ == "__main__":
    main()
