"""Wrong devices of `suites/rfc6349`, and how they are noticed."""

from replacing import Wrong

QUEUE = """device queueing {{
  port inner, outer: packet
  out, back = fifo {{ limit = {} pkt }}"""

WRONG = [
    Wrong(
        "rfc6349.drops_soon",
        "paths",
        "examples.qos",
        ("a_buffer:size=170.82kB", "a_large_window:size=64_000B"),
        {"buffer_delay", "by_64_kB"},
        changes={QUEUE.format(100): QUEUE.format(4)},
    ),
    Wrong(
        "rfc6349.loses_more",
        "paths",
        "examples.qos",
        ("an_efficiency:size=64_000B",),
        {"efficiency"},
        changes={"every = 51": "every = 26"},
    ),
    Wrong(
        "rfc6349.round_trip_each_way",
        "paths",
        "examples.qos",
        ("a_t3", "a_small_window:size=16_000B"),
        {"least_window", "by_16_kB"},
        changes={"length = (round_trip - both) / 2": "length = (round_trip - both)"},
    ),
]
