"""Congestion controls: how a sender of TCP takes acknowledgements and losses. One file each."""
