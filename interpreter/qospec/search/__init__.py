"""Searches: which load a search tries next, and what its trials have shown.

Everything here is a pure function of the search and its trials: it runs nothing, draws nothing and
reads no clock. So a trial that still runs can be assumed to end in some way, to see which would
follow. The methods, in `qospec.methods`, choose loads; what they share is here.
"""
