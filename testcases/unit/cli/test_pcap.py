"""`qos pcap`: a capture of a recorded case, and what is said where there can be none."""

import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from invoking import qos
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapNgReader
from seals import seal

from qospec import cli
from qospec.check.modules.project import compute_fingerprint
from qospec.cli import exits

SPEC = """qos 1
import std.media

device sealer {
  port red, black: cell
  seal = oam_insert { rate = 2_000 cell/s }
  out = fifo { limit = 4 cell }
  strip = oam_extract
  red.rx -> seal -> out -> black.tx
  black.rx -> strip.in
  strip.user -> red.tx
  strip.oam -> terminate
}
device gateway {
  port inner, outer: packet
  wrap = encapsulate { header = 24 B }
  unwrap = decapsulate { header = 24 B }
  out, back = fifo { limit = 4 pkt }
  inner.rx -> wrap -> out -> outer.tx
  outer.rx -> unwrap -> back -> inner.tx
}
topology sealed {
  a, b = host
  left, right = sealer
  link a -- left.red via media.stm1
  link left.black -- right.black via media.e3
  link right.red -- b via media.stm1
}
topology tunnel {
  a, b = host
  left, right = gateway
  link a -- left.inner via media.fast_ethernet
  link left.outer -- right.outer via media.ethernet { mtu = 1_600 B }
  link right.inner -- b via media.fast_ethernet
}
topology wire {
  a, b = host
  link a -- b via media.fast_ethernet
}

test cells on sealed {
  sweep load in [20_000 cell/s, 30_000 cell/s]
  flow f = ubr { pcr = load, connections = 3, virtual_path = 7 } from a to b
  run { measure = 5 ms, repeat = 2, overload = true }
  expect f.received > 0 cell
}
test tunnelled on tunnel {
  flow g = packets { rate = 1_500 pkt/s, size = mix [500 B, 900 B] @ip } from a to b
  control bare = wire
  run { measure = 10 ms, overload = true }
  expect g.received > 0 pkt
}
test phases on tunnel {
  search rate in 100 pkt/s .. 3_000 pkt/s {
    goal whole { loss = 0, width = 20% }
    method = binary
    trial = 10 ms
  }
  point half { rate = whole.rate / 2, measure = 10 ms, repeat = 2 }
  flow h = packets { rate = rate, size = 600 B @ip, gaps = poisson } from a to b
  flow background = packets { rate = 1_000 pkt/s, size = 100 B @ip } from b to a
  expect half.h.received > 0 pkt
}
"""


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pcap")
    (folder / "a.qos").write_text(SPEC, encoding="utf-8")
    done = qos("run", folder / "a.qos", "--record", folder / "records", "--no-progress")
    assert done.exit_code in {exits.PASSED, exits.INCONCLUSIVE}, done.output
    (found,) = (folder / "records").iterdir()
    (folder / "a.qos").unlink()  # a record is all that a capture needs
    return found


def case_of(record: Path, name: str) -> dict[str, object]:
    outcome = json.loads((record / "outcome.json").read_text(encoding="utf-8"))
    return next(case for case in outcome["cases"] if case["name"] == name)


def captured(path: Path) -> Iterator[tuple[int, bytes, str]]:
    """Yield time, bytes and comment of each packet."""
    for data, meta in RawPcapNgReader(io.BytesIO(path.read_bytes())):
        yield (meta.tshigh << 32) + meta.tslow, data, meta.comments[0].decode()


CELLS = "cells:load=30_000cell_per_s"


