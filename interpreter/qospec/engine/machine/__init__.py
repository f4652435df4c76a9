"""Machines of devices at work: tables that one compiled interpreter reads."""
