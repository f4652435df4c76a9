"""Wrong devices of `suites/lancom`, and how they are noticed."""

from replacing import Wrong

VPN_ROUTERS = "std.devices.lancom_routers"

WRONG = [
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
        {"closed_form", "near"},
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
]
