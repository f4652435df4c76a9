"""Wrong devices of `suites/tcp`, and how they are noticed."""

from replacing import Wrong

HOLDS_NOTHING = {
    f"{size} B\n  nagle = waits": f"{size} B\n  nagle = waits and not waits"
    for size in ("4_096", "100")
}
"""A stack without Nagle's algorithm, whatever it is told."""

WRONG = [
    Wrong(
        "tcp.unlimited",
        "stacks",
        "closed_forms.qos",
        ("a_window_in_each_round_trip:size=1_460B,buffer=65_535B,segments=44",),
        {"window"},
    ),
    Wrong(
        "tcp.counts_segments",
        "stacks",
        "closed_forms.qos",
        ("a_window_in_each_round_trip:size=536B,buffer=65_535B,segments=122",),
        {"window"},
    ),
    Wrong(
        "tcp.fixed_window",
        "stacks",
        "closed_forms.qos",
        ("losses_at_intervals:period=2_400", "a_bottleneck:room=1"),
        {"window", "three_quarters"},
    ),
    Wrong(
        "tcp.acknowledges_each",
        "stacks",
        "closed_forms.qos",
        (
            "losses_at_intervals:period=4_800",
            "losses_at_short_intervals:period=192",
            "the_ceiling_of_fast_ethernet",
        ),
        {"window", "acknowledgements"},
    ),
    Wrong(
        "tcp.newreno_for_cubic",
        "controls",
        "closed_forms.qos",
        ("cubic_between_losses",),
        {"between"},
    ),
    Wrong(
        "tcp.holds_nothing",
        "writers",
        "anomaly.qos",
        ("a_larger_buffer_is_slower:room=24_576B",),
        {"slow"},
        changes=HOLDS_NOTHING,
    ),
    Wrong(
        "tcp.holds_nothing",
        "writers",
        "closed_forms.qos",
        ("write_write_read:waits=true",),
        {"transaction"},
        changes=HOLDS_NOTHING,
    ),
    Wrong(
        "tcp.announces_little",
        "writers",
        "anomaly.qos",
        ("a_larger_buffer_is_slower:room=24_576B",),
        {"slow"},
        changes={"windows = bsd": "windows = standard"},
    ),
    Wrong(
        "tcp.drops_early",
        "markers",
        "marks.qos",
        ("a_window_between_marks",),
        {"marked", "never_again"},
        changes={"      ecn = true\n": ""},
    ),
    Wrong(
        "tcp.halves",
        "markers",
        "marks.qos",
        ("a_sawtooth_of_dctcp",),
        {"amplitude"},
        changes={"algorithm = dctcp": "algorithm = newreno"},
    ),
]
