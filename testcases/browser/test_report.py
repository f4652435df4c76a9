"""A report as people see it: in Chromium, on a screen, on a phone and on paper.

Run by `make test-browser`, which needs the package chromium and the extra `browser`.
"""

import io
import json
import os
import runpy
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright
from pypdf import PdfReader

from qospec.report.comparison import compare_outcomes, describe_comparison
from qospec.report.render import render, render_comparison
from qospec.report.similar import choose_printed
from qospec.report.text import format_for_print
from qospec.report.views import choose_detailed, list_cases

SPECIFICATION = Path(__file__).with_name("wide.qos")
RECORDS = Path(__file__).parents[1] / "unit" / "report" / "conftest.py"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
PAPER_PX = {"A4": 680, "Letter": 702}
"""How wide a page is between its margins, at 96 pixels an inch."""
TALL = {"height": 900}


@pytest.fixture(scope="session")
def document(tmp_path_factory):
    """Return the record of a run of tests with more results than fit beside each other."""
    folder = tmp_path_factory.mktemp("records")
    subprocess.run(
        [sys.executable, "-c", "from qospec.cli import main; main()", "run", SPECIFICATION,
         "--record", folder, "--exit-zero"],
        env={**os.environ, "QOS_KERNELS": "python"},
        check=True,
    )  # fmt: skip
    (outcome,) = folder.glob("*/outcome.json")
    return json.loads(outcome.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="session")
def address(document, tmp_path_factory):
    return written(document, tmp_path_factory)


@pytest.fixture(scope="session")
def with_everything(tmp_path_factory):
    """Return the address of a report with everything that a report can show."""
    made = runpy.run_path(str(RECORDS))["made_document"]()
    return written(made, tmp_path_factory)


@pytest.fixture(scope="session")
def with_searches(tmp_path_factory):
    """Return the address of a report on searches: tables of bounds, and bracket plots."""
    made = runpy.run_path(str(RECORDS))["phased_document"]()
    return written(made, tmp_path_factory)


def written(document, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(document, {}, "html"), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(browser, address):
    """Return what opens a report at a width, and fails if its console says anything."""
    said, pages = [], []

    def at(width, address=address, **more):
        page = browser.new_page(viewport={"width": width, **TALL}, **more)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(address)
        pages.append(page)
        return page

    yield at
    for page in pages:
        page.close()
    assert said == []


def printed(text):
    """Return a text as print has it, without spaces: lines break where they like."""
    return "".join(format_for_print(text).split()).replace("\u202f", "")


def results(document):
    """Return how often each text stands in what is printed: values, bounds, intervals.

    Statements are printed of all cases, metrics of those that `choose_printed` names.
    """
    found = Counter()
    printed = choose_printed(document, choose_detailed(document))
    for case in list_cases(document):
        for statement in case["statements"]:
            interval = statement["interval"] or {}
            ends = interval.get("lower"), interval.get("upper")
            found.update(q["text"] for q in (statement["measured"], *ends) if q)
        found.update(
            quantity["text"]
            for of in case["metrics"].values()
            for quantity in of.values()
            if quantity and case["id"] in printed
        )
    return found


def text_of(pdf):
    reader = PdfReader(io.BytesIO(pdf))
    text = "".join(page.extract_text() for page in reader.pages)
    return "".join(text.split()).replace("\u202f", "").replace("\u00a0", "")


@pytest.mark.parametrize("paper", PAPER_PX)
def test_every_value_is_on_paper(opened, document, paper):
    text = text_of(opened(1_000).pdf(format=paper))
    short = {value: n for value, n in results(document).items() if text.count(printed(value)) < n}
    assert short == {}
    assert len(results(document)) > 80, "the record has something to print"


@pytest.mark.parametrize("paper", PAPER_PX)
def test_nothing_reaches_beyond_the_paper(opened, paper):
    page = opened(PAPER_PX[paper])
    page.emulate_media(media="print")
    assert page.evaluate(WIDER) == []


WIDER = """() => [...document.querySelectorAll('body *')].filter(
  element => element.checkVisibility()
    && element.getBoundingClientRect().right > document.documentElement.clientWidth + 1
).map(element => `${element.tagName} ${element.className} ${element.textContent.slice(0, 60)}`)"""
"""What stands beyond the right edge, or would but for a box that scrolls."""


def test_the_specification_is_on_paper_as_it_was_run(opened, document):
    text = text_of(opened(1_000).pdf(format="A4"))
    (source,) = [s for s in document["provenance"]["sources"] if s["name"].endswith("wide.qos")]
    lines = [line for line in source["text"].splitlines() if "expect" in line]
    assert len(lines) > 4
    assert [line for line in lines if "".join(line.split()) not in text] == []
    assert "std/media.qosSHA-256" in text
    assert "letstm1=" not in text, "files of the library are named, not printed"


MOST_PAGES = 11
"""On how many pages 13 cases are: on half as many as with the metrics of each, which were 23."""


def test_cases_that_pass_alike_take_few_pages(opened, document):
    pages = PdfReader(io.BytesIO(opened(1_000).pdf(format="A4"))).pages
    assert len(document["cases"]) == 13
    assert len(pages) <= MOST_PAGES
    half_empty = [
        number for number, page in enumerate(pages[:-1], 1) if len(page.extract_text()) < 700
    ]
    assert half_empty == []


LEGIBLE_PX = 9
LABELS = """() => [...document.querySelectorAll('svg text')].filter(text => text.checkVisibility())
  .map(text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"""


@pytest.mark.parametrize("which", ["address", "with_everything", "with_searches"])
def test_labels_are_legible_on_a_phone(opened, which, request):
    sizes = opened(360, request.getfixturevalue(which)).evaluate(LABELS)
    assert len(sizes) > 10
    assert min(sizes) >= LEGIBLE_PX - 0.01


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1_400])
def test_a_page_is_as_wide_as_its_window(opened, width, scheme):
    page = opened(width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [360, 1_400])
