"""The event driver: one item at a time through the elements of a cycle, or of an endpoint."""
