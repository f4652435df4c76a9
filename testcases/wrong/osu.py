"""Wrong devices of `suites/osu`, and how they are noticed."""

from replacing import Wrong

SWITCH = "switches"
FABRIC = "fabrics"
MONITOR = "monitors"

WRONG = [
    Wrong(
        "osu.first_input_first",
        SWITCH,
        "n_to_1.qos",
        ("overloaded", "flooded"),
        {"most_frames", "all_lost", "none_per_second"},
    ),
    Wrong(
        "osu.small_buffer",
        SWITCH,
        "n_to_1.qos",
        ("below_the_line",),
        {"no_cells_lost", "no_frames_lost"},
    ),
    Wrong(
        "osu.slow_output",
        SWITCH,
        "n_to_1.qos",
        ("below_the_line",),
        {"no_cells_lost", "no_frames_lost"},
    ),
    Wrong(
        "osu.loses_some",
        SWITCH,
        "n_to_1.qos",
        ("below_the_line",),
        {"no_cells_lost", "no_frames_lost"},
    ),
    Wrong(
        "osu.early_discard",
        SWITCH,
        "n_to_1.qos",
        ("slightly_above", "overloaded", "flooded"),
        {"many_frames", "two_orders", "most_frames", "all_lost", "none_per_second"},
    ),
    Wrong("osu.early_discard", SWITCH, "n_to_1.qos", ("throughput",), {"greatest", "falls"}),
    Wrong(
        "osu.loses_some",
        SWITCH,
        "n_to_1.qos",
        ("even_below_the_line",),
        {"jains_index", "to_a_frame[0]"},
    ),
    Wrong("osu.slow_output", SWITCH, "latency.qos", ("catches_up",), {"none_lost"}),
    Wrong(
        "osu.constant_transit",
        SWITCH,
        "latency.qos",
        ("without_background", "readings"),
        {"last_cell", "as_mimo", "a_tenth", "first_half", "later"},
    ),
    Wrong(
        "osu.last_bit_first",
        MONITOR,
        "latency.qos",
        ("alone", "readings"),
        {"mean", "above_theory", "first_cell", "last_cell"},
    ),
    Wrong(
        "osu.ideal_monitor",
        MONITOR,
        "latency.qos",
        ("alone",),
        {"mean", "above_theory", "ticks_below", "ticks_above"},
    ),
    Wrong(
        "osu.separate_queues",
        FABRIC,
        "background.qos",
        ("bursts_behind:load=97%", "steady_behind:load=95%"),
        {"long_frames", "short_frames", "cells_lost", "frames_lost"},
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
    ),
    Wrong("osu.slow_fabric", FABRIC, "background.qos", ("short_bursts_behind",), {"first_cells"}),
    Wrong(
        "osu.no_priority",
        FABRIC,
        "background.qos",
        ("steady_behind:load=95%",),
        {"cells_lost", "frames_lost"},
    ),
]
