"""Machines that wait for ever: when that is said, and what a case comes to then."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

from qospec import cli
from qospec.catalogue.kinds import discover
from qospec.judge.hanging import Hang, read_hangs
from qospec.record.consistency import list_contradictions_of
from qospec.record.outcome import describe_case
from qospec.run import trial

MPOA = """
import std.devices.mpoa

topology without_a_server {{
  a, b = host
  ingress, egress = mpoa.client(frames = {frames})
  link a -- ingress.lan via media.fast_ethernet
  link ingress.elan -- egress.elan via media.fast_ethernet
  link ingress.direct -- egress.direct via media.fast_ethernet
  link egress.lan -- b via media.fast_ethernet
}}

test t on without_a_server {{
  flow user = packets {{ rate = 10 pkt/s, size = 64 B @frame, connections = 3 }} from a to b
  run {{ measure = 2 s }}
  expect all_arrive: user.lost == 0 pkt
  {more}
}}
"""

ASKING = """
## Asks once, and waits for an answer.
device asker {{
  port line: cell
  queue = fifo {{ limit = 16 cell }}
  line.rx -> ask.line
  ask.line -> queue -> line.tx
  machine ask {{
    ports = [line]
    messages = [question, answer]
    {timers}
    instances = 4
    size = 1 cell
    state first {{ on begin -> asking {{ send = [question]{start} }} }}
    state asking {{
      on answer -> done
      {late}
    }}
    state done {{}}
  }}
}}
device answerer {{
  port line: cell
  queue = fifo {{ limit = 16 cell }}
  line.rx -> answer.line
  answer.line -> queue -> line.tx
  machine answer {{
    ports = [line]
    messages = [question, answer]
    size = 1 cell
    state ready {{ on question -> ready {{ send = [answer] }} }}
  }}
}}
device lossy {{
  port west, east: cell
  gone = lose {{ first = {lost} }}
  west.rx -> gone -> east.tx
  east.rx -> west.tx
}}
topology questions {{
  a = asker
  x = lossy
  b = answerer
  link a.line -- x.west via media.stm1 {{ length = {length} }}
  link x.east -- b.line via media.stm1
}}
test t on questions {{
  run {{ measure = 1 s }}
  expect asked: a.ask.first.most == 4
  {more}
}}
"""


@pytest.fixture
def document(planned, problems):
    """Return what gives the document of the one case of a text."""

    def document(text: str) -> dict[str, Any]:
        (case,) = planned(text)
        assert not problems.errors
        return describe_case(case, trial.run(case, discover(), lambda _: None))

    return document


def describe_asking(**more: str) -> str:
    usual = {"timers": "", "start": "", "late": "", "lost": "1", "length": "1 m", "more": ""}
    return ASKING.format_map(usual | more)


def test_a_shortcut_that_no_server_can_resolve_leaves_a_case_inconclusive(document):
    found = document(MPOA.format(frames=2, more=""))
    assert found["verdict"] == "inconclusive"
    assert [statement["verdict"] for statement in found["statements"]] == ["pass"]
    (hang,) = read_hangs(found)
    assert hang[:4] == ("", "ingress.path", "resolving", 3)
    assert hang.why == "nobody hears `resolution_request`, and nobody sends `resolution_reply`"
    assert found["why"][0] == (
        f"ingress.path (3 instances) waits for ever in `resolving`: {hang.why}; if that is meant,"
        " say so: `expect ingress.path.resolving.count == 3`"
    )


def test_what_never_asks_hangs_nowhere(document):
    found = document(MPOA.format(frames=20, more=""))
    assert (found["verdict"], "hangs" in found) == ("pass", False)


@pytest.mark.parametrize("kind", ["expect", "require"])
def test_a_hang_that_a_statement_asks_for_is_meant(document, kind):
    more = f"{kind} no_shortcut: ingress.path.resolving.count == 3"
    found = document(MPOA.format(frames=2, more=more))
    assert (found["verdict"], [hang["meant"] for hang in found["hangs"]]) == ("pass", [True])


@pytest.mark.parametrize(
    "asked", ["connecting.count == 0", "resolving.entered == 3", "resolving.most == 3"]
)
def test_a_statement_of_something_else_means_nothing_by_it(document, asked):
    """Of another state, or of what leaves out those that wait for ever."""
    found = document(MPOA.format(frames=2, more=f"expect ingress.path.{asked}"))
    assert [statement["verdict"] for statement in found["statements"]] == ["pass", "pass"]
    assert found["verdict"] == "inconclusive"


def test_what_was_asked_once_and_lost_is_waited_for_for_ever(document):
    found = document(describe_asking())
    assert found["verdict"] == "inconclusive"
    (hang,) = read_hangs(found)
    assert hang[:4] == ("", "a.ask", "asking", 1)
    assert hang.why == "`answer` does not come, no timer runs, and no message is under way"


PATIENCE = {
    "timers": "timers = { patience: 5 s }",
    "start": ", start = [patience]",
    "late": "on patience -> done",
}


@pytest.mark.parametrize(
    "more",
    [
        {"lost": "1_000"},
        # The answer to what was asked, 150,000 km there and back, comes after the end.
        {"lost": "1_000", "length": "150_000 km"},
        PATIENCE,
        {"more": "report a.ask.asking.count"},
    ],
    ids=["answered", "under way", "a timer runs", "asked for"],
)
def test_what_may_still_come_is_not_waited_for_for_ever(document, more):
    found = document(describe_asking(**more))
    assert found["verdict"] == "pass"
    assert all(hang["meant"] for hang in found.get("hangs", ()))


def test_a_record_that_passes_though_something_hangs_contradicts_itself(document):
    found = document(describe_asking())
    assert list(list_contradictions_of(found)) == []
    assert list(list_contradictions_of({**found, "verdict": "pass"})) != []


def test_one_instance_and_several_are_worded_apart():
    one = Hang("control", "x.call", "asking", 1, "why")
    assert one.text.startswith("control.x.call waits for ever in `asking`: why")
    many = one._replace(instances=3_998)
    assert many.text.startswith("control.x.call (3_998 instances) waits for ever")


RING = """
## One of three switches in a ring. What its host sends and what passes wait for the same line.
device switch(xoff: Packets = 10 pkt) {{
  port host, before, next: packet
  fabric = router {{ ports = 2 }}
  wait = pause_queue {{ limit = 1_000 pkt, obeys = true, xoff = xoff, quanta = 1_000 }}
  down, told = fifo {{ limit = 1_000 pkt }}
  host.rx -> fabric.entry[0]
  before.rx -> fabric.entry[1]
  fabric.exit[0] -> down -> host.tx
  fabric.exit[1] -> wait.in
  wait.out -> next.tx
  next.rx -> wait.heard
  wait.pause -> told -> before.tx
}}

