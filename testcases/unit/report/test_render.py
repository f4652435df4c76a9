import csv
import io
import json
import marshal
import pickle
import re
import subprocess
import sys
import tempfile
from hashlib import blake2b, sha256
from pathlib import Path

import platformdirs
import pytest
from jinja2 import Environment
from jinja2.bccache import bc_magic

from qospec.record.schema import OUTCOME, list_violations
from qospec.report import bytecode, confined
from qospec.report import render as module
from qospec.report.environment import FILTERS, FUNCTIONS, check_syntax
from qospec.report.format import ReportError, find_extension, format_named, list_formats
from qospec.report.render import check_template, render

ROOT = Path(__file__).parents[3]
DECLARATION = "{#- report: media_type: text/plain; extension: txt; summary: Mine. -#}\n"


@pytest.fixture
def template(tmp_path):
    """Return a function that writes a template and gives its path."""

    def write(body, declaration=DECLARATION, name="mine.j2"):
        path = tmp_path / name
        path.write_text(declaration + body, encoding="utf-8")
        return path

    return write


def test_every_template_of_the_library_is_a_format():
    known = list_formats()
    assert {name: report.extension for name, report in known.items()} == {
        "codequality": "codequality.json",
        "csv": "csv",
        "github": "github.txt",
        "html": "html",
        "json": "json",
        "junit": "xml",
        "latex": "tex",
        "markdown": "md",
        "sarif": "sarif",
        "svg": "svg",
    }
    assert [name for name, report in known.items() if report.is_markup] == ["html", "junit", "svg"]
    assert all(f.summary.endswith(".") for f in known.values())


@pytest.mark.parametrize("name", list_formats())
def test_the_same_record_gives_the_same_text(document, timing, name):
    before = json.dumps(document)
    assert render(document, timing, name) == render(document, timing, name)
    assert json.dumps(document) == before, "a template changes nothing"


@pytest.mark.parametrize("name", list_formats())
def test_any_text_can_be_encoded(document, name):
    document["cases"][4]["why"] = ["lone \ud800 surrogate"]
    for statement in [first for case in document["cases"] for first in case["statements"][:1]]:
        statement["label"] = "lone \ud800 surrogate"  # of all, since a chart is of all
    assert "lone \ufffd surrogate" in render(document, {}, name).encode().decode()


def test_json_is_the_record_itself(document, timing):
    text = render(document, timing, "json")
    assert json.loads(text) == document
    assert text == json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def test_the_fingerprint_is_of_the_record_s_own_file(document):
    expected = sha256(render(document, {}, "json").encode()).hexdigest()
    assert expected in render(document, {}, "html")


def test_a_user_s_template_is_a_format(document, template):
    path = template("{{ document.verdict }} {{ cases(document) | length }} <&>")
    assert render(document, {}, path) == "error 10 <&>"
    assert render(document, {}, str(path)) == "error 10 <&>"
    assert find_extension(path) == "txt"


def test_markup_is_escaped_by_the_media_type(document, template):
    html = DECLARATION.replace("text/plain", "text/html")
    assert render(document, {}, template("{{ '<' }}", html)) == "&lt;"
    assert render(document, {}, template("{{ '<' }}")) == "<"


def test_a_template_may_use_the_library_s_parts(document, template):
    body = '{% import "html/words.j2" as words %}{{ words.mark("fail") }}'
    assert render(document, {}, template(body)) == "✗"


