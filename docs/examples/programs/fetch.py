"""Fetch a file of the server and print how long that took and how large it is."""

import os
import time
import urllib.request

begun_s = time.monotonic()
address = f"http://{os.environ['QOS_PEER']}:8000/web.qos"
with urllib.request.urlopen(address, timeout=10) as answer:
    received = answer.read()
print(f"{len(received)} bytes in {time.monotonic() - begun_s:.6f} s")
