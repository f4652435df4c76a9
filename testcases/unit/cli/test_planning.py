"""`qos plan`, and what `qos check` tells of it: bounds that hold, ways, loads, properties."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qospec.cli import budget, qos

WIRE = """qos 1
import std.media

topology wire {
  a, b = host
  link a -- b via media.stm1
}
topology other {
  a, b = host
}

traffic steady(rate: CellRate = 1_000 cell/s) = ubr { pcr = rate }
"""


def asked(folder: Path, text: str, command: str, name: str = "", *more: str) -> Result:
    path = folder / "a.qos"
    path.write_text(WIRE + text, encoding="utf-8")
    selection = f"{path}::{name}" if name else str(path)
    return CliRunner().invoke(qos, [command, selection, *more])


@pytest.mark.parametrize(
    ("flow", "length", "most"),
    [
        ("steady", "1 us", "at most 1 cell each, 1 us"),
        ("steady", "1_500 us", "at most 2 cells each, 1.5 ms"),
        ("steady { connections = 3, phases = random }", "1_500 us", "at most 6 cells each, 1.5 ms"),
        ("steady { source = burst { size = 5 cell, every = 5 ms } }", "6 ms", "at most 10 cells"),
        ("steady { source = poisson { rate = 500 cell/s } }", "1 ms", "about 0 cells each"),
    ],
)
def test_a_plan_s_bound_is_one(tmp_path, flow, length, most) -> None:
    test = f"""
test t on wire {{
  flow f = {flow} from a to b
  run {{ measure = {length} }}
  expect f.lost == 0 cell
}}
"""
    assert most in asked(tmp_path, test, "plan").output


def test_packets_are_called_so(tmp_path) -> None:
    test = """
topology lan {
  a, b = host
  link a -- b via media.fast_ethernet
}
traffic web = packets { rate = 2_000 pkt/s, size = 100 B @ip, phases = even }
test t on lan {
  flow f = web from a to b
  run { measure = 1 ms }
  expect f.lost == 0 pkt
}
"""
    assert "at most 2 packets each" in asked(tmp_path, test, "plan", "t").output


PROPERTY = """
property law {
  forall rate: CellRate in 1 cell/s .. 2 cell/s
  expect rate > 1 cell/s
}
test t on wire {
  flow f = steady from a to b
  run { measure = 1 ms }
  expect f.lost == 0 cell
}
"""


def test_a_property_is_selected_by_name(tmp_path) -> None:
    result = asked(tmp_path, PROPERTY, "run", "law", "--record", str(tmp_path / "records"))
    assert result.exit_code == 5
    assert "examine it with `qos fuzz " in result.stderr
    assert "nothing to run" in result.stderr


SEARCH = """
test knee on wire {
  search rate in 1_000 cell/s .. 300_000 cell/s {
    goal ndr { loss = 0 }
    trial = 1 s, total = 4 s
  }
  flow f = steady(rate = rate) from a to b
  expect ndr.rate >= 200_000 cell/s
}
"""


def test_the_plan_of_a_search_names_its_goals(tmp_path) -> None:
    result = asked(tmp_path, SEARCH, "plan")
    assert result.exit_code == 0
    assert "knee: at most " in result.stdout
    assert "goal ndr: loss 0" in result.stdout


def test_the_plan_of_a_point_says_what_changes_and_restarts(tmp_path) -> None:
    test = """
device router {
  port west, east: packet
  core = processor { per_packet = 50 us, limit = 64 pkt, restart_time = 5 ms }
  west.rx -> core -> east.tx
  east.rx -> west.tx
}
topology lan {
  a, b = host
  dut = router
  link a -- dut.west via media.fast_ethernet
  link dut.east -- b via media.fast_ethernet
}
test t on lan {
  point p {
    load = 2_000 pkt/s
    measure = 50 ms
    at 10 ms { restart = dut }
    at 20 ms { load = 1_000 pkt/s }
  }
  flow f = packets { rate = load, size = 100 B @ip } from a to b
  expect p.f.lost.reboot > 0 pkt
}
"""
    shown = asked(tmp_path, test, "plan").output
    assert "each trial 50 ms, changing after 10 ms, 20 ms, restarting dut.core: 1 trial" in shown


def test_a_plan_tells_of_properties_what_would_examine_them(tmp_path) -> None:
    finite = "property two { forall n in [1, 2], expect n < 2 }\n"
    result = asked(tmp_path, PROPERTY + finite, "plan")
    assert result.exit_code == 0
    assert "the property `law` draws from a range or cells: examine it with" in result.stdout
    assert "t: 1 trial" in result.stdout
    assert "two:n=1: a property, evaluated without a trial" in result.stdout


def test_a_test_beside_a_property_is_selected_by_name(tmp_path) -> None:
    assert asked(tmp_path, PROPERTY, "plan", "t").stderr == ""


def test_what_is_neither_is_not_found(tmp_path) -> None:
    result = asked(tmp_path, PROPERTY, "plan", "lew")
    assert result.exit_code == 5
    assert "no test, case or property of" in result.stderr


@pytest.mark.parametrize(
    ("topology", "more", "codes"),
    [
        ("wire", "", []),
        ("other", "", ["E0308"]),
        ("wire", "control bare = other", ["E0308"]),
        ("wire", "flow much = steady(rate = 400_000 cell/s) from a to b", ["E0305"]),
        ("wire", "skip unless 1 > 2 'never'", []),
    ],
)
@pytest.mark.parametrize("command", ["check", "plan"])
def test_a_check_reports_what_a_plan_does(tmp_path, topology, more, codes, command) -> None:
    more = more.replace("'", '"')
    test = f"""
