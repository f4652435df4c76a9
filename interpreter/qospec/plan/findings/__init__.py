"""What is found of a plan: what cannot be, and what is hardly meant."""
