"""The YAML twin: the same tree as the text, read from YAML and written as YAML.

YAML is *transcribed*: what its nodes say is put into the text of a `.qos` file, with a map from
there to the YAML, and the one parser reads that. So both forms have one grammar and one set of
messages. `shapes.py` says once how a statement stands in YAML; reading and writing follow it.
"""
