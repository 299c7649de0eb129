"""Tables of scores: what stands in them, and their formats."""
