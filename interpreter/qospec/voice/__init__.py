"""Speech over packets: codecs, and how a call is rated. Plain exact numbers, no arrays."""