test t on {topology} {{
  flow f = steady from a to b
  {more}
  run {{ measure = 1 ms }}
  report f.lost
}}
"""
    result = asked(tmp_path, test, command, "", "--json")
    if codes:
        assert result.exit_code == 2
        assert [f'"code": "{code}"' in result.stdout for code in codes] == [True]
    else:
        assert result.exit_code == 0


LONG = """
test t on wire {
  flow f = steady { pcr = 100_000 cell/s } from a to b
  run { measure = 1_000 s, repeat = 100 }
  expect f.lost == 0 cell
}
"""


def test_a_run_beyond_its_budget_is_refused_with_what_to_change(tmp_path) -> None:
    """10^10 cells take minutes at least, at more than ten nanoseconds each."""
    refused = asked(tmp_path, LONG, "run", "", "--budget", "60s", "--record", str(tmp_path / "r"))
    assert refused.exit_code == 2
    assert "and its budget is 1 min 0 s: shorten `measure`, lower `repeat`" in refused.output
    assert "lower `repeat`; or allow it by `--budget" in refused.output, "there is one case only"
    assert not (tmp_path / "r").exists()
    assert re.search(r"a run takes about \d+ (min|h)", asked(tmp_path, LONG, "plan").output)


def test_of_several_cases_beyond_the_budget_it_is_told_how_one_is_selected(tmp_path) -> None:
    """`-k t:x=1` was told, of which `-k` selects `x=10`, too."""
    swept = LONG.replace("  flow", "  sweep x in [1, 10]\n  flow").replace("100_000", "x * 10_000")
    more = ["--record", str(tmp_path / "r"), "--budget", "60s"]
    refused = asked(tmp_path, swept, "run", "", *more)
    path = tmp_path / "a.qos"
    remedy = f"of `t:x=10` first, or select fewer cases by `-k`, or one by `{path}::t:x=1`"
    assert f"shorten `measure`, lower `repeat`, {remedy}; or" in refused.output
    alone = asked(tmp_path, swept, "run", "t:x=10", *more)
    assert "shorten `measure`, lower `repeat`; or allow it by `--budget" in alone.output


def test_a_folder_that_cannot_be_written_to_is_no_full_disk(tmp_path, monkeypatch) -> None:
    """Below /proc no disk has room, and nobody may write."""
    test = LONG.replace("1_000 s, repeat = 100", "1 ms")
    monkeypatch.setattr(budget, "_read_disk_bytes", lambda _: 0)
    refused = asked(tmp_path, test, "run", "", "--record", "/proc/none")
    assert refused.exit_code == 4
    assert "cannot write to `/proc/none`: " in refused.output
    assert "MB" not in refused.output


def test_a_run_that_needs_more_memory_or_disk_than_there_is_is_refused(
    tmp_path, monkeypatch
) -> None:
    test = LONG.replace("1_000 s, repeat = 100", "1 ms")
    for name, thing in (("_read_disk_bytes", "disk"), ("_read_memory_bytes", "memory")):
        with monkeypatch.context() as small:
            small.setattr(budget, name, lambda *_: 10_000)
            refused = asked(tmp_path, test, "run", "", "--record", str(tmp_path / "r"))
        assert refused.exit_code == 2
        assert f"of {thing}, and there are 1 MB: shorten" in refused.output
    estimate = json.loads(asked(tmp_path, test, "plan", "", "--json").stdout)["estimate"]
    assert estimate["items"] == 100
    assert all(estimate[name] > 0 for name in ("time_s", "memory_bytes", "disk_bytes"))
