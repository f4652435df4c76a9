"""Machines of devices: each test has two or three of them, and an answer that is known by hand."""

import json
import re
from fractions import Fraction

import pytest
from click.testing import CliRunner

from qospec.catalogue.kinds import discover
from qospec.catalogue.machine import list_unreached
from qospec.check import check
from qospec.cli import qos
from qospec.diagnostics import Problems
from qospec.engine.event import component
from qospec.engine.graph.emulation import run
from qospec.engine.machine import state
from qospec.engine.machine.transition import LivelockError
from qospec.plan.plan import Bounds, plan

MS = 10**9
CELL, ONE_WAY = 2 * 10**6, 502 * 10**6
"""A cell on the line below, and its time to the other end, in ps."""

TEXT = """qos 1

let wire = line {{ rate = 212 Mbit/s @cell, length = 100 km, slotted = false }}

device caller {{
  port line: cell
  queue = fifo {{ limit = 1_000 cell }}
  line.rx -> m.line
  m.line -> queue -> line.tx
  machine m {{
    {caller}
  }}
}}

device callee {{
  port line: cell
  queue = fifo {{ limit = 1_000 cell }}
  {within}
  m.line -> queue -> line.tx
  machine m {{
    {callee}
  }}
}}

topology both {{
  a = caller
  b = callee
  link a.line -- b.line via wire
}}

test it on both {{
  run {{ measure = 1 s }}
  expect a.m.ignored < 9
}}
"""

ASKS = """ports = [line], messages = [ask, answer]
    state begun { on begin -> waiting { send = [ask] } }
    state waiting { on answer -> done }
    state done {}"""
ANSWERS = """ports = [line], messages = [ask, answer]
    state ready { on ask -> ready { send = [answer] } }"""


@pytest.fixture
def told(tmp_path):
    """Return what was observed of both machines, by text of their bodies."""

    def observe(caller=ASKS, callee=ANSWERS, within="line.rx -> m.line", chunk=None):
        file = tmp_path / "it.qos"
        file.write_text(TEXT.format(caller=caller, callee=callee, within=within), encoding="utf-8")
        problems = Problems()
        (planned,) = plan(check([file], discover(), problems), "0", Bounds(), problems)
        assert {problem.code for problem in problems.all} <= {
            "W0626"
        }  # some messages have no hearer
        seen = run(planned.networks[""].experiment, chunk=chunk)
        assert not seen.ledger.imbalance
        return seen.machines["a.m"], seen.machines["b.m"]

    return observe


def test_a_question_and_its_answer_take_the_time_of_their_links(told):
    asks, answers = told()
    assert asks.states["waiting"].longest_ps == 2 * ONE_WAY
    assert asks.states["done"].instances == 1
    assert asks.taken == (1, 1)
    assert answers.taken == (1,)


def test_a_message_of_three_cells_is_there_with_its_last(told):
    asks, _ = told(ASKS.replace("messages", "size = 3 cell, messages"))
    assert asks.states["waiting"].longest_ps == 2 * ONE_WAY + 2 * CELL


def test_a_message_that_lost_a_cell_is_incomplete(told):
    drop = "gap = lose { first = 2 }\n  line.rx -> gap -> m.line"
    asks, answers = told(ASKS.replace("messages", "size = 3 cell, messages"), within=drop)
    assert (answers.incomplete, answers.taken) == (1, (0,))
    assert asks.states["waiting"].instances == 1


def test_a_timer_expires_exactly_when_it_should(told):
    asks, _ = told("""timers = { tick: 10 ms }, counters = { ticks: 0 }
    ports = [line], messages = [ask]
    state idle {
      on begin -> counting { start = [tick] }
      on ask -> idle { send = [ask] }
    }
    state counting {
      on tick where ticks < 6 -> counting { start = [tick], set = { ticks: ticks + 1 } }
      on tick -> over
    }
    state over {}""")
    assert asks.states["counting"].longest_ps == 70 * MS  # it is entered once, at the beginning
    assert asks.counters == {"ticks": 6}


def test_a_timer_that_is_started_again_expires_later_and_one_that_is_stopped_never(told):
    asks, _ = told("""timers = { short: 10 ms, long: 25 ms, never: 30 ms }
    ports = [line], messages = [ask]
    state idle { on begin -> first { start = [short, long, never], send = [ask] } }
    state first {
      on short -> second { start = [long], stop = [never] }
      on ask -> first
    }
    state second { on long -> over, on never -> wrong }
    state over { on never -> wrong }
    state wrong {}""")
    assert asks.states["second"].longest_ps == 25 * MS
    assert (asks.states["over"].instances, asks.states["wrong"].entered) == (1, 0)


