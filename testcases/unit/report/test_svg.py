"""Charts alone, as one drawing."""

from xml.etree import ElementTree as ET

from qospec.report.render import render

SVG = "{http://www.w3.org/2000/svg}"


def test_the_charts_of_the_page_are_one_drawing(document, timing) -> None:
    page = render(document, timing, "html")
    drawing = ET.fromstring(render(document, timing, "svg"))  # noqa: S314 -- it is our own
    charts = [of for group in drawing.iter(f"{SVG}g") for of in group if of.tag == f"{SVG}svg"]
    shown = [of for of in charts if "one mark per case" in of.get("aria-label", "")]
    assert len(shown) == page.count("one mark per case") > 0
    ends = [float(of.get("y", 0)) + float(of.get("height", 0)) for of in charts]
    assert ends == sorted(ends)
    assert max(ends) <= float(drawing.get("height", 0))


def test_nothing_to_draw_is_said(document, timing) -> None:
    document["cases"] = document["cases"][:1]
    assert "Nothing to draw." in render(document, timing, "svg")


def test_texts_of_a_record_are_no_markup(document, timing) -> None:
    for case in document["cases"]:
        for statement in case["statements"]:
            statement["label"] = "<script>alert(1)</script>"
    drawing = ET.fromstring(render(document, timing, "svg"))  # noqa: S314 -- it is our own
    assert not list(drawing.iter(f"{SVG}script"))
