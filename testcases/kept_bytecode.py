"""Lets pytest keep what it rewrites, also where PYTHONDONTWRITEBYTECODE is set.

To rewrite the asserts of all tests takes three quarters of their collection; so it does with all
that Hypothesis is made of, half a second of each process, since it has a plugin.
"""

import sys

sys.dont_write_bytecode = False