def test_a_comparison_is_as_wide_as_its_window(opened, document, width, tmp_path):
    after = {**document, "seed": "1"}
    shown = describe_comparison(compare_outcomes(document, after), document, after)
    for run in (shown["before"], shown["after"]):
        run |= {"record": "2026-11-30T10-46-28Z-0", "fingerprint": "0" * 64}
    path = tmp_path / "comparison.html"
    path.write_text(render_comparison(shown), encoding="utf-8")
    page = opened(width, path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_a_screen_every_column_is_in_sight(opened):
    assert opened(1_400).evaluate(WIDER) == []


@pytest.mark.parametrize("paper", PAPER_PX)
def test_searches_are_on_paper_with_all_their_trials(opened, with_searches, paper):
    page = opened(PAPER_PX[paper], with_searches)
    page.emulate_media(media="print")
    assert page.evaluate(WIDER) == []
    text = text_of(page.pdf(format=paper))
    assert text.count("mlrsearch") >= 4
    assert text.count("8928571") == 1, "each trial of the first of two alike is in a table"


def test_marks_of_a_bracket_plot_are_inside_of_its_panels(opened, with_searches):
    outside = """() => [...document.querySelectorAll('.brackets svg')].flatMap(svg => {
      const box = svg.getBoundingClientRect();
      const marks = svg.querySelectorAll('g.pass *, g.fail *, g.inconclusive *, text');
      return [...marks].filter(mark => {
        const at = mark.getBoundingClientRect();
        return at.width && (at.left < box.left - 1 || at.right > box.right + 1
          || at.top < box.top - 1 || at.bottom > box.bottom + 1);
      }).map(mark => mark.outerHTML);
    })"""
    assert opened(1_400, with_searches).evaluate(outside) == []


@pytest.mark.parametrize("which", ["address", "with_everything", "with_searches"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened, scheme, which, request):
    page = opened(1_400, request.getfixturevalue(which), color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    found = Axe().run(page)
    told = [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in found.response["violations"]
        for node in violation["nodes"][:3]
    ]
    assert told == []


SHOWN = """() => [...document.querySelectorAll('.results tbody tr[data-verdicts], details.case')]
  .filter(row => row.checkVisibility()).map(row => row.dataset.verdicts)"""


def test_a_chosen_verdict_hides_cases_of_others_on_the_screen(opened, with_everything):
    page = opened(1_400, with_everything)
    every = page.evaluate(SHOWN)
    assert {"pass", "fail"} < set(every)
    page.check("#only-fail")
    assert page.evaluate(SHOWN) == ["fail"] * every.count("fail")
    page.emulate_media(media="print")
    on_paper = page.evaluate("document.querySelectorAll('.test').length")
    assert (
        page.evaluate(
            "[...document.querySelectorAll('.test')].filter(test => test.checkVisibility()).length"
        )
        == on_paper
    )
