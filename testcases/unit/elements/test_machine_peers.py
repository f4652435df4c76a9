"""Machines that call others by address, and timers of all instances, or of no length."""

import pytest

from qospec.catalogue.kinds import discover
from qospec.run import trial

NETWORK = """
device answerer(number: Int, onward: Int) {{
  port line: packet
  queue = fifo {{ limit = 16 pkt }}
  line.rx -> answer.net
  answer.net -> queue -> line.tx
  machine answer {{
    ports = [net]
    messages = {{ question: [], answer: [next] }}
    values = {{ next: onward }}
    counters = {{ asked: 0 }}
    address = {address}
    size = 64 B
    state ready {{ on question -> ready {{ send = [answer], set = {{ asked: asked + 1 }} }} }}
  }}
}}

device switch {{
  port p[4]: packet
  fabric = router {{ ports = 4 }}
  for i in 0 .. 3 {{
    queue = fifo {{ limit = 64 pkt }}
    p[i].rx -> fabric.entry[i]
    fabric.exit[i] -> queue -> p[i].tx
  }}
}}

topology net(whom: Int) {{
  a = asker(whom = whom)
  {hosts}
  s = switch
  one = answerer(number = 1, onward = 0)
  two = answerer(number = 2, onward = 3)
  three = answerer(number = 3, onward = 1)
  link a.line -- s.p[0] via media.gigabit_ethernet
  link one.line -- s.p[1] via media.gigabit_ethernet
  link two.line -- s.p[2] via media.gigabit_ethernet
  link three.line -- s.p[3] via media.gigabit_ethernet
}}
"""

BY_NUMBER = (
    NETWORK.format(address="number", hosts="")
    + """
## Asks the machine of an address, and then those with the numbers that answers say.
device asker(whom: Int) {
  port line: packet
  queue = fifo { limit = 16 pkt }
  line.rx -> ask.net
  ask.net -> queue -> line.tx
  machine ask {
    ports = [net]
    messages = { question: [], answer: [next] }
    timers = { patience: 10 ms }
    values = { next: 0 }
    size = 64 B
    state first {
      on begin -> asking { send = [question], start = [patience], call = { net: whom } }
    }
    state asking {
      on answer where next > 0 -> asking { send = [question], call = { net: next } }
      on answer -> done { stop = [patience] }
      on patience -> lonely
    }
    state done {}
    state lonely {}
  }
}

test t on net(whom = WHOM) {
  run { measure = 100 ms }
  expect one.answer.asked == ONE and two.answer.asked == TWO and three.answer.asked == THREE
  expect a.ask.done.count == REACHED and a.ask.lonely.count == 1 - REACHED
  expect a.ask.unheard == 1 - REACHED
}
"""
)


@pytest.fixture
def verdicts(planned, problems):
    """Return what gives the verdicts of the criteria of the one case of a text."""

    def verdicts(text: str) -> list[str]:
        cases = planned(text)
        assert not problems.errors
        (case,) = cases
        result = trial.run(case, discover(), lambda _: None)
        assert not result.errors
        numbers = range(len(case.case.statements))
        return [judged.judgement.verdict for n in numbers for judged in result.list_judged(n)]

    return verdicts


@pytest.mark.parametrize(
    ("whom", "asked", "done"),
    [(1, (1, 0, 0), 1), (2, (1, 1, 1), 1), (3, (1, 0, 1), 1), (4, (0, 0, 0), 0)],
)
def test_a_machine_is_asked_by_its_address(verdicts, whom, asked, done):
    """Of what is not there nobody hears: not even the nearest."""
    text = BY_NUMBER
    for name, number in zip(("ONE", "TWO", "THREE"), asked, strict=True):
        text = text.replace(name, str(number))
    assert verdicts(text.replace("WHOM", str(whom)).replace("REACHED", str(done))) == ["pass"] * 3


