"""Documents as JSON: the same bytes as the standard library's, which is slower."""

import json

from hypothesis import given
from hypothesis import strategies as st

from qospec.document import write_json

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
