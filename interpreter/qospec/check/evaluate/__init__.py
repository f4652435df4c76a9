"""Expressions: their values, what they measure, and where they may be used."""
