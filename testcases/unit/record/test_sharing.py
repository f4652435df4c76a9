"""Equal parts of documents are held once, and say what they said."""

from qospec.record.sharing import SharedValues


def test_what_a_document_holds_twice_is_held_once() -> None:
    """The metrics of a case are those of its first repeat."""
    metrics = {"ab": {"lost": {"value": "0"}, "delay": None}}
    case = {"metrics": metrics, "repeats": [metrics, {"ab": {"lost": {"value": "1"}}}]}
    shared = SharedValues().share_values(case)
    assert shared == case
    assert shared["metrics"] is shared["repeats"][0]
    assert shared["metrics"] is not shared["repeats"][1]


def test_documents_hold_equal_quantities_and_what_is_empty_once() -> None:
    memory = SharedValues()
    first, second = (
        memory.share_values(
            {"name": name, "rate": {"value": "1"}, "errors": [], "ways": {}, "of": [name]}
        )
        for name in ("one", "two")
    )
    assert first == {
        "name": "one", "rate": {"value": "1"}, "errors": [], "ways": {}, "of": ["one"],
    }  # fmt: skip
    for name in ("rate", "errors", "ways"):
        assert first[name] is second[name], name
    assert second["of"] == ["two"]
