"""What is observed of items: delays, losses, bytes, variation, occupancy."""
