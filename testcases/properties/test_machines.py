"""Machines do what the rules of the specification say, whatever comes and whenever.

One machine is drawn; another tells it messages by a script, and notices what it answers. Times are
such that hardly anything happens at once.
"""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from machines import PORTS, Machine, Way, observed

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.engine.graph.emulation import run
from qospec.plan.plan import Bounds, plan

some = settings(
    max_examples=settings().max_examples // 10, suppress_health_check=[HealthCheck.too_slow]
)
MEASURE_MS = 120
CATALOGUE = discover()

TEXT = """qos 1
let near = line {{ rate = 212 Mbit/s @cell, length = 100 km, slotted = false }}
let far = near {{ length = 123.4 km }}
device teller {{
  port x, y: cell
  qx, qy = fifo {{ limit = 1_000 cell }}
  x.rx -> m.x
  y.rx -> m.y
  m.x -> qx -> x.tx
  m.y -> qy -> y.tx
  machine m {{
    {one}
  }}
}}
device told {{
  port x, y: cell
  qx, qy = fifo {{ limit = 1_000 cell }}
  x.rx -> m.x
  y.rx -> m.y
  m.x -> qx -> x.tx
  m.y -> qy -> y.tx
  machine m {{
    {other}
  }}
}}
topology both {{
  a = teller
  b = told
  link a.x -- b.x via near
  link a.y -- b.y via far
}}
test it on both {{
  run {{ measure = {measure} ms, overload = true }}
  expect a.m.ignored < 9
}}
"""

MESSAGES = {"ask": ("v", "w"), "press": ("v",), "drop": ()}
ANSWERS = {"yes": ("v",), "no": (), "well": ("w", "v")}
STATES = ("s", "t", "u")
CONDITIONS = (
    "v <= 3",
    "v + w > n",
    "not (v == w) and n < 7",
    "min(v, 4) == 4 or k >= 2",
    "abs(v - w) < 2",
    "n * 2 >= k + v",
    "-v < w - 9",
    "often >= 3",
    "rare + n > 2 * often",
)
AMOUNTS = (
    "n + 1",
    "k + v",
    "v - w",
    "min(n + v, 50)",
    "max(k, v)",
    "0",
    "abs(w - v) + 1",
    "3 - v",
    "often",
)
PARTS = (None, None, ("abs(v) + 1", "7"), ("3 + often", "abs(w - v) + 3"))
"""By how many of what a transition takes its time, and by how many parts of that."""


@st.composite
def scripts(draw: st.DrawFn) -> Machine:
    """Draw a machine that tells messages, one after the other, and counts what it hears."""
    timers = {"soon": 1_003, "late": 4_517}
    ways = [Way("begin", "told", send=("x.ask", "y.press"), start=("soon", "late"))]
    for number in range(draw(st.integers(5, 15))):
        port, message = draw(st.sampled_from(PORTS)), draw(st.sampled_from(sorted(MESSAGES)))
        send = (f"{port}.{message}",) * draw(st.sampled_from([1, 1, 1, 2]))
        start = (draw(st.sampled_from(["soon", "soon", "late"])),)
        told = ("v", str(draw(st.integers(0, 6)))), ("w", str(draw(st.integers(0, 6))))
        ways += [
            Way(timer, "told", f"i == {number}", 0, send, start, (), (("i", "i + 1"), *told))
            for timer in timers
        ]
    for name, carried in ANSWERS.items():
        if name != "well":  # which nobody waits for
            total = (("total", f"total + {carried[0]}"),) if carried else ()
            ways.append(Way(name, "told", set=(("heard", "heard + 1"), *total)))
    instances = draw(st.integers(1, 4))
    return Machine(
        {**MESSAGES, "yes": ("v",), "no": ()},
        timers,
        {"v": 0, "w": 0},
        {"i": 0, "heard": 0, "total": 0},
        {"told": tuple(ways)},
        instances,
        draw(st.sampled_from([0, 3_001])),
        min(instances, draw(st.sampled_from([1, 1, 2, 3]))),
    )


