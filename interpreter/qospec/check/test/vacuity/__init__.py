"""What a declaration says in vain, since it cannot be otherwise: conditions, tests that draw."""