def test_a_template_may_use_parts_that_lie_beside_it(document, template):
    template("{{ document.seed }}", "", "part.j2")
    assert render(document, {}, template('{% include "part.j2" %}')) == "0"


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("\n{% if %}", 3, "Expected an expression"),
        ("\n\n{{ document.verdicts }}", 4, "no `verdicts` here; did you mean `verdict`?"),
        ("{{ dokument }}", 2, "`dokument` is not defined; did you mean `document`?"),
        ("{{ document.cases[0].metrics.ab.lost.valu }}", 2, "did you mean `value`?"),
        ("{{ document | jsn }}", 2, "No filter named 'jsn'"),
        ('\n{% include "none.j2" %}', 3, "there is no template `none.j2`"),
        ("{{ document.seed / 2 }}", 2, "TypeError: unsupported operand"),
        ("{{ document.__class__.__mro__ }}", 2, "templates may not do this"),
        ("{{ document.update(seed=1) }}", 2, "templates may not do this"),
        ("{{ [1] | random }}", 2, "No filter named 'random'"),
        ("{{ lipsum() }}", 2, "`lipsum` is not defined"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", 2, "RecursionError"),
        ("{{ place }}", 2, "`place` is not defined"),
    ],
)
def test_a_mistake_of_a_template_has_a_line_and_clear_words(
    document, template, body, line, message
):
    with pytest.raises(ReportError) as caught:
        render(document, {}, template(body))
    assert (caught.value.template, caught.value.line) == ("mine.j2", line)
    assert message in caught.value.message
    assert str(caught.value) == f"mine.j2:{line}: {caught.value.message}"


LOOPS = "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        (f"\n{LOOPS}", 3, "takes more than 2 s, the most that a template may"),
        ("\n{{ 10**(10**8) }}", 3, "templates may not do this: make anything so large by `**`"),
        ("\n{{ 'ab' * 10**8 }}", 3, "templates may not do this: make anything so large by `*`"),
        ("{{ '%999999999d' % 1 }}", 2, "templates may not do this: make anything so large by `%`"),
        ("\n{{ '{:999999999}'.format(1) | length }}", 3, "uses more memory than a template may"),
        ("{{ 'a' | center(10**10) }}", 2, "uses more memory than a template may"),
        ("\n\n{% for _ in range(90000) %}{{ 'a' * 1000 }}{% endfor %}", 4, "makes more text"),
    ],
)
def test_what_a_template_may_take_is_limited(document, template, monkeypatch, body, line, message):
    monkeypatch.setattr(confined, "LIMITS", confined.Limits(2, 512, 16))
    with pytest.raises(ReportError) as caught:
        render(document, {}, template(body))
    assert (caught.value.template, caught.value.line) == ("mine.j2", line)
    assert message in caught.value.message


@pytest.mark.slow
def test_what_cannot_be_interrupted_is_killed(document, template, monkeypatch):
    monkeypatch.setattr(confined, "LIMITS", confined.Limits(1, 512, 16, grace_s=0))
    slow = "{{ 7 ** 3_000_000 // 7 ** 1_500_000 % 2 }}" * 9
    with pytest.raises(ReportError) as caught:
        render(document, {}, template(slow))
    assert caught.value.template == "mine.j2"
    assert "takes more than 1 s, the most that a template may" in caught.value.message


@pytest.mark.slow
def test_a_template_is_checked_within_the_same_limits(template, monkeypatch):
    monkeypatch.setattr(confined, "LIMITS", confined.Limits(2, 512, 16))
    check_template(template("{{ 10**(10**8) }}{{ 'a' | center(10**10) }}"))


def test_an_operator_that_makes_little_is_left_alone(document, template):
    body = "{{ 2 * 3 }} {{ 2 ** 10 }} {{ 7 % 4 }} {{ 'ab' * 2 }} {{ '%05.1f of 99999999' % 1.5 }}"
    assert render(document, {}, template(body)) == "6 1024 3 abab 001.5 of 99999999"


@pytest.mark.parametrize("link", ["part.j2", "folder"])
def test_a_link_is_not_followed_out_of_the_folder(document, template, tmp_path, link):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "part.j2").write_text("secret")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / link).symlink_to(outside / link if link == "part.j2" else outside)
    name = link if link == "part.j2" else f"{link}/part.j2"
    path = template(f'{{% include "{name}" %}}', name="inside/mine.j2")
    words = f"mine.j2:2: templates may not do this: follow the link `{name}` out of their folder"
    for use in (lambda: render(document, {}, path), lambda: check_template(path)):
        with pytest.raises(ReportError) as caught:
            use()
        assert words.partition(": ")[2] in str(caught.value)


