"""A procedure that cannot be carried out: its test is told which of its arguments is at fault."""

import pytest

from qospec.catalogue.kinds import discover
from qospec.check import check
from qospec.plan.survey import verify

USE = """
import std.procedures.rfc2544, std.procedures.mlrsearch, std.procedures.y1564
topology cable {{
  a, b = host
  link a -- b via media.fast_ethernet
}}
test t = {base} on cable {{
  flow user = packets {{ rate = load, size = {size}, phases = even }} from a to b
  {flows}
}}
"""
THROUGHPUT = "rfc2544.throughput(line = {line} Mbit/s @line, sizes = [64 B @frame]{more})"
NDR_PDR = "mlrsearch.ndr_pdr(line = {line} Mbit/s @line, sizes = [64 B @frame]{more})"
ACTIVATION = """y1564.activation(
  cir = {line} Mbit/s @frame, bursts = 9 kB @frame, loss = 0, delay = 1 ms, variation = 1 ms{more}
)"""


@pytest.fixture
def refused(tmp_path, problems):
    """Return a function that gives what `qos check` says of a use."""

    def of(base, line=100, more="", flows="", names=""):
        path, size = tmp_path / "a.qos", "512 B @frame" if "y1564" in base else "size"
        text = USE.format(base=base.format(line=line, more=more), size=size, flows=flows)
        path.write_text(f"qos 1\nimport std.media\n{text}\n{names}", encoding="utf-8")
        suite = check([path], discover(), problems)
        verify(suite, problems)
        return problems.all

    return of


@pytest.mark.parametrize("base", [THROUGHPUT, NDR_PDR])
def test_a_line_that_is_too_fast_is_the_argument_at_fault(refused, base):
    (found,) = refused(base, line=1_000, more=", duration = 100 ms")
    assert (found.code, found.span.text) == ("E0305", "line = 1000 Mbit/s @line")
    assert found.help == "give `line` at most 100 Mbit/s @line"


def test_what_else_is_sent_on_the_link_is_left_room_for(refused):
    """Of 100 Mbit/s, 30 are taken: the lowest load does not count for them."""
    other = "packets { rate = 30 Mbit/s @line, size = 512 B @frame, phases = even }"
    (found,) = refused(THROUGHPUT, flows=f"flow other = {other} from a to b")
    assert found.help == "give `line` at most 70 Mbit/s @line"


def test_so_it_is_if_another_template_passes_it_on_and_other_phases_follow_from_it(refused):
    (found,) = refused(THROUGHPUT.replace("throughput", "benchmark"), line=1_000)
    assert (found.code, found.span.text) == ("E0305", "line = 1000 Mbit/s @line")
    assert found.notes[-1] == "the same holds for `burst`"


def test_one_rate_that_is_too_high_in_several_steps_is_one_mistake(refused):
    (found,) = refused(ACTIVATION, line=200)
    assert (found.code, found.span.text) == ("E0305", "cir = 200 Mbit/s @frame")
    # The step that polices sends 125 % of it; of frames of 512 bytes the line carries 512 / 532.
    assert found.help == "give `cir` at most 76.99 Mbit/s @frame"
    others = "`cir_100`, `cir_75`, `cir_50`, `excess`, `performance`"
    assert found.notes[-1] == f"the same holds for {others}"


@pytest.mark.parametrize(
    ("cir", "eir", "help_text"),
    [
        (70, "40", "give `cir` at most 46.24 Mbit/s @frame"),  # and 125 % of EIR are 96.24
        (8, "100", "give `eir` at most 70.59 Mbit/s @frame"),  # of which 125 % and 8 are 96.24
        (80, "15.5", "give `cir` at most 76.86 Mbit/s @frame"),  # below five times EIR, not 64.59
    ],
)
def test_a_rate_that_is_too_high_together_with_another_is_named_for_all_steps(
    refused, cir, eir, help_text
):
    (found,) = refused(ACTIVATION, line=cir, more=f", eir = {eir} Mbit/s @frame")
    assert (found.code, found.help) == ("E0305", help_text)


