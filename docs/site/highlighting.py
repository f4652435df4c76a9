"""Runs Zensical with colours for `.qos`: a lexer of Pygments from `spec/`, under the name `qos`.

python docs/site/highlighting.py build --config-file FILE
"""

import sys

from pygments.lexer import RegexLexer, words
from pygments.lexers import LEXERS
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text
from zensical.main import cli

from qospec.syntax.grammar import load_keywords

__all__ = ("QosLexer",)  # where Pygments looks it up
KEYWORDS = load_keywords()
TOKENS = {
    "file": Keyword.Declaration,
    "declaration": Keyword.Declaration,
    "statement": Keyword,
    "word": Operator.Word,
}
NUMBER = r"\d[\d_]*(?:\.\d[\d_]*)?"
ANY = "|".join(word for table in KEYWORDS.values() for word in table)
UNIT = rf"(?:%|(?!(?:{ANY})\b)[A-Za-zµμ]+(?:/[A-Za-zµμ]+)?)"


class QosLexer(RegexLexer):
    """Tells apart comments, texts, numbers with their units, keywords, names of declarations."""

    name = "qos"
    aliases = ("qos",)
    filenames = ("*.qos",)
    tokens = {  # noqa: RUF012 - so Pygments declares it
        "root": [
            (r"#.*", Comment.Single),
            (r'"[^"\n]*"', String.Double),
            (rf"(?<![\w.]){NUMBER}(?:[ \t]*{UNIT})?", Number),
            (r"@[ \t]*\w+", Name.Decorator),
            (r"(?<=\.)\w+", Name),
            *(
                (words(KEYWORDS[table], prefix=r"\b", suffix=r"\b(?!\s*[.=])"), token)
                for table, token in TOKENS.items()
            ),
            (r"\w+", Name),
            (r"->|--|\.\.|[-+*/<>=!]=?", Operator),
            (r"[{}()\[\],:.]", Punctuation),
            (r"\s+", Text),
        ]
    }


if __name__ == "__main__":
    LEXERS["QosLexer"] = ("__main__", QosLexer.name, QosLexer.aliases, QosLexer.filenames, ())
    sys.exit(cli())
