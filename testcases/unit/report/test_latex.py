"""Tables for LaTeX: what has a meaning to it is escaped, and each row has all columns."""

import re
import shutil
import subprocess

from qospec.report.render import render
from qospec.report.text import escape_latex

ESCAPED = re.compile(
    r"\\(?:text[a-z]+|symbol|ldots)(?:\{\d*\})|\\[{}$&#_%,]|\$\\[a-z]+\$|\$-\$|\$\\sim\$~"
)


def test_what_has_a_meaning_to_latex_is_escaped() -> None:
    text = r"50 % of a_b & {c} #1 \input{/etc/passwd} $x^2$ ~"
    assert escape_latex(text) == (
        r"50 \% of a\_b \& \{c\} \#1 \textbackslash{}input\{/etc/passwd\}"
        r" \$x\textasciicircum{}2\$ \textasciitilde{}"
    )
    assert escape_latex("352_720 cell/s, 1.5 us, <= -3, ≈ 4") == (
        r"352\,720 cell/s, 1.5 $\mu$s, \textless{}= {-}3, $\approx$ 4"
    )
    assert escape_latex("one\n\n[two]") == "one {[}two{]}"
    every = "".join(map(chr, range(32, 127)))
    assert not re.search(
        r"[\\{}$&#_%~^]", re.sub(r"\{[-\[\]]\}", "", ESCAPED.sub("", escape_latex(every)))
    )


def test_each_row_has_as_many_cells_as_the_table_columns(document, timing, tmp_path) -> None:
    text = render(document, timing, "latex")
    tables = re.findall(r"\\begin\{longtable\}\{(\w+)\}\n(.*?)\\end\{longtable\}", text, re.DOTALL)
    assert len(tables) >= len({case["test"] for case in document["cases"]})
    for columns, body in tables:
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert len(rows) >= 2
        cells = [len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows]
        assert set(cells) == {len(columns)}, rows
    assert r"$\times$~1320 cell" in text
    engine = shutil.which("tectonic") or shutil.which("pdflatex")
    if engine:
        whole = r"\documentclass{article}\usepackage{booktabs,longtable}\begin{document}"
        (tmp_path / "whole.tex").write_text(f"{whole}\n{text}\\end{{document}}\n", encoding="utf-8")
        subprocess.run([engine, "whole.tex"], cwd=tmp_path, check=True, stdin=subprocess.DEVNULL)
