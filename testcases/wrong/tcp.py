"""Wrong devices of `suites/tcp`, and how they are noticed."""

from replacing import Wrong

HOLDS_NOTHING = {
    f"{size} B\n  nagle = waits": f"{size} B\n  nagle = waits and not waits"
    for size in ("4_096", "100")
}
"""A stack without Nagle's algorithm, whatever it is told."""

CUT_ANEW = "a_segment_that_is_cut_anew"

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
    Wrong(
        "tcp.clamps_what_goes_out",
        "clamps",
        "segments.qos",
        ("the_line_by_what_is_announced:most=1_000B",),
        {"ceiling"},
        changes={"back = clamp_mss { mss = most }": "back = clamp_mss { mss = most + 9_000 B }"},
    ),
    Wrong(
        "tcp.clamps_with_headers",
        "clamps",
        "segments.qos",
        ("the_line_by_what_is_announced:most=1_398B",),
        {"ceiling"},
        changes={"back = clamp_mss { mss = most }": "back = clamp_mss { mss = most - 40 B }"},
    ),
    *(
        Wrong(
            f"tcp.{name}",
            "clamps",
            "segments.qos",
            ("pages_by_what_is_announced:most=1_398B",),
            {"segments"},
            changes={
                "there = clamp_mss { mss = most }": f"there = clamp_mss {{ mss = most {more} }}"
            },
        )
        for name, more in (
            ("clamps_what_comes_back", "+ 9_000 B"),
            ("clamps_the_client_with_headers", "- 40 B"),
        )
    ),
    *(
        Wrong(f"tcp.{name}", "tellers", "path_mtu.qos", (case,), noticed, changes=changes)
        for name, case, noticed, changes in (
            (
                "names_no_mtu",
                f"{CUT_ANEW}:mtu=1_400B,by_name=true,steps=1",
                {"time", "lost", "told"},
                {"next_hop_mtu = by_name": "next_hop_mtu = by_name and not by_name"},
            ),
            (
                "tells_nobody",
                f"{CUT_ANEW}:mtu=1_400B,by_name=true,steps=1",
                {"told"},
                {
                    "  fit.back -> inner.tx": "  sort = classify { notices = pkt.size == 56 B,"
                    " acks = otherwise }\n  fit.back -> sort\n  sort.notices -> discard\n"
                    "  sort.acks -> inner.tx"
                },
            ),
            (
                "forgets_what_it_was_told",
                "a_window_that_is_cut_anew:mtu=1_400B",
                {"again", "lost", "told"},
                {"path_mtu_discovery = true": "path_mtu_discovery = true, rediscover_after = 1 ms"},
            ),
            (
                "counts_frames_in_an_mtu",
                "the_line_by_what_is_learnt:mtu=1_400B,by_name=true,packet=1_400B",
                {"ceiling"},
                {"tell_mtu { mtu = mtu": "tell_mtu { mtu = mtu - 18 B"},
            ),
        )
    ),
    Wrong(
        "tcp.acknowledges_each_piece",
        "pieces",
        "buffers.qos",
        (
            "buffers_of_netperf:held=true,room=16_384B",
            "buffers_of_netperf:held=true,room=40_960B",
        ),
        {"one_write", "low"},
        changes={"ack_every = 2 if held else 1": "ack_every = 1"},
    ),
    Wrong(
        "tcp.acknowledges_as_it_begins",
        "beginners",
        "slow_start.qos",
        ("slow_start_fills_a_path:acknowledged=2,round_trips=19,is_full=false",),
        {"not_yet"},
        changes={"ack_every = acknowledged": "ack_every = 1 + 0 * acknowledged"},
    ),
    Wrong(
        "tcp.begins_with_two",
        "beginners",
        "slow_start.qos",
        ("slow_start_fills_a_path:acknowledged=1,round_trips=10,is_full=false",),
        {"not_yet", "doubled"},
        changes={"initial_window = 1": "initial_window = 2"},
    ),
    Wrong(
        "tcp.discards_nothing_early",
        "switches",
        "cells.qos",
        ("cells_are_lost:threshold=500",),
        {"most"},
        changes={"at = threshold * 1 cell": "at = (1_000 + 0 * threshold) * 1 cell"},
    ),
    Wrong(
        "tcp.always_discards_early",
        "switches",
        "cells.qos",
        ("cells_are_lost:threshold=1_000",),
        {"far_below"},
        changes={"at = threshold * 1 cell": "at = (500 + 0 * threshold) * 1 cell"},
    ),
]
