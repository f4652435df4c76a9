import re
from html.parser import HTMLParser

import pytest

from qospec.report import views
from qospec.report.format import REPORTS
from qospec.report.render import render

VOID = {"meta", "link", "br", "wbr", "input"}
SVG_LEAVES = {"path", "rect", "circle"}


class Page(HTMLParser):
    """Reads a page and keeps what the tests ask for; a tag that closes nothing is an error."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.words, self.open = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.extend((tag, *pair) for pair in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag in SVG_LEAVES
        self.tags.append(tag)
        self.attributes.extend((tag, *pair) for pair in attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def values(self, name):
        return [value for _, attribute, value in self.attributes if attribute == name]


@pytest.fixture
def page(document, timing):
    return Page(render(document, timing, "html"))


def test_every_verdict_has_its_mark_and_its_word(page):
    for words in ("✓ pass", "✗ fail", "~ inconclusive", "! error", "– skip"):
        assert words in page.text


def test_the_headline_says_what_went_wrong_first(page):
    assert (
        "Of 10 cases, 1 ends in an error of the tester, 2 fail and 1 is inconclusive" in page.text
    )
    assert "Look first at crashes (the engine lost track" in page.text


def test_a_failing_case_is_shown_with_measured_needed_why_and_rerun(page):
    for words in (
        "Measured 1320 cell",
        "Needed = 0 cell",
        "Why 1320 cells of ab: le155.upc[0] (policed)",
        "Rerun qos run testcases/suites/eantc/data_plane.qos::cdvt:tolerance=4us",
    ):
        assert words in page.text


def test_requirements_stand_beside_their_tests_and_verdicts(page):
    assert "EANTC 2006, data plane ~ inconclusive data_plane ✓ 4 pass repeated" in page.text


def test_text_of_a_specification_is_text_and_not_markup(page, document, timing):
    assert "script" not in page.tags
    assert "b" in page.tags, "the page's own"
    assert "REQ-018 | <b>bold</b>" in page.text
    assert "</script><script>alert(1)</script>" in page.text
    assert "<script" not in render(document, timing, "html")


def test_nothing_is_fetched_from_anywhere(page, document, timing):
    links = page.values("href") + page.values("src")
    assert links
    assert all(link.startswith(("#", "data:")) for link in links)
    assert not re.search(r"url\(|@import|https?:", render(document, timing, "html"))


def test_links_within_the_page_lead_somewhere(page):
    targets = {link[1:] for link in page.values("href") if link.startswith("#")}
    assert targets <= set(page.values("id"))


def test_no_two_parts_have_one_name(page):
    names = page.values("id")
    assert len(names) == len(set(names))


def test_tables_can_be_read_aloud(page):
    headings = [tag for tag in page.tags if tag == "th"]
    scopes = [value for tag, name, value in page.attributes if (tag, name) == ("th", "scope")]
    assert len(scopes) == len(headings)
    assert ("html", "lang", "en") in page.attributes


def test_exact_values_are_one_hover_away(page):
    assert "exactly 101/5000000 s" in page.values("title")


def test_networks_and_charts_are_drawn(page):
    labels = page.values("aria-label")
    assert any(label.startswith("Network: a[0] to left[0], left[0] to west") for label in labels)
    assert any(label.startswith("no_loss over tolerance") for label in labels)
    assert "a[0,1]" in page.words
    assert "b[0..3]" in page.words


def test_published_numbers_stand_in_a_table_with_their_errata(page):
    assert "average 1 20.2 µs 20.2 µs 2 20.6 µs 21.1 µs 3 27.6 µs 23.4 µs" in page.text
    assert "Erratum. The link is called 99.9999 % utilised" in page.text
    assert "Published data that no test refers to unused_table lost 1 cell, 7 cell" in page.text


def test_the_specification_is_there_with_the_verdict_of_each_line(document, timing):
    text = render(document, timing, "html")
    lines = re.findall(r'<span class="(\w+)">([^\n]*)</span>\n', text)
    assert ("fail", "  a") in lines
    assert ("pass", "  b") in lines


def test_repeats_show_only_what_differs(page):
    assert "Differs between repeats 1 2 3 ab transfer delay min 38 µs 39 µs 40 µs" in page.text
    assert "ab sent" not in page.text


def test_repeats_of_a_case_that_passed_are_counted_and_not_listed(document, timing):
    repeats = next(c["repeats"] for c in document["cases"] if c["name"] == "repeated")
    passed = next(c for c in document["cases"] if c["verdict"] == "pass")
    passed["repeats"] = repeats
    text = Page(render(document, timing, "html")).text
    assert "metrics differ between the 3 repeats; the record has them all." in text
    assert text.count("Differs between repeats") == 1


def test_when_all_is_well_one_line_says_so(document):
    document["cases"] = document["cases"][:4]
    document |= {"verdict": "pass", "tests": document["tests"][:1]}
    text = Page(render(document, {}, "html")).text
    assert "All 4 cases of 1 test pass: all 20 expectations hold." in text
    assert "Nothing: no case failed, none was inconclusive, none ended in an error." in text


def test_an_interrupted_run_says_so_and_names_what_was_not_run(interrupted):
    page = Page(render(interrupted, {}, "html"))
    assert "4 of 7 cases ended; the run was interrupted. Of these, 4 pass." in page.text
    assert "Not run, because the run was interrupted: cdvt:tolerance=0us, cdvt:" in page.text
    assert "· not run cdvt · 3 not run" in page.text
    assert "REQ-018 | <b>bold</b> · not run crashes none was run" in page.text
    assert "Nothing: no case failed" not in page.text
    assert page.tags.count("article") == 0


@pytest.mark.parametrize("waiting", [1, 2])
def test_a_case_that_was_not_run_has_no_badge_of_a_verdict(interrupted, waiting):
    interrupted["cases"] = interrupted["cases"][3 : 4 + waiting]
    text = Page(render(interrupted, {}, "html")).text
    assert "not run: the run was interrupted" in text if waiting == 1 else "· not run 0 µs" in text


def test_a_run_without_cases_has_a_report(document):
    document |= {"cases": [], "state": "interrupted", "verdict": "inconclusive"}
    text = Page(render(document, {}, "html")).text
    assert "0 of 0 cases ended; the run was interrupted. No case was run." in text


def test_a_number_from_a_histogram_is_never_called_exact(document):
    document["cases"][0]["metrics"]["ab"]["transfer_delay.p99"]["error"] = "1/1024"
    page = Page(render(document, {}, "html"))
    assert "≈ 65.7 µs" in page.words
    assert "within 0.1 % (from a histogram)" in page.values("title")


def test_a_long_list_of_reasons_is_folded(document):
    named = [f"sw[{n}] (0 overflow)" for n in range(5)]
    document["cases"][4]["why"] = [f"no cell was discarded: {', '.join(named)}", "b", "c", "d"]
    text = Page(render(document, {}, "html")).text
    assert "sw[2] (0 overflow) and 2 more sw[3] (0 overflow), sw[4]" in text
    assert "c and 1 more d" in text


@pytest.mark.parametrize(
    ("carries", "counts", "shown"),
    [
        ({"carries": "packet"}, (1_320,), "policed 1320 packets"),
        ({"carries": "packet"}, (1, 2), "policed 1 to 2 packets"),
        ({"carries": "cell"}, (1,), "policed 1 cell "),
        ({}, (1_320,), "policed 1320 Rerun"),
    ],
)
def test_a_loss_is_counted_in_what_was_lost(document, carries, counts, shown):
    case = document["cases"][4]
    (loss,) = case["losses"]
    case["losses"] = [
        {**loss, **carries, "cells": count, "repeat": n} for n, count in enumerate(counts, 1)
    ]
    case["repeats"] = case["repeats"] * len(counts)
    assert shown in Page(render(document, {}, "html")).text


def test_a_criterion_is_shown_with_its_confidence(document):
    (failing, _) = document["cases"][4]["statements"]
    failing |= {"label": failing["text"], "confidence": "95 %"}
    page = Page(render(document, {}, "html"))
    assert "ab.lost == 0 with 95 % confidence" in page.words
    assert "ab.lost == 0 with 95 % confidence" in page.values("title")


def test_the_only_case_of_a_test_says_what_confidence_was_needed(document):
    document["cases"] = [document["cases"][4]]
    document["cases"][0]["statements"][0]["confidence"] = "95 %"
    page = Page(render(document, {}, "html"))
    assert "= 0 cell with 95 % confidence ✗ fail" in page.text.replace("\N{NO-BREAK SPACE}", " ")


def test_shared_draws_are_mentioned(document, timing):
    words = "all use the same random numbers"
    assert words not in Page(render(document, timing, "html")).text
    for case in document["cases"]:
        case["run"]["common_draws"] = True
    assert words in Page(render(document, timing, "html")).text


def test_where_nothing_was_lost_no_cell_is_spoken_of(page):
    assert "Nothing was lost." in page.text
    assert "No cell was lost" not in page.text


def test_a_case_with_a_network_of_its_own_shows_it(document):
    links = document["tests"][0]["links"]
    for case in document["cases"][:4]:
        case["links"] = links
    assert "of this case" not in Page(render(document, {}, "html")).text
    document["cases"][1]["links"] = [["a", "only_here"], ["only_here", "b"]]
    page = Page(render(document, {}, "html"))
    assert page.words.count("only_here") == 1
    assert page.words.count("Network of this case") == 1
    assert any(words.startswith("Network of the first case") for words in page.words)


def test_flows_and_definitions_are_shown_where_the_record_has_them(document):
    flow = {"name": "ab", "from": "a", "to": "b", "traffic": "ubr { pcr = 88 cell/s }"}
    document["tests"][0]["flows"] = [flow]
    source = "ITU-T I.356"
    document["definitions"] = [
        {"name": name, "role": role, "summary": "Of cells.", "source": source}
        for name, role in (
            ("fifo", "element"),
            ("red", "dropping"),
            ("cubic", "congestion"),
            ("cbr", "traffic"),
            ("lost", "metric"),
        )
    ]
    text = Page(render(document, {}, "html")).text
    assert "Flow From To Traffic ab a b ubr { pcr = 88 cell/s }" in text
    said = f"Of cells. {source}"
    assert f"Metrics lost {said} Elements fifo {said} Drop policies red {said} Traffic cbr" in text
    assert f"cbr {said} Congestion control cubic {said}" in text


STYLE = (REPORTS / "html" / "style.j2").read_text(encoding="utf-8")
SCHEMES = [dict(re.findall(r"--([\w-]+): (#\w+);", part)) for part in STYLE.split("@media", 2)[:2]]
ON_PAPER = ("ink", "soft", "link", "pass", "fail", "inconclusive", "error", "skip")


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", SCHEMES, ids=["light", "dark"])
def test_every_colour_of_text_can_be_read(scheme):
    """WCAG 2.2, 1.4.3: contrast of at least 4.5 to 1."""
    pairs = [(name, ground) for name in ON_PAPER for ground in ("paper", "wash")]
    pairs += [(name, f"{name}-wash") for name in ON_PAPER[3:]]
    pairs += [("ink", f"{name}-wash") for name in ON_PAPER[3:]]
    for name, ground in pairs:
        dark, light = sorted(luminance(scheme[colour]) for colour in (name, ground))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, ground)


@pytest.mark.slow
def test_a_thousand_cases_stay_small(large):
    text = render(large, {}, "html")
    page = Page(text)
    assert len(text.encode()) < 5_000_000
    folded = 1  # the names of the cases that failed in the same way
    assert page.tags.count("details") == 200 + folded + len(large["provenance"]["sources"])
    assert page.tags.count("article") == 1
    assert "500 cases of cdvt fail the same way" in page.text
    assert "record has those of the other 800" in page.text
    assert page.text.count("✗ 900 cell") == 500, "the table has them all"


def test_of_very_many_cases_those_that_failed_and_some_others_are_listed(
    large, monkeypatch: pytest.MonkeyPatch
):
    """Every second of 1,000 failed; 600 rows are the 500, and every fifth of the others."""
    width = 1 + len(large["cases"][0]["statements"])
    monkeypatch.setattr(views, "MOST_CELLS", 600 * width)
    page = Page(render(large, {}, "html"))
    assert page.text.count("✗ 900 cell") == 500
    listed = views.choose_listed(large)
    names = [case["name"] for case in views.list_cases(large) if case["id"] in listed]
    numbers = [int(name.partition("=")[2]) for name in names]
    assert [n for n in numbers if n % 2 == 0] == [*range(0, 1_000, 10)]
    assert [n for n in numbers if n % 2] == [*range(1, 1_000, 2)]
    assert "The table has 600 of 1000 cases" in page.text


def test_of_very_many_flows_the_first_are_shown(document):
    case = document["cases"][0]
    flow = case["metrics"]["ab"]
    case["metrics"] = {f"flow{n}": flow for n in range(150)}
    page = Page(render(document, {}, "html"))
    assert "flow99" in page.words
    assert "flow100" not in page.words
    assert "The record has the metrics of 50 more flows." in page.text


def test_similar_failures_are_shown_once_with_their_number(large):
    large["cases"] = [dict(case) for case in large["cases"][:6]]
    large["cases"][5]["errors"] = ["it broke"]
    page = Page(render(large, {}, "html"))
    assert page.tags.count("article") == 2
    assert "2 cases of cdvt fail the same way" in page.text
    assert "Cases n = 1, 3" in page.text
    assert "Also cdvt:n=3" in page.text


def test_an_inconclusive_criterion_of_a_failed_case_is_marked_and_last(document):
    failed = document["cases"][4]
    upper = {"value": "2", "unit": "cell", "text": "2 cell"}
    interval = {"lower": None, "upper": upper, "repeats": 5}
    unsure = {"verdict": "inconclusive", "label": "rare", "confidence": "95 %"}
    failed["statements"][1] |= {**unsure, "interval": interval}
    failed["statements"].reverse()
    text = render(document, {}, "html")
    card = re.search(r'<article class="card fail".*?</article>', text, re.DOTALL)[0]
    _, mean, rare = Page(card).text.split(" Expect ")
    assert mean.startswith("no_loss ab.lost == 0")
    assert "Verdict" not in mean
    assert rare.startswith("rare ")
    assert "Verdict ~ inconclusive Measured 1320 cell below 2 cell, 95 % Needed" in rare
    bare = re.sub(r"<[^>]*>", "", card)
    assert "cell below" in " ".join(bare.split()), "apart in what is copied, too"


def test_values_that_are_no_distribution_have_no_column_of_its_range(document, timing):
    page = Page(render(document, timing, "html"))
    metrics = document["cases"][0]["metrics"]
    rate = {"value": "8", "unit": "bit/s", "text": "8 bit/s"}
    metrics["ab"] |= {"bit_rate.frame": rate, "bit_rate.line": rate}
    more = Page(render(document, timing, "html"))
    assert "Bit rate frame line" in more.text
    assert more.values("class").count("range-head") == page.values("class").count("range-head") > 0


def test_a_value_without_an_upper_bound_is_drawn_with_an_arrow_upwards(document):
    def with_limits(lower, upper):
        cases = [
            {
                **case,
                "statements": [
                    {
                        **statement,
                        "measured_limits": {
                            "lower": statement["measured"] if lower else None,
                            "upper": statement["measured"] if upper else None,
                        },
                    }
                    for statement in case["statements"]
                ],
            }
            if case["test"] == "cdvt"
            else case
            for case in document["cases"]
        ]
        return render({**document, "cases": cases}, {}, "html")

    upwards, downwards = "v-16m-4 5l4 -5 4 5", "v16m-4 -5l4 5 4 -5"
    known = render(document, {}, "html")
    assert upwards not in known
    assert downwards not in known
    assert with_limits(lower=True, upper=False).count(upwards) == 6, "three cases in two charts"
    assert with_limits(lower=False, upper=True).count(downwards) == 6


def test_verdicts_can_be_chosen_without_a_script(document, page):
    there = {case["verdict"] for case in document["cases"]}
    chosen = {name for name in page.values("id") if name.startswith("only-")}
    assert chosen == {f"only-{verdict}" for verdict in there}
    assert "script" not in page.tags
    one = {**document, "cases": [c for c in document["cases"] if c["verdict"] == "pass"]}
    assert "<fieldset" not in render(one, {}, "html"), "there is nothing to choose"


def test_what_a_kernel_counted_is_shown_with_how_precise_its_times_are(document):
    its = {"element": "r.out", "name": "pfifo", "sent": 1_234, "dropped": 56}
    document["cases"][0]["disciplines"] = [{"repeat": n, **its} for n in (1, 2)]
    precision = {"value": "1/5000", "unit": "s", "text": "200 us"}
    document["cases"][1] |= {"disciplines": [], "precision": precision}
    text = Page(render(document, {}, "html")).text
    assert text.count("r. out pfifo 1234 56") == 1
    assert "It ran in real time: times are precise to 200 µs" in text
