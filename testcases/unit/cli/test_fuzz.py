"""`qos fuzz`: what it prints and saves, and what `qos run` then finds."""

import gc
import json
import sys

import pytest
from click.testing import CliRunner

from qospec.cli import qos
from qospec.fuzz.properties import PropertyTarget

HOLDS = """
property holds {
  forall n: Int in 1 .. 100
  expect n >= 1
}
"""
WRONG = """
property wrong {
  forall rate: CellRate in 1 cell/s .. 1_000 cell/s
  forall arrivals in cells(at_most = 10)
  expect few: count(police(arrivals, pcr = rate)) < LIMIT
}
"""
FEW = ("--examples", "60", "--no-progress")


@pytest.fixture
def fuzz(tmp_path, monkeypatch):
    """Return a function that searches a text with a command; the folder is the current one."""
    monkeypatch.chdir(tmp_path)

    def searched(text: str, *options: str, command: str = "fuzz", file: str = "a.qos"):
        if text:
            (tmp_path / file.partition("::")[0]).write_text("qos 1\n" + text, encoding="utf-8")
        return CliRunner().invoke(qos, [command, file, *options])

    return searched


def test_a_property_that_holds_is_no_finding(fuzz) -> None:
    result = fuzz(HOLDS, *FEW)
    assert result.exit_code == 0
    assert "property holds: holds for " in result.stdout
    assert "0 findings in " in result.stdout


@pytest.mark.slow
def test_a_finding_is_saved_and_fails_until_its_fault_is_mended(fuzz, tmp_path) -> None:
    result = fuzz(WRONG.replace("LIMIT", "2 cell"), *FEW)
    assert result.exit_code == 1
    assert "property wrong: `few` does not hold: 2 cell, needed < 2 cell" in result.stdout
    assert "  repeat    qos run fuzz_wrong_few.qos" in result.stdout
    saved = tmp_path / "fuzz_wrong_few.qos"
    assert saved.read_text().partition("at = [")[2].partition("]")[0].count(",") == 1
    assert fuzz("", command="run", file=str(saved)).exit_code == 1
    saved.write_text(saved.read_text().replace("< 2 cell", "< 3 cell"))
    assert fuzz("", command="run", file=str(saved)).exit_code == 0


@pytest.mark.slow
def test_equal_seeds_find_the_same_in_one_process_and_in_two(fuzz) -> None:
    text = WRONG.replace("LIMIT", "2 cell") + HOLDS

    def found(*more: str) -> str:
        return fuzz(text, *FEW, "--json", "--no-database", *more).stdout

    assert found() == found("-j", "2")
    assert [len(target["findings"]) for target in json.loads(found())["targets"]] == [1, 0]


