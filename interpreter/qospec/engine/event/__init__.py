"""The event driver: one item at a time, on cycles, at endpoints, and where no batch loop is."""
