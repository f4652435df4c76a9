"""Kinds that a specification can name, and the statistics of metrics."""