def test_what_comes_while_it_works_waits_its_turn(told):
    many = ASKS.replace("messages", "instances = 4, messages")
    works = ANSWERS.replace("-> ready {", "-> ready { after = 7 ms,").replace(
        "messages", "instances = 4, messages"
    )
    asks, answers = told(many, works)
    waiting = asks.states["waiting"]
    # The k-th arrives k cells later, is answered after k works, and its answer meets no other.
    assert waiting.longest_ps == 2 * ONE_WAY + 4 * 7 * MS
    assert waiting.sum_ps == 4 * 2 * ONE_WAY + (1 + 2 + 3 + 4) * 7 * MS
    assert answers.states["ready"].most == 1


def test_a_timer_that_is_stopped_while_it_is_due_does_not_expire(told):
    """Both timers run out while it works; the first of them stops the second."""
    asks, _ = told("""timers = { a: 10 ms, b: 11 ms, c: 12 ms }
    ports = [line], messages = [ask]
    state idle { on begin -> first { start = [a, b, c], send = [ask] } }
    state first { on a -> second { after = 5 ms }, on ask -> first }
    state second { on b -> third { stop = [c] } }
    state third { on c -> wrong }
    state wrong {}""")
    assert asks.states["first"].longest_ps == 10 * MS
    assert asks.states["second"].longest_ps == 5 * MS
    assert asks.states["third"].instances == 1


def test_an_instance_too_many_is_refused(told):
    many = ASKS.replace("messages", "instances = 5, messages")
    holds = """ports = [line], messages = [ask, answer], instances = 3
    state free { on ask -> busy { send = [answer] } }
    state busy {}"""
    asks, answers = told(many, holds)
    assert answers.refused == 2
    assert asks.states["done"].instances == 3
    assert answers.states["busy"].most == 3


def test_an_instance_in_the_first_state_ends_with_its_last_timer(told):
    many = ASKS.replace("messages", "instances = 5, spread = 50 ms, messages")
    lingers = """ports = [line], messages = [ask, answer], instances = 1, timers = { linger: 8 ms }
    counters = { n: 0 }
    state free {
      on ask where n < 9 -> free { send = [answer], start = [linger], set = { n: n + 1 } }
      on ask -> full
    }
    state full { on linger -> free }"""
    _, answers = told(many, lingers)
    assert (answers.refused, answers.states["free"].entered) == (0, 5)
    assert answers.states["free"].instances == 0


def test_values_travel_in_messages_and_counters_add_up(told):
    asks = """ports = [line], messages = { setup: [rate], ok: [], no: [rate] }
    instances = 4, values = { rate: 30 cell/s }, counters = { told: 0 cell/s }
    state idle { on begin -> waiting { send = [setup] } }
    state waiting { on ok -> up, on no -> down { set = { told: told + rate } } }
    state up {}
    state down {}"""
    admits = """ports = [line], messages = { setup: [rate], ok: [], no: [rate] }
    instances = 10, values = { rate: 0 cell/s }, counters = { free: 70 cell/s, refusals: 0 }
    state idle {
      on setup where rate <= free -> busy { send = [ok], set = { free: free - rate } }
      on setup -> idle {
        send = [no]
        set = { refusals: max(refusals, 0) + 1, rate: 2 * rate - free }
      }
    }
    state busy {}"""
    first, second = told(asks, admits)
    assert (first.states["up"].instances, first.states["down"].instances) == (2, 2)
    assert second.counters == {"free": 10, "refusals": 2}
    assert first.counters == {"told": 2 * (2 * 30 - 10)}
    assert second.states["idle"].instances == 0


def test_a_message_that_no_machine_waits_for_is_not_sent(told):
    other = ASKS.replace("[ask, answer]", "[other, answer]").replace("[ask]", "[other]")
    asks, answers = told(other)
    assert (asks.unheard, answers.ignored, answers.taken) == (1, 0, (0,))


def test_what_no_state_waits_for_is_ignored_and_counted(told):
    asks, answers = told(ASKS.replace("send = [ask]", "send = [ask, ask]"))
    assert (answers.taken, asks.ignored) == ((2,), 1)


def test_instances_begin_evenly_over_a_time(told):
    asks, answers = told(ASKS.replace("messages", "instances = 4, spread = 400 ms, messages"))
    assert asks.states["begun"].longest_ps == 300 * MS
    assert asks.states["begun"].sum_ps == (0 + 100 + 200 + 300) * MS
    assert answers.taken == (4,)


def test_instances_begin_in_bursts_and_their_stays_and_moments_are_observed(told):
    """Five calls in 500 ms, two at a time, begin at 0, 0, 200, 200 and 400 ms; each ask takes 7."""
    many = ASKS.replace("messages", "instances = 5, spread = 500 ms, burst = 2, messages")
    asks, answers = told(many, ANSWERS.replace("-> ready {", "-> ready { after = 7 ms,"))
    waiting, done = asks.states["waiting"], asks.states["done"]
    assert (waiting.first_ps, waiting.last_ps) == (0, 400 * MS)
    assert waiting.shortest_ps == 2 * ONE_WAY + 7 * MS
    assert waiting.longest_ps == 2 * ONE_WAY + 2 * 7 * MS
    assert done.first_ps == waiting.shortest_ps
    assert done.last_ps == 400 * MS + waiting.shortest_ps
    assert answers.states["ready"].entered == 0
    assert asks.states["begun"].sum_ps == (200 + 200 + 400) * MS


