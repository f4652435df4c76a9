"""Describe a network, its traffic and what it must keep; run it cell by cell; judge it.

Nothing heavy is imported here, so that the command starts at once: import the module you need.
"""

from qospec.version import VERSION

__version__ = VERSION
