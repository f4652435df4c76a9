"""The ledger balances, or says what does not."""

from qospec.engine.measure.ledger import Account, Ledger

MADE = Account(came=10, made=2, left=9, consumed=2, lost=1)


def test_what_came_or_was_made_and_has_not_ended_is_held() -> None:
    assert MADE.held == 0
    assert MADE.plus(Account(came=3, left=1)).held == 2
    assert MADE.plus(Account(came=3, left=1)).left == 10


def test_the_network_has_what_sources_had_ready() -> None:
    ledger = Ledger(
        {"a": MADE, "b": Account(9, 0, 9)}, 10, 8, {("a", "x"): 1, ("b", "discarded"): 1}
    )
    assert ledger.whole == Account(10, 2, 8, 2, 2)
    assert not ledger.imbalance


def test_a_node_that_keeps_items_is_named() -> None:
    kept = Ledger({"a": Account(3, 0, 3), "b": Account(3, 0, 2)}, 3, 3)
    assert kept.imbalance.startswith("b holds 1 items at the end")


def test_items_that_vanish_between_nodes_are_missed() -> None:
    assert Ledger({"a": Account(3, 0, 3)}, 3, 2).imbalance.startswith("the network holds 1 items")
    assert not Ledger().imbalance
