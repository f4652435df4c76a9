"""The documentation of a project: its declarations and their comments, as one page."""
