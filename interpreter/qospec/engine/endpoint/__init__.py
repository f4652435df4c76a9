"""Endpoints: elements at hosts that answer what arrives, and what they share."""
