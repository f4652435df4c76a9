"""The documentation of a project: its declarations, with what their comments say, as one page."""
