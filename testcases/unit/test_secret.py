"""Texts without the keys in them: of the same length, and otherwise the same."""

import pytest

from qospec.engine.security.state_vector import CELL_KEY_BYTES
from qospec.protocol.esp import ENCRYPTIONS, INTEGRITIES
from qospec.secret import Secret, redact

DIGITS = "00112233445566778899aabbccddeeff"
BYTES = "00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff"
GROUPS = "0123:4567:89ab:cdef:0123:4567:89ab:cdef"
ADDRESS = "2001:0db8:0000:0000:0000:0000:0000:0001"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f'key = "{DIGITS}"', f'key = "{32 * "*"}"'),
        (f'let shared = "{DIGITS}"', f'let shared = "{32 * "*"}"'),
        (f"integrity_key: '\"{DIGITS}\"'", f"integrity_key: '\"{32 * '*'}\"'"),
        (f"key: {DIGITS}", f"key: {32 * '*'}"),
        ("key = dead - beef - cafe - babe }", f"key = {25 * '*'} }}"),
        ('key = "not digits", spi = 7', f'key = "{10 * "*"}", spi = 7'),
        ('key="0x12", integrity_key = "34"', 'key="****", integrity_key = "**"'),
        (f'let shared = "0x{DIGITS}"', f'let shared = "{34 * "*"}"'),
        ('let s = "00 11 22 33 44 55 66 77"', f'let s = "{23 * "*"}"'),
        (f"# it was {DIGITS} until May", f"# it was {32 * '*'} until May"),
        ('x = d(hotkey = "")\nnext = "a"', 'x = d(hotkey = "")\nnext = "a"'),
        ("key: ''\nother: 'a'", "key: ''\nother: 'a'"),
        ('key = "file:keys/a.txt"', 'key = "file:keys/a.txt"'),
        ("esp_encrypt { key = key }", "esp_encrypt { key = key }"),
        ('source_address = "2001:db8::1"', 'source_address = "2001:db8::1"'),
        ("pcr = 1_000_000_000_000_000 cell/s", "pcr = 1_000_000_000_000_000 cell/s"),
        (f'd(near = "0X{DIGITS}", n = 1)', f'd(near = "{34 * "*"}", n = 1)'),
        (f'let shared = "{DIGITS[:16]} {DIGITS[16:]}"', f'let shared = "{33 * "*"}"'),
        (f'd {{ kei = "{GROUPS} }}', f'd {{ kei = "{39 * "*"} }}'),
        (f'let shared = "{DIGITS}', f'let shared = "{32 * "*"}'),
        (f"n = 1  # was {DIGITS}, 0x{DIGITS}", f"n = 1  # was {32 * '*'}, {34 * '*'}"),
        ('title = "a # b", key = "0011"', 'title = "a # b", key = "****"'),
        ("x = d(hotkey = '')", "x = d(hotkey = '')"),
        ("x: 'd(hotkey = \"\")'", "x: 'd(hotkey = \"\")'"),
        ("""key = "it's", spi = 7""", 'key = "****", spi = 7'),
        ("key: \"'0011'\"", "key: \"'****'\""),
        ("key: '\"file:a\"'", "key: '\"file:a\"'"),
        ("key: \"'file:a'\"", "key: \"'file:a'\""),
        (f'x {{ key = "{DIGITS} }}', f'x {{ key = "{32 * "*"} }}'),
        (f'let k = "{BYTES}"', f'let k = "{47 * "*"}"'),
        (f'x = d("{BYTES.replace(":", "-")}", "b")', f'x = d("{47 * "*"}", "b")'),
        (f'x = d("{DIGITS[:-1]}g", near = "a")', f'x = d("{32 * "*"}", near = "a")'),
        (f"# was {BYTES}", f"# was {47 * '*'}"),
        ('label = "a face, faded a decade"', 'label = "a face, faded a decade"'),
        ('label = "faced a bad bed here"', 'label = "faced a bad bed here"'),
        (f'source_address = "{ADDRESS}"', f'source_address = "{ADDRESS}"'),
        (f'pkt.source_address in ["10.1.0.7", "{ADDRESS}"]', None),
        (f'"source_address": "{ADDRESS}"', None),
        (f"source_address: \"'{ADDRESS}'\"", None),
        (
            f'x = d(source_address = "10.1.0.7", kye = "{ADDRESS}")',
            f'x = d(source_address = "10.1.0.7", kye = "{39 * "*"}")',
        ),
        (f'kye = "{GROUPS}"', f'kye = "{39 * "*"}"'),
        (f'kye = "{GROUPS[:19]}"', f'kye = "{19 * "*"}"'),
        (f'kye = "{GROUPS[:24]}"', f'kye = "{24 * "*"}"'),
        ('near = "2001:db8:0:0:1:2:3:4444"', 'near = "2001:db8:0:0:1:2:3:4444"'),
        ('near = "2001:0db8:1111:2222:3333::4444"', 'near = "2001:0db8:1111:2222:3333::4444"'),
        ("# at 1_000_000_000_000_000 cell/s", "# at 1_000_000_000_000_000 cell/s"),
        ('device d(key: Text = "0011")', 'device d(key: Text = "0011")'),
    ],
)
def test_what_looks_like_a_key_becomes_stars(text: str, shown: str | None) -> None:
    shown = text if shown is None else shown
    assert redact(text) == shown
    assert len(shown) == len(text)


@pytest.mark.slow
def test_a_long_line_is_read_once() -> None:
    """If each end of the words were tried, this would take hours."""
    line = "'" + "0f " * 300_000 + ". '"
    assert redact(line) == line


def test_a_withheld_secret_is_none_of_any_length() -> None:
    assert Secret(None) == Secret(None) != Secret(b"")
    assert Secret(None).is_withheld
    assert repr(Secret(b"abc")) == "Secret of 3 bytes"


def test_no_key_that_a_transform_takes_is_too_short_to_be_withheld() -> None:
    """Shorter ones are refused, so no record has them, whatever names lead to a field."""
    keys = [integrity.key_bytes for integrity in (*ENCRYPTIONS.values(), *INTEGRITIES.values())]
    shortest = min(CELL_KEY_BYTES, *filter(None, keys))
    text = f'let shared = "{"3d" * shortest}"'
    assert redact(text) == f'let shared = "{"**" * shortest}"'
    assert redact(f"# it is {'3d' * shortest}") == f"# it is {'**' * shortest}"
