"""Label-free features, learned on the samples they are given."""
