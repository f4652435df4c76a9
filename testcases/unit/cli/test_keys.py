"""No command shows or keeps a key: not in what it prints, and not in a file that it writes.

A key is written at every place where one can stand, in both forms and in all spellings. `fmt` and
`convert` give a file back as it is, and `pcap --keys` is asked for keys.
"""

import re
import shutil
from pathlib import Path

import pytest
from invoking import qos

MARK = "c0ffee0badf00d"
"""Is in each key, whatever stands between its digits."""


def key(number: int) -> str:
    """Return a key of 16 bytes, as `aes_128_cbc` takes."""
    return f"{number:02x}{MARK}{'5a' * 8}"


def grouped(text: str, between: str, size: int = 2) -> str:
    return between.join(text[at : at + size] for at in range(0, len(text), size))


SPECIFICATION = f"""qos 1
import std.media
# They were drawn by hand: {key(9)}, {grouped(key(9), ":")}
let there = "{key(1)}"
let known = {{ back: ["{grouped(key(2), " ", 8)}"] }}

## A gateway. Its first key was {key(8)}.
device gateway(sends: Text, receives: Text = "{grouped(key(3), ":").upper()}") {{
  port inner, outer: packet
  seal = esp_encrypt {{
    encryption = aes_128_cbc
    key = sends
    integrity = hmac_sha2_256_128
    integrity_key = "0x{key(4)}{key(4)}"
  }}
  open = esp_decrypt {{
    encryption = aes_128_cbc, key = receives
    integrity = hmac_sha2_256_128, integrity_key = "file:tunnel.key"
  }}
  out, back = fifo {{ limit = 1 pkt }}
  inner.rx -> seal -> out -> outer.tx
  outer.rx -> open -> back -> inner.tx
}}
device near {{
  port inner, outer: packet
  seal = esp_encrypt {{ encryption = aes_128_gcm, key = "{key(5)}{key(5)[:8]}" }}
  out, back = fifo {{ limit = 1 pkt }}
  inner.rx -> seal -> out -> outer.tx
  outer.rx -> back -> inner.tx
}}
topology vpn {{
  a, b = host
  left = near
  link a -- left.inner via media.fast_ethernet
  link left.outer -- b via media.fast_ethernet
}}
test t on vpn {{
  flow f = packets {{ rate = 10_000 pkt/s, size = 1_000 B @ip }} from a to b
  run {{ measure = 2 ms, payload = true }}
  expect wrong: f.lost == 1 pkt
  report f.delay.mean
}}
test drawn on vpn {{
  forall rate in 1_000 pkt/s .. 9_000 pkt/s
  flow f = packets {{ rate = rate, size = 1_000 B @ip }} from a to b
  run {{ measure = 1 ms }}
  expect wrong: f.lost == 1 pkt
}}
let pair = gateway(sends = there, receives = known[back][0])
"""

QUIET = [
    "init made",
    "cluster --help",
    "check a.qos",
    "check a.qos --json",
    "check a.yaml",
    "plan a.qos",
    "plan a.qos --json",
    "warm a.qos",
    "run a.qos --record r1 -v --no-progress",
    "run a.qos --record r2 --json --report markdown --report csv --report junit --report json",
    "run a.yaml --record r3 --no-progress",
    "report RECORD",
    "judge RECORD -v",
    "judge RECORD --json",
    "baseline set first RECORD",
    "compare baseline:first RECORD",
    "report RECORD --format markdown",
    "report RECORD --format json",
    "report RECORD --format csv -o out.csv",
    "pcap RECORD t a.tx -o x.pcapng",
    "fuzz a.qos::drawn --examples 10 --no-progress",
    "fuzz a.qos::drawn --examples 10 --no-progress --json --save found",
    "shrink a.qos::t --no-progress",
    "shrink a.qos::t --json -o smaller.qos",
    "shrink a.yaml::t -o smaller_yaml.qos",
    "fmt --check a.qos",
    "fmt --diff a.qos",
    "explain a.qos::gateway",
    "explain a.qos::near",
    "explain a.qos::vpn",
    "explain a.qos::t --json",
    "explain a.qos::there",
    "explain a.qos::known",
    "doc . -o project.html",
    "export a.qos::t --to otg -o x.yaml",
    "doctor",
]


