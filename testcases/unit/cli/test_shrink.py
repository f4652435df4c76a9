"""`qos shrink`: what it says, saves and refuses."""

import json

import pytest
from click.testing import CliRunner

from qospec.cli import qos
from qospec.shrink.trial import Bench

WIRE = """
import std.media
topology wire {
  a, b = host
  link a -- b via media.stm1
}
test loses on wire {
  sweep rate in [1_000 cell/s, 20_000 cell/s]
  flow f = ubr { pcr = rate, cdvt = 10 us } from a to b
  flow g = ubr { pcr = 2_000 cell/s } from b to a
  run { warmup = 3 ms, measure = 20 ms, repeat = 2 }
  expect g.lost == 0 cell
  expect lost: f.lost > 0 cell
  expect late: f.delay.mean > 1 s
  report g.delay.mean
}
test keeps on wire {
  flow f = ubr { pcr = 1_000 cell/s } from a to b
  run { measure = 20 ms }
  expect f.lost == 0 cell
}
property small {
  forall n in [5, 50]
  forall m in [1, 2]
  expect few: n < 20
}
property any { forall n: Int in 1 .. 100, expect n < 20 }
"""
FULL = """qos 1
import std.media
device box {
  port w, e: packet
  q = processor { per_packet = 60 us, limit = 1 pkt }
  w.rx -> q.entry[0]
  q.exit[0] -> e.tx
  e.rx -> w.tx
  invariant keeps: q.lost == 0 pkt
}
topology bed {
  a, b = host
  x = box
  link a -- x.w via media.fast_ethernet
  link x.e -- b via media.fast_ethernet
}
test overflows on bed {
  flow f = packets { rate = 95 Mbit/s @line, size = 512 B @ip } from a to b
  run { measure = 1 ms }
  expect f.loss < 99%
}
property late {
  forall c in [cells(at = [1_000_000 s])]
  expect count(c) == 1 cell
}
"""
"""A broken invariant, and an error of the tester."""
SEARCHED = """qos 1
import std.media
topology wire {
  a, b = host
  link a -- b via media.stm1
}
test carries on wire {
  search load in 1_000 cell/s .. 300_000 cell/s {
    goal ndr { loss = 0 }
    trial = 10 ms
    total = 30 ms
  }
  point at { load = ndr.load, measure = 10 ms }
  run { repeat = 2 }
  flow f = ubr { pcr = load } from a to b
  expect little: ndr.load < 200_000 cell/s
}
"""
CASE = "a.qos::loses:rate=20_000cell_per_s"


@pytest.fixture
def shrink(tmp_path, monkeypatch):
    """Return a function that runs the command on a file of the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.qos").write_text(f"qos 1\n{WIRE}", encoding="utf-8")

    def run(*words: str, command: str = "shrink"):
        options = ["--no-progress"] if command == "shrink" else []
        return CliRunner().invoke(qos, [command, *words, *options])

    return run


def test_the_smallest_is_printed_saved_and_fails(shrink, tmp_path) -> None:
    result = shrink(CASE)
    assert result.exit_code == 1
    assert "`lost` does not hold: 0 cell, needed > 0 cell" in result.stdout
    assert "  from 28 lines, 2 flows, 46 ms\n  to   " in result.stdout
    assert "note: no single value of a device was found with which it passes" in result.stdout
    assert "repeat    qos run shrunk_loses.qos" in result.stdout
    text = (tmp_path / "shrunk_loses.qos").read_text()
    for gone in ("flow g", "sweep", "warmup", "repeat", "late", "report", "cdvt"):
        assert gone not in text
    again = shrink("shrunk_loses.qos", command="run")
    assert again.exit_code == 1
    assert shrink("shrunk_loses.qos", "--check", command="fmt").exit_code == 0


def test_a_search_has_a_short_trial_and_no_empty_run_beside_it(shrink, tmp_path) -> None:
    (tmp_path / "s.qos").write_text(SEARCHED, encoding="utf-8")
    result = shrink("s.qos::carries")
    assert result.exit_code == 1
    text = (tmp_path / "shrunk_carries.qos").read_text()
    assert "goal ndr { loss = 0, trial = 1 ms, total = 1 ms }" in text
    assert "run {" not in text
    assert "point" not in text
    assert shrink("shrunk_carries.qos", command="run").exit_code == 1
    assert shrink("shrunk_carries.qos", "--check", command="fmt").exit_code == 0


SLOW = """qos 1
import std.media
device box {
  port w, e: packet
  q = processor { per_packet = 60 us, limit = 2 pkt }
  late = delay { time = 10 us }
  w.rx -> q -> late -> e.tx
  e.rx -> w.tx
}
topology bed {
  a, b, c, d = host
  x = box
  link a -- x.w via media.fast_ethernet
  link x.e -- b via media.fast_ethernet
  link c -- d via media.fast_ethernet
}
test drops on bed {
  let length = 1 ms
  flow f = packets { rate = 95 Mbit/s @line, size = 512 B @ip } from a to b
  flow g = packets { rate = 1 Mbit/s @line, size = 512 B @ip } from c to d
  run { warmup = length, measure = 2 * length }
  expect f.lost == 0 pkt
}
"""


@pytest.mark.parametrize("tries", [20, 40, 68, 72, 76, 84])
def test_what_is_interrupted_has_no_unused_names_and_does_not_contradict_itself(
    shrink, tmp_path, monkeypatch, tries
) -> None:
    (tmp_path / "slow.qos").write_text(SLOW, encoding="utf-8")
    runs = iter(range(tries))
    real = Bench.run

    def run(bench: Bench, *given):
        if next(runs, None) is None and not stopped:
            stopped.append(True)
            raise KeyboardInterrupt
        return real(bench, *given)

    stopped: list[bool] = []
    with monkeypatch.context() as patched:
        patched.setattr(Bench, "run", run)
        result = shrink("slow.qos::drops")
    assert result.exit_code == 130
    assert "the smallest so far: interrupted; " in result.stdout
    assert ("passes with" in result.stdout) != ("and see what mends it" in result.stdout)
    assert "warning" not in shrink("shrunk_drops.qos", command="check").output


GIVEN = """qos 1

