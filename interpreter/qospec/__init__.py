"""Describe a network, its traffic and what it must keep; run it cell by cell; judge it.

Nothing is imported here, so that the command starts at once: import the module you need.
"""

__version__ = "0.1.0"
