"""Error recovery: from a token that does not fit to a message and a place to resume."""