BY_DESTINATION = (
    NETWORK.replace("number: Int", "text: Text")
    .replace("number = 1,", 'text = "10.0.0.2",')
    .replace("number = 2,", 'text = "10.9.0.2",')
    .replace("number = 3,", 'text = "10.9.0.3",')
    .format(
        address="text",
        hosts="x, y = host\n  link x -- a.inner via media.gigabit_ethernet\n"
        "  link a.outer -- y via media.gigabit_ethernet",
    )
    + """
## Asks the machine to whose address the packets of a connection go, once.
device asker(whom: Int) {
  port inner, outer, line: packet
  queue, there, back = fifo { limit = 16 pkt }
  inner.rx -> ask.in
  ask.out -> there -> outer.tx
  outer.rx -> back -> inner.tx
  line.rx -> ask.net
  ask.net -> queue -> line.tx
  machine ask {
    ports = [net]
    messages = { question: [], answer: [next] }
    values = { next: 0 }
    counters = { last: whom }
    instances = 9
    size = 64 B
    state idle {
      on item -> asking {
        send = [question]
        call = { net: destination }
        set = { last: destination }
      }
    }
    state asking { on answer -> known }
    state known {}
  }
}

traffic some = packets { rate = 1_000 pkt/s, size = 100 B @ip }

test t on net(whom = 0) {
  flow f = some { connections = 2ADDRESS } from x to y
  run { measure = 10 ms }
  expect one.answer.asked + two.answer.asked + three.answer.asked == KNOWN
  expect a.ask.known.count == KNOWN and a.ask.unheard == 2 - KNOWN and a.ask.last == NUMBER
  expect a.ask.asking.count == 2 - KNOWN
}
"""
)


@pytest.mark.parametrize(
    ("address", "known", "number"),
    [
        ("10.0.0.2", 2, 10 * 2**24 + 2),
        ("10.0.0.3", 0, 10 * 2**24 + 3),
        ("", 0, -1),
    ],
)
def test_the_destination_of_packets_is_an_address(verdicts, address, known, number):
    text = BY_DESTINATION.replace("ADDRESS", f', destination_address = "{address}"' * bool(address))
    text = text.replace("KNOWN", str(known)).replace("NUMBER", str(number))
    assert verdicts(text) == ["pass"] * 3


@pytest.mark.parametrize(
    ("address", "known", "number"),
    [
        ("2001:db8::2", 2, 2**62 - 1),
        ("2001:db8::3", 0, 2**62 - 1),
        ("::3", 0, 2**32 + 3),
    ],
)
def test_an_address_of_ipv6_is_one(verdicts, address, known, number):
    """Its number has 128 bits: machines have smaller ones, in the order of the addresses."""
    text = BY_DESTINATION.replace("10.0.0.2", "2001:db8::2")
    text = text.replace("values = { next: 0 }", 'values = { next: 0, home: "2001:db8::1" }')
    text = text.replace("on item ->", "on item where home != destination ->")
    text = text.replace("ADDRESS", f', family = ipv6, destination_address = "{address}"')
    text = text.replace("KNOWN", str(known)).replace("NUMBER", str(number))
    assert verdicts(text) == ["pass"] * 3


def test_an_address_is_called_as_it_is_written(verdicts):
    text = BY_DESTINATION.replace("net: destination", 'net: "10.0.0.2"')
    text = text.replace("ADDRESS", "").replace("KNOWN", "2").replace("NUMBER", "-1")
    assert verdicts(text) == ["pass"] * 3


def test_a_machine_that_asks_no_address_bears_any(verdicts):
    text = BY_DESTINATION.replace("call = { net: destination }", "")
    text = text.replace("set = { last: destination }", "").replace("counters = { last: whom }", "")
    text = text.replace("ADDRESS", ', family = ipv6, destination_address = "2001:db8::1"')
    text = text.replace(" and a.ask.last == NUMBER", "").replace("KNOWN", "2")
    assert verdicts(text) == ["pass"] * 3


