"""Of several that come at once, who finds the last place: the same at every rate, or in turn."""

import pytest

TEXT = """
let rate = RATE
device box(rule: Name) {
  port p[4]: cell
  fabric = vc_switch { ports = 4, arbitration = rule }
  for i in 0 .. 3 {
    q = fifo { limit = LIMIT cell }
    p[i].rx -> fabric.entry[i]
    fabric.exit[i] -> q -> p[i].tx
  }
}
topology bench {
  a, b, c, d = host(slotted = SLOTTED)
  dut = box(rule = RULE)
  link a -- dut.p[0] via line { rate = rate, slotted = false }
  link b -- dut.p[1] via line { rate = rate, slotted = false }
  link c -- dut.p[2] via line { rate = rate, slotted = false }
  link d -- dut.p[3] via line { rate = rate, slotted = false }
}
traffic full = ubr { pcr = 2 * rate / (53 B/cell @cell), phases = even }
test t on bench {
  flow first = full from a to d
  flow second = full from b to d
  flow third = full from c to d
  run { warmup = 4 ms, measure = 40 ms, overload = true }
  report first.received
  report second.received
  report third.received
}
"""
RATES = [
    "149.76 Mbit/s @cell",
    "155.52 Mbit/s @cell",
    "44.736 Mbit/s @cell",
    "100 Mbit/s @cell / 3",
]


@pytest.fixture
def received(planned, ran, problems):
    """Return how many cells arrive of three inputs that send all the time."""

    def run(rule: str, rate: str = RATES[0], *, slotted: bool = True, limit: int = 2) -> list[int]:
        words = {"RULE": rule, "RATE": rate, "SLOTTED": str(slotted).lower(), "LIMIT": str(limit)}
        text = TEXT
        for word, value in words.items():
            text = text.replace(word, value)
        plans = planned(text)
        assert not problems.errors, problems.all
        return [int(judgement.measured.value) for judgement in ran(plans[0]).judgements]

    return run


@pytest.mark.parametrize("slotted", [True, False])
@pytest.mark.parametrize("rate", RATES)
def test_at_any_rate_the_same_input_finds_the_place(received, rate, slotted):
    """What a slot leaves over beyond whole ps used to let now one and now another input win."""
    first, *others = received("fixed_order", rate, slotted=slotted, limit=3)
    assert first > 1_000
    assert others == [0, 0]


@pytest.mark.untraced
@pytest.mark.parametrize("limit", [1, 4])
@pytest.mark.parametrize("rate", RATES)
def test_in_turn_each_input_has_a_third(received, rate, limit):
    shares = received("round_robin", rate, limit=limit)
    assert min(shares) > 1_000
    assert max(shares) - min(shares) <= 1


@pytest.mark.untraced
def test_at_random_each_input_has_about_a_third(received):
    """Of n places each is an input's with probability 1/3: sigma is sqrt(2 n) / 3."""
    shares = received("random")
    total = sum(shares)
    assert all(abs(share - total / 3) < 5 * (2 * total) ** 0.5 / 3 for share in shares)
    assert len(set(shares)) > 1