def test_cells_of_both_planes_are_numbered_and_their_losses_named(
    record: Path, tmp_path: Path
) -> None:
    path = tmp_path / "x.pcapng"
    done = qos("pcap", record, CELLS, "a -> left.red", "--trial", 2, "-o", path)
    assert done.exit_code == 0, done.output
    rows = list(captured(path))
    metrics = case_of(record, CELLS)["repeats"][1]["f"]  # type: ignore[index]
    assert len(rows) == int(metrics["sent"]["value"])
    lost = Counter(comment.partition(", lost at ")[2] for _, _, comment in rows)
    assert lost == {
        "": len(rows) - int(metrics["lost"]["value"]),
        "left.out (overflow)": lost["left.out (overflow)"],
    }
    assert lost["left.out (overflow)"] > 0
    numbers: Counter[str] = Counter()
    for _, cell, comment in rows:
        connection, number = re.findall(r"connection (\d+), number (\d+)", comment)[0]
        assert number == str(numbers[connection])
        numbers[connection] += 1
        vci = int.from_bytes(cell[16:20], "big") >> 4 & 0xFFFF
        assert (len(cell), vci) == (68, 32 + int(connection))
    done = qos("pcap", record, CELLS, "left.black.tx", "--trial", 2, "-o", path, "--force")
    rows = list(captured(path))
    kinds = Counter(comment.partition(",")[0] for _, _, comment in rows)
    assert kinds["f"] == int(metrics["received"]["value"])
    assert kinds["f.oam"] == len(rows) - kinds["f"] > 0
    times = [time for time, _, _ in rows]
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("case", "medium", "number"),
    [
        ("cells", "stm1", 197),
        ("packets", "fast_ethernet", 1),
        ("packets", "tagged_fast_ethernet", 1),
        ("packets", "ppp_e1", 50),
        ("packets", "macsec_fast_ethernet", 101),
    ],
)
def test_the_link_type_is_the_registered_one(
    tmp_path: Path, case: str, medium: str, number: int
) -> None:
    """Numbers of tcpdump.org, "Link-layer header types": ERF, Ethernet, PPP_HDLC and raw IP.

    They are read where draft-ietf-opsawg-pcapng, 4.2, has them, and by Scapy.
    """
    sent = {"cells": "ubr { pcr = 1_000 cell/s }",
            "packets": "packets { rate = 1_000 pkt/s, size = 100 B @ip }"}[case]  # fmt: skip
    source = tmp_path / "a.qos"
    source.write_text(
        f"""qos 1
import std.media
topology wire {{
  a, b = host
  link a -- b via media.{medium}
}}
test one on wire {{
  flow f = {sent} from a to b
  run {{ measure = 5 ms }}
  expect f.lost == 0
}}
""",
        "utf-8",
    )
    done = qos("run", source, "--record", tmp_path / "records", "--no-progress")
    assert done.exit_code == exits.PASSED, done.output
    (record,) = (tmp_path / "records").iterdir()
    path = tmp_path / "x.pcapng"
    assert qos("pcap", record, "one", "-o", path).exit_code == 0
    data = path.read_bytes()
    start = int.from_bytes(data[4:8], "little")
    assert data[start : start + 4] == (1).to_bytes(4, "little")  # an interface description
    assert int.from_bytes(data[start + 8 : start + 10], "little") == number
    read = list(RawPcapNgReader(io.BytesIO(data)))
    assert {meta.linktype for _, meta in read} == {number}
    assert len(read) == 5


def test_packets_have_the_sizes_of_the_place_and_what_is_around_them(
    record: Path, tmp_path: Path
) -> None:
    path = tmp_path / "x.pcapng"
    inner, outer = Counter[int](), Counter[int]()
    assert qos("pcap", record, "tunnelled", "a -> left.inner", "-o", path).exit_code == 0
    for _, frame, _ in captured(path):
        assert Ether(frame)[IP][UDP].len == Ether(frame)[IP].len - 20 == len(frame) - 18 - 20
        inner[len(frame)] += 1
    done = qos("pcap", record, "tunnelled", "left.outer -> right.outer", "-o", path, "--force")
    assert "packets of `left.outer -> right.outer`, trial 1 of 1" in done.output
    for _, frame, _ in captured(path):
        outer[len(frame)] += 1
    assert set(inner) == {500 + 18, 900 + 18}
    assert set(outer) == {500 + 18 + 24, 900 + 18 + 24}
    assert 0 < outer.total() <= inner.total()


