"""Queues: admission, drop policies, and the losses of items that find no room."""
