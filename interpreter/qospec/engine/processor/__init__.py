"""Processors: service one item at a time, and what interrupts it."""