@pytest.mark.parametrize(("cir", "eir"), [(76.99, 0), (46.24, 40), (8, 70.59), (76.86, 15.5)])
def test_what_it_names_is_enough_for_all_steps(refused, cir, eir):
    assert refused(ACTIVATION, line=cir, more=f", eir = {eir} Mbit/s @frame") == ()


def test_what_a_flow_lacks_does_not_depend_on_the_load(refused):
    lacking = "flow other = cbr { pcr = load / (424 bit) * 1 cell } from a to b"
    (found,) = refused(THROUGHPUT, flows=lacking)
    assert (found.code, found.secondary) == ("E0105", ())


@pytest.mark.parametrize("base", [THROUGHPUT, NDR_PDR])
def test_a_trial_that_sends_nothing_is_told_by_its_duration(refused, base):
    errors = [
        problem for problem in refused(base, more=", duration = 10 us") if problem.code == "E0610"
    ]
    assert [error.span.text for error in errors] == ["duration = 10 us"]
    assert errors[0].help == "give `duration` at least 672 us"


def test_a_step_that_sends_nothing_too(refused):
    (found,) = refused(ACTIVATION, line=1, more=", step_time = 1 ms")
    assert (found.code, found.span.text) == ("E0610", "step_time = 1 ms")
    assert found.help == "give `step_time` at least 16.39 ms"
    assert (
        found.notes[-1] == "the same holds for `cir_50`, `cir_75`, `cir_100`, `excess`, `policed`"
    )


def test_a_width_that_is_too_fine_for_the_trials_names_both_parameters(refused):
    (found,) = refused(THROUGHPUT, more=", duration = 1 ms")
    assert (found.code, found.span.text) == ("W0617", "duration = 1 ms")
    assert found.help == "give `duration` at least 1.344 ms, or `resolution` at least 0.672 %"


def test_of_several_sizes_the_one_that_needs_most_is_told(refused):
    """The line carries 8,127.4 frames/s of 1,518 bytes, of which 0.5 % are one in 24.61 ms.

    9,615.4 of 1,280 bytes need 20.8 ms.
    """
    sizes = "[1_280 B @frame, 1_518 B @frame]"
    (found,) = refused(THROUGHPUT.replace("[64 B @frame]", sizes), more=", duration = 13 ms")
    assert (found.code, found.span.text) == ("W0617", "duration = 13 ms")
    assert found.help == "give `duration` at least 24.61 ms, or `resolution` at least 0.9465 %"


@pytest.mark.parametrize(
    ("base", "more", "code", "help_text"),
    [
        (THROUGHPUT, "resolution = 0.5", "W0627", "was `0.5%` meant? If not, choose at most `10%`"),
        (NDR_PDR, "partial = 0%", "W0628", "choose another `partial`"),
    ],
)
def test_a_search_that_would_say_little_names_the_argument(refused, base, more, code, help_text):
    (found,) = refused(base, more=f", {more}")
    assert (found.code, found.span.text, found.help) == (code, more, help_text)


def test_each_size_that_does_not_fit_is_the_item_of_the_argument_at_fault(refused):
    sizes = "[32 B @frame, 64 B @frame, 9_000 B @frame]"
    found = refused(THROUGHPUT.replace("[64 B @frame]", sizes))
    assert [(problem.code, problem.span.text) for problem in found] == [
        ("E0301", "32 B @frame"),
        ("E0301", "9_000 B @frame"),
    ]
    fits = ("64 B @frame", "1_518 B @frame")
    assert [problem.help for problem in found] == [
        f"the nearest size that fits is `{f}`" for f in fits
    ]