ALONE = """
device box {{
  port line: packet
  line.rx -> line.tx
  machine m {{
    {body}
  }}
}}
topology boxes {{
  a, b = box
  link a.line -- b.line via media.gigabit_ethernet
}}
test t on boxes {{
  run {{ measure = 100 ms }}
  expect {criterion}
}}
"""

EACH = """
    timers = { ended: 1 ms, gone: 2 ms }
    counters = { begun: 0 }
    instances = 4
    spread = 4 ms
    state idle {
      on begin where begun == 3 -> telling { start_all = [ended], start = [gone] }
      on begin -> up { set = { begun: begun + 1 } }
    }
    state up { on ended -> down { after = 10 ms } }
    state down {}
    state telling { on ended -> telling, on gone -> over }
    state over {}
"""


def test_timers_of_all_instances_expire_in_their_order(verdicts):
    """They start at 3 ms and expire at 4 ms; three are worked on for 10 ms each, one by one."""
    criterion = (
        "a.m.down.first_entered within 1 ns of 4 ms and a.m.down.last_entered within 1 ns of 24 ms"
        " and a.m.over.first_entered within 1 ns of 34 ms and a.m.down.count == 3"
    )
    assert verdicts(ALONE.format(body=EACH, criterion=criterion)) == ["pass"]


AT_ONCE = """
    timers = { now: 0 s, then: 1 ms }
    counters = { times: 0 }
    state idle { on begin -> waiting { start = [then] } }
    state waiting {
      on then -> waiting { start = [now] }
      on now where times < 2 -> waiting { start = [now], set = { times: times + 1 } }
      on now -> done
    }
    state done {}
"""


def test_a_timer_of_no_length_expires_at_once(verdicts):
    criterion = "a.m.done.first_entered within 1 ns of 1 ms and a.m.times == 2"
    assert verdicts(ALONE.format(body=AT_ONCE, criterion=criterion)) == ["pass"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("address = 1.5", "a whole number"),
        ("address = -1", "`address` must be at least 0"),
        ('address = "10.0.0.0/8"', "is not an address"),
        ("values = { destination: 1 }", "`destination` is both a value and known of each item"),
    ],
)
def test_an_address_is_a_number_or_one_of_packets(planned, problems, written, said):
    body = f"{written}\n state idle {{ on begin -> idle }}"
    assert not planned(ALONE.format(body=body, criterion="a.m.idle.count == 1"))
    assert any(said in f"{problem.message} {problem.help}" for problem in problems.errors)


@pytest.mark.parametrize("word", ["start", "stop", "count", "start_all"])
def test_a_timer_may_be_called_as_a_field_is(verdicts, word):
    body = f"""
    timers = {{ {word}: 1 ms, other: 2 ms }}
    state idle {{ on begin -> up {{ start = [other, {word}] }} }}
    state up {{ on {word} -> done {{ stop = [other, {word}] }}, on other -> done }}
    state done {{ on other -> wrong }}
    state wrong {{}}
"""
    criterion = "a.m.done.first_entered within 1 ns of 1 ms and a.m.wrong.count == 0"
    assert verdicts(ALONE.format(body=body, criterion=criterion)) == ["pass"]


@pytest.mark.parametrize(
    ("written", "does", "said"),
    [
        ("", "stop = [count]", "no timer `count`"),
        ("", "start_all = [stop]", "no timer `stop`"),
        ("", "count = [stop]", "no window `stop`"),
        ("timers = { t: 1 s }", "start = [t], stop = [t, start]", "no timer `start`"),
        ("ports = [order]", "", "by the port `order`"),
        ("ports = order", "", "write `ports = [order]`"),
        ("timers = { late: 1 s }", "start = [late], stop = late", "write `stop = [late]`"),
        ("ports = [net]", 'call = { net: "10.0.0.0/8" }', "is not an address"),
        ("ports = [net]", "call = { net: 3 s }", "the address by `net` is a number, not a time"),
        ("ports = [net]", "call = { net: true }", "the address by `net` is a number"),
    ],
)
def test_what_a_transition_names_is_declared(planned, problems, written, does, said):
    body = f"{written}\n state idle {{ on begin -> idle {{ {does} }} }}"
    assert not planned(ALONE.format(body=body, criterion="a.m.idle.count == 1"))
    assert any(said in f"{problem.message} {problem.help}" for problem in problems.errors)