topology ring {{
  host_a, host_b, host_c = host
  a, b = switch
  c = switch(xoff = {last})
  link host_a -- a.host via media.gigabit_ethernet
  link host_b -- b.host via media.gigabit_ethernet
  link host_c -- c.host via media.gigabit_ethernet
  link a.next -- b.before via media.gigabit_ethernet
  link b.next -- c.before via media.gigabit_ethernet
  link c.next -- a.before via media.gigabit_ethernet
}}

traffic load = packets {{ rate = 600 Mbit/s @line, size = 1_500 B @ip, phases = even }}

test t on ring {{
  flow f = load from host_a to host_c
  flow g = load from host_b to host_a
  flow h = load from host_c to host_b
  run {{ overload = true, measure = 1 ms }}
  expect whole: f.lost + g.lost + h.lost == 0
}}
"""


def test_queues_in_a_circle_that_stop_each_other_leave_a_case_inconclusive(document):
    """Of 49 packets each sends, some arrive before the circle closes; what waits says the rest."""
    found = document(RING.format(last="10 pkt"))
    assert found["verdict"] == "inconclusive"
    assert [statement["verdict"] for statement in found["statements"]] == ["pass"]
    hangs = read_hangs(found)
    assert [hang.machine for hang in hangs] == ["a.wait", "b.wait", "c.wait"]
    assert all(10 <= hang.instances <= 49 for hang in hangs)
    assert found["why"][0].startswith(f"{hangs[0].instances} packets wait for ever in a.wait")
    assert list(list_contradictions_of({**found, "verdict": "pass"})) != []


def test_one_that_tells_nobody_to_stop_opens_the_circle(document):
    found = document(RING.format(last="1_000 pkt"))
    assert (found["verdict"], "hangs" in found) == ("pass", False)


SEARCH = """
test t on without_a_server {{
  search rate in 5 pkt/s .. 20 pkt/s {{
    goal whole {{ meets = {meets} }}
    method = binary
    width = 10 pkt/s
    trial = 2 s
  }}
  flow user = packets {{ rate = rate, size = 64 B @frame }} from a to b
  expect found: whole.rate >= 5 pkt/s
  {more}
}}
"""


@pytest.fixture
def searched(tmp_path):
    """Return what gives the document of a search on that network."""

    def searched(meets: str = "loss == 0", more: str = "") -> dict[str, Any]:
        path = tmp_path / "a.qos"
        topology = MPOA.partition("test t on")[0].format(frames=2)
        text = f"qos 1\nimport std.media\n{topology}{SEARCH.format(meets=meets, more=more)}"
        path.write_text(text, encoding="utf-8")
        words = ["run", str(path), "--json", "--record", str(tmp_path / "records")]
        (case,) = json.loads(CliRunner().invoke(cli.qos, words).stdout)["cases"]
        return case

    return searched


def test_a_search_whose_good_trials_wait_for_ever_is_inconclusive(searched):
    found = searched()
    assert [statement["verdict"] for statement in found["statements"]] == ["pass"]
    assert found["verdict"] == "inconclusive"
    (hang,) = read_hangs(found)
    assert hang[:4] == ("", "ingress.path", "resolving", 1)
    assert hang.trial.startswith("rate = ")
    assert found["why"][0] == (
        f"in a trial that counts as good, `{hang.trial}`, ingress.path waits for ever in"
        f" `resolving`: {hang.why}; if that is meant, say so:"
        " `require ingress.path.resolving.count <= 1`"
    )
    assert list(list_contradictions_of(found)) == []


@pytest.mark.parametrize(
    "asked",
    [
        {"more": "require no_server: ingress.path.resolving.count <= 1"},
        {"meets": "ingress.path.resolving.count <= 1"},
    ],
    ids=["require", "goal"],
)
def test_a_search_that_asks_for_the_state_means_it(searched, asked):
    found = searched(**asked)
    assert (found["verdict"], read_hangs(found)) == ("pass", [])


def test_a_trial_that_is_bad_says_what_waits_and_does_not_leave_the_search_open(searched):
    """No load is good, as no packet comes by the shortcut: that is so whatever waits."""
    found = searched("ingress.path.established.count > 0")
    assert found["verdict"] == "fail"
    assert read_hangs(found) == []
    (goal,) = found["phases"][0]["goals"]
    assert "ingress.path waits for ever in `resolving`" in goal["why"][1]
