"""Devices that contradict a publication, and how its suite notices: see `wrong_devices`."""

from typing import NamedTuple


class Wrong(NamedTuple):
    """A wrong device, and how a suite notices it.

    Attributes:
        device: Its module below this folder; the first part is the folder of the suite.
        replaces: The module that it stands for, as the suite imports it.
        suite: The suite's file.
        cases: The names of the cases that are run; none passes.
        criteria: The labels of criteria that fail, each in at least one of the cases.
        undecided: Those that are inconclusive where the right device passes: if all repeats of a
            wrong one are alike, nothing shows with a confidence what rare ones would.
    """

    device: str
    replaces: str
    suite: str
    cases: tuple[str, ...]
    criteria: set[str]
    undecided: frozenset[str] = frozenset()


SWITCHES = "std.devices.atm_switches"
ENCRYPTOR = "std.devices.sitline"
ROUTERS = "std.devices.unh_routers"
GATEWAYS = "gateways"
NETWORKS = "networks"
VPN_ROUTERS = "std.devices.lancom_routers"
EXCHANGES = "std.devices.signalling"
SWITCH = "switches"
FABRIC = "fabrics"
MONITOR = "monitors"

WRONG = [
    Wrong(
        "signalling.keeps_calls",
        EXCHANGES,
        "calls.qos",
        ("one_call", "one_by_one", "no_capacity"),
        {"released", "none_refused", "all_free_again"},
    ),
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
    Wrong(
        "clip.by_packet_alone",
        "hosts",
        "throughput.qos",
        ("goodput_by_size:packet=1_500B", "goodput_by_size:packet=9_180B"),
        {"by_hand", "calibrated", "larger_give_more"},
    ),
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
    ),
    Wrong(
        "tcp.announces_little",
        "writers",
        "anomaly.qos",
        ("a_larger_buffer_is_slower:room=24_576B",),
        {"slow"},
    ),
    Wrong("voice.slow", NETWORKS, "calls.qos", ("capacity:speech=20ms",), {"number"}),
    Wrong(
        "voice.loses_more",
        NETWORKS,
        "calls.qos",
        ("losses:codec=g711", "losses:codec=g711_plc", "late_packets"),
        {"lost", "rating"},
    ),
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
        {"delay_ab_most", "delay_ba_most"},
    ),
    Wrong(
        "encryption.in_the_clear",
        ENCRYPTOR,
        "synchronisation.qos",
        (
            "lost_oam_cells_garble_whole_intervals:count=1",
            "a_lost_user_cell_garbles_the_rest_of_the_interval:number=1_500",
            "a_misinserted_cell_garbles_the_rest_of_the_interval:number=1_500",
            "a_burst_of_losses:oam=3",
            "connections_are_independent",
            "policing_of_oam_cells:oam_policing=joint",
        ),
        {"garbled", "nobody_gets_them", "the_rest_is_decrypted", "all_or_nothing"},
    ),
    Wrong(
        "encryption.deaf",
        ENCRYPTOR,
        "synchronisation.qos",
        (
            "all_are_decrypted",
            "lost_oam_cells_garble_whole_intervals:count=1",
            "a_lost_user_cell_garbles_the_rest_of_the_interval:number=3_000",
            "connections_are_independent",
            "policing_of_oam_cells:oam_policing=separate",
        ),
        {"none_lost", "none_garbled", "garbled", "untouched", "all_or_nothing"},
    ),
    Wrong(
        "encryption.half_as_often",
        ENCRYPTOR,
        "synchronisation.qos",
        (
            "lost_oam_cells_garble_whole_intervals:count=1",
            "a_lost_user_cell_garbles_the_rest_of_the_interval:number=1_500",
            "connections_are_independent",
        ),
        {"garbled", "the_rest_is_decrypted"},
    ),
    Wrong(
        "encryption.slow_cipher",
        ENCRYPTOR,
        "synchronisation.qos",
        ("all_are_decrypted",),
        {"as_fast", "as_even"},
    ),
    Wrong(
        "osu.first_input_first",
        SWITCH,
        "n_to_1.qos",
        ("overloaded", "flooded"),
        {"most_frames", "all_lost", "none_per_second"},
    ),
    Wrong(
        "osu.small_buffer",
        SWITCH,
        "n_to_1.qos",
        ("below_the_line",),
        {"no_cells_lost", "no_frames_lost"},
    ),
    Wrong(
        "osu.slow_output",
        SWITCH,
        "n_to_1.qos",
        ("below_the_line",),
        {"no_cells_lost", "no_frames_lost"},
    ),
    Wrong(
        "osu.loses_some",
        SWITCH,
        "n_to_1.qos",
        ("below_the_line",),
        {"no_cells_lost", "no_frames_lost"},
    ),
    Wrong(
        "osu.early_discard",
        SWITCH,
        "n_to_1.qos",
        ("slightly_above", "overloaded", "flooded"),
        {"many_frames", "two_orders", "most_frames", "all_lost", "none_per_second"},
    ),
    Wrong("osu.slow_output", SWITCH, "latency.qos", ("catches_up",), {"none_lost"}),
    Wrong(
        "osu.constant_transit",
        SWITCH,
        "latency.qos",
        ("without_background",),
        {"last_cell", "as_mimo", "a_tenth", "first_half", "later"},
    ),
    Wrong(
        "osu.last_bit_first",
        MONITOR,
        "latency.qos",
        ("alone", "without_background"),
        {"mean", "above_theory", "first_cell", "last_cell"},
    ),
    Wrong(
        "osu.ideal_monitor",
        MONITOR,
        "latency.qos",
        ("alone",),
        {"mean", "above_theory", "ticks_below", "ticks_above"},
    ),
    Wrong(
        "osu.separate_queues",
        FABRIC,
        "background.qos",
        ("bursts_behind:load=97%", "steady_behind:load=95%"),
        {"long_frames", "short_frames", "cells_lost", "frames_lost"},
    ),
    Wrong("osu.slow_fabric", FABRIC, "background.qos", ("short_bursts_behind",), {"first_cells"}),
    Wrong(
        "osu.no_priority",
        FABRIC,
        "background.qos",
        ("steady_behind:load=95%",),
        {"cells_lost", "frames_lost"},
    ),
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
        "lancom.acknowledges_each",
        "senders",
        "tcp.qos",
        ("tcp_through_a_vpn:series=software_1700", "tcp_through_a_vpn:series=hardware_1700"),
        {"by_hand", "to_the_digit"},
    ),
    Wrong(
        "lancom.no_accelerator",
        VPN_ROUTERS,
        "tcp.qos",
        ("tcp_through_a_vpn:series=hardware_1700",),
        {"by_hand", "to_the_digit", "quite_as_by_udp"},
    ),
    Wrong(
        "lancom.sends_each_write",
        "senders",
        "tcp.qos",
        ("writes_of_any_size:write=64B",),
        {"equal"},
    ),
    Wrong(
        "lancom.one_time",
        VPN_ROUTERS,
        "throughput.qos",
        (
            "vpn_without_loss:series=software_1700,size=128B",
            "routing_without_loss:series=routing_1700,size=1_024B",
            "accelerator_of_the_1700:size=1_364B",
            "load_of_the_8011:size=1_364B",
        ),
        {"printed", "more_than_twice", "load", "full"},
    ),
    Wrong(
        "lancom.binary_megabits",
        VPN_ROUTERS,
        "throughput.qos",
        (
            "vpn_without_loss:series=hardware_8011,size=64B",
            "vpn_without_loss:series=hardware_7111,size=1_364B",
            "load_of_the_8011:size=1_024B",
        ),
        {"printed", "full", "not_full"},
    ),
    Wrong(
        "lancom.no_accelerator",
        VPN_ROUTERS,
        "throughput.qos",
        (
            "vpn_without_loss:series=hardware_1700,size=64B",
            "packets_per_second:series=hardware_1700,size=512B",
            "accelerator_of_the_1700:size=64B",
            "accelerator_of_the_1700:size=512B",
            "equal_where_the_accelerator_limits:size=1_364B",
        ),
        {"printed", "passes", "helps", "more_than_twice", "engine"},
    ),
    Wrong(
        "lancom.two_processors",
        VPN_ROUTERS,
        "calls.qos",
        (
            "calls_in_full:series=software_1700,codec=g729_30",
            "calls_in_full:series=hardware_8011,codec=g711_20",
        ),
        {"closed_form", "fewer"},
    ),
    Wrong(
        "lancom.tunnel_in_tunnel",
        VPN_ROUTERS,
        "codecs.qos",
        ("call_in_a_tunnel:codec=g729_30", "call_in_a_tunnel:codec=g711_20"),
        {"ipsec_bytes", "ipsec_rate"},
    ),
    Wrong(
        "lancom.tunnel_in_tunnel",
        VPN_ROUTERS,
        "throughput.qos",
        ("packets_per_second:series=software_1700,size=512B",),
        {"passes", "encrypted"},
    ),
    Wrong(
        "unh.no_watchdog",
        ROUTERS,
        "vendor_d.qos",
        ("d_reboots:enabled=both,size=64B,load=10%,after=5s",),
        {"goes_down"},
    ),
    Wrong(
        "unh.reboots_once",
        ROUTERS,
        "vendor_d.qos",
        ("d_reboots:enabled=both,size=64B,load=10%,after=5s",),
        {"comes_back"},
    ),
    Wrong(
        "unh.swapped",
        ROUTERS,
        "vendor_b.qos",
        ("b_jitter_case_1:size=1_518B", "b_jitter_case_2:size=1_024B"),
        {"no_sharp_rise[2]"},
    ),
    Wrong(
        "unh.swapped",
        ROUTERS,
        "vendor_c.qos",
        ("c_jitter_case_1:size=76B", "c_jitter_case_1:size=1_518B", "c_jitter_by_size:case=1"),
        set(),
        frozenset({"rises[1]", "rises[2]", "to_large_values", "larger[1]", "larger[2]"}),
    ),
    Wrong(
        "unh.as_vendor_a",
        ROUTERS,
        "vendor_b.qos",
        ("b_jitter_case_2:size=76B",),
        {"no_sharp_rise[2]"},
    ),
    Wrong(
        "unh.as_vendor_a",
        ROUTERS,
        "vendor_c.qos",
        ("c_jitter_case_1:size=76B", "c_jitter_case_1:size=1_518B", "c_jitter_by_size:case=1"),
        {"rises[1]", "rises[2]", "to_large_values", "larger[1]", "larger[2]"},
    ),
    Wrong(
        "unh.as_vendor_a",
        ROUTERS,
        "vendor_d.qos",
        ("d_reboots:enabled=both,size=512B,load=10%,after=0s",),
        {"goes_down"},
    ),
    Wrong(
        "unh.held_up_regularly",
        ROUTERS,
        "vendor_c.qos",
        (
            "c_jitter_case_1:size=76B",
            "c_jitter_case_1:size=512B",
            "c_jitter_case_1:size=1_518B",
            "c_jitter_by_size:case=1",
        ),
        {"rises[1]", "rises[2]", "to_large_values"},
        frozenset({"larger[1]", "larger[2]"}),
    ),
    Wrong(
        "unh.ideal",
        ROUTERS,
        "vendor_a.qos",
        (
            "a_throughput_case_3:size=64B,load=95%",
            "a_latency_of_76_case_2:load=95%",
            "a_jitter_case_1:size=76B,load=95%",
            "a_jitter_at_95_case_1",
            "a_jitter_at_95_case_3",
        ),
        {"drops", "payload", "frames", "near_150_us", "some[0]"},
        frozenset({"rises", "longest[1]"}),
    ),
    Wrong(
        "unh.ideal",
        ROUTERS,
        "vendor_b.qos",
        (
            "b_throughput_case_1:size=512B,load=95%",
            "b_latency_of_76_bytes:case=1",
            "b_jitter_case_1:size=512B",
        ),
        {"lower", "some[0]", "some[1]", "some[2]"},
        frozenset({"higher"}),
    ),
    Wrong(
        "unh.ideal",
        ROUTERS,
        "vendor_c.qos",
        ("c_jitter_case_1:size=1_518B", "c_jitter_by_size:case=1"),
        set(),
        frozenset({"rises[1]", "rises[2]", "larger[1]", "larger[2]"}),
    ),
    Wrong(
        "unh.ideal",
        ROUTERS,
        "vendor_d.qos",
        ("d_reboots:enabled=both,size=64B,load=10%,after=0s",),
        {"goes_down"},
    ),
    Wrong(
        "unh.no_packet_processor",
        ROUTERS,
        "vendor_a.qos",
        (
            "a_throughput_case_2:size=64B,load=95%",
            "a_throughput_case_3:size=64B,load=95%",
            "a_jitter_at_95_case_2",
            "a_jitter_of_76_case_3:load=90%",
        ),
        {"falls_short", "no_more", "drops", "payload", "frames", "longest[2]", "risen"},
    ),
    Wrong(
        "unh.no_packet_processor",
        ROUTERS,
        "knees.qos",
        (
            "a_search_case_2:case=2,size=64B",
            "a_search_case_3:case=3,size=64B",
            "a_search_case_3:case=3,size=256B",
        ),
        {"falls", "knee"},
    ),
    Wrong(
        "unh.sizes_reversed",
        ROUTERS,
        "knees.qos",
        ("a_search_case_3:case=3,size=128B", "a_search_case_3:case=3,size=1_518B"),
        {"knee", "none"},
    ),
    Wrong(
        "unh.swapped",
        ROUTERS,
        "knees.qos",
        ("b_search:case=1,size=512B", "b_search:case=3,size=1_024B", "c_search:case=2,size=512B"),
        {"lower", "none"},
    ),
    Wrong(
        "unh.as_vendor_a",
        ROUTERS,
        "knees.qos",
        ("b_search:case=3,size=64B", "c_search:case=3,size=256B"),
        {"none"},
    ),
    Wrong(
        "unh.processor_held_up",
        ROUTERS,
        "vendor_a.qos",
        ("a_jitter_at_95_case_3",),
        {"longest[1]", "longest[2]"},
    ),
    Wrong(
        "unh.sizes_reversed",
        ROUTERS,
        "vendor_a.qos",
        ("a_throughput_case_3:size=64B,load=95%", "a_throughput_case_3:size=1_518B,load=95%"),
        {"drops", "larger_ones_whole"},
    ),
    Wrong(
        "unh.sizes_reversed",
        ROUTERS,
        "vendor_c.qos",
        ("c_jitter_by_size:case=1",),
        {"larger[1]", "larger[2]"},
    ),
    Wrong(
        "unh.wrong_weights",
        "four_queues",
        "disciplines.qos",
        (
            "one_queue_favours_nobody",
            "strict_priority_starves_the_last",
            "fair_queueing_shares_bytes:middle=four_queues.by_drr",
        ),
        {
            "video_as_bulk",
            "voice_as_bulk",
            "data_as_bulk",
            "voice_loses_too",
            "voice_whole",
            "video_whole",
            "nothing",
            "voice",
            "video",
            "data",
        },
    ),
    Wrong(
        "unh.wrong_marks",
        "markers",
        "marking.qos",
        ("dscp_to_priority", "remarking_is_seen"),
        {"high", "other", "marked_anew", "as_it_was"},
    ),
]
