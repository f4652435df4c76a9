"""From readings to verdicts: values, confidence, statistics."""