def test_states_are_shown_by_interval(tmp_path):
    """One begins each 100 ms from 0 s on, and waits 1.004 ms, as long as both links take.

    The intervals end at 400, 650 and 750 ms; who begins then is of the next. All 100 are in the log
    from the beginning, so that it grows.
    """
    file = tmp_path / "it.qos"
    many = ASKS.replace("messages", "instances = 100, spread = 10 s, messages")
    shown = ("waiting.entered", "done.count", "waiting.most", "waiting.time.max")
    run_at = "run { warmup = 150 ms, measure = 600 ms }\n"
    text = TEXT.format(caller=many, callee=ANSWERS, within="line.rx -> m.line")
    report = f"report [{', '.join(f'a.m.{state}' for state in shown)}] every 250 ms"
    text = re.sub(r"run \{.*\}\n", f"{run_at}  {report}\n", text)
    file.write_text(text, encoding="utf-8")
    arguments = ["run", str(file), "--json", "--record", str(tmp_path / "records")]
    document = json.loads(CliRunner().invoke(qos, arguments).stdout)
    statements = document["cases"][0]["statements"]
    assert [statement["series"]["values"] for statement in statements if "series" in statement] == [
        "2 3 1",
        "4 7 8",
        "1 1 1",
        " ".join(["251/250000"] * 3),
    ]


def test_a_machine_that_hardly_lets_time_pass_is_named_with_its_state(told, monkeypatch):
    monkeypatch.setattr(state, "MOST_TRANSITIONS", 1_000)
    restless = """timers = { tick: 1 us }, ports = [line], messages = [ask]
    state calm { on begin -> restless { start = [tick], send = [ask] }, on ask -> calm }
    state restless { on tick -> restless { start = [tick] } }"""
    with pytest.raises(LivelockError, match=r"`a\.m` takes more than 1_000 .* state `restless`"):
        told(restless)


def test_a_machine_may_take_many_transitions_while_nothing_is_under_way(told, monkeypatch):
    monkeypatch.setattr(component, "MOST_EVENTS", 8)
    busy = """timers = { tick: 1 ms }, ports = [line], messages = [ask]
    state calm { on begin -> busy { start = [tick], send = [ask] }, on ask -> calm }
    state busy { on tick -> busy { start = [tick] } }"""
    assert told(busy)[0].taken == (1, 0, 999)


def test_chunks_make_no_difference(told):
    many = ASKS.replace("messages", "instances = 40, spread = 400 ms, messages")
    assert told(many) == told(many, chunk=7)


def test_more_waits_than_there_was_room_for_at_first(told):
    many = ASKS.replace("messages", "instances = 500, messages")
    slow = ANSWERS.replace("-> ready {", "-> ready { after = 1 ms,")
    asks, answers = told(many, slow)
    assert answers.taken == (500,)
    assert Fraction(asks.states["waiting"].longest_ps, MS) > 500


def test_what_waits_at_the_end_is_ended(told):
    many = ASKS.replace("messages", "instances = 100, messages")
    asks, answers = told(many, ANSWERS.replace("-> ready {", "-> ready { after = 20 ms,"))
    assert answers.taken == (50,)  # the 50th is begun before the end
    assert asks.states["waiting"].instances == 100 - 49


def test_what_was_never_reached_is_told(tmp_path):
    file = tmp_path / "it.qos"
    body = """ports = [line], messages = [ask, answer]
    state ready { on ask where 1 == 2 -> odd, on ask -> ready { send = [answer] } }
    state odd { on answer -> ready }"""
    text = TEXT.format(caller=ASKS, callee=body, within="line.rx -> m.line")
    file.write_text(text, encoding="utf-8")
    problems = Problems()
    (planned,) = plan(check([file], discover(), problems), "0", Bounds(), problems)
    experiment = planned.networks[""].experiment
    (program,) = (node.element.program for node in experiment.nodes if node.path == "b.m")
    found = list_unreached(program, run(experiment).machines["b.m"].taken)
    assert found.states == ("odd",)
    assert found.transitions == ("ready: on ask where 1 == 2 -> odd", "odd: on answer -> ready")


def test_a_trial_with_messages_is_not_captured(tmp_path):
    file = tmp_path / "it.qos"
    within = "line.rx -> m.line"
    file.write_text(TEXT.format(caller=ASKS, callee=ANSWERS, within=within), encoding="utf-8")
    run_it = CliRunner().invoke(qos, ["run", str(file), "--record", str(tmp_path / "records")])
    assert run_it.exit_code == 0
    (record,) = (tmp_path / "records").iterdir()
    result = CliRunner().invoke(qos, ["pcap", str(record), "it", "a.line -> b.line"])
    assert result.exit_code == 2
    assert "machines exchange messages in this trial" in result.output