def test_two_machines_of_one_address_are_refused(planned, problems):
    """Which of them is called would depend on how near they are."""
    text = BY_NUMBER.replace("number = 3", "number = 1").replace("WHOM", "1")
    for name in ("ONE", "TWO", "THREE", "REACHED"):
        text = text.replace(name, "0")
    planned(text)
    assert [problem.message for problem in problems.errors] == [
        "`one.answer` and `three.answer` have the same address"
    ]


@pytest.mark.parametrize(
    ("ways", "said"),
    [
        ("s { on t -> s { start = [t] } }", "`t` of 0 s starts itself"),
        ("s { on t where n == 1 -> s { start = [t] } }", ""),
        (
            "s { on t -> r { start = [u] } } state r { on u -> s { start = [t] } }",
            "`t` and `u` of 0 s start each other",
        ),
        ("s { on t -> r { start = [t] } } state r { on t -> s { start = [t] } }", "`t` of 0 s st"),
        (
            """s { on t where n == 1 -> s { start = [t] } on t -> r { start = [u, t] } }
            state r { on u -> s { start = [t] } }""",
            "`t` of 0 s starts itself",
        ),
        ("s { on t where n == 1 -> s { start = [t] } on t -> r } state r {}", ""),
        ("s { on t -> r { start = [u] } } state r { on u -> s { start = [late] } }", ""),
        ("s { on t -> r { start = [u], after = 1 ms } } state r { on u -> s { start = [t] } }", ""),
        ("s { on t -> r { start = [u] } } state r { on u -> s }", ""),
        ("s { on t -> r { start = [t] } } state r { on late -> s { start = [t] } }", ""),
        # Another timer that may be running there as well, and leads out or not.
        ("s { on t -> s { start = [t, u] } on u -> r { stop = [t] } } state r {}", ""),
        ("s { on t -> s { start = [u, t] } on u -> r { stop = [t] } } state r {}", ""),
        ("s { on t -> s { start = [t, u] } on u -> s { after = 1 ms } }", ""),
        (
            """s { on t -> s { start = [t] } on u -> r { stop = [t] } }
            state r { on late -> s { start_all = [u] } }""",
            "",
        ),
        ("s { on t -> s { start = [t, u] } on u -> s }", "`t` of 0 s starts itself"),
        ("s { on t -> s { start = [t, u] } on u -> s { start = [t] } }", "`t` of 0 s starts"),
        (
            "s { on t -> s { start = [t] } on u -> r } state r { on t -> r { start = [u] } }",
            "`t` of 0 s starts itself",
        ),
        (
            """s { on t -> s { start = [t] } on late -> r { start = [u], stop = [t] } on u -> r }
            state r { on late -> s { stop = [u] } on u -> r }""",
            "`t` of 0 s starts itself",
        ),
    ],
)
def test_timers_of_no_length_that_start_each_other_for_ever_are_refused(
    planned, problems, ways, said
):
    body = f"""timers = {{ t: 0 s, u: 0 s, late: 1 ms }}
    counters = {{ n: 1 }}
    state idle {{ on begin -> s {{ start = [t] }} }}
    state {ways}"""
    planned(ALONE.format(body=body, criterion="a.m.s.count == 1"))
    told = [p.message for p in problems.errors if "without end" in p.message]
    assert [said in message for message in told] == [True] * bool(said)
