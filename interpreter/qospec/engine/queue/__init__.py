"""Queues: admission, drop policies, and what becomes of items that find no room."""
