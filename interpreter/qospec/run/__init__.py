"""Runs planned cases: trials, worker processes, interruption."""
