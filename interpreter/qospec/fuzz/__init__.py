"""Searches for counter-examples: values and scenarios for which a promise does not hold.

Hypothesis draws and shrinks; what is drawn is checked, planned, run and judged as by `qos run`.
"""
