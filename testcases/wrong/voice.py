"""Wrong devices of `suites/voice`, and how they are noticed."""

from replacing import Wrong

NETWORKS = "networks"

WRONG = [
    Wrong("voice.slow", NETWORKS, "calls.qos", ("capacity:speech=20ms",), {"number"}),
    Wrong(
        "voice.loses_more",
        NETWORKS,
        "calls.qos",
        ("losses:codec=g711", "losses:codec=g711_plc", "late_packets"),
        {"lost", "rating"},
    ),
]