def shows_key(text: str) -> bool:
    return MARK in re.sub(r"[\s:-]|0x", "", text).lower()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the specification in both forms, badly laid out, and a file of a key."""
    folder = tmp_path_factory.mktemp("keys")
    (folder / "a.qos").write_text(SPECIFICATION, encoding="utf-8")
    (folder / "tunnel.key").write_text(f"{key(4)}{key(4)}", encoding="utf-8")
    assert (
        qos("convert", str(folder / "a.qos"), "--to", "yaml", "-o", f"{folder}/a.yaml").exit_code
        == 0
    )
    untidy = SPECIFICATION.replace("key = sends", "key =   sends").replace(
        "let there", "let  there"
    )
    (folder / "a.qos").write_text(untidy, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_no_command_shows_or_keeps_a_key(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    own = {path: path.read_bytes() for path in project.iterdir()}
    assert all(shows_key(data.decode()) for data in own.values())
    for line in QUIET:
        records = sorted(Path("r1").glob("*"))
        words = [str(records[0]) if word == "RECORD" else word for word in line.split()]
        done = qos(*words)
        assert done.exit_code in (0, 1, 3), f"{line}: {done.output}"
        assert not shows_key(done.output), f"{line}: {done.output}"
        for path in project.rglob("*"):
            if path.is_file() and path not in own:
                data = path.read_bytes()
                assert not shows_key(data.decode("utf-8", "replace")), f"{line}: {path}"
                assert bytes.fromhex(MARK) not in data, f"{line}: {path}"
    assert own == {path: path.read_bytes() for path in own}


def test_what_fuzz_saves_names_the_files_of_keys_from_its_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.parent)
    text = SPECIFICATION.replace(f'"{key(5)}{key(5)[:8]}"', '"file:own.key"')
    folder = Path("of_files") / "inner"
    folder.mkdir(parents=True)
    (folder / "a.qos").write_text(text, encoding="utf-8")
    (folder / "own.key").write_text(f"{key(5)}{key(5)[:8]}", encoding="utf-8")
    (folder / "tunnel.key").write_text(f"{key(4)}{key(4)}", encoding="utf-8")
    (folder.parent / "qos.toml").touch()
    done = qos("fuzz", f"{folder}/a.qos::drawn", "--examples", "10", "--no-progress")
    (saved,) = Path("of_files/fuzz").iterdir()
    assert '"file:../inner/own.key"' in saved.read_text(encoding="utf-8")
    assert qos("check", str(saved)).exit_code == 0, done.output


WRONG = [
    ("bare", "key = KEY", "write it in quotation marks"),
    ("name", "key = abKEY", "nothing here is named `****"),
    ("name in a sum", "key = abKEY + 1", "write it in quotation marks"),
    ("digits", "key = 1KEY", "write it in quotation marks"),
    ("based", "key = 0xKEY", "numbers are decimal"),
    ("groups", "key = SPACED", ""),
    ("colons", "key = COLONS", ""),
    ("underscores", "key = JOINED", ""),
    ("joined text", 'key = "JOINED"', "there are other characters"),
    ("open", 'key = "KEY', "never closed"),
    ("single", "key = 'KEY'", "a text is written between"),
    ("odd", 'key = "KEYa"', "their number is odd"),
    ("letter", 'key = "KEYxx"', "there are other characters"),
    ("short", 'key = "KEY"[0]', ""),
    ("file", 'key = "file:KEY"', "cannot be read"),
    ("unit", "key = 12 KEY", ""),
    ("field", 'kye = "KEY"', "did you mean `key`?"),
    ("call", "key = f(KEY)", ""),
    ("sum", "key = KEY + KEY", ""),
    ("twice", 'key = "KEY", key = "KEY"', ""),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong[0])
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_no_message_shows_a_key_that_is_written_wrongly(
    tmp_path: Path, wrong: tuple[str, str, str], options: tuple[str, ...]
) -> None:
    _, written, words = wrong
    digits = f"{key(7)}01020304"
    spellings = {
        "SPACED": grouped(digits, " ", 8),
        "COLONS": grouped(digits, ":"),
        "JOINED": grouped(digits, "_", 8),
        "KEY": digits,
    }
    for name, text in spellings.items():
        written = written.replace(name, text)
    path = tmp_path / "a.qos"
    path.write_text(
        f"qos 1\ndevice d {{\n  port p: packet\n"
        f"  x = esp_encrypt {{ encryption = aes_128_gcm, {written} }}\n  p.rx -> x -> p.tx\n}}\n",
        encoding="utf-8",
    )
    done = qos("check", *options, str(path))
    assert done.exit_code != 0
    assert words in done.output or options
    assert not shows_key(done.output), done.output


@pytest.mark.parametrize(
    "name", ["../tunnel.key", "ABSOLUTE", "link.key", "folder/../../tunnel.key"]
)
def test_a_file_of_a_key_lies_in_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A project of somebody else would read any file, and use what it finds as a key."""
    outside, project = tmp_path / "tunnel.key", tmp_path / "project"
    (project / "folder").mkdir(parents=True)
    outside.write_text(f"{key(1)}00000000", encoding="utf-8")
    (project / "link.key").symlink_to(outside)
    named = str(outside) if name == "ABSOLUTE" else name
    text = f"""qos 1
device d {{
  port p, q: packet
  x = esp_encrypt {{ encryption = aes_128_gcm, key = "file:{named}" }}
  p.rx -> x -> q.tx
  q.rx -> p.tx
}}
"""
    (project / "a.qos").write_text(text, encoding="utf-8")
    done = qos("check", str(project / "a.qos"))
    assert f"the file `{named}` of `key` is not in the project" in done.output
    assert "copy it into the project" in done.output
    assert f"the project's root is {project}\n" in done.output
    monkeypatch.chdir(project)
    done = qos("check", "a.qos")
    assert "the project's root is the current folder, project\n" in done.output
    shutil.copy(outside, project / "folder" / "own.key")
    (project / "a.qos").write_text(text.replace(named, "folder/own.key"), encoding="utf-8")
    assert qos("check", str(project / "a.qos")).exit_code == 0
    # A project of several folders has its root where its qos.toml is.
    (tmp_path / "qos.toml").touch()
    (project / "a.qos").write_text(text.replace(named, "../tunnel.key"), encoding="utf-8")
    assert qos("check", str(project / "a.qos")).exit_code == 0
