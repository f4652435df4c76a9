"""Wrong devices of `suites/mpoa`, and how they are noticed."""

from replacing import Wrong

MPOA = "std.devices.mpoa"
LANE = "std.devices.lane"
FLOWS = (
    "after_so_many_packets:vendor=cabletron,connections=1",
    "after_so_many_packets:vendor=cisco,connections=1",
)
ASKED = """state idle {
      on west.resolution_request -> asking_east {
        after = thinking
        send = ["""
ASKED_AGAIN = """{ send = [west.resolution_reply], start = [valid] }
      on west.resolution_request -> asking_east {"""

WRONG = [
    *(
        Wrong(
            f"mpoa.{name}",
            "bench",
            "routed.qos",
            cases,
            criteria,
            changes={"1 s / 65_000": f"1 s / {rate}"},
        )
        for name, rate, cases, criteria in (
            ("slow_router", "55_000", ("figure_7_below_the_knee:size=64B",), {"none_lost"}),
            (
                "slower_by_4_percent",
                "62_400",
                ("wire_speed:frames=1_000_000,size=64B,load=43.5%",),
                {"all"},
            ),
            ("fast_router", "75_000", ("figure_7_above_the_knee:size=64B",), {"lost"}),
            ("faster_by_4_percent", "67_600", ("figure_7_above_the_knee:size=128B",), {"lost"}),
        )
    ),
    *(
        Wrong(
            f"mpoa.{name}",
            "bench",
            "routed.qos",
            ("figure_3:load=100%,room=1_000pkt", "figure_3:load=100%,room=182pkt"),
            {"long", "backlog"},
            changes={"media.tagged_fast_ethernet": medium},
        )
        for name, medium in (
            ("router_without_a_tag", "media.fast_ethernet"),
            ("router_on_gigabit_ethernet", "media.tagged_gigabit_ethernet"),
        )
    ),
    *(
        Wrong(
            f"mpoa.{name}",
            MPOA,
            "shortcuts.qos",
            cases,
            criteria,
            changes=changes,
        )
        for name, cases, criteria, changes in (
            (
                "a_packet_early",
                FLOWS,
                {"long_way", "shortcut"},
                {"seen + 1 < frames": "seen + 2 < frames"},
            ),
            (
                "sends_both_ways_at_the_change",
                ("overtaking", "flushed"),
                {"none_twice"},
                {
                    "to_lan, to_elan, to_direct = fifo { limit = buffer }": (
                        "to_lan, to_elan, to_direct = fifo { limit = buffer }\n"
                        "  twice = duplicate { first = 1, count = 20 }"
                    ),
                    "path.shortcut -> to_direct": "path.shortcut -> twice -> to_direct",
                },
            ),
            (
                "a_packet_late",
                FLOWS,
                {"long_way", "shortcut"},
                {"seen + 1 < frames": "seen < frames"},
            ),
            (
                "flushes_past_the_router",
                ("flushed",),
                {"in_order"},
                {
                    "ports = [west, east, trunk]": "ports = [west, east]",
                    "  resolve.trunk -> to_trunk\n": "",
                    **{
                        f"-> {state} {{ send = [trunk.flush_request]": (
                            f"-> {state} {{ send = [east.flush_request]"
                        )
                        for state in ("idle", "asking_east", "serving_west")
                    },
                },
            ),
            (
                "counts_for_ever",
                ("so_many_within_a_second:rate=8pkt_per_s", "a_second_that_begins_anywhere"),
                {"none", "eleven"},
                {"seen: window": "seen: 100 h", "on quiet -> idle": "on quiet -> counting"},
            ),
            (
                "counts_from_a_first_packet",
                ("a_second_that_begins_anywhere",),
                {"eleven"},
                {
                    "windows = { seen: window }\n": "",
                    "values = { used: 0 }": "values = { used: 0, seen: 0 }",
                    "> 1 -> counting { count = [seen], start": (
                        "> 1 -> counting { set = { seen: 1 }, start"
                    ),
                    "< frames -> counting { count = [seen], start = [quiet] }": (
                        "< frames -> counting { set = { seen: seen + 1 } }"
                    ),
                },
            ),
            (
                "counts_what_is_a_second_old",
                ("so_many_within_a_second:rate=9pkt_per_s",),
                {"none"},
                {"seen: window": "seen: window + 1 us", "quiet: window": "quiet: 2 * window"},
            ),
            (
                "counts_all_flows",
                ("after_so_many_packets:vendor=cisco,connections=3",),
                {"long_way", "shortcut"},
                {"instances = flows\n    size = 112 B\n\n": "size = 112 B\n\n"},
            ),
            (
                "forgets_shortcuts",
                ("after_so_many_packets:vendor=cisco,connections=1",),
                {"long_way", "shortcut"},
                {
                    "on peer.connect -> established { stop = [t303], start = [": (
                        "on peer.connect -> established { stop = [t303], start = [quiet, "
                    ),
                    "forward = shortcut\n": "forward = shortcut\n      on quiet -> idle\n",
                },
            ),
            (
                "asks_once",
                ("a_lost_message:lost=1", "a_lost_message:lost=4"),
                {"long_way"},
                {
                    "on retry -> resolving { send = [server.resolution_request]": (
                        "on retry -> resolving { send = [peer.setup]"
                    )
                },
            ),
            (
                "calls_once",
                ("a_lost_message:lost=5", "a_lost_message:lost=6"),
                {"long_way"},
                {
                    "on t303 -> connecting { send = [peer.setup]": (
                        "on t303 -> connecting { send = [server.resolution_request]"
                    )
                },
            ),
            (
                "server_asks_once",
                ("a_lost_message:lost=2", "a_lost_message:lost=3"),
                {"long_way"},
                {
                    f"{ASKED_AGAIN}\n        after = thinking\n"
                    "        send = [east.imposition_request]\n": ASKED_AGAIN
                },
            ),
            *(
                (
                    name,
                    ("messages_in_order",),
                    {criterion},
                    {f"{ASKED}east.imposition_request]": f"{ASKED}{sent}]"},
                )
                for name, sent, criterion in (
                    ("never_asks_the_egress", "west.resolution_reply", "asked"),
                    (
                        "answers_before_the_egress",
                        "east.imposition_request, west.resolution_reply",
                        "resolved",
                    ),
                )
            ),
        )
    ),
    *(
        Wrong(f"mpoa.{name}", MPOA, "caches.qos", (case,), criteria, changes=changes)
        for name, case, criteria, changes in (
            (
                "never_ages",
                "ages_out_of_use",
                {"again"},
                {
                    "on aged -> idle { send = [peer.release], stop = [retry, refresh],": (
                        "on aged -> established { stop = [retry, refresh],"
                    )
                },
            ),
            (
                "ages_in_use",
                "refreshed_in_use",
                {"kept", "called_once"},
                {
                    "stop = [retry], start = [refresh, aged] }\n      on aged": (
                        "stop = [retry], start = [refresh] }\n      on aged"
                    )
                },
            ),
            (
                "refreshes_out_of_use",
                "ages_out_of_use",
                {"again"},
                {"on refresh where used == 1 ->": "on refresh where used <= 1 ->"},
            ),
            (
                "refreshes_when_it_is_late",
                "refreshed_in_use",
                {"refreshed"},
                {"refresh: 2 * holding / 3": "refresh: 9 * holding / 10"},
            ),
            (
                "keeps_what_is_purged",
                "purged",
                {"again"},
                {
                    "purge_request -> idle {\n        send = [server.purge_reply, peer.": (
                        "purge_request -> established {\n        send = [server.purge_reply, peer."
                    )
                },
            ),
            (
                "holds_the_connection",
                "purged",
                {"released"},
                {"send = [server.purge_reply, peer.release]": "send = [server.purge_reply]"},
            ),
            (
                "never_purges",
                "purged",
                {"again"},
                {
                    "on valid -> purging_west { send = [west.purge_request], start = [retry] }": (
                        "on valid -> purging_west { start = [retry] }"
                    )
                },
            ),
        )
    ),
    *(
        Wrong(
            f"mpoa.{name}",
            "bench",
            "routed.qos",
            cases,
            {"cells"},
            changes=changes,
        )
        for name, cases, changes in (
            (
                "shortcut_by_lan_emulation",
                ("cells_of_a_shortcut:size=91B", "cells_of_a_shortcut:size=94B"),
                {"encapsulation = mpoa_tagged": "encapsulation = lane"},
            ),
            (
                "packets_without_headers",
                ("cells_of_a_frame:size=91B",),
                {"encapsulation = lane": "encapsulation = vc_multiplexed"},
            ),
            (
                "another_adaptation_layer",
                ("cells_of_a_frame:size=90B",),
                {"aal = aal5": "aal = aal3_4"},
            ),
        )
    ),
    Wrong(
        "mpoa.client_calls_the_nearest",
        LANE,
        "emulated_lan.qos",
        ("by_the_bus_at_first",),
        {"called"},
        changes={
            """        set = { requests: requests + 1 }
      }
      on le_arp_response -> connecting {
        send = [peer.setup]
        call = { peer: destination }
        stop = [repeat, more]
        start = [t303]
      }
    }
    state connecting""": """        set = { requests: requests + 1 }
      }
      on le_arp_response -> connecting {
        send = [peer.setup]
        stop = [repeat, more]
        start = [t303]
      }
    }
    state connecting"""
        },
    ),
    Wrong(
        "mpoa.client_sends_all_to_the_bus",
        LANE,
        "emulated_lan.qos",
        ("a_station_that_nobody_has:unknown=1", "what_is_lost_is_repeated"),
        {"by_the_bus", "the_others", "held"},
        changes={"state holding {\n      forward = discard\n": "state holding {\n"},
    ),
    Wrong(
        "mpoa.client_asks_once",
        LANE,
        "emulated_lan.qos",
        ("what_is_lost_is_repeated",),
        {"repeated", "by_the_bus"},
        changes={
            """on repeat -> holding {
        send = [resolver.le_arp_request]
        start = [repeat]
        set = { requests: requests + 1 }
      }""": "on repeat -> holding"
        },
    ),
    Wrong(
        "mpoa.client_does_not_flush",
        LANE,
        "emulated_lan.qos",
        ("none_is_overtaken",),
        {"in_order", "discarded"},
        changes={
            """state flushing {
      forward = discard
""": """state flushing {
      forward = vcc
"""
        },
    ),
    Wrong(
        "mpoa.client_keeps_what_is_unused",
        LANE,
        "emulated_lan.qos",
        ("released_when_unused",),
        {"each_time"},
        changes={
            "on unused -> idle { send = [peer.release], set = { sent: 0 } }": (
                "on unused -> connected { start = [unused] }\n"
                "      on peer.connect -> idle { send = [peer.release] }"
            )
        },
    ),
]