def test_a_link_within_the_folder_is_followed_and_so_is_one_that_the_user_names(
    document, template, tmp_path
):
    template("{{ document.seed }}", "", "part.j2")
    (tmp_path / "link.j2").symlink_to(tmp_path / "part.j2")
    path = template('{% include "link.j2" %}')
    (tmp_path / "named").mkdir()
    named = tmp_path / "named" / "named.j2"
    named.symlink_to(template("mine", name="other.j2"))
    assert render(document, {}, path) == "0"
    assert render(document, {}, named) == "mine"


def test_the_example_of_the_specification_is_csv_whatever_cases_are_called(document, tmp_path):
    text = (ROOT / "spec" / "8-reports.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```jinja\n(.*?)```", text, re.DOTALL)
    path = tmp_path / "mine.j2"
    path.write_text(example, encoding="utf-8")
    document["cases"][0]["name"] = 'sweep:load=1,size="64 B"\n'
    rows = list(csv.reader(io.StringIO(render(document, {}, path))))
    assert rows == [[case["name"], case["verdict"]] for case in document["cases"]]


def test_a_damaged_compiled_template_is_compiled_again(document, tmp_path, monkeypatch):
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: tmp_path)
    expected = render(document, {}, "markdown")
    kept = list((tmp_path / "templates").iterdir())
    assert kept
    for path in kept:
        path.write_bytes(path.read_bytes()[:-9] + b"\0" * 9)
    assert render(document, {}, "markdown") == expected
    assert render(document, {}, "markdown") == expected
    assert sorted((tmp_path / "templates").iterdir()) == sorted(kept)


def poison(path):
    """Put another template's bytecode in place of what is kept of one."""
    kept = io.BytesIO(path.read_bytes()[bytecode.DIGEST_BYTES :])
    start = kept.read(len(bc_magic)) + pickle.dumps(pickle.load(kept), 2)  # noqa: S301 -- ours
    code = start + marshal.dumps(Environment(autoescape=True).compile("poisoned"))
    path.write_bytes(blake2b(code, digest_size=bytecode.DIGEST_BYTES).digest() + code)


def test_no_compiled_template_that_others_can_write_is_run(document, tmp_path, monkeypatch):
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    expected = render(document, {}, "markdown")
    folder = tmp_path / "templates"
    for path in folder.iterdir():
        poison(path)
    assert render(document, {}, "markdown") == "poisoned"
    folder.chmod(0o777)
    assert render(document, {}, "markdown") == expected


def test_templates_are_compiled_where_nothing_can_be_kept(document, tmp_path, monkeypatch):
    expected = render(document, {}, "markdown")
    (tmp_path / "file").touch()
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: tmp_path / "file")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    assert render(document, {}, "markdown") == expected


def test_an_error_in_a_part_names_the_part(document, template):
    template("\n{{ nothing }}", "", "part.j2")
    with pytest.raises(ReportError) as caught:
        render(document, {}, template('{% include "part.j2" %}'))
    assert (caught.value.template, caught.value.line) == ("part.j2", 2)


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("", "a report's template begins like"),
        ("\n" + DECLARATION, "a report's template begins like"),
        ("{# report: media_type: text/plain; extension: txt #}", "does not say its `summary`"),
        ("{# report: media_typ: text/plain #}", "no `media_typ`; did you mean `media_type`?"),
    ],
)
def test_a_template_declares_what_it_makes(document, template, declaration, message):
    with pytest.raises(ReportError, match=re.escape(message)) as caught:
        render(document, {}, template("", declaration))
    assert caught.value.line == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("htm", "no report format is named `htm`: did you mean `html`?"),
        (
            "pdf",
            "no report format is named `pdf`: a browser prints `html` as PDF; there are codeq",
        ),
        ("doc", "no report format is named `doc`: there are codequality, csv, github, html, json"),
        ("none.j2", "none.j2: cannot be read: No such file"),
    ],
)
def test_an_unknown_format_is_an_error(name, message):
    with pytest.raises(ReportError, match=re.escape(message)):
        format_named(name)


