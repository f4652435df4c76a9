"""Wrong devices of `suites/rfc6349`, and how they are noticed."""

from replacing import Wrong

QUEUE = """device queueing {{
  port inner, outer: packet
  out, back = fifo {{ limit = {} pkt }}"""

WRONG = [
    Wrong(
        "rfc6349.drops_soon",
        "gateways",
        "examples.qos",
        ("a_buffer:size=170.82kB", "a_large_window:size=64_000B"),
        {"buffer_delay", "by_64_kB"},
        changes={QUEUE.format(100): QUEUE.format(4)},
    ),
    Wrong(
        "rfc6349.loses_more",
        "gateways",
        "examples.qos",
        ("an_efficiency:size=64_000B",),
        {"efficiency"},
        changes={"every = 51": "every = 26"},
    ),
]
