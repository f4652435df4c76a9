"""How late this machine is, and what comes of it: by hand, with a machine that answers as told."""

import itertools
from fractions import Fraction

import pytest

from qospec.backend import BackendError
from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.engine.arrays import np
from qospec.linux import machine, modules
from qospec.linux.disciplines import MODULES, OR_VIRTUAL, Manner
from qospec.linux.guest import Answer, GuestError
from qospec.linux.layout import lay_out
from qospec.linux.machine import PACKETS, Precision
from qospec.linux.traffic import SEEN, plan_packets
from qospec.linux.trial import Seen
from qospec.plan.plan import Bounds, plan

TEXT = """qos 1
import std.media
device gate {
  port near, far: packet
  meter = police { cir = 1 Mbit/s @ip, cbs = 10_000 B }
  pace = shape { rate = 2 Mbit/s @ip, burst = 3_000 B, limit = 10 pkt }
  near.rx -> meter -> pace -> far.tx
  far.rx -> discard
}
topology bench {
  a, b = host
  g = gate
  link a -- g.near via media.fast_ethernet
  link g.far -- b via media.ethernet
}
test t on bench {
  flow small = packets { rate = 50 pkt/s, size = 200 B @ip } from a to b
  flow large = packets { rate = 40 pkt/s, size = 1_500 B @ip } from a to b
  run { measure = 100 ms }
  expect small.lost == 0 pkt
}
"""
PRECISION = Precision(sleep_ns=40_000, way_ns=10_000)


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    path = tmp_path_factory.mktemp("machine") / "a.qos"
    path.write_text(TEXT, encoding="utf-8")
    return check((path,), discover(), Problems())


@pytest.fixture(scope="module")
def trial(suite):
    (planned,) = plan(suite, "0", Bounds(), Problems())
    return planned.networks[""].experiment


class Answering:
    """A room that answers as told."""

    manner = Manner()

    def __init__(self, answer):
        self._answer = answer

    def execute(self, _job, _longest_s, _on_wait=None):
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    def probe(self, _links, _commands):
        return self.execute(None, 0)


def test_precision_is_that_of_the_latest_timer_and_the_slowest_packet():
    """The timer of packet 7 is 90 us late, and packet 9 takes 30 us, where others take 5 us."""
    late_ns = np.full(PACKETS + 1, 1_000, np.int64)
    late_ns[1 + 7] = 90_000
    seen = np.zeros(PACKETS, SEEN)
    seen["number"] = np.arange(PACKETS)
    seen["at_ns"] = np.arange(PACKETS) * machine.EVERY_NS + late_ns[1:] + 5_000
    seen["at_ns"][9] += 25_000
    found = machine.measure_precision(Answering(Answer(seen.tobytes(), "[]", late_ns.tobytes())))
    assert found == Precision(90_000, 30_000)
    assert found.slack_ns == 2 * 120_000
    lacking = Answering(Answer(seen[1:].tobytes(), "[]", late_ns.tobytes()))
    with pytest.raises(BackendError, match="of 400 packets over a pair of interfaces, 399 arrived"):
        machine.measure_precision(lacking)
    with pytest.raises(BackendError, match="hangs"):
        machine.measure_precision(Answering(GuestError("it hangs")))


@pytest.mark.parametrize(
    ("late_ns", "lateness_ns"),
    [([0, 5, 70, 3], 70), ([-200, 5, 70, 3], 200), ([90, 5], 90), ([0], 0)],
)
def test_a_clock_that_is_set_counts_as_late(late_ns, lateness_ns):
    """The first is how far clocks moved apart, the others how late packets were sent."""
    seen = Seen(None, None, None, {}, np.array(late_ns, np.int64).tobytes())
    assert machine.find_lateness(seen) == lateness_ns


def test_each_place_with_a_timer_adds_to_what_times_may_be_off(trial):
    """Two lines and a shaper, of which the lines have two each where packets travel on the kernel.

    Without that, those of 200 B come from the first line 104 us earlier than those of 1,500 B, and
    the last line has nothing behind it.
    """
    for travels, timers, ahead_ps in ((True, 5, 0), (False, 3, 1_300 * 80_000)):
        layout = lay_out(trial, Manner(travels=travels))
        seen = Seen(layout, plan_packets(trial), None, {})
        bound_ps = machine.bound_error_ps(trial, seen, PRECISION)
        assert bound_ps == timers * PRECISION.slack_ns * 1_000 + ahead_ps


def test_a_shaper_has_tokens_for_what_timers_are_late(trial):
    """2 Mbit/s in 100 us are 25 B."""
    said = "\n".join(lay_out(trial, Manner(slack_ns=100_000)).commands)
    assert "tbf rate 2000000bit burst 3025 " in said


