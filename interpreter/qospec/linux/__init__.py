"""Trials on a kernel of Linux: the layout of its devices, what is sent, and what was seen."""
