"""Blanks between two tokens, and how units are spelt."""

import pytest


@pytest.mark.parametrize(
    ("text", "spelt"),
    [
        ("12", "12"),
        ("1_000.50", "1_000.50"),
        ("5us", "5 us"),
        ("5   us", "5 us"),
        ("95 %", "95%"),
        ("5 µs", "5 us"),
        ("5 μs/km", "5 us/km"),
        ("3 bps", "3 bit/s"),
        ("3 kbps", "3 kbit/s"),
        ("3 Mbps @ip", "3 Mbit/s @ip"),
        ("3Gbps", "3 Gbit/s"),
        ("3 furlongs", "3 furlongs"),
        ("( a )", "(a)"),
        ("[ 1,2 ,3 ]", "[1, 2, 3]"),
        ("[1, 2,]", "[1, 2]"),
        ("[ ]", "[]"),
        ("{a:1,b:2,}", "{ a: 1, b: 2 }"),
        ("mix{40 B:7}@ip", "mix { 40 B: 7 } @ip"),
        ("mix[40 B,576 B,]@ip", "mix [40 B, 576 B] @ip"),
        ("f ( x=1 , 2 , )", "f(x = 1, 2)"),
        ("f( )", "f()"),
        ("a . b [ 2 ] . c", "a.b[2].c"),
        ("a.in[2] + a.mix(3)", "a.in[2] + a.mix(3)"),
        ("x in[1]", "x in [1]"),
        ("not(a)", "not (a)"),
        ("-3", "-3"),
        ("- 3", "-3"),
        ("- - 3", "- -3"),
        ("2--3", "2 - -3"),
        ("a-b", "a - b"),
        ("a[0]-(b)-c.in-1", "a[0] - (b) - c.in - 1"),
        ("-(-2)", "-(-2)"),
        ("2*-x", "2 * -x"),
        ("0..3", "0 .. 3"),
        ("10%..80%step 5%", "10% .. 80% step 5%"),
        ("a==b", "a == b"),
        ("5%of b", "5% of b"),
        ('"a  #  b"', '"a  #  b"'),
        ("ubr{pcr=1 cell/s\nclp=1}", "ubr { pcr = 1 cell/s, clp = 1 }"),
        ("ubr{ }", "ubr {}"),
    ],
)
def test_a_value_has_one_spelling(laid_out, text: str, spelt: str) -> None:
    if "--" in text:
        text = text.replace("--", "- -")
    assert laid_out(f"let x={text}\n") == f"let x = {spelt}\n"


@pytest.mark.parametrize(
    ("text", "spelt"),
    [
        ("a,b=host", "a, b = host"),
        ("port p [ 4 ],q : cell", "port p[4], q: cell"),
        ("a.rx->b->c.tx", "a.rx -> b -> c.tx"),
        ("link a--b via m{length=1 km}", "link a -- b via m { length = 1 km }"),
        ("sweep( a,b )in[(1,2)]where(a)<1", "sweep (a, b) in [(1, 2)] where (a) < 1"),
        ("flow f=g(1)from a[0]to b", "flow f = g(1) from a[0] to b"),
        ("run{measure=60 s,repeat=5}", "run { measure = 60 s, repeat = 5 }"),
        ("expect a:b<1 with 95%confidence", "expect a: b < 1 with 95% confidence"),
        ("report[a,b]", "report [a, b]"),
        ("control bare=n(1)", "control bare = n(1)"),
        ('skip unless a>1"why"', 'skip unless a > 1 "why"'),
        ("forall x:Time in 0 s..1 s", "forall x: Time in 0 s .. 1 s"),
        ("let x:Time=1 s", "let x: Time = 1 s"),
    ],
)
def test_a_statement_has_one_spelling(in_test, text: str, spelt: str) -> None:
    assert in_test(text) == f"{spelt}\n"


def test_what_ends_lines_and_files_is_plain(whole) -> None:
    assert whole("\ufeffqos 1\r\n\r\nlet a = 1 s  \t\r\n\r\n\r\n") == "qos 1\n\nlet a = 1 s\n"
    assert whole("qos 1") == "qos 1\n"
    assert whole("\n\n  qos\t1 # x") == "qos 1  # x\n"
