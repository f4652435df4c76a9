"""The grammar is proven, its tables agree with each other, and its cache is only a cache."""

import functools
import json
import logging
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import lark
import platformdirs
import pytest

from qospec.resources import SPEC
from qospec.syntax import grammar as module
from qospec.syntax.grammar import Grammar, compile_with_lark, load_grammar, load_keywords
from qospec.units import load_table

TEXT = (SPEC / "qos.lark").read_text(encoding="utf-8")


compiled = functools.cache(compile_with_lark)
"""What is compiled, which takes a second, once for all tests of the cache."""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    monkeypatch.setattr(module, "compile_with_lark", compiled)
    load_grammar.cache_clear()
    yield tmp_path / "grammar"
    load_grammar.cache_clear()


@pytest.mark.slow
def test_the_grammar_has_one_conflict_which_is_decided() -> None:
    """A comma behind `via a.b` names a further port, and does not begin another statement."""
    way = 'way: path ("," path)*'
    assert TEXT.count(way) == 1
    with pytest.raises(lark.exceptions.GrammarError, match="conflict for terminal COMMA"):
        lark.Lark(TEXT, parser="lalr", lexer="basic", start="file", strict=True)
    decided = TEXT.replace(way, "way: path")
    lark.Lark(decided, parser="lalr", lexer="basic", start="file", strict=True)


@pytest.mark.slow
def test_strict_mode_finds_a_conflict() -> None:
    broken = TEXT.replace('"report" [label] expression', '"report" expression ("," expression)*')
    assert broken != TEXT
    with pytest.raises(lark.exceptions.GrammarError, match="conflict"):
        lark.Lark(broken, parser="lalr", lexer="basic", start="file", strict=True)


@pytest.mark.slow
def test_lark_parses_what_we_parse(caplog: pytest.LogCaptureFixture) -> None:
    """The grammar is complete, but for keywords that are names in some places.

    These are `= step`, `.in` and the field `at =`.
    """
    caplog.set_level(logging.ERROR)
    parser = lark.Lark(TEXT, parser="lalr", lexer="basic", start="file")
    for path in (SPEC.parent / "stdlib").rglob("*.qos"):
        text = path.read_text(encoding="utf-8").replace("= step\n", "= stepping\n")
        text = re.sub(r"\.in\b", ".input", text)
        text = re.sub(r"\bat = ", "place = ", text)
        assert parser.parse(text).data == "file"


def test_the_keywords_are_those_of_the_table() -> None:
    tables = load_keywords()
    words = [word for name, table in tables.items() if name != "field" for word in table]
    assert len(words) == len(set(words))
    assert set(words) == set(load_grammar().keywords)
    assert tables["field"].keys() <= set(words)


def test_no_keyword_is_read_as_a_unit() -> None:
    listed = re.search(r"\(\?!\((.*?)\)\(\?!", TEXT)
    assert listed is not None
    assert set(listed[1].split("|")) == set(load_grammar().keywords)


def test_no_unit_is_a_keyword() -> None:
    units, _ = load_table()
    assert units.keys().isdisjoint(load_grammar().keywords)


@pytest.mark.slow
def test_the_table_is_kept_and_read_again(cache: Path) -> None:
    made = load_grammar()
    (kept,) = cache.iterdir()
    before = kept.stat().st_mtime_ns
    load_grammar.cache_clear()
    assert load_grammar() == made
    assert kept.stat().st_mtime_ns == before


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"rules": 3}', b"\xff\x00"])
def test_a_broken_cache_is_made_again(cache: Path, content: bytes) -> None:
    made = load_grammar()
    (kept,) = cache.iterdir()
    kept.write_bytes(content)
    load_grammar.cache_clear()
    assert load_grammar() == made
    assert json.loads(kept.read_bytes())["start"] == made.start


@pytest.mark.slow
def test_another_grammar_has_another_name(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_grammar()
    monkeypatch.setattr(module, "FORMAT", module.FORMAT + 1)
    load_grammar.cache_clear()
    load_grammar()
    assert len(list(cache.iterdir())) == 2


@pytest.mark.slow
def test_nothing_need_be_writable(cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    assert isinstance(load_grammar(), Grammar)
    assert cache.read_text() == "a file where the folder should be"


@pytest.mark.slow
def test_no_table_that_others_can_write_is_read(cache: Path) -> None:
    made = load_grammar()
    (kept,) = cache.iterdir()
    kept.write_text(json.dumps({**made._asdict(), "keywords": {}}), encoding="utf-8")
    load_grammar.cache_clear()
    assert load_grammar().keywords == {}
    cache.chmod(0o777)
    load_grammar.cache_clear()
    assert load_grammar() == made


@pytest.mark.slow
def test_no_part_of_a_file_is_ever_left(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.Path, "replace", full)
    assert isinstance(load_grammar(), Grammar)
    assert list(cache.iterdir()) == []


@pytest.mark.slow
def test_with_the_cache_lark_is_not_loaded() -> None:
    load_grammar()
    code = (
        "import sys\n"
        "from qospec.syntax.grammar import load_grammar\n"
        "load_grammar()\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'lark', 'numpy', 'numba'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_a_table_is_the_same_however_often_it_is_made() -> None:
    assert compile_with_lark(TEXT) == compile_with_lark(TEXT)