import std.media, std.devices.generic

topology net {
  a, b = host
  r = generic.ip_router(ports = 2, buffer = 10 pkt)
  link a -- r.p[0] via media.fast_ethernet
  link r.p[1] -- b via media.ethernet
}

test whole on net {
  flow f = packets { rate = 8 Mbit/s @ip, size = 1_500 B @ip, source = burst { size = 30 pkt } }
    from a to b
  run { warmup = 90 ms, measure = 900 ms }
  expect nothing_lost: f.lost == 0 pkt
}
"""


SMALL = "packets { rate = 1 Mbit/s @ip, size = 64 B @ip }"


def test_what_a_topology_gives_to_a_library_device_tells_what_counts(shrink, tmp_path) -> None:
    """With room for all 30 packets of a burst it passes, and so must each smaller test."""
    (tmp_path / "given.qos").write_text(GIVEN, encoding="utf-8")
    result = shrink("given.qos::whole")
    assert "passes with `r.buffer` of `net` = " in result.stdout
    assert "  the smallest with its devices as they are; " in result.stdout
    text = (tmp_path / "shrunk_whole.qos").read_text("utf-8")
    assert "buffer = 10 pkt" in text
    assert "warmup" not in text
    assert len(text.splitlines()) <= len(GIVEN.splitlines())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "nothing smaller was found"),
        ("  flow g = f from b to a\n", "smaller, perhaps not the smallest"),
    ],
)
def test_no_result_has_more_lines_than_the_case_and_only_the_smallest_is_called_so(
    shrink, tmp_path, more, said
) -> None:
    """No value of a device mends what fails with any, so that not all steps are made."""
    never = GIVEN.replace("f.lost == 0 pkt", "f.delay.min > 1 s")
    never = never.replace("  run {", f"{more}  run {{").replace("flow g = f", f"flow g = {SMALL}")
    (tmp_path / "given.qos").write_text(never, encoding="utf-8")
    result = shrink("given.qos::whole")
    assert "no single value of a device was found" in result.stdout
    assert f"  {said}; " in result.stdout
    text = (tmp_path / "shrunk_whole.qos").read_text("utf-8")
    assert len(text.splitlines()) <= len(never.splitlines())


SEALED = """qos 1
import std.media
device box {
  port w, e: packet
  seal = esp_encrypt { encryption = aes_128_gcm, key = "file:own.key" }
  open = esp_decrypt { encryption = aes_128_gcm, key = "file:own.key" }
  out = fifo { limit = 1 pkt }
  w.rx -> seal -> open -> out -> e.tx
  e.rx -> w.tx
  invariant keeps: out.lost == 0 pkt
}
topology bed {
  a, b = host
  x = box
  link a -- x.w via media.fast_ethernet
  link x.e -- b via media.ethernet
}
test overflows on bed {
  flow f = packets { rate = 100 Mbit/s @line, size = 500 B @ip } from a to b
  run { measure = 200 us, overload = true }
  expect f.loss < 99%
}
"""


@pytest.mark.slow
def test_a_file_of_a_key_is_named_from_the_folder_of_the_result(shrink, tmp_path) -> None:
    (tmp_path / "qos.toml").touch()
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "sealed.qos").write_text(SEALED, encoding="utf-8")
    (tmp_path / "a" / "own.key").write_text("00112233445566778899aabbccddeeff01020304")
    result = shrink("a/sealed.qos::overflows", "-o", "b/small.qos")
    assert result.exit_code == 4, result.output
    text = (tmp_path / "b" / "small.qos").read_text("utf-8")
    assert text.count('"file:../a/own.key"') == 2
    assert shrink("b/small.qos", command="run").exit_code == 4


def test_another_criterion_and_another_file_can_be_named(shrink) -> None:
    result = shrink(CASE, "--criterion", "late", "-o", "b.qos", "--json")
    document = json.loads(result.stdout)
    assert (document["statement"], document["file"], document["shrunk"]) == ("late", "b.qos", True)
    assert document["lines"] == len(document["text"].splitlines())
    assert "expect late: f.delay.mean > 1 s" in document["text"]


def test_ctrl_c_keeps_the_smallest_so_far(shrink, monkeypatch) -> None:
    tries = iter(range(40))

    def check(_interruption) -> None:
        if next(tries, None) is None:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("qospec.run.interruption.Interruption.check", check)
        result = shrink(CASE)
    assert result.exit_code == 130
    assert "the smallest so far: interrupted; " in result.stdout
    assert shrink("shrunk_loses.qos", command="run").exit_code == 1


@pytest.mark.parametrize("case", ["full.qos::overflows", "full.qos::late"])
def test_it_exits_as_a_run_of_the_smallest_does(shrink, tmp_path, case) -> None:
    (tmp_path / "full.qos").write_text(FULL, encoding="utf-8")
    result = shrink(case, "-o", "b.qos")
    assert result.exit_code == shrink("b.qos", command="run").exit_code == 4, result.output


def test_a_case_of_a_property_keeps_what_its_condition_needs(shrink) -> None:
    result = shrink("a.qos::small:n=50,m=2")
    assert result.exit_code == 1
    assert "forall n in [50]" in result.stdout
    assert "forall m" not in result.stdout


def test_yaml_is_shrunk_to_a_file_in_the_text_form(shrink, tmp_path) -> None:
    shrink("a.qos", "-o", "y.yaml", "--to", "yaml", command="convert")
    (tmp_path / "a.qos").unlink()
    result = shrink(CASE.replace("a.qos", "y.yaml"), "--time", "3s")
    assert result.exit_code == 1
    assert shrink("shrunk_loses.qos", command="run").exit_code == 1


@pytest.mark.parametrize(
    ("case", "code", "words"),
    [
        ("a.qos", 2, "name a case: `qos shrink a.qos::CASE`"),
        ("b.qos::t", 2, "cannot be read"),
        ("a.qos::lose", 5, "did you mean `loses`?"),
        ("a.qos::loses", 2, "loses:rate=1_000cell_per_s"),
        ("a.qos::keeps", 2, "`keeps` passes: nothing to shrink"),
        ("a.qos::any", 2, "examine it with `qos fuzz"),
        (f"{CASE} --criterion x", 2, "no criterion of"),
        (f"{CASE} -o c.qos", 2, "`c.qos` exists"),
        (f"{CASE} -o a.txt", 2, "must end in `.qos`"),
        (f"{CASE} -o no/a.qos", 2, "there is no folder `no`"),
        (f"{CASE} --time soon", 2, "is not a time such as `60s`"),
    ],
)
def test_what_cannot_be_shrunk_is_told(shrink, tmp_path, case, code, words) -> None:
    (tmp_path / "c.qos").write_text("qos 1\n", encoding="utf-8")
    result = shrink(*case.split())
    assert result.exit_code == code
    assert words in result.output


@pytest.mark.parametrize("saved_as", ["main.qos", "./sub/../main.qos", "link.qos", "values.qos"])
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_nothing_that_the_case_was_read_from_is_replaced(shrink, tmp_path, saved_as, force) -> None:
    texts = {
        "main.qos": "qos 1\nimport values\nproperty p { forall n in [9], expect n < values.n }\n",
        "values.qos": "qos 1\nlet n = 5\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.qos").symlink_to("main.qos")
    result = shrink("main.qos::p", "-o", saved_as, *force)
    assert result.exit_code == 2
    assert "is what the case is made of: name another file with `--output`" in result.output
    assert {name: (tmp_path / name).read_text() for name in texts} == texts


def test_without_time_for_anything_nothing_is_saved(shrink, tmp_path) -> None:
    result = shrink(CASE, "--time", "0.000001s")
    assert result.exit_code == 3
    assert "the time was up: nothing smaller was found" in result.output
    assert not (tmp_path / "shrunk_loses.qos").exists()
