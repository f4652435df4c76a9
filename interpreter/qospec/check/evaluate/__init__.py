"""Expressions: what they are worth, what they measure, and where they may stand."""
