"""A network that loses packets: what tests of whole runs and their records begin with."""

NARROW = """qos 1
import std.media
let room = 4 pkt
device narrow {
  port west, east: packet
  q = fifo { limit = room }
  west.rx -> q -> east.tx
  east.rx -> west.tx
}
topology bench {
  a, b = host
  n = narrow
  link a -- n.west via media.fast_ethernet
  link n.east -- b via media.ethernet
}
"""
"""Files with a device whose queue has room for 4 packets, ahead of a line of 10 Mbit/s."""
