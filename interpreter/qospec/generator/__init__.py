"""Traffic generators of the Open Traffic Generator API: what they are told, and what they tell."""