def test_bytes_do_not_depend_on_how_a_trial_is_cut(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = set()
    for chunk in ("7", "100000"):
        monkeypatch.setenv("QOS_CHUNK", chunk)
        path = tmp_path / f"{chunk}.pcapng"
        assert qos("pcap", record, CELLS, "left.red.rx", "-o", path).exit_code == 0
        found.add(path.read_bytes())
    assert len(found) == 1


def test_a_control_and_trials_of_phases_can_be_captured(record: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    done = qos("pcap", record, "tunnelled", "--control", "bare", "-o", path)
    assert "`a -> b`, trial 1 of 1 of control bare" in done.output
    case = case_of(record, "phases")
    (search,) = (phase for phase in case["phases"] if phase["kind"] == "search")  # type: ignore[attr-defined]
    for number in (1, len(search["trials"])):
        options = ("--phase", "rate", "--trial", number, "-o", path, "--force")
        assert qos("pcap", record, "phases", "a.tx", *options).exit_code == 0
        assert len(list(captured(path))) == search["trials"][number - 1]["sent"]
    sent = []
    for number in (1, 2):
        options = ("--phase", "half", "--trial", number, "-o", path, "--force")
        assert qos("pcap", record, "phases", "a.tx", *options).exit_code == 0
        sent.append(len(list(captured(path))))
    metrics = case["repeats"]
    assert sent == [int(metric["half.h"]["sent"]["value"]) for metric in metrics]  # type: ignore[attr-defined]


def test_stdout_gets_the_same_bytes_and_nothing_else(record: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    assert qos("pcap", record, "tunnelled", "a.tx", "--count", 3, "-o", path).exit_code == 0
    done = qos("pcap", record, "tunnelled", "a.tx", "--count", 3, "-o", "-")
    assert done.stdout_bytes == path.read_bytes()
    assert len(list(captured(path))) == 3


def test_a_file_is_replaced_only_if_asked(record: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    path.write_text("mine", encoding="utf-8")
    done = qos("pcap", record, "tunnelled", "a.tx", "-o", path)
    assert done.exit_code == exits.WRONG
    assert "exists: write another by `-o FILE`, or replace it by `--force`" in done.output
    assert path.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tunneled",), "the record has no case `tunneled`: did you mean `tunnelled`?"),
        (("tunnelled",), "several links carry something in this case: name one"),
        (("tunnelled", "a -> left.inne"), "did you mean `a -> left.inner`?"),
        (("tunnelled", "b -> right.inner"), "nothing goes over `b -> right.inner` in this case"),
        (("tunnelled", "a.tx", "--trial", 2), "there is no trial 2: the record has 1"),
        (("tunnelled", "a.tx", "--control", "bar"), "no control `bar`: did you mean `bare`?"),
        (("tunnelled", "a.tx", "--phase", "x"), "`tunnelled` has no phases"),
        (("phases", "a.tx"), "--phase half: a point with 2 trials"),
        (("phases", "a.tx", "--phase", "rat"), "no phase `rat`: did you mean `rate`?"),
        (("phases", "a.tx", "--phase", "rate"), "--trial 1: 3000 pkt/s, "),
        (("phases", "a.tx", "--phase", "half", "--repeat", 2), "no repeat 2: the record has 1"),
    ],
)
def test_what_there_is_not_is_named(
    record: Path, tmp_path: Path, arguments: tuple[object, ...], words: str
) -> None:
    path = tmp_path / "x.pcapng"
    done = qos("pcap", record, *arguments, "-o", path)
    assert done.exit_code == exits.WRONG
    assert words in done.output
    assert not path.exists()


def changed(record: Path, tmp_path: Path, old: str, new: str) -> Path:
    """Return a copy of a record in which a text was replaced."""
    text = (record / "outcome.json").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "outcome.json").write_text(text.replace(old, new), encoding="utf-8")
    seal(tmp_path)
    return tmp_path


def test_another_result_than_the_recorded_one_is_refused(record: Path, tmp_path: Path) -> None:
    outcome = json.loads((record / "outcome.json").read_text(encoding="utf-8"))
    case = next(case for case in outcome["cases"] if case["name"] == "tunnelled")
    case["repeats"][0]["g"]["sent"] = {"value": "7", "unit": "pkt", "text": "7 pkt"}
    (tmp_path / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")
    seal(tmp_path)
    path = tmp_path / "x.pcapng"
    done = qos("pcap", tmp_path, "tunnelled", "a.tx", "-o", path)
    assert done.exit_code == exits.WRONG
    assert "the trial did not come to the recorded result: `g.sent` is " in done.output
    assert {file.name for file in tmp_path.iterdir()} == {"outcome.json", "SHA256SUMS"}


def test_another_version_is_said(record: Path, tmp_path: Path) -> None:
    older = changed(record, tmp_path, '"numba": "', '"numba": "0.')
    done = qos("pcap", older, "tunnelled", "a.tx", "-o", tmp_path / "x.pcapng")
    assert done.exit_code == 0
    assert "warning: the record was made with numba 0." in done.output


def of_another_library(record: Path, tmp_path: Path, old: str, new: str) -> Path:
    """Return a copy of a record that was made when `std.media` had another text."""
    outcome = json.loads((record / "outcome.json").read_text(encoding="utf-8"))
    (media,) = (s for s in outcome["provenance"]["sources"] if s["name"] == "std/media.qos")
    assert old in media["text"]
    media["text"] = media["text"].replace(old, new, 1)
    media["sha256"] = sha256(media["text"].encode()).hexdigest()
    (tmp_path / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")
    seal(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new"),
    [("## ", "## Once: "), ("\n\n", "\n\n# of old\n\n"), ("{ ", "{   ")],
    ids=["a doc comment", "a comment", "blanks"],
)
def test_a_library_of_which_only_comments_and_blanks_have_changed_is_the_same(
    record: Path, tmp_path: Path, old: str, new: str
) -> None:
    older = of_another_library(record, tmp_path, old, new)
    done = qos("pcap", older, "tunnelled", "a.tx", "-o", tmp_path / "x.pcapng")
    assert (done.exit_code, "capture: " in done.output) == (0, True)


def test_the_first_line_of_the_library_that_has_changed_is_told(
    record: Path, tmp_path: Path
) -> None:
    older = of_another_library(record, tmp_path, "rate = 100 Mbit/s", "rate = 99 Mbit/s")
    done = qos("pcap", older, "tunnelled", "a.tx", "-o", tmp_path / "x.pcapng")
    assert done.exit_code == exits.WRONG
    told = (
        r"made: line \d+ was `[^`]*99 Mbit/s[^`]*` and is `[^`]*100 Mbit/s[^`]*`; use the version"
    )
    assert re.search(told, " ".join(done.output.split()))


@pytest.mark.parametrize("name", ["../a.qos", "{secret}", "std/../../{secret}", "std/{up}{secret}"])
@pytest.mark.parametrize("command", ["pcap", "report"])
def test_a_stranger_s_record_opens_nothing_outside_of_library_and_project(
    record: Path, tmp_path: Path, name: str, command: str
) -> None:
    """`qos pcap` compared a source named `std/../…` with that file, and printed a line of it."""
    secret = tmp_path / "secret.qos"
    secret.write_text("qos 1\nhunter2 is the password\n", encoding="utf-8")
    name = name.format(secret=secret, up="../" * 40)
    folder = tmp_path / "record"
    folder.mkdir()
    outcome = json.loads((record / "outcome.json").read_text(encoding="utf-8"))
    outcome["provenance"]["sources"][0]["name"] = name
    (folder / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")
    seal(folder)
    done = qos(command, folder, *(["tunnelled", "a.tx"] if command == "pcap" else []))
    assert done.exit_code == exits.ERROR
    assert "`provenance.sources[0].name` is not a path of the library or of" in done.output
    assert "hunter2" not in done.output


def test_nor_does_the_place_of_a_case(record: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.qos"
    secret.write_text("qos 1\nhunter2 is the password\n", encoding="utf-8")
    outcome = json.loads((record / "outcome.json").read_text(encoding="utf-8"))
    for case in outcome["cases"] + outcome["tests"]:
        case["place"] = f"{secret}:2:1"
    (tmp_path / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")
    seal(tmp_path)
    done = qos("pcap", tmp_path, "tunnelled", "a.tx", "-o", tmp_path / "x.pcapng")
    assert done.exit_code == exits.WRONG
    assert f"the record is damaged: it does not hold the case's file `{secret}`" in done.output
    assert "hunter2" not in done.output


def test_a_package_is_found_in_a_project_that_has_not_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    package = project / "packages" / "acme"
    package.mkdir(parents=True)
    (project / "qos.toml").touch()
    (package / "wires.qos").write_text(
        "qos 1\nimport std.media\n"
        "topology wire { a, b = host\n link a -- b via media.fast_ethernet }\n",
        encoding="utf-8",
    )
    (project / "qos.lock").write_text(
        f'[package.acme]\nfolder = "packages/acme"\nsha256 = "{compute_fingerprint(package, 9)}"\n',
        encoding="utf-8",
    )
    test = """qos 1
import acme.wires
test one on wires.wire {
  flow f = packets { rate = 1_000 pkt/s, size = 600 B @ip } from a to b
  run { measure = 2 ms }
  expect f.lost == 0 pkt
}
"""
    (project / "a.qos").write_text(test, encoding="utf-8")
    records = tmp_path / "records"
    assert qos("run", project / "a.qos", "--record", records, "--no-progress").exit_code == 0
    (record,) = records.iterdir()
    monkeypatch.chdir(project)
    assert qos("pcap", record, "one", "-o", tmp_path / "x.pcapng").exit_code == 0
    (project / "a.qos").write_text(test.replace("600 B", "700 B"), encoding="utf-8")
    done = qos("pcap", record, "one", "-o", tmp_path / "y.pcapng")
    assert done.exit_code == exits.WRONG
    assert "if it imports a package or sends a capture, be in its project" in done.output


def test_what_is_no_record_is_said(tmp_path: Path) -> None:
    done = qos("pcap", tmp_path / "none", "tunnelled")
    assert (done.exit_code, "no record found at" in done.output) == (exits.WRONG, True)
    done = qos("pcap", tmp_path, "tunnelled")
    assert (done.exit_code, "holds no run.json" in done.output) == (exits.ERROR, True)


def test_cases_are_completed(record: Path) -> None:
    complete = ShellComplete(cli.qos, {}, "qos", "_QOS_COMPLETE")
    found = complete.get_completions(["pcap", str(record)], "cel")
    assert [completion_item.value for completion_item in found] == [
        "cells:load=20_000cell_per_s",
        "cells:load=30_000cell_per_s",
    ]
    assert complete.get_completions(["pcap", "nowhere"], "cel") == []


def test_the_word_is_free_for_names(tmp_path: Path) -> None:
    (tmp_path / "a.qos").write_text(SPEC.replace("sealed", "pcap"), encoding="utf-8")
    assert qos("check", tmp_path / "a.qos").exit_code == exits.PASSED


def test_a_link_with_notices_is_refused_and_the_other_direction_is_not(tmp_path: Path) -> None:
    text = """qos 1
import std.media
device telling {
  port inner, outer: packet
  fit = tell_mtu { mtu = 1_400 B }
  inner.rx -> fit.there
  fit.there -> outer.tx
  outer.rx -> fit.back
  fit.back -> inner.tx
}
topology path {
  a, b = host
  box = telling
  link a -- box.inner via media.gige
  link box.outer -- b via media.gige
}
test t on path {
  flow copy = tcp { path_mtu_discovery = true, transfer = 2 kB } from a to b
  run { measure = 10 ms }
  report copy.notices.sent
}
"""
    (tmp_path / "told.qos").write_text(text, encoding="utf-8")
    record = tmp_path / "record"
    assert qos("run", str(tmp_path / "told.qos"), "--record", str(record)).exit_code == 0
    (made,) = record.iterdir()
    refused = qos("pcap", str(made), "t", "box.inner -> a", "-o", str(tmp_path / "back.pcapng"))
    assert refused.exit_code != 0
    assert "notices that packets are too large go over `box.inner -> a`" in refused.stderr
    assert "the other direction" in refused.stderr
    taken = qos("pcap", str(made), "t", "a -> box.inner", "-o", str(tmp_path / "there.pcapng"))
    assert taken.exit_code == 0
