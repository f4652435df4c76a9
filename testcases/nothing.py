"""Devices that do nothing, and which claims they pass, and why: see `test_nothing.py`."""

from collections.abc import Mapping
from typing import NamedTuple


class Nothing(NamedTuple):
    """Devices that forward at once, lose nothing and know nothing, in place of those of a suite.

    Attributes:
        work: The folder of the suite.
        devices: The modules that are replaced, as the suite imports them, each with that of a
            device that does nothing, below the folder of the wrong devices.
        survivors: By file, the criteria that they pass, `test.label`, below the reason for it.
        unclaimed: What those criteria are called that claim nothing, in a suite that makes no
            claims, since it follows no publication; "" where they are left out.
    """

    work: str
    devices: Mapping[str, str]
    survivors: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
    unclaimed: str = ""


NOTHING_LOST = "it says that nothing is lost, or that no more is sent than received"
LEVEL = "it says that something does not rise, fall or differ, and of this device nothing does"
WITHOUT = "there is no device: sources and a line are tested"
AT_MOST = "it bounds a value on one side, and the other side is a criterion of its own"
PRINT = "the print agrees with itself, or with what is offered"
SAME_INPUT = "it follows from what is put in, whatever the device is"

NOTHING = [
    Nothing(
        "abr",
        {"switches": "abr.nothing"},
        {
            "closed_loop.qos": {
                "a source alone meets no congestion": (
                    "one_has_the_line.all",
                    "one_has_the_line.lossless",
                    "one_rises.alone",
                    "one_rises.returned",
                    "one_rises.rising",
                ),
                "the source keeps its minimum, whatever the switch does": (
                    "a_minimum_is_kept.kept",
                    "a_minimum_is_kept.left",
                ),
            },
        },
        unclaimed="expected",
    ),
    Nothing("clip", {"hosts": "clip.nothing"}),
    Nothing(
        "comparison",
        {"routers": "comparison.nothing"},
        {
            "schedulers.qos": {
                "one queue gives each what it offers": (
                    "shares_in_one_queue.bulk_share",
                    "shares_in_one_queue.video_share",
                    "shares_in_one_queue.voice_share",
                ),
            },
        },
    ),
    Nothing(
        "eantc",
        {
            "std.devices.sitline": "eantc.nothing",
            "std.devices.atm_switches": "eantc.only_forwards",
            "std.devices.key_agreement": "eantc.no_keys",
        },
        {
            "data_plane.qos": {
                NOTHING_LOST: (
                    "connections_at_random.all_up_ab",
                    "connections_at_random.all_up_ba",
                    "connections_at_random.no_loss_ab",
                    "connections_at_random.no_loss_ba",
                    "data_plane.all_up_ab",
                    "data_plane.all_up_ba",
                    "data_plane.no_loss_ab",
                    "data_plane.no_loss_ba",
                ),
            },
            "interoperability.qos": {
                NOTHING_LOST: (
                    "interoperability.all_up_ab",
                    "interoperability.all_up_ba",
                    "interoperability.no_loss_ab",
                    "interoperability.no_loss_ba",
                ),
            },
            "signalling.qos": {
                "the network and the called side decide which calls are cleared": (
                    "established.all",
                    "established.rate",
                    "the_table.cleared",
                    "the_table.established",
                    "the_table.rate",
                    "with_a_switch_between.all",
                ),
                "the caller and the called side decide what is repeated": ("a_lost_setup.one",),
                LEVEL: ("keys_in_order.none_overtaken",),
            },
            "traffic_management.qos": {
                AT_MOST: (
                    "policed_beside_ubr.ratio_ab_most",
                    "policed_beside_ubr.ratio_ba_most",
                ),
                "it is within 0.01 % of what is sent, and so few are lost": (
                    "cdvt_6_us_and_higher_do_not_lose.received_ab",
                    "policed_beside_ubr.received_ab",
                    "policed_beside_ubr.received_ba",
                    "policed_beside_ubr.received_ubr_ab",
                    "policed_beside_ubr.received_ubr_ba",
                ),
                NOTHING_LOST: (
                    "cdvt_6_us_and_higher_do_not_lose.printed_ab",
                    "cdvt_6_us_and_higher_do_not_lose.printed_ba",
                    "policed_beside_ubr.ubr_never_ab",
                    "policed_beside_ubr.ubr_never_ba",
                ),
            },
        },
    ),
    Nothing(
        "echo",
        {"gateways": "echo.nothing"},
        {
            "request_answer.qos": {
                NOTHING_LOST: (
                    "one_at_a_time.never_twice",
                    "round_trips_against_loss.patient",
                    "throughput_follows_the_window.lossless",
                    "throughput_follows_the_window.never_twice",
                ),
                "it is a law of any system: Little's, or one repetition for each loss": (
                    "round_trips_against_loss.each_loss_is_repeated",
                    "throughput_follows_the_window.little",
                ),
            },
        },
        unclaimed="expected",
    ),
    Nothing(
        "encryption",
        {"std.devices.sitline": "encryption.nothing"},
        {
            "synchronisation.qos": {
                NOTHING_LOST: (
                    "all_are_decrypted.none_lost",
                    "connections_are_independent.untouched",
                    "four_thousand_connections.none_lost",
                    "policing_of_oam_cells.one_per_interval",
                ),
                "what is never encrypted can be read": (
                    "a_burst_of_losses.all_read",
                    "a_lost_changeover_of_keys_garbles_no_more.all_read",
                    "a_lost_user_cell_garbles_the_rest_of_the_interval.all_read",
                    "a_misinserted_cell_garbles_the_rest_of_the_interval.all_read",
                    "all_are_decrypted.all_read",
                    "all_are_decrypted.none_garbled",
                    "connections_are_independent.all_read",
                    "four_thousand_connections.all_read",
                    "lost_oam_cells_garble_whole_intervals.all_read",
                ),
                "it compares with an encryptor that does nothing either": (
                    "all_are_decrypted.as_even",
                    "all_are_decrypted.as_fast",
                ),
            },
        },
        unclaimed="expected",
    ),
    Nothing(
        "lancom",
        {"std.devices.lancom_routers": "lancom.nothing", "devices": "lancom.no_devices"},
        {
            "calls.qos": {
                PRINT: ("calls_by_the_rule.rule",),
            },
            "codecs.qos": {
                PRINT: (
                    "call_in_a_tunnel.ip_bytes",
                    "call_in_a_tunnel.ip_rate",
                    "call_in_a_tunnel.packets",
                    "call_in_a_tunnel.voice_bytes",
                    "call_in_a_tunnel.voice_rate",
                    "payloads_of_voice.between_42_and_252",
                ),
            },
            "throughput.qos": {
                NOTHING_LOST: (
                    "packets_per_second.passes",
                    "packets_per_second_routed.passes",
                ),
                "the line, or what is offered, is the limit of both routers": (
                    "accelerator_of_the_1700.helps",
                    "accelerator_of_the_1700.no_more_than_twice",
                    "equal_where_the_accelerator_limits.equal",
                    "equal_where_the_accelerator_limits.nearly",
                    "routing_against_vpn.equal",
                    "routing_without_loss.limited_by_the_line",
                    "routing_without_loss.near",
                ),
                AT_MOST: ("load_of_the_8011.not_full",),
                PRINT: (
                    "fast_ethernet.impossible",
                    "fast_ethernet.possible",
                    "packets_per_second.fewer",
                    "packets_per_second.inflated",
                    "packets_per_second_routed.by_another_size",
                    "packets_per_second_routed.fewer",
                    "packets_per_second_routed.inflated",
                ),
            },
        },
    ),
    Nothing(
        "mpoa",
        {"std.devices.mpoa": "mpoa.nothing", "std.devices.lane": "mpoa.no_lane"},
        {
            "caches.qos": {
                NOTHING_LOST: (
                    "ages_out_of_use.none_lost",
                    "purged.none_lost",
                    "refreshed_in_use.none_lost",
                ),
            },
            "emulated_lan.qos": {
                "all goes by the BUS, which loses nothing, and where none overtakes another": (
                    "by_the_bus_at_first.in_order",
                    "by_the_bus_at_first.none_lost",
                    "none_is_overtaken.in_order",
                    "released_when_unused.none_lost",
                ),
                "what never calls has nothing to release": ("released_when_unused.released",),
            },
            "routed.qos": {
                "the tag on the router's line decides it": ("figure_3.backlog", "figure_3.short"),
                NOTHING_LOST: (
                    "figure_5.none_lost",
                    "figure_5_at_full_load.less_than_a_percent",
                    "figure_7_below_the_knee.none_lost",
                    "wire_speed.all",
                ),
                "it says how long a frame is in cells": (
                    "cells_of_a_frame.cells",
                    "cells_of_a_frame.room",
                    "cells_of_a_shortcut.cells",
                ),
            },
            "shortcuts.qos": {
                "what never asks has no shortcut": ("so_many_within_a_second.none",),
                "and nothing to say": ("messages_in_order.nothing_odd",),
                "all goes by the router, which takes no time and loses nothing": (
                    "after_so_many_packets.in_order",
                    "after_so_many_packets.none_lost",
                    "flushed.in_order",
                    "flushed.none_twice",
                    "flushed.nothing_else",
                    "overtaking.all",
                    "overtaking.none_twice",
                ),
            },
        },
        unclaimed="expected",
    ),
    Nothing(
        "osu",
        {"switches": "osu.nothing", "fabrics": "osu.shares_nothing"},
        {
            "background.qos": {
                NOTHING_LOST: (
                    "bursts_behind.none_lost",
                    "steady_behind.never_the_background",
                    "steady_behind.none_lost",
                ),
                "what shares nothing never waits": (
                    "bursts_behind.first_cells",
                    "bursts_behind.not_yet",
                    "short_bursts_behind.first_cells",
                    "steady_below_full_load.first_cells",
                    "steady_below_full_load.no_change",
                ),
                SAME_INPUT: (
                    "equal_loads.all_of_it",
                    "equal_loads.equal_input",
                    "equal_loads.equal_output",
                    "equal_loads.two_apart",
                    "unloaded.more_samples",
                    "unloaded.samples",
                ),
            },
            "latency.qos": {
                NOTHING_LOST: ("catches_up.none_lost",),
                "it is so even of a cable": (
                    "first_out_before_last_in.negative",
                    "without_background.rising",
                ),
                "the monitor alone decides it, over its closed loop": (
                    "alone.above_theory",
                    "alone.apart",
                    "alone.back_to_back",
                    "alone.by_a_seventh",
                    "alone.mean",
                    "alone.ticks_above",
                    "alone.ticks_below",
                ),
                "it says how definitions and readings of latency are related": (
                    "readings_agree.cases_agree",
                    "readings_agree.defined",
                    "readings_agree.paths_alike",
                    "two_cases.case_1",
                    "two_cases.case_2",
                    "two_cases.equal",
                ),
                SAME_INPUT: ("readings_agree.samples",),
                WITHOUT: (
                    "on_twisted_pair.apart",
                    "on_twisted_pair.as_on_fibre",
                    "on_twisted_pair.back_to_back",
                    "on_twisted_pair.later",
                ),
            },
            "n_to_1.qos": {
                NOTHING_LOST: (
                    "below_the_line.no_cells_lost",
                    "below_the_line.no_frames_lost",
                    "three_to_1.none_lost",
                    "two_to_1.none_lost",
                ),
                "what is offered is less than the line carries": (
                    "below_the_line.equal",
                    "below_the_line.output_rate",
                    "even_below_the_line.jains_index",
                    "even_below_the_line.to_a_frame",
                ),
                SAME_INPUT: ("cells_of_aal3_4.cells", "cells_of_aal3_4.whole"),
            },
        },
    ),
    Nothing(
        "packets",
        {
            "queues": "packets.nothing",
            "meters": "packets.no_meters",
            "bridges": "packets.no_streams",
            "memories": "packets.no_memory",
            "flow_control": "packets.no_pauses",
            "weighted": "packets.no_weights",
        },
        {
            "active_queues.qos": {
                NOTHING_LOST: (
                    "a_call_beside_downloads.none_lost",
                    "between_the_thresholds.never_full",
                    "two_queues_one_probability.none_lost",
                ),
            },
            "pauses.qos": {
                NOTHING_LOST: (
                    "a_class_alone.none",
                    "a_class_alone.whole",
                    "all_stop.none",
                    "all_stop.whole",
                    "both_ways.whole",
                    "enough.whole",
                    "one_less.little",
                ),
            },
            "weighted_turns.qos": {"of the first class only": ("two_strict.all",)},
            "time_sensitive.qos": {
                NOTHING_LOST: ("a_frame_that_fits.none_lost", "in_order_of_arrival.none_lost"),
                AT_MOST: ("no_longer_than_it_may.in_time",),
            },
        },
        unclaimed="expected",
    ),
    Nothing(
        "signalling",
        {
            "std.devices.signalling": "signalling.nothing",
            "key_agents": "signalling.knows_no_keys",
            "path_choosers": "signalling.chooses_no_path",
            "std.devices.sscop": "signalling.sends_once",
        },
        {
            "calls.qos": {
                "the caller and the answerer, which are not replaced, decide it": (
                    "a_call_that_is_forgotten.once",
                    "a_call_that_is_forgotten_when_released.over",
                    "a_call_that_is_known.nothing_odd",
                    "a_call_without_answers.given_up",
                    "a_call_without_answers.released",
                    "a_network_that_asks.nothing_odd",
                    "a_release_of_what_is_forgotten.over",
                    "a_terminal_that_is_asked.heard",
                    "a_setup_that_is_lost_twice.given_up",
                    "a_setup_that_is_lost_twice.once_more",
                    "a_terminal_that_is_asked.nine",
                    "an_answer_after_a_release.nothing_odd",
                    "an_answer_when_it_is_over.heard",
                    "an_answer_when_it_is_over.released",
                    "calls_at_once.all_answered",
                    "calls_at_once.all_released",
                    "evenly.begun",
                    "one_by_one.each_as_long",
                    "one_call.held",
                    "set_up_by_a_cell.nothing_lost",
                    "set_up_by_a_cell.released",
                ),
                "calls follow each other, so that an exchange never refuses one": (
                    "one_by_one.none_refused",
                    "one_by_one.one_at_a_time",
                ),
                "it still follows as many calls as it has room for": (
                    "too_many_calls.others_answered",
                ),
                "nothing is left behind where nothing is remembered": (
                    "a_call_that_is_forgotten.free",
                    "a_call_that_the_caller_forgets.free",
                    "a_network_that_asks.known",
                    "no_capacity.all_free_again",
                    "one_call.nothing_odd",
                    "one_call.released",
                    "too_many_calls.nothing_left",
                ),
            },
            "paths.qos": {
                "the path lives, so that there is nothing to notice": (
                    "a_path_that_lives.all_direct",
                    "a_path_that_lives.never_down",
                ),
                NOTHING_LOST: (
                    "a_path_that_fails.nothing_lost",
                    "a_shortcut.nothing_lost",
                ),
                "what knows no shortcut goes the long way": ("a_shortcut.the_long_way",),
            },
            "sscop_links.qos": {
                "nothing is lost on this link": (
                    "all_arrive.all",
                    "all_arrive.never_again",
                    "eight_at_a_time.all",
                ),
            },
        },
        unclaimed="expected",
    ),
    Nothing(
        "tcp",
        {
            "stacks": "tcp.nothing",
            "writers": "tcp.nothing_written",
            "controls": "tcp.nothing_controlled",
            "markers": "tcp.nothing_marked",
            "pieces": "tcp.nothing_of_pieces",
            "beginners": "tcp.nothing_begun",
            "switches": "tcp.nothing_lost",
            "clamps": "tcp.nothing_clamped",
            "tellers": "tcp.nothing_told",
        },
        {
            "slow_start.qos": {
                "the path is full from the beginning": ("slow_start_fills_a_path.full",),
            },
            "closed_forms.qos": {
                NOTHING_LOST: (
                    "a_window_in_each_round_trip.never_again",
                    "losses_at_intervals.all",
                    "the_ceiling_of_fast_ethernet.nothing_lost",
                ),
                "it is a law of any system: one repetition for each loss": (
                    "losses_at_intervals.once_again",
                ),
                "it says how long the path is": ("a_window_in_each_round_trip.shortest",),
                LEVEL: ("a_line_is_shared.even",),
                "one segment in each round trip: it has equal windows": (
                    "round_trips_divide_a_line.shares",
                ),
            },
            "path_mtu.qos": {
                "whatever comes fits, so that it arrives": (
                    "a_segment_that_is_cut_anew.prompt",
                    "a_window_that_is_cut_anew.prompt",
                    "a_window_that_is_cut_anew.whole",
                ),
            },
            "marks.qos": {
                NOTHING_LOST: ("a_window_between_marks.never_again",),
                "the line is full, whatever waits for it": ("a_window_between_marks.full",),
            },
        },
        unclaimed="expected",
    ),
    Nothing("rfc6349", {"paths": "rfc6349.nothing"}),
    Nothing(
        "unh",
        {
            "std.devices.unh_routers": "unh.nothing",
            "impairments": "unh.no_impairment",
            "four_queues": "unh.no_classes",
            "markers": "unh.no_marks",
        },
        {
            "generator.qos": {
                WITHOUT: (
                    "alternating_gap_is_detected.always",
                    "alternating_gap_is_detected.detected",
                    "alternating_gap_is_detected.long",
                    "alternating_gap_is_detected.short",
                    "alternating_gap_is_detected.slow",
                    "gap_at_line_rate.constant",
                    "gap_at_line_rate.gap",
                    "gap_at_overspeed.constant",
                    "gap_at_overspeed.gap",
                    "gap_at_overspeed.too_many",
                    "gap_of_a_length.constant",
                    "marks_leave_the_gap.constant",
                    "marks_leave_the_gap.gap",
                ),
            },
            "imix.qos": {
                PRINT: (
                    "line_rate_of_the_mix.line",
                    "line_rate_of_the_mix.mean",
                    "line_rate_of_the_mix.reduced",
                    "mean_of_the_ipv6_mix.mean",
                    "mean_of_the_simple_mix.mean",
                    "means_of_frames.mean",
                    "rates_of_presets.rate",
                ),
            },
            "jitter.qos": {
                SAME_INPUT: (
                    "method_2_is_at_one_point.method_2",
                    "method_2_is_at_one_point.the_others",
                ),
                "its delays do not vary in the print either": ("table.constant",),
            },
            "knees.qos": {
                NOTHING_LOST: (
                    "a_search_case_1.none",
                    "a_search_case_2.none",
                    "a_search_case_2.none_set_by",
                    "a_search_case_3.none",
                    "b_search.none",
                    "c_search.none",
                ),
                AT_MOST: ("a_search_case_2.straight_at_first",),
            },
            "vendor_a.qos": {
                NOTHING_LOST: (
                    "a_imix_case_1.none_lost",
                    "a_imix_case_1.straight",
                    "a_imix_case_2.straight_below",
                    "a_imix_case_3.straight_below",
                    "a_knees_case_3.none_below",
                    "a_throughput_case_1.none_lost",
                    "a_throughput_case_1.straight_frames",
                    "a_throughput_case_1.straight_payload",
                    "a_throughput_case_2.none_lost",
                    "a_throughput_case_2.none_lost_set_by",
                    "a_throughput_case_2.straight_frames",
                    "a_throughput_case_2.straight_frames_set_by",
                    "a_throughput_case_2.straight_payload",
                    "a_throughput_case_2.straight_payload_set_by",
                    "a_throughput_case_3.larger_ones_whole",
                ),
                LEVEL: ("a_latency_at_95_case_2.others_level",),
                AT_MOST: (
                    "a_imix_needs_a_penalty.not_as_printed",
                    "a_latency_at_95_case_2.least_stays",
                    "a_latency_at_95_case_3.least_stays",
                    "a_throughput_case_1.never_whole",
                    "a_throughput_case_2.no_less",
                ),
            },
            "vendor_b.qos": {
                NOTHING_LOST: (
                    "b_imix_case_1.straight",
                    "b_imix_case_1.whole",
                    "b_imix_case_2.straight",
                    "b_imix_case_2.whole",
                    "b_imix_case_3.straight",
                    "b_imix_case_3.whole",
                    "b_throughput_case_1.others_straight",
                    "b_throughput_case_1.others_whole",
                    "b_throughput_case_2.others_straight",
                    "b_throughput_case_2.others_whole",
                    "b_throughput_case_3.others_straight",
                    "b_throughput_case_3.others_whole",
                ),
                AT_MOST: (
                    "b_throughput_case_1.slightly",
                    "b_throughput_case_2.slightly",
                    "b_throughput_case_3.slightly",
                ),
            },
            "vendor_c.qos": {
                NOTHING_LOST: (
                    "c_imix_case_1.none_lost",
                    "c_imix_case_1.straight",
                    "c_imix_case_2.none_lost",
                    "c_imix_case_2.straight",
                    "c_imix_case_3.none_lost",
                    "c_imix_case_3.straight",
                    "c_throughput_case_1.none_lost",
                    "c_throughput_case_1.straight",
                    "c_throughput_case_2.none_lost",
                    "c_throughput_case_2.straight",
                    "c_throughput_case_3.none_lost",
                    "c_throughput_case_3.straight",
                ),
            },
            "vendor_d.qos": {
                "it is never down, and so is up": ("d_reboots.comes_back",),
            },
        },
    ),
    Nothing(
        "voice",
        {"networks": "voice.nothing"},
        {
            "calls.qos": {
                NOTHING_LOST: (
                    "capacity.satisfied",
                    "late_packets.arrived",
                ),
                "its network is a wire": (
                    "codecs.rating",
                    "codecs.score",
                    "delayed.rating",
                ),
                "nothing is late that is not delayed": ("late_packets_played.late",),
            },
        },
        unclaimed="expected",
    ),
]