@st.composite
def ways(draw: st.DrawFn, event: str, target: str, where: str = "") -> Way:
    """Draw what a transition does."""
    sent = st.sampled_from([f"{port}.{answer}" for port in PORTS for answer in ANSWERS])
    names = draw(st.lists(st.sampled_from(["v", "w", "n", "k"]), max_size=2, unique=True))
    return Way(
        event,
        target,
        where,
        draw(st.sampled_from([0, 0, 307, 2_111])),
        tuple(draw(st.lists(sent, max_size=2))),
        tuple(draw(st.lists(st.sampled_from(["e", "f"]), max_size=2, unique=True))),
        tuple(draw(st.lists(st.sampled_from(["e", "f"]), max_size=1))),
        tuple((name, draw(st.sampled_from(AMOUNTS))) for name in names),
        tuple(draw(st.lists(st.sampled_from(["often", "rare"]), max_size=2, unique=True))),
        draw(st.sampled_from(PARTS)),
    )


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """Draw a machine of a few states, each of which leads to the next."""
    events = [*MESSAGES, *(f"{port}.{name}" for port in PORTS for name in MESSAGES), "e", "f"]
    states = {}
    for number, name in enumerate(STATES):
        onward = STATES[(number + 1) % len(STATES)]
        guarded = draw(
            st.lists(st.tuples(*map(st.sampled_from, (events, STATES, CONDITIONS))), max_size=4)
        )
        mine = [draw(ways(*guard)) for guard in guarded]
        mine.append(draw(ways(draw(st.sampled_from([*MESSAGES, "x.ask"])), onward)))
        states[name] = mine
    # What a file must have: timers are started and heard, windows are counted in and asked for, and
    # each port is used.
    first = Way(
        "y.drop",
        "t",
        "v < 99 + often + rare",
        send=("x.yes", "y.no"),
        start=("e", "f"),
        counts_in=("rare", "often"),
    )
    states["s"].insert(0, first)
    states["t"] += [draw(ways(timer, "u", "n < 99")) for timer in ("e", "f")]
    instances = draw(st.sampled_from([None, 1, 2, 4]))
    return Machine(
        {**MESSAGES, **ANSWERS},
        {"e": 1_709, "f": 7_907},
        {"v": 1, "w": 2},
        {"n": 0, "k": 5},
        {name: tuple(counts) for name, counts in states.items()},
        instances,
        windows={"often": 9_109, "rare": 31_007},
        servers=min(instances or 1, draw(st.sampled_from([1, 1, 2, 3]))),
        order=draw(st.sampled_from(["first_come", "first_come", "last_come"])),
        waiting=draw(st.sampled_from([None, None, 0, 1, 2])),
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("machines") / "it.qos"


@some
@given(one=scripts(), other=machines())
def test_a_machine_does_what_the_rules_say(file: Path, one: Machine, other: Machine) -> None:
    text = TEXT.format(one=one.text, other=other.text, measure=MEASURE_MS)
    file.write_text(text, encoding="utf-8")
    problems = Problems()
    cases = plan(check([file], CATALOGUE, problems), "0", Bounds(), problems)
    assert {problem.code for problem in problems.all} <= {"W0626"}, text  # nobody hears `well`
    seen = run(cases[0].networks[""].experiment).machines
    found = [_plain(seen[f"{name}.m"]) for name in ("a", "b")]
    assert found == observed(one, other, MEASURE_MS * 10**9), text


def _plain(counts: Any) -> dict[str, Any]:
    rest = counts.rest
    waiting = {state: len(references) for state, references in rest.waiting.items()}
    return counts._asdict() | {
        "states": {n: tuple(state) for n, state in counts.states.items()},
        "rest": (waiting, len(rest.running), rest.moves),
    }
