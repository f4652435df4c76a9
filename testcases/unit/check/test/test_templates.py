"""Templates: tests with parameters or without a topology, and the tests that are built on them."""

import pytest

from qospec.check.modules import files
from qospec.rendering import render_all

BENCH = """
topology bench {
  a, b = host
  link a -- b via line { rate = 149.76 Mbit/s @cell }
}
"""
STEPS = """
test steps(rate: CellRate, shares: [Ratio] = [10%, 20%], most: Int = 3) {
  covers = "steps"
  follows = "RFC 2544, 26.3"
  sweep share in shares
  let load = share * rate
  run { measure = most * 1 s }
  for f in flows { report f.lost }
}
"""
USER = """
test user = {base} on bench {{
  flow sent = ubr {{ pcr = {load} }} from a to b
}}
"""


def user(base="lib.steps(rate = 100 cell/s)", load="load"):
    return f"import lib\n{BENCH}{USER.format(base=base, load=load)}"


def test_a_test_has_the_statements_of_what_it_is_built_on_ahead_of_its_own(checked):
    text = user().replace("from a to b", 'from a to b\n  covers = ["own"]\n  report sent.sent')
    suite, problems = checked(text, lib=STEPS)
    assert not problems
    (test,) = suite.tests
    assert [case.name for case in test.cases] == ["user:share=10%", "user:share=20%"]
    assert (test.covers, test.follows) == (("steps", "own"), ("RFC 2544, 26.3",))
    first, _ = test.cases
    assert [statement.label for statement in first.statements] == ["f.lost[sent]", "sent.sent"]
    assert (first.run.measure_ps, first.flows[0].traffic.peak_cell_rate) == (3 * 10**12, 10)


def test_parameters_are_of_the_template_alone(checked):
    base = "lib.steps(rate = rate, shares = [30%], most = 2)"
    suite, problems = checked(f"{user(base)}let rate = 50 cell/s\n", lib=STEPS)
    assert not problems
    ((case,),) = (test.cases for test in suite.tests)
    assert (case.run.measure_ps, case.flows[0].traffic.peak_cell_rate) == (2 * 10**12, 15)
    assert codes_of(checked(user(load="most * 1 cell/s"), lib=STEPS)) == ["E0101"]


def codes_of(found):
    return [problem.code for problem in found[1]]


def test_a_template_does_not_know_the_names_of_those_who_use_it(checked):
    strange = STEPS.replace("{ report f.lost }", "{ report f.lost / sent.sent }")
    assert "E0101" in codes_of(checked(user(), lib=strange))
    mine = user().replace("flow sent", "let rate = 3\n  flow sent")  # a parameter of the template
    assert codes_of(checked(mine, lib=STEPS)) == ["W0620"]


@pytest.mark.parametrize(
    ("base", "code"),
    [
        ("lib.steps", "E0105"),
        ("lib.steps(100 cell/s, [10%], 3, 4)", "E0114"),
        ("lib.steps(rate = 100 cell/s, speed = 3)", "E0104"),
        ("lib.step(rate = 100 cell/s)", "E0101"),
        ("bench", "E0521"),
        ("lib.steps(rate = 100 cell/s, shares = [])", "E0506"),
        ("lib.steps(rate = 100 cell/s, most = 1.5)", "E0204"),
    ],
)
def test_a_wrong_use_is_refused(checked, base, code):
    assert codes_of(checked(user(base), lib=STEPS))[0] == code


def test_a_mistake_in_a_template_names_the_test_that_makes_it(checked):
    _, problems = checked(user(), lib=STEPS.replace("report f.lost", "report f.reordered"))
    text = render_all(problems)
    assert "lib.qos:9" in text
    assert "^^^^^^^^^ in the case `user:share=10%`" in text
    assert "- here, in `steps`" in text


def test_a_mistake_that_no_use_can_mend_is_reported_once_in_the_template(checked):
    _, problems = checked(user(), lib=STEPS.replace("share * rate", "share * ratee"))
    assert [(problem.code, problem.secondary) for problem in problems] == [("E0101", ())]


@pytest.mark.parametrize(
    ("measured", "code"),
    [
        ("f.lost", ""),
        ("f.ipdv.max", ""),
        ("f.oam.lost", ""),
        ("f[0].delay.p99", ""),
        ("worst(f.delay.p99)", ""),
        ("f.answers.lost", ""),
        ("f.dealy.max", "E0501"),
        ("f.delay.maxx", "E0503"),
        ("f", "E0502"),
        ("f.delay.max < 1 pkt", "E0203"),
    ],
)
def test_a_template_is_checked_with_a_flow_of_cells_or_packets(checked, measured, code):
    lib = STEPS.replace("report f.lost", f"report {measured}")
    assert codes_of(checked(lib)) == ([code] if code else [])


def test_a_name_of_the_user_that_the_template_takes_is_to_be_changed_by_the_user(checked):
    _, problems = checked(f"{user()}\nlet share = 3\n", lib=STEPS)
    assert [
        (problem.code, problem.span.source.name.endswith("main.qos")) for problem in problems
    ] == [("E0102", True)]
    host = user().replace("a, b = host", "a, load = host").replace("a -- b", "a -- load")
    _, problems = checked(host.replace("from a to b", "from a to load"), lib=STEPS)
    assert [(problem.code, problem.span.text) for problem in problems] == [("E0102", "load")]


