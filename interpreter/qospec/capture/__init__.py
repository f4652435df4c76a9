"""Captures: what went over a link of a recorded case, as a pcapng file that others decode."""
