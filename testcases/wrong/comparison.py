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
]
