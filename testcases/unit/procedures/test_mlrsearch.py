"""NDR and PDR of a processor, and the delays at shares of the PDR."""

from fractions import Fraction

BASE = """mlrsearch.ndr_pdr(
  line = 100 Mbit/s @line, sizes = [64 B @frame, 1_518 B @frame], duration = 100 ms,
  duration_sum = 2.1 s, partial = PARTIAL, stream = 20 ms
)"""
SERVED_PER_S = 40_000
ROOM_PER_S = 660
"""What a queue of 64 packets, and two that are served, add in 100 ms."""


def found(document):
    (search,) = (phase for phase in document["phases"] if phase["kind"] == "search")
    return {goal["name"]: goal for goal in search["goals"]}


def bounds(goal):
    return tuple(Fraction(goal[end]["value"]) / 672 for end in ("lower", "upper"))


def test_ndr_and_pdr_are_intervals_around_what_is_served(carried_out):
    base = BASE.replace("PARTIAL", "5%")
    documents = carried_out(base, "processor", "rate = load, size = size, phases = even")
    goals = found(documents["size=64B-frame"])
    for name, lost in (("ndr", Fraction(0)), ("pdr", Fraction(1, 20))):
        lower, upper = bounds(goals[name])
        assert lower <= (SERVED_PER_S + ROOM_PER_S) / (1 - lost)
        assert upper >= SERVED_PER_S / (1 - lost)
        assert upper - lower <= upper / 200
    large = found(documents["size=1_518B-frame"])
    assert [Fraction(large[name]["lower"]["value"]) for name in ("ndr", "pdr")] == [10**8] * 2


def test_delays_are_reported_at_three_shares_of_the_pdr(carried_out):
    base = BASE.replace("PARTIAL", "0.5%").replace("64 B @frame, ", "")
    (document,) = carried_out(base, "processor", "rate = load, size = size").values()
    labels = [statement["label"] for statement in document["statements"]]
    assert labels == [f"delay_at_{share}[pdr_{share}.user]" for share in (10, 50, 90)]
    assert [phase["name"] for phase in document["phases"]] == ["load", "pdr_10", "pdr_50", "pdr_90"]


def test_without_random_phases_one_trial_decides_a_load(carried_out):
    """By default 11 trials of 21 decide: a flow begins at a random time. Source: RFC 9971."""
    trials = {}
    for phases in ("random", "even"):
        base = BASE.replace("PARTIAL", "0.5%").replace(", 1_518 B @frame", "")
        base = base.replace("100 ms", "10 ms").replace("2.1 s", "210 ms")
        sent = f"rate = load, size = size, phases = {phases}"
        (document,) = carried_out(base, "processor", sent).values()
        trials[phases] = document["phases"][0]["trials"]
        assert found(document)["ndr"]["complete"]
    assert len({trial["load"]["value"] for trial in trials["even"]}) == len(trials["even"])
    assert len(trials["random"]) > 5 * len(trials["even"])
