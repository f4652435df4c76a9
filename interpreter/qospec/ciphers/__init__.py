"""Ciphers over the bytes of packets and cells, in bulk: ESP, and cells in counter mode.

It knows neither the engine nor the language. What happens to an item, and when, is decided without
its bytes; they are made behind a run, and only if asked for.
"""
