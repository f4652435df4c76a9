"""Machines that wait for ever: when that is said, and what a case comes to then."""

from typing import Any

import pytest

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


def test_a_statement_of_another_state_means_nothing_by_it(document):
    found = document(MPOA.format(frames=2, more="expect ingress.path.connecting.entered == 0"))
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
