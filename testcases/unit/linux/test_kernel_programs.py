"""What a kernel is told of programs, and what follows from what it says of them."""

import pytest

from qospec.backend import ProgramError
from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.diagnostics import Problems
from qospec.engine.arrays import np
from qospec.engine.source.launched import ProgramRun
from qospec.linux.caught import CAUGHT, add_caught
from qospec.linux.disciplines import EXACT
from qospec.linux.guest import GuestError
from qospec.linux.layout import lay_out
from qospec.linux.programs import (
    ADDRESS_OF_NONE,
    connect_programs,
    place_programs,
    read_runs,
    write_programs,
)
from qospec.linux.traffic import SEEN, plan_packets, read_seen
from qospec.linux.trial import _list_watched, measure
from qospec.plan.plan import Bounds, plan

TEXT = """qos 1
import std.media
topology line {
  a, b = host
  link a -- b via media.ethernet
}
test t on line {
  flow back = program { command = ["server", "x y"], ready = 80, mtu = 576 B @ip } from b to a
  flow there = program { command = ["client"], dscp = 10, exit = 2, stop = itself } from a to b
  flow alone = program { command = ["third"], ready = 1 ms } from a to b
  run { measure = 1 s }
  expect there.lost == 0 pkt
}
"""


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    path = tmp_path_factory.mktemp("programs") / "a.qos"
    path.write_text(TEXT, encoding="utf-8")
    problems = Problems()
    checked = check([path], discover(), problems)
    (planned,) = plan(checked, "0", Bounds(10**6), problems)
    assert not problems.errors, problems.all
    experiment = planned.networks[""].experiment
    layout = lay_out(experiment)
    placed = place_programs(experiment, layout)
    return experiment, connect_programs(layout, placed), placed


def test_a_program_finds_the_one_whose_flow_leads_back(trial):
    _, _, placed = trial
    assert [(one.flow, one.connection, one.back) for one in placed] == [
        ("back", 0, 1),
        ("there", 1, 0),
        ("alone", 2, None),
    ]


def test_a_kernel_is_told_what_to_run_and_where(trial):
    _, _, placed = trial
    texts = write_programs(placed[:1], 7).decode().split("\0")
    assert texts.pop(0) == "7"
    assert texts[:5] == ["0", "port", "80", "15", "10000000000"]
    assert "link set p0 address 02:00:00:00:00:02 arp off mtu 576 up" in texts[8]
    assert "addr add 10.0.0.1/32 dev p0\nroute add 10.0.0.0/32 dev p0 src 10.0.0.1" in texts[8]
    assert texts[10] == "127.0.0.1 localhost\n10.0.0.1 b\n10.0.0.0 a\n"
    assert texts[11:14] == ["2", "server", "x y"]
    assert {"QOS_ADDRESS=10.0.0.1", "QOS_PEER=10.0.0.0"} <= set(texts)
    texts = write_programs(placed[2:], 7).decode().split("\0")
    assert texts[2:5] == ["time", "1000000", "15"]
    assert f"QOS_ADDRESS={ADDRESS_OF_NONE}" in texts


def test_what_a_program_sends_is_marked_and_led_into_its_line(trial):
    _, layout, placed = trial
    one = placed[1]
    near = layout.near[one.way.steps[0].node]
    far = layout.far[one.way.steps[-1].node]
    lines = [command for command in layout.commands if "10.0.0.1/32" in command]
    entry = (
        "filter add dev q1 ingress protocol ip pref 1 u32 match ip dst 10.0.0.1/32"
        " action pedit ex munge ip dsfield set 0x28 retain 0xfc pipe action csum ip4h pipe"
        f" action mirred egress redirect dev {near}"
    )
    arrival = (
        f"filter add dev {far} ingress protocol ip pref 20 u32 match ip dst 10.0.0.1/32"
        " action mirred egress redirect dev q0"
    )
    assert lines == [entry, arrival]


def catch(trial, rows):
    """Return a trial of which these rows were caught: interface, time, hash, bytes, of `there`."""
    experiment, layout, placed = trial
    watched = (*dict.fromkeys((*_list_watched(experiment, layout), *(o.end for o in placed))),)
    caught = np.zeros(len(rows), CAUGHT)
    for record, (name, at_ns, digest, size) in zip(caught, rows, strict=True):
        record["point"], record["at_ns"], record["hash"] = watched.index(name), at_ns, digest
        record["size"], record["connection"], record["tos"] = size, 1, 40
    planned = plan_packets(experiment)
    sightings = read_seen(np.empty(0, SEEN).tobytes(), planned, watched, np.empty(0, np.int32))
    return add_caught(caught.tobytes(), (planned, sightings), placed, watched, experiment, layout)


