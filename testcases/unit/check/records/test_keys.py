"""Keys in a specification, digits or a file and never in a message; and files of captures."""

import copy
import os
from contextlib import suppress
from pathlib import Path

import pytest

from qospec.check.evaluate.context import CheckError
from qospec.check.evaluate.dimensions import NUMBER
from qospec.check.evaluate.values import Amount, Text, Value
from qospec.check.records.captures import read_capture
from qospec.check.records.keys import read_key
from qospec.secret import Secret
from qospec.source import Source, Span

HERE = Span(Source("a.qos", "key = x"), 6, 7)


def at(path: Path) -> Span:
    """Return a place in a file, where a text is written."""
    return Span(Source(str(path), ""), 0, 0)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("0011fF", b"\0\x11\xff"),
        ("0x0011ff", b"\0\x11\xff"),
        ("00:11:ff", b"\0\x11\xff"),
        ("0011-ff", b"\0\x11\xff"),
        (" 0X00 11\tff\n", b"\0\x11\xff"),
        ("", b""),
        ("*****", None),
    ],
)
def test_a_text_of_digits_is_a_key(text: str, secret: bytes | None) -> None:
    assert read_key(Text(text), "key", HERE) == Secret(secret)


def test_a_file_is_sought_beside_the_one_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "k.txt").write_text("0011\n2233\n", encoding="ascii")
    named = Text("file:k.txt", written=at(tmp_path / "a.qos"))
    assert read_key(named, "key", HERE) == Secret(bytes.fromhex("00112233"))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Text("beef1"), "`key` is not a key in hexadecimal digits"),
        (Text("beef 12345"), "`key` is not a key in hexadecimal digits"),
        (Text(" 0xbeef.\n"), "`key` is not a key in hexadecimal digits"),
        (Text("be:ef:s3cr3t"), "`key` is not a key in hexadecimal digits"),
        (
            Text("file:deadbeefdeadbeef", written=at(Path("nowhere/a.qos"))),
            "the file `****************` of `key` cannot be read: No such",
        ),
        (Amount(None, NUMBER), "`key` is a key, not a number"),
    ],
)
def test_a_mistake_does_not_show_what_was_written(value: Value, said: str) -> None:
    with pytest.raises(CheckError) as raised:
        read_key(value, "key", HERE)
    diagnostic = raised.value.diagnostic
    assert diagnostic.message.startswith(said)
    assert "beef" not in repr((diagnostic.message, diagnostic.notes, diagnostic.help))


@pytest.mark.parametrize("text", ["no digits at all", "0011", "c0ffee2233445566778899aabbccddeg"])
def test_what_is_meant_as_a_key_is_not_shown_where_it_is_written(text: str) -> None:
    """Whatever it is: a name leads from there to the field, so its line does not tell."""
    source = Source("a.qos", f'let k = "{text}"')
    with suppress(CheckError):
        read_key(Text(text, written=Span(source, 8, len(source.text))), "key", HERE)
    assert source.read_line(1) == f'let k = "{"*" * len(text)}"'


@pytest.mark.parametrize("name", ["none.key", "below/none.key", "\0"])
def test_a_file_that_cannot_be_read_is_named(name: str) -> None:
    with pytest.raises(CheckError) as raised:
        read_key(Text(f"file:{name}", written=at(Path("nowhere/a.qos"))), "key", HERE)
    assert raised.value.diagnostic.message.startswith(f"the file `{name}` of `key` cannot be read:")


def test_a_key_tells_its_file(tmp_path: Path) -> None:
    (tmp_path / "k.txt").write_text("0011", encoding="ascii")
    found = read_key(Text("file:k.txt", written=at(tmp_path / "a.qos")), "key", HERE)
    assert (found, found.file) == (Secret(b"\0\x11"), "k.txt")
    assert copy.copy(found).file == "k.txt", "as a worker process is given it"


@pytest.mark.parametrize("name", ["", ".", "pipe"])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CheckError) as raised:
        read_key(Text(f"file:{name}", written=at(tmp_path / "a.qos")), "key", HERE)
    why = f"the file `{name}` of `key` cannot be read: it is not a file"
    assert raised.value.diagnostic.message == why


def test_what_a_file_holds_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "k.txt").write_bytes(b"s3cr3t \xff")
    with pytest.raises(CheckError) as raised:
        read_key(Text("file:k.txt", written=at(tmp_path / "a.qos")), "key", HERE)
    said = "the file `k.txt` of `key` is not a key in hexadecimal digits"
    assert raised.value.diagnostic.message == said


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("beef1", "their number is odd"),
        ("00:11:22:3", "their number is odd"),
        ("00.11.22.33", "there are other characters among them"),
        ("0xbeefs", "there are other characters among them"),
    ],
)
def test_what_is_wrong_with_the_digits_is_said(text: str, note: str) -> None:
    with pytest.raises(CheckError) as raised:
        read_key(Text(text), "key", HERE)
    assert raised.value.diagnostic.notes == (note,)


def test_a_capture_that_is_too_long_is_not_read(tmp_path):
    with (tmp_path / "x.pcap").open("wb") as file:
        file.truncate(2**30 + 1)
    with pytest.raises(CheckError) as raised:
        read_capture(Text("x.pcap", written=at(tmp_path / "a.qos")), "file", HERE)
    diagnostic = raised.value.diagnostic
    assert diagnostic.message == "the capture `x.pcap` is too long: more than 1 GiB"
    assert "editcap -s 96" in diagnostic.help
