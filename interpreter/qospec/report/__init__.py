"""The record of a run as a page, a comment, a file for a build server: one template for each.

Everything here comes from the record; the specification is not read again.
"""
