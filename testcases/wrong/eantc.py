"""Wrong devices of `suites/eantc`, and how they are noticed."""

from collections.abc import Mapping

from replacing import Wrong

SWITCHES = "std.devices.atm_switches"
ENCRYPTOR = "std.devices.sitline"
EXCHANGES = "std.devices.signalling"
KEY_AGREEMENT = "std.devices.key_agreement"


def change_servers(many: int) -> Mapping[str, str]:
    """Return changes by which so many agreements are made at a time, each of another call."""
    return {
        "machine keys {": f"machine keys {{\n    instances = 4_000\n    servers = {many}",
        "    timers = { interruption: pause_after }\n": "",
        "      on begin -> free { start = [interruption] }\n"
        "      on interruption -> free { after = pause }\n": "",
    }


WRONG = [
    Wrong(
        "eantc.policer_forgets",
        SWITCHES,
        "traffic_management.qos",
        ("cdvt_5_us_loses", "cdvt_policed_jointly:tolerance=5us"),
        {
            "loses_ab",
            "loses_ba",
            "closed_form_ab",
            "closed_form_ba",
            "one_per_oam_ab",
            "one_per_oam_ba",
        },
    ),
    Wrong(
        "eantc.policer_counts_oam",
        SWITCHES,
        "traffic_management.qos",
        ("cdvt_6_us_and_higher_do_not_lose:tolerance=6us",),
        {"printed_ab", "printed_ba"},
    ),
    Wrong(
        "eantc.switch_loses_oam",
        SWITCHES,
        "traffic_management.qos",
        ("cdvt_5_us_loses",),
        {"oam_never"},
    ),
    Wrong(
        "eantc.switch_loses_oam",
        SWITCHES,
        "data_plane.qos",
        ("data_plane:scenario=4",),
        {"oam_arrives_ab", "oam_arrives_ba"},
    ),
    Wrong(
        "eantc.small_buffers",
        SWITCHES,
        "data_plane.qos",
        ("connections_at_random:scenario=1", "connections_at_random:scenario=2"),
        {"no_loss_ab", "no_loss_ba"},
    ),
    Wrong(
        "eantc.priorities_reversed",
        SWITCHES,
        "mechanisms.qos",
        (
            "real_time_first:switch=switches.catalyst_8540",
            "real_time_first:switch=switches.tnx",
            "real_time_first:switch=switches.forerunner_le155",
        ),
        {"cbr_waits_for_two", "vbr_waits_for_two"},
    ),
    Wrong(
        "eantc.no_insertion",
        ENCRYPTOR,
        "traffic_management.qos",
        ("cdvt_5_us_loses", "delay_variation_grows"),
        {"loses_ab", "loses_ba", "grows_ab", "grows_ba"},
    ),
    Wrong(
        "eantc.oam_elsewhere",
        ENCRYPTOR,
        "traffic_management.qos",
        ("cdvt_5_us_loses", "delay_variation_grows"),
        {"loses_ab", "loses_ba", "grows_ab", "grows_ba"},
    ),
    Wrong(
        "eantc.rare_oam",
        ENCRYPTOR,
        "traffic_management.qos",
        ("cdvt_5_us_loses",),
        {"oam_rate_ab", "oam_rate_ba"},
    ),
    Wrong(
        "eantc.keeps_oam",
        ENCRYPTOR,
        "traffic_management.qos",
        ("oam_ends_at_the_far_encryptor",),
        {"from_encryptor_to_encryptor_ab", "from_encryptor_to_encryptor_ba"},
    ),
    Wrong(
        "eantc.slow",
        ENCRYPTOR,
        "data_plane.qos",
        ("data_plane:scenario=4",),
        {"delay_ab", "delay_ba"},
    ),
    Wrong(
        "eantc.two_keys_at_a_time",
        KEY_AGREEMENT,
        "signalling.qos",
        ("set_up_times:class=ubr", "the_most_calls:pace=194.9ms", "the_highest_rate"),
        {"mean", "greatest", "sustained", "as_long", "one_key_each"},
        changes=change_servers(2),
    ),
    Wrong(
        "eantc.last_comes_first",
        KEY_AGREEMENT,
        "signalling.qos",
        ("keys_in_order",),
        {"none_overtaken", "second", "third"},
        changes={"machine keys {": "machine keys {\n    order = last_come"},
    ),
    Wrong(
        "eantc.does_not_queue",
        KEY_AGREEMENT,
        "signalling.qos",
        ("set_up_times:class=ubr", "keys_in_order"),
        {"sustained", "all_have_keys"},
        changes={"machine keys {": "machine keys {\n    waiting = 0"},
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
            "values = { rate: 0 cell/s, call_state: 0 }": (
                "values = { rate: 0 cell/s, call_state: 0, keyed: 0 }"
            ),
            "on near.setup where held < calls -> calling { send = [far.setup],": (
                "on near.setup where held < calls -> calling { send = [far.setup, server.agree],"
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
        "eantc.passes_cells_in_the_clear",
        KEY_AGREEMENT,
        "signalling.qos",
        ("all_encrypted",),
        {"only_encrypted"},
        changes={
            "  seal = cell_encrypt { oam_cells_per_key = 1 cell }\n": "",
            "call.first -> changeover -> seal": "call.first -> changeover -> to_black",
            "call.out -> seal -> to_black": "call.out -> to_black",
        },
    ),
    Wrong(
        "eantc.has_one_key_for_all",
        KEY_AGREEMENT,
        "signalling.qos",
        ("all_encrypted",),
        {"own_keys"},
        changes={"oam_cells_per_key = 1 cell": "oam_cells_per_key = 1 cell, shares_key = true"},
    ),
    Wrong(
        "eantc.keeps_the_key_though_it_changes_over",
        KEY_AGREEMENT,
        "signalling.qos",
        ("a_key_for_each_call",),
        {"keys"},
        changes={"cell_encrypt { oam_cells_per_key = 1 cell }": "cell_encrypt {}"},
    ),
    Wrong(
        "eantc.keeps_the_key_of_a_connection",
        KEY_AGREEMENT,
        "signalling.qos",
        ("a_key_for_each_call",),
        {"keys"},
        changes={
            "  changeover = oam_insert { rate = 1_000_000 cell/s }"
            "  ## so often that one goes ahead of each cell\n": "",
            "call.first -> changeover -> seal": "call.first -> seal",
        },
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
        {"at_once", "stay", "released"},
        changes={"calls: Int = 3_998": "calls: Int = 3_999"},
    ),
    Wrong(
        "eantc.gives_the_place_of_an_older_call",
        KEY_AGREEMENT,
        "signalling.qos",
        ("the_most_connections",),
        {"released", "nobody_else"},
        changes={
            "timers = { exchanged: exchanging }": "timers = { exchanged: exchanging, look: 10 s }",
            "counters = { held: 0, released: 0 }": "counters = { held: 0, released: 0, dear: 0 }",
            "on near.setup -> idle { send = [near.release_complete],"
            " set = { released: released + 1 } }": (
                "on near.setup -> calling {\n"
                "        send = [far.setup]\n        set = { held: held + 1, dear: 1 }\n      }"
            ),
            "on server.agreed -> secured { send = [near.connect] }": (
                "on server.agreed -> secured { send = [near.connect], start = [look] }"
            ),
            "state secured {\n": (
                "state secured {\n"
                "      on look where dear == 1 -> clearing {\n"
                "        send = [near.release, far.release]\n        set = { dear: 0 }\n      }\n"
                "      on look -> secured { start = [look] }\n"
            ),
        },
    ),
    Wrong(
        "eantc.exchanges_beside_each_other",
        KEY_AGREEMENT,
        "signalling.qos",
        ("fewer_calls_at_a_lower_rate:pcr=200cell_per_s",),
        {"fewer"},
        changes={"where in_turn": "where 1 == 2"},
    ),
    Wrong(
        "eantc.keeps_what_is_released",
        KEY_AGREEMENT,
        "signalling.qos",
        ("released",),
        {"free_again", "few"},
        changes={
            "state clearing {\n      forward = discard\n      on far.release_complete -> idle {": (
                "state clearing {\n      forward = discard\n"
                "      on far.release_complete -> secured {"
            )
        },
    ),
    Wrong(
        "eantc.exchanges_at_line_rate",
        KEY_AGREEMENT,
        "signalling.qos",
        (
            "a_lower_rate_takes_longer:pcr=50cell_per_s",
            "fewer_calls_at_a_lower_rate:pcr=50cell_per_s",
            "set_up_times:class=cbr",
        ),
        {"longer", "fewer", "least"},
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
]
