"""Documents as JSON: the same bytes as the standard library's, which is slower."""

import json

from hypothesis import given
from hypothesis import strategies as st

from qospec.document import iterate_json, write_json

PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
DOCUMENTS = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(document=DOCUMENTS, in_ascii=st.booleans())
def test_a_document_is_written_as_the_standard_library_would(
    document: object, *, in_ascii: bool
) -> None:
    expected = json.dumps(document, indent=1, ensure_ascii=in_ascii)
    assert write_json(document, in_ascii=in_ascii) == f"{expected}\n"


@given(document=st.dictionaries(st.text(), DOCUMENTS))
def test_a_document_in_parts_has_the_same_text(document: dict[str, object]) -> None:
    assert "".join(iterate_json(document)) == write_json(document)
