"""Tests: flows, sweeps, run settings, statements, and the cases that they make."""
