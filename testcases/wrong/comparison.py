"""Wrong devices of `suites/comparison`, and how they are noticed."""

from replacing import Wrong

WRONG = [
    Wrong(
        "comparison.equal_weights",
        "routers",
        "schedulers.qos",
        ("shares:discipline=drr",),
        {"voice_share", "video_share", "bulk_share"},
    ),
    Wrong(
        "comparison.no_priority",
        "routers",
        "schedulers.qos",
        ("isolation:discipline=strict",),
        {"voice_lost", "video_lost", "voice_longest", "video_longest"},
    ),
    Wrong(
        "comparison.forged_for_nothing",
        "std.devices.crypto_gateways",
        "crypto_gateways.qos",
        ("forged_packets_take_their_time:gateway=gateways.in_software",),
        {"busy"},
        changes={
            "  outer.rx -> decrypt -> cpu.entry[1]\n  cpu.exit[0] -> encrypt": (
                "  outer.rx -> decrypt -> check -> cpu.entry[1]\n  cpu.exit[0] -> encrypt"
            ),
            "  cpu.exit[1] -> check -> back": "  cpu.exit[1] -> back",
        },
    ),
]
