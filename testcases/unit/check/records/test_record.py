"""Records: copies recompute, fields are closed, values are converted exactly."""

from fractions import Fraction

import pytest

from qospec.catalogue.kinds import discover

BENCH = """
topology bench {
  a, b = host
  link a -- b via line { rate = 149.76 Mbit/s @cell }
}
traffic load = ubr { pcr = 1 cell/s }
"""
FLOW = "run { measure = 1 s }"
VIDEO = """
traffic video = vbr_rt {
  pcr = 30_000 cell/s
  scr = pcr / 3
  mbs = 200 cell
  cdvt = 100 us
  source = burst { size = 4 * mbs, every = 500 ms }
}
"""


def sent(suite):
    return suite.tests[0].cases[0].flows[0]


def test_an_override_recomputes_what_depends_on_it(small):
    flow = sent(
        small(
            "flow f = video { mbs = 300 cell, pcr = 60_000 cell/s } from a to b", FLOW, before=VIDEO
        )
    )
    assert flow.traffic.maximum_burst_size == 300
    assert flow.traffic.sustainable_cell_rate == 20_000
    assert flow.arrivals.size == 1_200


def test_values_are_exact_in_the_units_of_the_engine(small):
    before = "traffic t = cbr { pcr = 1 cell/min, cdvt = 5.5 us, clp = 1, connections = 7 }\n"
    flow = sent(small("flow f = t from a to b", FLOW, before=before))
    assert flow.traffic.peak_cell_rate == Fraction(1, 60)
    assert flow.traffic.cell_delay_variation_tolerance == 5_500_000
    assert (flow.connections, flow.clp, flow.phases) == (7, 1, "random")


def test_without_a_source_the_contract_is_used_fully(small):
    flow = sent(small("flow f = load(rate = 50 cell/s) from a to b", FLOW))
    assert flow.arrivals.compute_mean_rate(1) == 50


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ("pcr = 1 cell/s, cdvt = 1 us, cdtv = 2 us", "E0104"),
        ("cdvt = 1 us", "E0105"),
        ("pcr = 1 cell/s, pcr = 2 cell/s, cdvt = 1 us", "E0114"),
        ("pcr = 1 cell/s, peak_cell_rate = 2 cell/s, cdvt = 1 us", "E0114"),
        ("pcr = 0 cell/s, cdvt = 1 us", "E0205"),
        ("pcr = 1 cell/s, cdvt = -1 us", "E0205"),
        ("pcr = 1 cell/s, cdvt = 0.0000001 us", "E0206"),
        ("pcr = 64 kbit/s @payload, cdvt = 1 us", "E0202"),
        ("pcr = [1 cell/s], cdvt = 1 us", "E0204"),
        ("pcr = 1 cell/s, cdvt = 1 us, phases = evne", "E0214"),
        ("pcr = 1 cell/s, cdvt = 1 us, clp = 2", "E0205"),
        ("pcr = 1 cell/s, cdvt = 1 us, connections = 1.5", "E0206"),
        ("pcr = 1 cell/s, cdvt = 1 us, source = 5", "E0307"),
        ("pcr = 1 cell/s, cdvt = 1 us, source = burst { size = 0 cell, every = 1 s }", "E0205"),
    ],
)
def test_a_wrong_field_is_reported(codes, fields, code):
    assert codes(f"traffic t = cbr {{ {fields} }}\n") == [code]


def test_a_number_for_a_word_is_told_the_words(checked):
    text = "traffic t = packets { rate = 1 pkt/s, size = 100 B @ip, ecn = 1 }\n"
    [problem] = [found for found in checked(text)[1] if found.code == "E0204"]
    assert problem.message == "`ecn` is one of not_ect, ect1, ect0, ce, not a number"
    assert problem.help == "write one of these words, as in `ecn = not_ect`"


def test_a_field_may_have_the_name_that_it_is_given(codes):
    text = "traffic t(connections: Int) = ubr { pcr = 1 cell/s, connections = connections }\n"
    assert codes(text + "traffic u = t(connections = 3)\n") == []


def test_a_published_number_stays_out_of_models(codes):
    paper = 'reference paper "p" { rate = [1 cell/s] }\nlet mine = 2 * paper.rate[0]\n'
    assert codes(paper + "traffic t = ubr { pcr = mine }\n") == ["E0208"]
    assert codes(paper + "topology t { a = host(count = mine / (1 cell/s)) }\n") == ["E0208"]


@pytest.mark.parametrize(
    ("traffic", "expected"),
    [
        ("cbr { pcr = 10 cell/s, cvdt = 10 us }", ["E0104"]),
        ("cbr(pcr = 10 cell/s, cvdt = 10 us)", ["E0104"]),
        ("cbr { pcr = 10 cell/s, other = 10 us }", ["E0104"]),
        ("cbr { pcr = 10 cell/s, prc = 10 cell/s }", ["E0105", "E0104"]),
        ("base { clp = 1 }\ntraffic base = cbr { pcr = 10 cell/s, cvdt = 10 us }", ["E0104"]),
        ("cbr {\n  pcr = 10 cell/s\n  cdvt = = 10 us 3\n}", ["E0001"]),
    ],
)
def test_a_field_is_not_missed_that_a_mistake_was_meant_to_give(codes, traffic, expected):
    assert codes(f"traffic v = {traffic}\n") == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("mesure = 1 s", ["E0104"]),
        ("measure = 1e1 s, warmup = 1 s", ["W0602", "E0007"]),
        ("measure = 1e13 s", ["E0007", "E0205"]),
    ],
)
def test_a_run_is_not_short_of_what_could_not_be_read(codes, fields, expected):
    text = f"{BENCH}test t on bench {{\n  flow f = load from a to b\n  run {{ {fields} }}\n}}\n"
    assert codes(text) == expected


