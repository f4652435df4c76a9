"""Wrong devices of suites whose machines exchange messages: passages of the right ones, changed."""

from collections.abc import Mapping

from replacing import Wrong

EXCHANGES = "std.devices.signalling"
MPOA = "std.devices.mpoa"
FLOWS = (
    "after_so_many_packets:vendor=cabletron,connections=1",
    "after_so_many_packets:vendor=cisco,connections=1",
)
ASKED = """state idle {
      on west.resolution_request -> asking_east {
        after = thinking
        send = ["""
ASKED_AGAIN = """on east.imposition_reply -> idle { send = [west.resolution_reply] }
      on west.resolution_request -> asking_east {"""
KEY_AGREEMENT = "std.devices.key_agreement"


def change_server(period: int, place: int, answer: str) -> Mapping[str, str]:
    """Return changes by which a second server, as fast as the first, has some of the agreements.

    Of so many in a row, `period`, it takes that at `place`, from 0, and none if there are fewer.
    When it is done, the call has its key with `client.agreed`, and waits for the first server like
    any other with `first.agree`.
    """
    return {
        "call.server -> inside -> keys.client\n  keys.client -> call.server\n": """\
call.server -> inside -> sort.client
  sort.client -> call.server
  ahead, beside = delay { time = 1 us }
  sort.first -> ahead -> keys.client
  keys.client -> sort.first
  sort.second -> beside -> others.client
  others.client -> sort.second

  machine sort {
    ports = [client, first, second]
    messages = { agree: [], agreed: [], failed: [] }
    counters = { asked: 0 }
    state sorting {
      on client.agree where asked == PLACE -> sorting {
        send = [second.agree]
        set = { asked: (asked + 1) * min(1, PERIOD - 1 - asked) }
      }
      on client.agree -> sorting {
        send = [first.agree]
        set = { asked: (asked + 1) * min(1, PERIOD - 1 - asked) }
      }
      on first.agreed -> sorting { send = [client.agreed] }
      on first.failed -> sorting { send = [client.failed] }
      on second.agreed -> sorting { send = [ANSWER] }
    }
  }

  machine others {
    ports = [client]
    messages = { agree: [], agreed: [] }
    state free {
      on agree -> free { after = agreement, send = [agreed] }
    }
  }
""".replace("PLACE", str(place))
        .replace("PERIOD", str(period))
        .replace("ANSWER", answer)
    }