def test_packets_are_followed_by_what_they_are_and_early_ones_left_out(trial):
    """Four are sent, the first ahead of the trial; of two alike the second is never seen again."""
    _, layout, placed = trial
    (step,) = placed[1].way.steps
    near, far = layout.near[step.node], layout.far[step.node]
    seen = catch(
        trial,
        [
            *(("q1", -5_000, 3, 60), (near, -5_000, 3, 60)),
            *(("q1", 1_000, 7, 100), (near, 1_000, 7, 100), (far, 151_000, 7, 100)),
            *(("q1", 2_000, 7, 100), (near, 2_000, 7, 100)),
            *(("q1", 9_000, 8, 50), (near, 9_000, 8, 50), (far, 1_009_000, 8, 50)),
        ],
    )
    assert seen.sent == {0: 0, 1: 4, 2: 0}
    assert sum(seen.lost_ahead.values()) == 1
    assert seen.planned.packets == 3
    assert seen.sightings.at_ns[near].tolist() == [1_000, 2_000, 9_000]
    assert seen.sightings.at_ns[far].tolist() == [151_000, -1, 1_009_000]
    (batch,) = (one for one in seen.planned.batches if one.count)
    assert (batch.at_ps.tolist(), batch.size_bytes.tolist()) == (
        [10**6, 2 * 10**6, 9 * 10**6],
        [100, 100, 50],
    )


def test_a_packet_that_nobody_has_sent_is_an_error(trial):
    _, layout, placed = trial
    far = layout.far[placed[1].way.steps[0].node]
    with pytest.raises(ValueError, match=f"passed {far} that `there` has not sent"):
        catch(trial, [(far, 1, 1, 100)])


def test_a_kernel_that_hangs_names_the_programs_that_may_be_why(trial):
    class Stuck:
        manner = EXACT

        def bound_time_s(self, *_):
            return 0.1

        def execute(self, *_):
            raise GuestError("the kernel has not done its job in 0 s")

    with pytest.raises(GuestError, match=r"not done its job in 0 s; .*`back`, `there`, `alone`$"):
        measure(trial[0], Stuck())


def read(trial, ended: bytes, out: bytes = b"", err: bytes = b"") -> ProgramRun:
    """Return what came of `there`, which is to exit with 2."""
    files = {"ended.1": ended, "out.1": out, "err.1": err}
    (run,) = read_runs(files, trial[2][1:2], {1: 4})
    return run


@pytest.mark.parametrize(
    ("ended", "words", "failure"),
    [
        (b"e2 - 0 0 0", "exit 2", ""),
        (b"e0 - 0 0 0", "exit 0", "ended with exit 0, and `exit = 2` is expected"),
        (b"s11 - 0 0 0", "SIGSEGV", "ended with SIGSEGV, and `exit = 2` is expected"),
        (
            b"k endless 0 0 0",
            "killed",
            "has not ended within its `patience` of 10 s, and was killed",
        ),
        (b"k flood 0 0 0", "killed", "has written more than 16 MiB, and was killed"),
    ],
)
def test_how_it_ended_is_told(trial, ended, words, failure):
    run = read(trial, ended)
    assert (run.ended, run.failure, run.sent) == (words, failure, 4)


def test_a_signal_that_was_asked_for_is_no_failure(trial):
    files = {"ended.0": b"s15 - 1 0 0", "out.0": b"", "err.0": b""}
    (run,) = read_runs(files, trial[2][:1], {})
    assert (run.ended, run.failure) == ("SIGTERM", "")
    (unasked,) = read_runs(files | {"ended.0": b"s15 - 0 0 0"}, trial[2][:1], {})
    assert unasked.failure


@pytest.mark.parametrize(
    ("ended", "message"),
    [
        (b"f2 unready 0 0 3", "could not be started: No such file or directory; it said: oh"),
        (b"k patience 0 0 3", "was not ready in time; it said: oh"),
        (b"e0 unready 0 0 3", "has ended before it was ready; it said: oh"),
    ],
)
def test_without_a_program_there_is_no_trial(trial, ended, message):
    with pytest.raises(ProgramError, match=f"^`there`: `client` {message}$") as raised:
        read(trial, ended, err=b"oh\n")
    assert raised.value.flow == "there"


def test_what_was_never_started_is_not_told_to_have_said_nothing(trial):
    with pytest.raises(ProgramError, match=r"No such file or directory$"):
        read(trial, b"f2 unready 0 0 0")
    with pytest.raises(ProgramError, match=r"; it said nothing$"):
        read(trial, b"k patience 0 0 0")


def test_what_it_writes_is_cut(trial):
    run = read(trial, b"e2 - 0 70000 0", out=b"x" * 65_536)
    assert (len(run.stdout), run.stdout_bytes) == (65_536, 70_000)
