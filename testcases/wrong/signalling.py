"""Wrong devices of `suites/signalling`, and how they are noticed."""

from replacing import Wrong

EXCHANGES = "std.devices.signalling"

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
]
