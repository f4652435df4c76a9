"""Wrong devices of `suites/packets`, and how they are noticed."""

from replacing import Wrong

QUEUES, METERS, BRIDGES, MEMORIES = "queues", "meters", "bridges", "memories"
AQM, PROFILES, STREAMS = "active_queues.qos", "profiles.qos", "time_sensitive.qos"
SHARED = "shared_memory.qos"
FLOW_CONTROL, PAUSES = "flow_control", "pauses.qos"
WEIGHTED, TURNS = "weighted", "weighted_turns.qos"
OVER_10_KM = "enough:room=19pkt,distance=10km"
ORDER = "[nc1, af4, af3, af2, af1, be1]"

WRONG = [
    Wrong(
        "packets.half_interval",
        QUEUES,
        AQM,
        ("the_control_law",),
        {"ten"},
        changes={"codel { limit = 1_000 pkt }": "codel { limit = 1_000 pkt, interval = 50 ms }"},
    ),
    Wrong(
        "packets.short_target",
        QUEUES,
        AQM,
        ("a_delay_at_its_target:load=11Mbit_per_s-line",),
        {"held"},
        changes={"pie { limit = 1_000 pkt }": "pie { limit = 1_000 pkt, target = 12 ms }"},
    ),
    Wrong(
        "packets.one_queue",
        QUEUES,
        AQM,
        ("a_call_beside_downloads", "shares_in_bytes"),
        {"waits", "large_rate", "small_rate"},
        changes={"fq_codel { limit = 10_240 pkt }": "fq_codel { limit = 10_240 pkt, flows = 1 }"},
    ),
    Wrong(
        "packets.coupled_by_one",
        QUEUES,
        AQM,
        ("two_queues_one_probability",),
        {"marked"},
        changes={"dualpi2 { limit = 10_000 pkt }": "dualpi2 { limit = 10_000 pkt, coupling = 1 }"},
    ),
    Wrong(
        "packets.nobody_first",
        QUEUES,
        AQM,
        ("two_queues_one_probability",),
        {"first"},
        changes={"dualpi2 { limit = 10_000 pkt }": "dualpi2 { limit = 10_000 pkt, shift = 0 ms }"},
    ),
    Wrong(
        "packets.uniform_gaps",
        QUEUES,
        AQM,
        ("between_the_thresholds",),
        {"queue"},
        changes={"      spacing = geometric\n": ""},
    ),
    Wrong(
        "packets.best_effort_first",
        QUEUES,
        "strict_priority.qos",
        ("losses_by_class",),
        {"loss[3]"},
        changes={
            f"strict {{ order = {ORDER} }}": "strict { order = [be1, af1, af2, af3, af4, nc1] }"
        },
    ),
    Wrong(
        "packets.short_window",
        BRIDGES,
        STREAMS,
        ("a_frame_that_fits",),
        {"three"},
        changes={"{ urgent: 100 us, bulk: 400 us }": "{ urgent: 140 us, bulk: 360 us }"},
    ),
    Wrong(
        "packets.no_gates",
        BRIDGES,
        STREAMS,
        ("a_frame_that_fits",),
        {"three"},
        changes={
            "gates { open = { urgent: 100 us, bulk: 400 us } }": "strict { order = [urgent, bulk] }"
        },
    ),
    Wrong(
        "packets.never_closed",
        BRIDGES,
        STREAMS,
        ("a_frame_that_fits",),
        {"in_time"},
        changes={"{ urgent: 100 us, bulk: 400 us }": "{ urgent: 100 us, bulk: 500 us }"},
    ),
    Wrong(
        "packets.no_credit",
        BRIDGES,
        STREAMS,
        ("the_idle_slope", "the_idle_slope_alone"),
        {"reserved", "left"},
        changes={"75 Mbit/s @line": "99 Mbit/s @line"},
    ),
    Wrong(
        "packets.others_first",
        BRIDGES,
        STREAMS,
        ("behind_one_frame",),
        {"in_time"},
        changes={"strict { order = [urgent, bulk] }": "strict { order = [bulk, urgent] }"},
    ),
    Wrong(
        "packets.all_in_one_bucket",
        BRIDGES,
        STREAMS,
        ("in_order_of_arrival",),
        {"behind"},
        changes={"max_residence = 10 ms": "max_residence = 10 ms, streams = all"},
    ),
    Wrong(
        "packets.twice_the_burst",
        BRIDGES,
        STREAMS,
        ("in_order_of_arrival",),
        {"last"},
        changes={
            "cbs = 200 B @ip, max_residence = 10 ms": "cbs = 400 B @ip, max_residence = 10 ms"
        },
    ),
    Wrong(
        "packets.patient",
        BRIDGES,
        STREAMS,
        ("no_longer_than_it_may",),
        {"one_of_four", "in_time"},
        changes={"max_residence = 1 ms": "max_residence = 2 ms"},
    ),
    Wrong(
        "packets.counts_packets",
        METERS,
        PROFILES,
        ("frames_are_counted:size=40B-ip", "frames_are_counted:size=1_500B-ip"),
        {"rate"},
        changes={"10 Mbit/s @frame, cbs = 20_000 B @frame": "10 Mbit/s @ip, cbs = 20_000 B @ip"},
    ),
    Wrong(
        "packets.never_coupled",
        METERS,
        PROFILES,
        ("tokens_that_go_on:kind=meters.coupled",),
        {"rate"},
        changes={"profile { coupling = true }": "profile"},
    ),
    Wrong(
        "packets.half_alpha",
        MEMORIES,
        SHARED,
        ("one_dynamic", "three_dynamic"),
        {"threshold", "not_full"},
        changes={"alpha = 2": "alpha = 1"},
    ),
    Wrong(
        "packets.no_threshold",
        MEMORIES,
        SHARED,
        ("one_dynamic", "three_dynamic"),
        {"threshold", "not_full", "alike"},
        changes={", alpha = 2": ""},
    ),
    Wrong(
        "packets.one_more",
        MEMORIES,
        SHARED,
        ("one_static",),
        {"threshold"},
        changes={"threshold = 300 pkt": "threshold = 301 pkt"},
    ),
    Wrong(
        "packets.alike",
        WEIGHTED,
        TURNS,
        ("four_to_one:high=24,more=50%,less=50%,high_passes=80%,low_passes=20%",),
        {"high", "low"},
        changes={"af3: weights[0]": "af3: weights[1]"},
    ),
    Wrong(
        "packets.as_printed",
        WEIGHTED,
        TURNS,
        ("one_to_one:more=40%", "one_to_one:more=50%"),
        {"high", "low"},
        changes={"be1: weights[3]": "be1: 4 * weights[3]"},
    ),
    Wrong(
        "packets.halves",
        WEIGHTED,
        TURNS,
        ("mixed:be1=4",),
        {"part[5]", "part[6]"},
        changes={"be1: weights[3]": "be1: weights[4]", "be0: weights[4]": "be0: weights[3]"},
    ),
    Wrong(
        "packets.deaf",
        FLOW_CONTROL,
        PAUSES,
        (OVER_10_KM, "both_ways"),
        {"whole"},
        changes={
            "told.frames -> out.heard": (
                "gone = lose { probability = 100% }\n  told.frames -> gone -> out.heard"
            )
        },
    ),
    Wrong(
        "packets.slow_to_obey",
        FLOW_CONTROL,
        PAUSES,
        (OVER_10_KM, "both_ways"),
        {"whole"},
        changes={
            "told.frames -> out.heard": (
                "late = delay { time = 12.31 us }\n  told.frames -> late -> out.heard"
            )
        },
    ),
    Wrong(
        "packets.tells_early",
        FLOW_CONTROL,
        PAUSES,
        (OVER_10_KM, "one_less:room=18pkt"),
        {"used", "lost"},
        changes={"limit = room, xoff = 10 pkt": "limit = room, xoff = 9 pkt"},
    ),
    Wrong(
        "packets.stops_bulk_alone",
        FLOW_CONTROL,
        PAUSES,
        ("all_stop",),
        {"late"},
        changes={
            "xon = 5 pkt }": "xon = 5 pkt, priorities = { bulk: 3 } }",
            "class.bulk -> wait\n": "class.bulk -> wait.bulk\n",
        },
    ),
    Wrong(
        "packets.bulk_first",
        FLOW_CONTROL,
        PAUSES,
        ("a_class_alone",),
        {"in_time"},
        changes={
            f"limit = {limit} pkt, {told}priorities = {{ urgent: 5, bulk: 3 }}": (
                f"limit = {limit} pkt, {told}priorities = {{ urgent: 3, bulk: 5 }}"
            )
            for limit, told in (("100_000", ""), ("20", "xoff = 10 pkt, "))
        },
    ),
]
