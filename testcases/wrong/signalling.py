"""Wrong devices of `suites/signalling`, and how they are noticed."""

from replacing import Wrong

EXCHANGES = "std.devices.signalling"
LINKS = "std.devices.sscop"

WRONG = [
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
        stop = [enquiry, t322]
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
        "signalling.knows_all_calls",
        EXCHANGES,
        "calls.qos",
        ("a_call_that_is_forgotten",),
        {"forgotten"},
        changes={
            "send = [caller.status]\n        set = { call_state: 0 }": (
                "send = [caller.status]\n        set = { call_state: 10 }"
            )
        },
    ),
    Wrong(
        "signalling.knows_no_calls",
        EXCHANGES,
        "calls.qos",
        ("a_call_that_is_known",),
        {"nine", "nothing_odd"},
        changes={
            "send = [caller.status]\n        set = { call_state: 10 }": (
                "send = [caller.status]\n        set = { call_state: 0 }"
            )
        },
    ),
    Wrong(
        "signalling.counts_no_calls",
        EXCHANGES,
        "calls.qos",
        ("too_many_calls",),
        {"told", "others_answered"},
        changes={"where rate <= free and held < calls": "where rate <= free"},
    ),
    Wrong(
        "signalling.keeps_places_of_calls",
        EXCHANGES,
        "calls.qos",
        ("one_by_one", "too_many_calls"),
        {"none_refused", "free_again"},
        changes={
            "on release_complete -> idle { stop = [t308], set = { held: held - 1 } }": (
                "on release_complete -> idle { stop = [t308] }"
            )
        },
    ),
    Wrong(
        "signalling.hears_no_call_proceeding",
        EXCHANGES,
        "calls.qos",
        ("the_called_side_asks",),
        {"told"},
        changes={", set = { called: 9 } }": " }"},
    ),
    Wrong(
        "signalling.restart_clears_nothing",
        EXCHANGES,
        "calls.qos",
        ("calls_after_a_restart",),
        {"acknowledged", "cleared", "anew"},
        changes={
            """on ended -> releasing {
        after = processing
        send = [callee.release]
        stop = [enquiry, t322]
        start = [t308]
        set = { free: free + rate }
      }""": "on ended -> active"
        },
    ),
    Wrong(
        "signalling.answers_no_release",
        EXCHANGES,
        "calls.qos",
        ("a_release_of_what_is_forgotten",),
        {"over"},
        changes={
            "      on caller.release -> idle"
            " { after = processing, send = [caller.release_complete] }\n": ""
        },
    ),
    Wrong(
        "signalling.network_asks_nobody",
        EXCHANGES,
        "calls.qos",
        ("a_network_that_asks", "a_call_that_the_caller_forgets"),
        {"nine", "forgotten", "free"},
        changes={
            "send = [caller.status_enquiry, callee.status_enquiry]\n        start = [t322]\n"
            "        set = { asked: 1, heard: 0, enquiries: enquiries + 1 }": "start = [enquiry]"
        },
    ),
    Wrong(
        "signalling.network_hears_one_side",
        EXCHANGES,
        "calls.qos",
        ("a_side_that_does_not_answer",),
        {"given_up", "told"},
        changes={"on caller.status where heard == 2": "on caller.status where heard < 3"},
    ),
    Wrong(
        "signalling.network_asks_once",
        EXCHANGES,
        "calls.qos",
        ("a_side_that_does_not_answer",),
        {"released"},
        changes={
            "on t322 where asked < 3 -> active {\n        send = [caller": (
                "on t322 where asked < 1 -> active {\n        send = [caller"
            )
        },
    ),
    Wrong(
        "signalling.asks_once",
        EXCHANGES,
        "calls.qos",
        ("a_call_without_answers",),
        {"released"},
        changes={
            "on t322 where asked < 3 -> active {\n        send = [status_enquiry]": (
                "on t322 where asked < 1 -> active {\n        send = [status_enquiry]"
            )
        },
    ),
    Wrong(
        "signalling.terminal_says_nothing",
        EXCHANGES,
        "calls.qos",
        ("a_terminal_that_is_asked",),
        {"nine"},
        changes={
            "on release -> idle { send = [release_complete] }\n"
            "      on status_enquiry -> active { send = [status], set = { call_state: 10 } }": (
                "on release -> idle { send = [release_complete] }\n"
                "      on status_enquiry -> active"
            )
        },
    ),
    Wrong(
        "signalling.hears_no_late_status",
        EXCHANGES,
        "calls.qos",
        ("an_answer_after_a_release", "an_answer_when_it_is_over"),
        {"nothing_odd", "heard", "answered"},
        changes={
            "on status where call_state == 0 -> over { stop = [t308] }\n"
            "      on status -> releasing\n": (
                "on status where call_state == 0 -> over { stop = [t308] }\n"
            ),
            "on status where call_state > 0 -> over { send = [release_complete] }\n": "",
            "on status -> over\n": "",
        },
    ),
    Wrong(
        "signalling.releases_what_is_forgotten",
        EXCHANGES,
        "calls.qos",
        ("a_call_that_is_forgotten_when_released",),
        {"released"},
        changes={"on status where call_state == 0 -> over { stop = [t308] }\n": ""},
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
        "signalling.repeats_all_behind",
        LINKS,
        "sscop_links.qos",
        ("one_is_lost",),
        {"once"},
        changes={
            "on ustat -> open { set = { repeats: expected, repeats_end: behind": (
                "on ustat -> open { set = { repeats: expected, repeats_end: next"
            )
        },
    ),
    Wrong(
        "signalling.trusts_in_a_poll",
        LINKS,
        "sscop_links.qos",
        ("the_last_is_lost",),
        {"all"},
        changes={"on poll where number > highest -> gap {": "on poll where number < 0 -> gap {"},
    ),
    Wrong(
        "signalling.sends_beyond_its_credit",
        LINKS,
        "sscop_links.qos",
        ("eight_at_a_time",),
        {"acknowledged"},
        changes={"where next < min(messages, granted)": "where next < messages"},
    ),
]
