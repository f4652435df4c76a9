"""What checking gives: suites, cases, flat networks, and expressions over measurements."""