def test_a_template_is_never_run(checked):
    suite, problems = checked(STEPS)
    assert not problems
    assert (suite.tests, [template.name for template in suite.templates]) == ((), ["steps"])


def test_a_test_on_a_topology_may_have_parameters(checked):
    template = (
        "\ntest sized(rate: CellRate) on bench {\n  flow sent = ubr { pcr = rate } from a to b\n"
    )
    template += "  run { measure = 1 s }\n  report sent.lost\n}\n"
    suite, problems = checked(f"{BENCH}{template}test small = sized(10 cell/s)\n")
    assert not problems
    assert [test.name for test in suite.tests] == ["small"]
    assert [test.cases[0].flows[0].traffic.peak_cell_rate for test in suite.tests] == [10]


def test_topologies_may_have_parameters_of_the_test(checked):
    bench = BENCH.replace("bench {", "bench(rate: Rate) {").replace("149.76 Mbit/s @cell", "rate")
    template = "\ntest sized(rate: Rate) on bench(rate = rate) {\n  run { measure = 1 s }\n}\n"
    own = "test small = sized(1 Mbit/s @cell) {\n  flow sent = ubr { pcr = 9 cell/s } from a to b\n"
    suite, problems = checked(f"{bench}{template}{own}  report sent.lost\n}}\n")
    assert not problems
    line = suite.tests[0].cases[0].networks[""].elements[0].element
    assert line.rate == 10**6


def test_a_sweep_on_which_nothing_that_is_sent_depends_is_reported_at_the_use(checked):
    """That `load` is made of it does not count, as no flow uses that."""
    _, problems = checked(user(load="10 cell/s"), lib=STEPS)
    assert [(problem.code, problem.span.text) for problem in problems] == [("E0514", "lib.steps")]
    assert problems[0].message == "`steps` needs a flow that uses `share`"


@pytest.mark.parametrize(
    "template",
    [
        "sweep n in [1 s, 2 s]\n  run { measure = n }",
        "sweep n in [1, 2]\n  point p { load = n * 100 cell/s, measure = 1 s }",
        "sweep n in [1 s, 2 s]\n  point p { load = 100 cell/s, measure = n }",
        "sweep n in [1, 2]\n  search load in 10 cell/s .. n * 100 cell/s { goal g { loss = 0 } }",
    ],
)
def test_a_sweep_that_phases_or_run_use_is_used(checked, template):
    flow = "flow f = ubr { pcr = 10 cell/s } from a to b"
    if "load" in template:
        flow = flow.replace("10 cell/s", "load")
    text = f"{BENCH}test base() {{\n  {template}\n}}\ntest t = base() on bench {{\n  {flow}\n}}\n"
    _, problems = checked(text)
    assert {problem.code for problem in problems} <= {"W0602"}


def test_templates_of_one_name_may_be_in_several_files(checked):
    text = user().replace("test user", "test steps")
    suite, problems = checked(text, lib=STEPS)
    assert not problems
    assert [test.name for test in suite.tests] == ["steps"]


def test_a_mistake_at_the_value_of_a_phase_shows_that_value(checked):
    search = "  search load in 10% .. 20% { goal ndr { loss = 0 } }\n"
    flow = "  flow sent = ubr { pcr = load } from a to b\n"
    _, problems = checked(f"{BENCH}test user on bench {{\n{search}{flow}}}\n")
    assert codes_of((None, problems)) == ["E0202"]
    assert "--------- `load` has this value" in render_all(problems)


def test_the_name_of_a_template_in_place_of_a_goal_names_the_goals(checked):
    """`steps.load` is meant to be the load that the template's search finds."""
    lib = """
test found(line: CellRate) {
  search load in 1% of line .. line { goal best { loss = 0 } }
}
"""
    text = user("lib.found(10_000 cell/s)").replace(
        "from a to b", "from a to b\n  expect WHAT > 5 cell/s"
    )
    for what, code in (("found.load", "E0101"), ("lib.found.load", "E0104")):
        (mistake,) = checked(text.replace("WHAT", what), lib=lib)[1]
        assert (mistake.code, "best" in " ".join(mistake.notes), "best" in mistake.help) == (
            code,
            True,
            True,
        )


@pytest.mark.parametrize("drawn", ["", "forall n in 1 cell/s .. 9 cell/s\n  "])
@pytest.mark.parametrize(
    ("criterion", "code"), [("expect f.lost >= 0", "W0601"), ("expect most == 2", "E0516")]
)
def test_a_criterion_of_the_library_that_decides_nothing_is_told_at_its_use(
    checked, tmp_path, monkeypatch, criterion, code, drawn
):
    """Its author cannot change it; of the user's own template it is told where it stands."""
    (tmp_path / "library").mkdir()
    template = STEPS.replace("report f.lost", criterion)
    text = user("lib.steps(rate = 100 cell/s, most = 3)", "load + n" if drawn else "load")
    text = text.replace("import lib", "import library.lib").replace(
        "flow sent", f"{drawn}flow sent"
    )
    text = text.replace("from a to b", "from a to b\n  expect sent.lost == 0")
    for of_library in (False, True):
        monkeypatch.setattr(files, "STDLIB", tmp_path / "library" if of_library else tmp_path / "x")
        _, (found,) = checked(text, **{"library/lib": template})
        assert found.code == code
        assert found.span.source.name.endswith("main.qos") is of_library
    whole = "lib.steps" if code == "W0601" else "most = 3"
    assert (found.span.text, found.secondary[0].text) == (whole, "here, in `steps`")
