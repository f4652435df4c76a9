"""Devices that encrypt: what they agree on, and what they note about each item."""