def test_a_field_that_is_missing_is_named_once(checked):
    text = f"{BENCH}test t on bench {{\n  flow f = load from a to b\n  run {{ }}\n}}\n"
    _, (problem,) = checked(text)
    assert (problem.code, problem.message) == ("E0105", "`run` needs `measure`")


def test_the_way_out_of_too_large_a_value_is_the_greatest(checked):
    _, (problem,) = checked("traffic t = ubr { pcr = 1 cell/s, connections = 1_000_000_000_000 }\n")
    assert problem.code == "E0205"
    assert problem.help.startswith("write at most ")
    assert problem.help.removeprefix("write ") in problem.message


def test_copies_of_copies_are_worked_out_once(codes):
    copies = "".join(
        f"traffic t{n + 1} = t{n} {{ mbs = t{n}.mbs + t{n}.mbs - t{n}.mbs }}\n" for n in range(200)
    )
    first = "traffic t0 = vbr_rt { pcr = 9 cell/s, scr = 1 cell/s, mbs = 2 cell, cdvt = 1 us }\n"
    assert codes(first + copies) == []


def test_a_bare_greedy_source_sends_at_the_peak_of_the_contract_that_is_used(small):
    copies = "traffic u = load { source = greedy }\ntraffic v = u { pcr = 7 cell/s }"
    suite = small("flow f = v from a to b", "run { measure = 1 s }", before=copies)
    (flow,) = suite.tests[0].cases[0].flows
    assert flow.arrivals.rate == 7


def test_a_former_name_is_that_of_one_field_and_of_none_now():
    renamed = [kind for kind in discover().kinds.values() if kind.renamed]
    assert renamed
    for kind in renamed:
        assert set(kind.renamed.values()) <= kind.parameters.keys()
        assert not any(kind.find_parameter(former) for former in kind.renamed)


GATEWAYS = """
device gateway(secret: Text, cipher: Name = aes_128_gcm) {
  port inner, outer: packet
  seal = esp_encrypt { encryption = cipher, key = secret }
  open = esp_decrypt { encryption = cipher, key = secret }
  inner.rx -> seal -> outer.tx
  outer.rx -> open -> inner.tx
}
device pair(both: Text) {
  port left, right: packet
  near, far = gateway(secret = both)
  left.rx -> near.inner.rx
  near.outer.tx -> far.outer.rx
  far.inner.tx -> right.tx
  right.rx -> discard
  near.inner.tx -> discard
}
"""


@pytest.mark.parametrize(
    ("made", "code", "place"),
    [
        ('gateway(secret = "0011")', "E0301", '"****"'),
        ('gateway(secret = "file:none.key")', "E0214", '"file:none.key"'),
        ('gateway(secret = "*", cipher = aes_129_gcm)', "E0214", "aes_129_gcm"),
        ('gateway(secret = "*", cipher = null)', "E0301", "null"),
        ('pair(both = "0011")', "E0301", '"****"'),
    ],
)
def test_a_wrong_argument_is_reported_once_where_it_is_given(checked, made, code, place):
    text = f"{GATEWAYS}topology t {{\n  one = {made}\n}}\n"
    found = [problem for problem in checked(text)[1] if problem.severity == "error"]
    assert [(problem.code, problem.span.text) for problem in found] == [(code, place)]
    assert [label.text for label in found[0].secondary] == ["used here"]


def test_each_of_several_devices_has_a_mistake_of_its_own(checked):
    made = 'one = gateway(secret = "0011")\n  two = gateway(secret = "002233")'
    text = f"{GATEWAYS}topology t {{\n  {made}\n}}\n"
    found = [problem.span.text for problem in checked(text)[1] if problem.severity == "error"]
    assert found == ['"****"', '"******"']


POLICED = """
device d(policy: TYPE = tail) {
  port p, q: packet
  e = fifo { limit = 64 pkt, drop = policy }
  p.rx -> e -> q.tx
  q.rx -> p.tx
}
"""


def test_a_kind_that_is_named_by_a_word_is_meant_where_only_kinds_can_stand(checked):
    assert not checked(POLICED.replace("TYPE", "Name"))[1]
    text = """
import std.media
topology straight {
  a, b = host
  link a -- b via media.fast_ethernet
}
test controlled on straight {
  sweep control_of in [cubic, newreno]
  flow bulk = tcp { algorithm = control_of } from a to b
  run { measure = 1 s }
  expect bulk.lost == 0 pkt
}
"""
    suite, problems = checked(text)
    assert [problem for problem in problems if problem.severity == "error"] == []
    controls = [case.flows[0].traffic.algorithm for case in suite.tests[0].cases]
    assert [type(control).__name__ for control in controls] == ["Cubic", "Newreno"]


def test_a_kind_may_be_the_default_of_a_parameter_of_no_type(checked):
    problems = checked(POLICED.replace("TYPE", "Policy"))[1]
    assert [problem.code for problem in problems] == ["E0115"]


@pytest.mark.parametrize(
    ("word", "code", "message", "help_"),
    [
        (
            "red",
            "E0105",
            "`red` needs `low`, and a word gives no fields",
            "write it with its fields: `drop = red { … }`",
        ),
        ("tial", "E0204", "`drop` is a drop policy, and none is named `tial`", "write `tail`"),
    ],
)
def test_a_word_for_a_kind_must_name_one_that_needs_no_fields(checked, word, code, message, help_):
    text = POLICED.replace("TYPE = tail", f"Name = {word}")
    [problem] = (found for found in checked(text)[1] if found.severity == "error")
    assert (problem.code, problem.message, problem.help) == (code, message, help_)