@pytest.mark.parametrize(
    ("base", "label", "shown"),
    [
        (THROUGHPUT.replace("throughput", "benchmark"), "throughput", "frame_rate"),
        (
            THROUGHPUT.replace("throughput", "benchmark"),
            "latency",
            "at_throughput.user.latency.mean",
        ),
        (NDR_PDR, "delay_at_50", "pdr_50.user.delay.mean"),
        (ACTIVATION, "transfer_delay", "cir_25.user.delay.max"),
    ],
)
def test_a_label_of_a_report_is_no_name_and_what_it_shows_is_told(refused, base, label, shown):
    """The table has columns of these names, so that is what users write first."""
    (found,) = refused(base, line=10, flows=f"expect {label} > 0")
    assert (found.code, found.span.text) == ("E0101", label)
    assert found.help == f"write what it shows: `{shown}`"


@pytest.mark.parametrize(
    ("more", "argument"),
    [
        (", duration = 30 s", "duration = 30 s"),
        (", duration = 30 s, duration_sum = 2 s", "duration_sum = 2 s"),
    ],
)
def test_all_trials_together_are_called_as_the_procedure_calls_them(refused, more, argument):
    (found,) = refused(NDR_PDR, more=more)
    assert (found.code, found.span.text) == ("E0514", argument)
    assert found.help == "give `duration_sum` at least 30 s"


@pytest.mark.parametrize(
    ("base", "argument", "way_out"),
    [
        (THROUGHPUT.replace("{line}", "-{line}"), "line = -10 Mbit/s @line", "`line` more than 0"),
        ("rfc2544.benchmark(line = {line} Mbit/s @line, sizes = [64 B @frame]{more})",
         "burst_limit = 1 frame", "`burst_limit` more than 1 frame"),
    ],
)  # fmt: skip
def test_a_range_without_loads_is_mended_at_the_argument(refused, base, argument, way_out):
    (found,) = refused(base, line=10, more=f", {argument}" if "burst" in argument else "")
    assert (found.code, found.span.text) == ("E0514", argument)
    assert found.help == f"give {way_out}"


@pytest.mark.parametrize(
    ("sizes", "code"), [("64 B @frame, 1 B @frame", "E0301"), ("64 B @frame, 7", "E0204")]
)
def test_an_item_of_a_list_is_at_fault_where_it_is_written(refused, sizes, code):
    """In a list that has a name, as in one that is given as it is."""
    base = THROUGHPUT.replace("[64 B @frame]", "chosen")
    (found,) = refused(base, line=10, names=f"let chosen = [{sizes}]")
    assert (found.code, found.span.text) == (code, sizes.partition(", ")[2])


@pytest.mark.parametrize("name", ["throughput", "benchmark"])
def test_a_use_without_a_flow_names_what_was_written(planned, problems, name):
    bench = USE.partition("test t")[0].format()
    planned(f"{bench}test t = rfc2544.{name}(line = 100 Mbit/s @line) on cable {{ }}")
    (found,) = problems.errors
    assert found.message == f"`{name}` needs a flow that uses `load`"
    assert found.span.text == f"rfc2544.{name}"
    assert [label.text for label in found.secondary] == ["`load` is given values in `throughput`"]


@pytest.mark.parametrize(
    ("base", "more", "argument", "message"),
    [
        (THROUGHPUT, "duration = -1 s", "-1 s", "`duration` must be more than 0, found -1 s"),
        (THROUGHPUT, "resolution = 70%", "", "`resolution` must be at most 50%, found 70%"),
        (NDR_PDR, "partial = 120%", "120%", "`partial` must be at most 99%, found 120%"),
        (ACTIVATION, "eir = -1 Mbit/s @frame", "", "`activation` requires `eir >= 0`"),
        (
            ACTIVATION.replace("loss = 0", "loss = 200%"),
            "",
            "loss = 200%",
            "`activation` requires `loss >= 0 and loss < 1`",
        ),
    ],
)
def test_what_no_procedure_takes_is_the_argument_at_fault(refused, base, more, argument, message):
    (found,) = refused(base, line=10, more=f", {more}" if more else "")
    assert (found.span.text, found.message) == (argument or more, message)
