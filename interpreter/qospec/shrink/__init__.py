"""Makes a failing case small: the smallest test that fails for the same reason.

What fails is rewritten as text, a step at a time; each step is checked, planned and run as by
`qos run`, and kept if the same statement still fails.
"""