@pytest.fixture
def late(monkeypatch, trial):
    """Trials of which the packets are as late as the list says, in ns; what is said of them."""
    told, begun = [], []

    def measure(_experiment, room, _on_wait):
        begun.append(room.manner)
        late_ns = np.array([0, told[len(begun) - 1]], np.int64)
        layout = lay_out(trial, room.manner)
        return Seen(layout, plan_packets(trial), None, {}, late_ns.tobytes())

    monkeypatch.setattr(machine, "find_precision", lambda: PRECISION)
    monkeypatch.setattr(machine, "list_modules", lambda: frozenset({"sch_htb"}))
    monkeypatch.setattr(machine, "measure", measure)
    slower = iter((Precision(50_000, 10_000), Precision(1, 1), Precision(1, 1), Precision(1, 1)))
    monkeypatch.setattr(machine, "measure_precision", lambda _room: next(slower))
    monkeypatch.setattr(machine, "compile_program", lambda: None)
    monkeypatch.setattr(machine, "conclude", lambda _experiment, _seen: Told())
    return told, begun


class Told:
    """An observation that tells what was replaced."""

    def _replace(self, **values):
        return values


def test_a_trial_in_which_the_machine_sent_too_late_is_tried_again(trial, late):
    """With the precision that is measured then, if that is worse."""
    told, begun = late
    told += [100_001, 120_001, 120_000]
    bound_ps = (3 * 120_000) * 1_000 + 1_300 * 80_000
    assert machine.run_trial(trial, lambda: None) == {"precision_ps": bound_ps}
    assert begun == [Manner(travels=False, slack_ns=ns) for ns in (100_000, 120_000, 120_000)]


def test_a_machine_that_always_sends_too_late_gives_no_verdict(trial, late):
    told, begun = late
    told += [270_000, 250_000, 260_000, 250_001, 280_000]
    message = "at least 250 us late in each of 5 trials, and its precision is 120 us: send less"
    with pytest.raises(BackendError, match=message):
        machine.run_trial(trial, lambda: None)
    assert len(begun) == 5


def test_modules_are_those_whose_command_works(monkeypatch):
    """Each command is followed by one that removes what it made, and may fail."""
    numbers = {name: 2 * at + 1 for at, name in enumerate(MODULES)}
    said = "".join(
        f"Error: Specified qdisc kind is unknown.\nCommand failed /a/probe:{number}\n"
        for number in (numbers["sch_netem"], numbers["act_police"], *range(2, 30, 2), 29)
    )
    monkeypatch.setattr(modules, "Room", lambda *_: Answering(said))
    monkeypatch.setattr(modules, "compile_program", lambda: None)
    assert modules.list_modules.__wrapped__() == {*MODULES} - {"sch_netem", "act_police"}


@pytest.mark.parametrize("said", ["", "tc: Exec format error", "Command failed /a/probe:1"])
def test_modules_are_not_taken_as_there_if_their_commands_were_not_tried(monkeypatch, said):
    monkeypatch.setattr(modules, "Room", lambda *_: Answering(said))
    monkeypatch.setattr(modules, "compile_program", lambda: None)
    with pytest.raises(BackendError, match=f"did not try .*: {said or 'it said nothing'}"):
        modules.list_modules.__wrapped__()


def test_what_a_machine_lacks_is_said_where_it_is_asked_for(monkeypatch, suite):
    monkeypatch.setattr(modules, "list_modules", lambda: frozenset({"sch_htb", "sch_tbf"}))
    problems = Problems()
    (test,) = suite.suite.tests
    for case in test.cases:
        modules.verify_modules(case, test.span, problems)
    (found,) = problems.errors
    assert (found.code, found.span.source.text[found.span.start :][:5]) == ("E0702", "meter")
    assert "`g.meter` polices by `act_police`, which the kernel of this machine, " in found.message
    assert found.help == OR_VIRTUAL


@pytest.mark.parametrize(
    ("kind", "fields", "needed"),
    [
        ("line", {"length": 0, "delay_per_length": 5}, ["sch_htb"]),
        ("line", {"length": 7, "delay_per_length": 5}, ["sch_htb", "sch_netem"]),
        ("router", {"latency": 0}, []),
        ("router", {"latency": 1}, ["sch_netem"]),
        ("delay", {"time": Fraction(1)}, ["sch_netem"]),
        ("strict", {}, ["sch_prio", "act_skbedit"]),
        ("remark", {}, ["act_pedit", "act_csum"]),
    ],
)
def test_what_an_element_needs_depends_on_its_fields(kind, fields, needed):
    element = type("Element", (), fields)()
    assert [module for module, _ in modules.NEEDS[kind](element)] == needed


def test_all_that_elements_need_is_tried():
    fields = {"length": 1, "delay_per_length": 1, "time": 1}
    needs = (need(type("Element", (), fields)()) for need in modules.NEEDS.values())
    needed = {module for module, _ in itertools.chain.from_iterable(needs)}
    assert needed | {*modules.ALWAYS} == {*MODULES}


def test_a_kernel_without_what_each_trial_takes_is_not_used(monkeypatch):
    monkeypatch.setattr(machine, "describe_program", dict)
    monkeypatch.setattr(machine, "list_modules", lambda: {*modules.ALWAYS} - {"cls_u32"})
    with pytest.raises(BackendError, match="the kernel of this machine has no `cls_u32`: install"):
        machine.describe_machine()