def test_a_template_that_cannot_be_read_is_an_error(tmp_path):
    (tmp_path / "folder.j2").mkdir()
    for path in (tmp_path / "folder.j2", tmp_path / "none.j2", "nul\0.j2"):
        for use in (format_named, check_template, find_extension):
            with pytest.raises(ReportError, match="cannot be read"):
                use(path)


@pytest.mark.parametrize("name", ["csv", "html", "json", "junit", "markdown"])
def test_the_library_s_templates_can_be_checked_without_a_record(name):
    check_template(name)
    check_syntax(format_named(name))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("\n{% if %}", "mine.j2:3: Expected an expression"),
        ("{{ 1 | jsn }}", "mine.j2:2: No filter named 'jsn'"),
        ('{% include "part.j2" %}', "part.j2:2: unexpected '}'"),
        ('{% include "latin.j2" %}', "UnicodeDecodeError"),
    ],
)
def test_a_mistake_of_syntax_is_found_without_a_record(template, body, message):
    template("\n{{ }", "", "part.j2")
    template("", "", "latin.j2").write_bytes(b"\xe4")
    with pytest.raises(ReportError, match=re.escape(message)):
        check_template(template(body))


def test_what_depends_on_the_record_is_not_checked(template):
    check_template(template('{{ nothing }}{% include "none.j2" ignore missing %}'))
    with pytest.raises(ReportError, match="begins like"):
        check_template(template("", ""))
    with pytest.raises(ReportError, match="did you mean `html`"):
        check_template("htm")


def test_a_template_that_is_not_utf_8_is_an_error(tmp_path):
    path = tmp_path / "latin.j2"
    path.write_bytes(DECLARATION.encode() + b"\xe4")
    with pytest.raises(ReportError, match="is not UTF-8 text"):
        format_named(path)


def test_a_record_of_the_future_is_refused(document):
    with pytest.raises(ReportError, match="the record has schema 2, and this version reads 1"):
        render({**document, "schema": 2}, {}, "json")


def test_jinja_is_imported_only_to_render():
    program = (
        "import sys, qospec.report.format as r; r.list_formats(); sys.exit('jinja2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_specification_describes_all_that_a_template_is_given():
    text = (ROOT / "spec" / "8-reports.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^\| `(\w+)", text, re.MULTILINE))
    assert described == {*FUNCTIONS, *FILTERS, "document", "timing", "fingerprint", "signer"}


def test_all_fields_of_a_record_are_documented(document, timing):
    text = (ROOT / "docs" / "record.md").read_text(encoding="utf-8")
    words = set(re.findall(r"`(\w+)`", text))
    assert {*field_names(document), *timing} - words == set()


def field_names(value):
    """Yield the names of a record's fields; not those that an author chose."""
    chosen = {"parameters", "metrics", "repeats", "controls", "limits", "policy"}
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key not in chosen:
                yield from field_names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from field_names(inner)


def test_the_schema_is_that_of_the_records_written_now():
    from qospec.record.outcome import SCHEMA

    assert module.SCHEMA == SCHEMA


def test_a_record_that_is_nested_without_end_is_damaged(document, timing):
    for _ in range(20_000):  # no version of Python writes so many levels
        document["provenance"] = {"more": document["provenance"]}
    with pytest.raises(ReportError, match="the record is damaged: it is nested too deeply"):
        render(document, timing, "json")


@pytest.mark.parametrize("made", ["document", "interrupted", "large"])
def test_these_records_have_every_field(request, made):
    assert list(list_violations(request.getfixturevalue(made), OUTCOME)) == []
