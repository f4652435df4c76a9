"""The YAML twin: the same tree as the text, read from YAML and written as YAML.

YAML is *transcribed*: what its nodes say is put into the text of a `.qos` file, with a map from
there to the YAML, and the one parser reads that. So both forms have one grammar and one set of
messages. `shapes.py` declares once what each statement looks like in YAML, for reading and writing.
"""
