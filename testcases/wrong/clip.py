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
]
