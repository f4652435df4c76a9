"""Wrong devices of `suites/osu`, the statements that each fails, and how that is noticed."""

from typing import NamedTuple

from replacing import Wrong

SWITCH = "switches"
FABRIC = "fabrics"
MONITOR = "monitors"
LATENCY = "latency.qos"

WRONG = [
    Wrong(
        "osu.first_input_first",
        SWITCH,
        "n_to_1.qos",
        ("overloaded", "flooded"),
        {"most_frames", "all_lost", "none_per_second"},
        statements=("O44", "O45", "O49"),
    ),
    Wrong(
        "osu.small_buffer",
        SWITCH,
        "n_to_1.qos",
        ("below_the_line",),
        {"no_cells_lost", "no_frames_lost"},
        statements=("O40",),
    ),
    Wrong(
        "osu.slow_output",
        SWITCH,
        "n_to_1.qos",
        ("below_the_line",),
        {"no_cells_lost", "no_frames_lost"},
        statements=("O40",),
    ),
    Wrong(
        "osu.loses_some",
        SWITCH,
        "n_to_1.qos",
        ("below_the_line",),
        {"no_cells_lost", "no_frames_lost"},
        statements=("O40",),
    ),
    Wrong(
        "osu.early_discard",
        SWITCH,
        "n_to_1.qos",
        ("slightly_above", "overloaded", "flooded"),
        {"many_frames", "two_orders", "most_frames", "all_lost", "none_per_second"},
        statements=("O42", "O43", "O44", "O45", "O49"),
    ),
    Wrong(
        "osu.early_discard",
        SWITCH,
        "n_to_1.qos",
        ("throughput",),
        {"greatest", "falls"},
        statements=("O48", "O52"),
    ),
    Wrong(
        "osu.loses_some",
        SWITCH,
        "n_to_1.qos",
        ("even_below_the_line",),
        {"jains_index", "to_a_frame[0]"},
        statements=("O51",),
    ),
    Wrong(
        "osu.loses_some",
        SWITCH,
        "n_to_1.qos",
        ("cells_of_aal3_4",),
        {"whole", "cells"},
        statements=("O54",),
    ),
    Wrong("osu.slow_output", SWITCH, LATENCY, ("catches_up",), {"none_lost"}, statements=("O40",)),
    Wrong(
        "osu.constant_transit",
        SWITCH,
        LATENCY,
        ("without_background", "readings"),
        {"last_cell", "as_mimo", "a_tenth", "first_half", "later"},
        statements=("O11", "O12", "O14", "O17"),
    ),
    Wrong(
        "osu.slow_from_the_first",
        SWITCH,
        LATENCY,
        ("readings",),
        {"first_cell", "as_fifo", "a_tenth", "so_long_before"},
        changes={
            "let reading = cell_time + 1.71 us / 191": "let reading = cell_time",
            "latency = 15.74 us - cell_time - reading": "latency = 17.45 us - 2 * cell_time",
        },
        statements=("O11", "O13", "O14"),
    ),
    Wrong(
        "osu.last_bit_first",
        MONITOR,
        LATENCY,
        ("alone", "readings"),
        {"mean", "above_theory", "first_cell", "last_cell"},
        statements=("O6", "O7", "O11"),
    ),
    Wrong(
        "osu.ideal_monitor",
        MONITOR,
        LATENCY,
        ("alone",),
        {"mean", "above_theory", "ticks_below", "ticks_above"},
        statements=("O6", "O7", "O8"),
    ),
    Wrong(
        "osu.separate_queues",
        FABRIC,
        "background.qos",
        ("bursts_behind:load=97%", "steady_behind:load=95%"),
        {"long_frames", "short_frames", "cells_lost", "frames_lost"},
        statements=("O24", "O25", "O26", "O33"),
    ),
    Wrong(
        "osu.even_input",
        FABRIC,
        "background.qos",
        ("steady_behind:load=50%", "steady_behind:load=100%"),
        {"later"},
        changes={
            "let reading = cell_time + 1.71 us / 191": "let reading = cell_time",
            "fabric: Ratio = 730%": "fabric: Ratio = 1_000_000%",
        },
        statements=("O29",),
    ),
    Wrong(
        "osu.slow_fabric",
        FABRIC,
        "background.qos",
        ("short_bursts_behind",),
        {"first_cells"},
        statements=("O22",),
    ),
    Wrong(
        "osu.no_priority",
        FABRIC,
        "background.qos",
        ("steady_behind:load=95%",),
        {"cells_lost", "frames_lost"},
        statements=("O24", "O33"),
    ),
]


MIMO = "user.frames.mimo_latency.mean"


class Misread(NamedTuple):
    """Something of the publication that is taken for something else, and how that is noticed.

    Attributes:
        name: What it is, and where.
        taken: What stands in place of `said` in the test.
        case: The name of the case that is run; it fails.
        criterion: The label of a criterion that fails.
        statements: Of the publication, by number: those that it fails.
        said: What stands in the test: MIMO latency, if nothing else is given.
        suite: The suite's file.
    """

    name: str
    taken: str
    case: str
    criterion: str
    statements: tuple[str, ...]
    said: str = MIMO
    suite: str = LATENCY


FILO = "user.frames.filo_latency.mean"
LILO = "user.frames.lilo_latency.mean"
AT_INPUT_RATE = f"min({LILO}, {FILO} - 192 * cell_time / of_input)"
EQUAL = "definition:input=media.stm1,output=media.stm1,of_input=1,of_output=1"
FASTER_IN = "definition:input=media.stm4,output=media.stm1,of_input=4,of_output=1"
SLOWER_IN = "definition:input=media.stm1,output=media.stm4,of_input=1,of_output=4"
SPACED = "with_gaps:input=media.stm1,of_input=1,spacing=2"
SPACED_FASTER_IN = "with_gaps:input=media.stm4,of_input=4,spacing=2"

MISREAD = [
    Misread("filo", FILO, EQUAL, "transit", ("O1",)),
    Misread("filo, faster in", FILO, FASTER_IN, "transit", ("O1",)),
    Misread("filo, slower in", FILO, SLOWER_IN, "transit", ("O1",)),
    Misread("filo, spaced", FILO, SPACED, "the_switch_only", ("O5",)),
    Misread("nfot at the input rate", AT_INPUT_RATE, FASTER_IN, "transit", ("O1",)),
    Misread(
        "nfot at the input rate, spaced",
        AT_INPUT_RATE,
        SPACED_FASTER_IN,
        "the_switch_only",
        ("O5",),
    ),
    Misread(
        "frames of AAL5",
        "{ phases = even, aal = aal5 }",
        "cells_of_aal3_4",
        "cells",
        ("O54",),
        said="{ phases = even }",
        suite="n_to_1.qos",
    ),
]
