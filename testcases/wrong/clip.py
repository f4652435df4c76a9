"""Wrong devices of `suites/clip`, and how they are noticed."""

from replacing import Wrong

WRONG = [
    Wrong(
        "clip.by_packet_alone",
        "hosts",
        "throughput.qos",
        ("goodput_by_size:packet=1_500B", "goodput_by_size:packet=9_180B"),
        {"by_hand", "calibrated", "larger_give_more"},
    ),
    Wrong(
        "clip.acknowledges_each",
        "hosts",
        "throughput.qos",
        ("figure_11_begins",),
        {"by_hand", "about_5"},
        changes={"  ack_timer = 100 ms": "  ack_every = 1\n  ack_timer = 100 ms"},
    ),
    Wrong(
        "clip.holds_what_is_short",
        "hosts",
        "throughput.qos",
        ("figure_11_begins",),
        {"by_hand", "about_5"},
        changes={"nagle = false": "nagle = true"},
    ),
]
