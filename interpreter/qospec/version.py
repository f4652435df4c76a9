"""The version, in a module that costs nothing to import."""

VERSION = "0.0.0+source"
"""Of a checkout, whose files may be of any commit. `setup.py` builds with that of the tag."""
