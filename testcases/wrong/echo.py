"""Wrong devices of `suites/echo`, and how they are noticed."""

from replacing import Wrong

GATEWAYS = "gateways"

WRONG = [
    Wrong(
        "echo.two_processors",
        GATEWAYS,
        "request_answer.qos",
        ("throughput_follows_the_window:size=32", "throughput_follows_the_window:size=128"),
        {"never_above", "beyond"},
    ),
    Wrong(
        "echo.small_queue",
        GATEWAYS,
        "request_answer.qos",
        ("throughput_follows_the_window:size=64", "throughput_follows_the_window:size=128"),
        {"never_twice"},
    ),
]
