"""Schedulers: arrivals in order, policies, virtual time, and the loop that serves."""
