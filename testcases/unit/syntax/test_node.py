"""What all nodes of the tree are: frozen, made by keywords, equal by what they say."""

import pickle
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from qospec.diagnostics import Problems
from qospec.source import Source, Span
from qospec.syntax import ast
from qospec.syntax.parser import parse

SOURCE = Source("a.qos", "a b")
HERE, THERE = Span(SOURCE, 0, 1), Span(SOURCE, 2, 3)


def name(text: str, span: Span = HERE) -> ast.Name:
    return ast.Name(text=text, span=span)


def test_equal_is_what_says_the_same_wherever_it_stands() -> None:
    assert name("a") == name("a", THERE)
    assert name("a") != name("b")
    assert hash(name("a")) == hash(name("a", THERE))
    assert name("a") != ast.Number(text="a", span=HERE)
    path = ast.Path(name=name("a"), trail=(name("b"),), span=HERE)
    assert path == ast.Path(name=name("a", THERE), trail=(name("b", THERE),), span=THERE)
    assert path != ast.Path(name=name("a"), trail=(name("c"),), span=HERE)


def test_a_doc_comment_says_nothing() -> None:
    parts = {"name": name("a"), "body": ast.Body(statements=(), span=HERE), "span": HERE}
    assert ast.Property(**parts, doc="one") == ast.Property(**parts)
    assert ast.Property(**parts).doc == ""


def test_it_is_shown_without_its_place() -> None:
    assert repr(name("a")) == "Name(text='a')"
    path = ast.Path(name=name("a"), span=HERE)
    assert repr(path) == "Path(name=Name(text='a'), trail=())"


def test_it_cannot_change() -> None:
    node = name("a")
    with pytest.raises(FrozenInstanceError):
        node.text = "b"
    with pytest.raises(FrozenInstanceError):
        del node.text
    assert node.text == "a"


@pytest.mark.parametrize("given", [{"text": "a"}, {"span": HERE}, {"text": "a", "size": 3}])
def test_each_field_is_given_by_its_name_and_no_other(given: dict[str, object]) -> None:
    with pytest.raises(TypeError, match=r"Name.__init__\(\) "):
        ast.Name(**given)


def test_it_is_a_dataclass_to_whoever_walks_the_tree() -> None:
    assert [field.name for field in fields(ast.Path)] == ["span", "name", "trail"]
    assert replace(name("a"), text="b", span=THERE) == name("b")
    assert pickle.loads(pickle.dumps(name("a"))) == name("a")  # noqa: S301 -- our own


def test_the_children_of_a_node_are_what_stands_in_its_fields() -> None:
    tree = parse(Source("a.qos", "qos 1\nlet a = 1 s + b\n"), Problems())
    assert tree is not None
    (let,) = tree.list_children()
    name, value = let.list_children()
    assert (type(let), name.span.text, value.span.text) == (ast.Let, "a", "1 s + b")
    assert [child.span.text for child in value.list_children()] == ["1 s", "b"]
    assert [child.span.text for child in [*value.list_children()][1].list_children()] == ["b"]