WRONG_CALLS = [
    Wrong(
        "signalling.keeps_calls",
        EXCHANGES,
        "calls.qos",
        ("one_call", "one_by_one", "no_capacity"),
        {"released", "none_refused", "all_free_again"},
        changes={
            """state active {
      on caller.connect_acknowledge -> active
      on caller.release -> releasing {
        after = processing
        send = [caller.release_complete, callee.release]
        start = [t308]
        set = { free: free + rate }
      }""": """state active {
      on caller.connect_acknowledge -> active
      on caller.release -> active {
        after = processing
        send = [caller.release_complete, callee.release]
      }"""
        },
    ),
    Wrong(
        "signalling.leaves_late_answers",
        EXCHANGES,
        "calls.qos",
        ("an_answer_too_late",),
        {"cleared"},
        changes={"on connect -> over { send = [release_complete] }\n": ""},
    ),
    Wrong(
        "eantc.two_keys_at_a_time",
        KEY_AGREEMENT,
        "signalling.qos",
        ("set_up_times:class=ubr", "the_most_calls:pace=194.9ms"),
        {"mean", "greatest", "sustained", "as_long"},
        changes=change_server(2, 1, "client.agreed"),
    ),
    Wrong(
        "eantc.last_comes_first",
        KEY_AGREEMENT,
        "signalling.qos",
        ("keys_in_order",),
        {"none_overtaken"},
        # Of each burst of three: the second comes back when the third is served.
        changes=change_server(3, 1, "first.agree"),
    ),
    Wrong(
        "eantc.does_not_queue",
        KEY_AGREEMENT,
        "signalling.qos",
        ("set_up_times:class=ubr", "keys_in_order"),
        {"sustained", "all_have_keys"},
        changes={
            "timers = { interruption: pause_after }\n    counters = { agreements: 0 }": (
                "timers = { done: agreement }\n    instances = calls\n"
                "    counters = { agreements: 0, busy: 0 }"
            ),
            "on begin -> free { start = [interruption] }\n"
            "      on interruption -> free { after = pause }\n"
            "      on agree where agreements < failures -> free {\n"
            "        after = agreement\n        send = [failed]\n"
            "        set = { agreements: agreements + 1 }\n      }\n"
            "      on agree -> free { after = agreement, send = [agreed], "
            "set = { agreements: agreements + 1 } }\n": (
                "on agree where busy == 0 -> working {\n        start = [done]\n"
                "        set = { agreements: agreements + 1, busy: 1 }\n      }\n"
                "    }\n    state working {\n"
                "      on done -> free { send = [agreed], set = { busy: 0 } }\n"
            ),
        },
    ),
    Wrong(
        "eantc.most_agreements_fail",
        KEY_AGREEMENT,
        "signalling.qos",
        (
            "set_up_times:class=ubr",
            "set_up_times:class=cbr",
            "the_most_calls:pace=195.1ms",
            "the_greatest_latency",
            "message_sets:cells=6cell",
        ),
        {"sustained", "as_long", "printed", "alike"},
        changes={
            "on agree where agreements < failures": (
                "on agree where agreements >= 3 and agreements < 87"
            )
        },
    ),
    Wrong(
        "eantc.always_sends_three_cells",
        KEY_AGREEMENT,
        "signalling.qos",
        ("message_sets:cells=6cell",),
        {"alike"},
        changes={"size = cells": "size = 3 cell"},
    ),
    Wrong(
        "eantc.keys_in_67_ms",
        KEY_AGREEMENT,
        "signalling.qos",
        ("set_up_times:class=ubr", "the_most_calls:pace=195.1ms"),
        {"mean", "greatest", "sustained", "as_long"},
        changes={"agreement: Time = 65 ms": "agreement: Time = 67 ms"},
    ),
    Wrong(
        "eantc.keys_in_50_ms",
        KEY_AGREEMENT,
        "signalling.qos",
        ("set_up_times:class=ubr", "the_most_calls:pace=194.9ms"),
        {"mean", "greatest", "sustained", "as_long"},
        changes={"agreement: Time = 65 ms": "agreement: Time = 50 ms"},
    ),
    Wrong(
        "eantc.connects_before_the_key",
        KEY_AGREEMENT,
        "signalling.qos",
        ("set_up_times:class=ubr", "without_a_key"),
        {"least", "released"},
        changes={
            "on far.connect -> exchanging { start": (
                "on far.connect -> exchanging { send = [near.connect], start"
            ),
            "-> secured { send = [near.connect] }": "-> secured",
        },
    ),
    Wrong(
        "eantc.asks_at_the_setup",
        KEY_AGREEMENT,
        "signalling.qos",
        ("set_up_times:class=ubr",),
        {"least"},
        changes={
            "values = { rate: 0 cell/s }": "values = { rate: 0 cell/s, keyed: 0 }",
            "state idle {\n      forward = discard\n"
            "      on near.setup -> calling { send = [far.setup]": (
                "state idle {\n      forward = discard\n"
                "      on near.setup -> calling { send = [far.setup, server.agree]"
            ),
            "on far.connect -> exchanging": (
                "on server.agreed -> calling { set = { keyed: 1 } }\n"
                "      on far.connect where keyed == 1 -> secured { send = [near.connect] }\n"
                "      on far.connect -> exchanging"
            ),
            "on exchanged -> agreeing { send = [server.agree] }": "on exchanged -> agreeing",
        },
    ),
    Wrong(
        "eantc.passes_without_a_key",
        KEY_AGREEMENT,
        "signalling.qos",
        ("no_cell_without_a_key",),
        {"discarded"},
        changes={"state agreeing {\n      forward = discard": "state agreeing {"},
    ),
    Wrong(
        "eantc.passes_cells_back",
        KEY_AGREEMENT,
        "signalling.qos",
        ("no_cell_without_a_key",),
        {"none_back"},
        changes={
            "keyless = lose { probability = 100% }": "",
            "from_black.rest -> keyless": "from_black.rest",
        },
    ),
    Wrong(
        "eantc.room_for_one_less",
        KEY_AGREEMENT,
        "signalling.qos",
        ("the_most_connections",),
        {"at_once", "stay"},
        changes={"calls: Int = 3_998": "calls: Int = 3_997"},
    ),
    Wrong(
        "eantc.room_for_one_more",
        KEY_AGREEMENT,
        "signalling.qos",
        ("the_most_connections",),
        {"at_once", "stay", "refused"},
        changes={"calls: Int = 3_998": "calls: Int = 3_999"},
    ),
    Wrong(
        "eantc.keeps_what_is_released",
        KEY_AGREEMENT,
        "signalling.qos",
        ("released",),
        {"free_again", "few"},
        changes={
            "on far.release_complete -> idle { send = [near.release_complete] }\n"
            "      on near.release -> clearing": (
                "on far.release_complete -> secured { send = [near.release_complete] }\n"
                "      on near.release -> clearing"
            )
        },
    ),
    Wrong(
        "eantc.exchanges_at_line_rate",
        KEY_AGREEMENT,
        "signalling.qos",
        ("a_lower_rate_takes_longer:pcr=50cell_per_s", "set_up_times:class=cbr"),
        {"longer", "least"},
        changes={"exchange / pcr": "exchange / max(pcr, 353_207 cell/s)"},
    ),
    Wrong(
        "eantc.setup_is_not_repeated",
        EXCHANGES,
        "signalling.qos",
        ("a_lost_setup", "the_greatest_latency"),
        {"one", "greatest", "printed"},
        changes={
            "on t303 where repeated == 0 -> calling {\n        send = [setup]": (
                "on t303 where repeated == 9 -> calling {\n        send = [setup]"
            )
        },
    ),
    Wrong(
        "eantc.setup_is_repeated_for_ever",
        EXCHANGES,
        "signalling.qos",
        ("the_table:class=ubr",),
        {"cleared"},
        changes={
            "send = [callee.setup]\n        start = [t303]\n        set = { repeated: 1 }": (
                "send = [callee.setup]\n        start = [t303]\n        set = { repeated: 0 }"
            )
        },
    ),
    Wrong(
        "eantc.admits_693_calls",
        EXCHANGES,
        "signalling.qos",
        ("established:class=cbr", "admitted_by_rate"),
        {"all", "admitted"},
        changes={"capacity: CellRate = 353_207 cell/s": "capacity: CellRate = 346_999 cell/s"},
    ),
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
                "a_packet_late",
                FLOWS,
                {"long_way", "shortcut"},
                {"seen + 1 < frames": "seen < frames"},
            ),
            (
                "counts_for_ever",
                ("so_many_within_a_second:rate=8pkt_per_s",),
                {"none"},
                {"on window -> idle": "on window -> counting"},
            ),
            (
                "counts_all_flows",
                ("after_so_many_packets:vendor=cisco,connections=3",),
                {"long_way", "shortcut"},
                {"instances = flows\n": ""},
            ),
            (
                "forgets_shortcuts",
                ("after_so_many_packets:vendor=cisco,connections=1",),
                {"long_way", "shortcut"},
                {
                    "on peer.connect -> established { stop = [t303] }": (
                        "on peer.connect -> established { stop = [t303], start = [window] }"
                    ),
                    "forward = shortcut\n": "forward = shortcut\n      on window -> idle\n",
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
]