def test_a_search_ends_when_its_time_is_up(fuzz) -> None:
    result = fuzz(HOLDS, "--time", "0.2s", "--no-progress", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["targets"][0]["examples"] > 0


def test_the_last_line_says_that_the_search_was_interrupted(fuzz, monkeypatch) -> None:
    judged, left = PropertyTarget.judge, iter(range(20))

    def interrupted(target, chosen):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return judged(target, chosen)

    assert "interrupted" not in fuzz(HOLDS, *FEW).stdout
    monkeypatch.setattr(PropertyTarget, "judge", interrupted)
    result = fuzz(HOLDS, "--examples", "100_000", "--no-progress")
    assert result.exit_code == 130
    last = result.stdout.splitlines()[-1]
    assert last.startswith("0 findings in ")
    assert last.endswith(", seed 0: interrupted before the search was done")


def test_a_target_that_was_not_begun_is_not_called_impossible(fuzz) -> None:
    result = fuzz(HOLDS, "--time", "0.000001s", "--no-progress")
    assert "not examined: the search ended before its first example" in result.stdout


def test_a_condition_that_hardly_any_example_meets_is_told(fuzz) -> None:
    text = (
        "property p { forall n: Int in 1 .. 100_000 where abs(n - 50_005) < 5, expect n > 50_000 }"
    )
    result = fuzz(text, *FEW)
    assert "examples meet a.qos:2:" in result.stdout


def test_the_garbage_collector_is_left_as_it_was(fuzz) -> None:
    usual = gc.get_threshold()
    fuzz(HOLDS, *FEW)
    assert gc.get_threshold() == usual


NEVER_JUDGED = """
import std.media
topology wire { a, b = host
  link a -- b via media.stm1
}
test drawn on wire {
  forall rate: CellRate in 1_000 cell/s .. 2_000 cell/s
  flow user = cbr { pcr = rate, cdvt = 0 s } from a to b
  run { measure = 5 ms }
  expect few: user.lost / user.lost < 3
}
"""


def test_a_criterion_that_no_example_decides_is_not_said_to_hold(fuzz) -> None:
    result = fuzz(NEVER_JUDGED, "--examples", "3", "--no-progress")
    assert result.exit_code == 3
    assert "test drawn: none of 3 examples says anything of `few`\n" in result.stdout
    as_json = fuzz("", "--examples", "3", "--no-progress", "--json")
    assert json.loads(as_json.stdout)["targets"][0]["not_judged"] == {"few": 3}


def test_an_example_that_failed_before_is_tried_first(fuzz, tmp_path) -> None:
    text = "property p { forall n: Int in 1 .. 100_000, expect n != 77 }"
    assert fuzz(text.replace("n != 77", "n < 70"), *FEW).exit_code == 1
    assert list((tmp_path / ".qos-fuzz").glob("hypothesis-*/*/*"))
    (tmp_path / ".qos-fuzz").joinpath("hypothesis-0.1").mkdir()
    assert "note" not in fuzz("", *FEW).stderr


def test_examples_of_another_release_are_ignored_with_a_note(fuzz, tmp_path) -> None:
    (tmp_path / ".qos-fuzz" / "hypothesis-0.1").mkdir(parents=True)
    assert "has examples of hypothesis-0.1, which are ignored" in fuzz(HOLDS, *FEW).stderr


FAILS = "property p { forall n: Int in 1 .. 100_000, expect n < 70 }"


@pytest.mark.parametrize(
    "pattern", [".qos-fuzz", ".qos-fuzz/*", ".qos-fuzz/*/*", ".qos-fuzz/*/*/*"]
)
def test_a_link_to_examples_elsewhere_is_not_followed(fuzz, tmp_path, pattern) -> None:
    assert fuzz(FAILS, *FEW).exit_code == 1
    linked, *_ = sorted(tmp_path.glob(pattern))
    elsewhere = linked.rename(tmp_path / "elsewhere")
    linked.symlink_to(elsewhere)
    before = [(path, path.stat().st_mtime_ns) for path in (elsewhere, *elsewhere.rglob("*"))]
    result = fuzz(FAILS.replace("< 70", "< 100_001"), *FEW)
    assert result.exit_code == 0
    shown = linked.relative_to(tmp_path)
    assert f"`{shown}` is neither a file nor a folder, and is not followed: no" in result.stderr
    assert [(path, path.stat().st_mtime_ns) for path, _ in before] == before


@pytest.mark.parametrize(
    ("text", "options", "code", "words"),
    [
        (HOLDS, ("--time", "soon"), 2, "is not a time such as `60s`"),
        (HOLDS, ("--examples", "0"), 2, "0 is not in the range"),
        ("", (), 5, "nothing selected"),
        ("property p { expect 1 }", (), 2, "E0516"),
    ],
)
def test_what_cannot_be_searched_is_told(fuzz, text, options, code, words) -> None:
    result = fuzz(text or "let a = 1", *options)
    assert result.exit_code == code
    assert words in result.output


def test_a_name_that_no_property_has_is_told(fuzz) -> None:
    result = fuzz(HOLDS, file="a.qos::hold")
    assert result.exit_code == 5


def test_without_hypothesis_it_is_said_what_to_install(fuzz, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules["qospec.cli.commands.fuzz"], "find_spec", lambda _: None)
    result = fuzz(HOLDS)
    assert result.exit_code == 2
    assert "pip install 'qospec[fuzz]'" in result.stderr


def test_what_no_example_keeps_is_told(fuzz) -> None:
    text = "property p { forall n: Int in 1 .. 100_000, expect odd: n > 200_000, expect n != 77 }"
    result = fuzz(text, *FEW)
    assert result.exit_code == 1
    assert "note: no example of property p keeps `odd`: perhaps nothing can" in result.stdout
    assert result.stdout.count("note:") == 1


DIVIDES = """
import std.media
topology wire {
  a, b = host
  link a -- b via media.stm1
}
property p {
  forall m: Int in 1 .. 5
  expect 7 / (m - 3) < 90
}
test t on wire {
  forall n: Int in 1 .. 5
  flow user = ubr { pcr = 400_000 cell/s + n * 1 cell/s } from a to b
  run { measure = 1 ms }
  expect user.lost == 0 cell
}
"""


def test_what_cannot_be_evaluated_is_told_with_its_cause_and_its_expression(fuzz, tmp_path) -> None:
    result = fuzz(DIVIDES, *FEW)
    assert result.exit_code == 1
    why = "cannot be evaluated with these values: division by zero, in `7 / (m - 3)`"
    assert f"property p: {why}\n" in result.stdout
    assert f"\n# {why}\n" in (tmp_path / "fuzz_p_mistake.qos").read_text()
    why = "cannot be evaluated with these values: this flow asks for more than the link can carry"
    assert f"test t: {why}, in `" in result.stdout
    assert "note: no example of test t can be evaluated: perhaps none can" in result.stdout


BRIDGE = """
device bridge {
  port west, east: packet
  there, back = fifo { limit = 4 pkt }
  west.rx -> there -> east.tx
  east.rx -> back -> west.tx
  invariant as_sold: there.occupancy.max <= 3 pkt
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("project", "saved"), [("", "fuzz_bridge_as_sold.qos"), ("name", "fuzz/bridge_as_sold.qos")]
)
def test_a_saved_file_finds_the_device_that_it_imports(fuzz, tmp_path, project, saved) -> None:
    if project:
        (tmp_path / "qos.toml").write_text(f'[project]\n{project} = "lab"\nedition = 1\n')
    assert fuzz(BRIDGE, "--examples", "200", "--no-progress").exit_code == 1
    result = fuzz("", command="run", file=saved)
    assert result.exit_code == 4
    assert "as_sold" in result.stdout


ROUTER = """
device router {
  port west, east: packet
  west.rx -> east.tx
  east.rx -> west.tx
}
"""


@pytest.mark.parametrize("file", ["my-router.qos", "2nd.qos"])
def test_a_file_that_no_other_can_import_is_told_at_once(fuzz, file) -> None:
    result = fuzz(ROUTER, *FEW, file=file)
    assert result.exit_code == 3
    name = file.removesuffix(".qos")
    assert f"device router: not examined: no file can import `{name}`" in result.stdout
    assert "0 findings in 0 examples" in result.stdout


def test_two_files_that_an_import_may_mean_are_told_at_once(fuzz, tmp_path) -> None:
    (tmp_path / "a.yaml").write_text("qos: 1\n", encoding="utf-8")
    result = fuzz(ROUTER, *FEW)
    assert result.exit_code == 3
    assert "two files match this import: a.qos and a.yaml: rename one of them" in result.stdout


def test_a_folder_that_cannot_be_made_is_named_before_the_search(fuzz, tmp_path) -> None:
    (tmp_path / "taken").write_text("")
    result = fuzz(HOLDS, *FEW, "--save", "taken/x")
    assert result.exit_code == 4
    assert "cannot make the folder `taken/x`: not a directory" in result.stderr
    assert result.stdout == "", "nothing was searched"


def test_a_folder_is_made_only_for_a_finding(fuzz, tmp_path) -> None:
    assert fuzz(HOLDS, *FEW, "--save", "new/x").exit_code == 0
    assert [path.name for path in tmp_path.iterdir() if path.name != ".qos-fuzz"] == ["a.qos"]


def test_a_finding_that_cannot_be_saved_is_printed(fuzz, tmp_path) -> None:
    (tmp_path / "fuzz_wrong_few.qos").mkdir()
    result = fuzz(WRONG.replace("LIMIT", "1 cell"), *FEW)
    assert result.exit_code == 4
    assert "cannot write `fuzz_wrong_few.qos`: is a directory" in result.stderr
    assert "property wrong: `few` does not hold: 1 cell, needed < 1 cell" in result.stdout
    assert "pcr = rate)) < 1 cell\n" in result.stdout
    assert "examples, not saved\n" in result.stdout
    assert "repeat" not in result.stdout
    assert "1 finding in " in result.stdout
    result = fuzz(WRONG.replace("LIMIT", "1 cell"), *FEW, "--json")
    assert result.exit_code == 4
    (finding,) = json.loads(result.stdout)["targets"][0]["findings"]
    assert finding["file"] is None


def test_a_device_with_machines_to_which_nothing_speaks_has_a_note(fuzz) -> None:
    waiting = """
    device waiting {
      port west, east, line: cell
      west.rx -> east.tx
      east.rx -> west.tx
      line.rx -> wait.line
      wait.line -> line.tx
      machine wait {
        ports = [line]
        messages = [hello, welcome]
        state idle { on hello -> idle { send = [welcome] } }
      }
    }
    """
    greeting = """
    device greeter {
      port line: cell
      line.rx -> discard
      greet.line -> line.tx
      machine greet {
        ports = [line]
        messages = [hello]
        state idle { on begin -> done { send = [hello] } }
        state done {}
      }
    }
    """
    words = "note: nothing speaks with it: add a device of one port that sends `hello`"
    few = ("--examples", "3", "--no-progress")
    assert words in fuzz(waiting, *few, file="a.qos::waiting").stdout
    spoken_to = fuzz(waiting + greeting, *few, file="a.qos::waiting").stdout
    assert "device waiting: holds for " in spoken_to
    assert words not in spoken_to


SINK = """
device sink(limit: Count = 4 cell) {
  port line: cell
  queue = fifo { limit = limit }
  line.rx -> queue -> discard
}
"""


def test_a_device_of_one_port_is_not_examined_and_that_is_said(fuzz) -> None:
    result = fuzz(SINK, *FEW)
    assert result.exit_code == 3
    why = "it has one port, and a flow needs two"
    assert f"device sink: not examined: {why}\n" in result.stdout
    assert "note:" not in result.stdout
    assert "never" not in result.stdout
    (said,) = json.loads(fuzz(SINK, *FEW, "--json").stdout)["targets"]
    assert (said["hindrance"], said["examples"], said["never_reached"]) == (why, 0, [])


def test_a_device_with_an_array_of_one_port_is_told_what_it_lacks(fuzz) -> None:
    text = SINK.replace("port line:", "port line[1]:").replace("line.rx", "line[0].rx")
    result = fuzz(text, *FEW)
    assert result.exit_code == 3
    assert "not examined: nothing that was drawn could be run" in result.stdout
    words = "examples meets the need of two ports for a flow"
    assert "note: none of " in result.stdout
    assert words in result.stdout
