; What keywords do not say; those are put before it by editors/tree_sitter.py.
(comment) @comment
(text) @string
[(number) (quantity)] @number
(unit) @type.builtin
(truth) @boolean
(otherwise) @constant.builtin
(call . (path) @function)
(bind (name) @property)
(layered (name) @attribute)
["->" "--" ".." "==" "!=" "<=" ">=" "<" ">" "+" "-" "*" "/" "=" "@"] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ":" "."] @punctuation.delimiter
